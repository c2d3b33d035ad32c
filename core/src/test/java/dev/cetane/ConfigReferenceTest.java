package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.AutoComplete;

/**
 * Keeps what is shipped and documented equal to the table of keys and to the command line's grammar. {@code -Dcetane.update=true}
 * writes the files instead.
 */
final class ConfigReferenceTest {

    private static final Path SHARE = Path.of("src/main/dist/share");
    private static final String BEGIN = "<!-- configuration: made from the table of keys, do not edit -->";
    private static final String END = "<!-- end of configuration -->";

    @Test
    void theShippedSchemaIsThatOfTheKeys() throws IOException {
        isKept(SHARE.resolve("cetane.schema.json"), schema());
    }

    @Test
    void theShippedCompletionKnowsEveryCommandAndOption() throws IOException {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        String script = AutoComplete.bash("cetane", Grammar.full(nowhere, nowhere));
        isKept(
                SHARE.resolve("completion/cetane.bash"),
                script.replaceAll("(?m)^# .*(?:generated|Generated|Date).*\\R", ""));
    }

    @Test
    void theReadmeListsEveryKey() throws IOException {
        Path readme = Path.of("../README.md");
        String text = Files.readString(readme);
        assertThat(text).contains(BEGIN).contains(END);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        isKept(readme, text.substring(0, begin) + "\n" + table() + text.substring(text.indexOf(END)));
    }

    private static void isKept(Path file, String expected) throws IOException {
        if (Boolean.getBoolean("cetane.update")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, expected);
        }
        assertThat(Files.readString(file))
                .as("%s; run mvn test -Dtest=ConfigReferenceTest -Dcetane.update=true to write it anew", file)
                .isEqualTo(expected);
    }

    private static String table() {
        StringBuilder table = new StringBuilder("\n| key | default | allowed | what it does |\n|---|---|---|---|\n");
        for (Setting<?> setting : Settings.ALL) {
            String key = setting.form() == Setting.Form.MAP ? setting.key() + ".*" : setting.key();
            table.append("| `").append(key).append("` | ");
            table.append(setting.defaultText().isEmpty() ? "" : "`" + setting.defaultText() + "`")
                    .append(" | ");
            table.append(setting.allowed()).append(" | ").append(setting.doc()).append(" |\n");
        }
        return table.append('\n').toString();
    }

    private static String schema() {
        Map<String, List<Setting<?>>> sections = new TreeMap<>();
        List<String> properties = new ArrayList<>();
        for (Setting<?> setting : Settings.ALL) {
            int dot = setting.key().indexOf('.');
            if (dot < 0) {
                properties.add(property("    ", setting.key(), setting));
            } else {
                sections.computeIfAbsent(setting.key().substring(0, dot), name -> new ArrayList<>())
                        .add(setting);
            }
        }
        sections.forEach((name, settings) -> {
            List<String> inner = settings.stream()
                    .map(setting -> property("        ", setting.key().substring(name.length() + 1), setting))
                    .toList();
            properties.add(
                    "    \"" + name + "\": {\n      \"type\": \"object\",\n      \"additionalProperties\": false,\n"
                            + "      \"properties\": {\n" + String.join(",\n", inner) + "\n      }\n    }");
        });
        return "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \"cetane.yaml\",\n"
                + "  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"properties\": {\n"
                + String.join(",\n", properties) + "\n  }\n}\n";
    }

    private static String property(String indent, String name, Setting<?> setting) {
        String description = setting.doc() + " Allowed: " + setting.allowed() + ".";
        return indent + json(name) + ": {" + type(setting) + ", \"default\": " + defaultOf(setting)
                + ", \"description\": " + json(description) + "}";
    }

    private static String type(Setting<?> setting) {
        String words = String.join(
                ", ", setting.choices().stream().map(ConfigReferenceTest::json).toList());
        return switch (setting.form()) {
            case BOOLEAN -> "\"type\": \"boolean\"";
            case CHOICE -> "\"enum\": [" + words + "]";
            case INTEGER -> {
                String[] ends = setting.allowed().split(" … |,", -1);
                String number = "\"type\": \"integer\", \"minimum\": " + ends[0] + ", \"maximum\": " + ends[1];
                yield words.isEmpty() ? number : "\"anyOf\": [{" + number + "}, {\"enum\": [" + words + "]}]";
            }
            case RATIO -> "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1";
            case SIZE -> "\"type\": [\"integer\", \"string\"], \"pattern\": \"^[0-9]+ ?(B|KiB|MiB|GiB)?$\"";
            case DURATION ->
                "\"type\": [\"integer\", \"string\"], \"pattern\": \"^(0|[0-9]+ ?(ms|s|m|h|d))$\", \"maximum\": 0";
            case LIST -> "\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"}";
            case MAP ->
                "\"type\": \"object\", \"additionalProperties\": {\"type\": [\"string\", \"number\", \"boolean\", \"null\"]}";
            case TEXT, SECRET -> "\"type\": \"string\"";
        };
    }

    private static String defaultOf(Setting<?> setting) {
        String text = setting.defaultText();
        return switch (setting.form()) {
            case MAP -> "{}";
            case BOOLEAN -> text.toLowerCase(Locale.ROOT);
            case RATIO -> text;
            case INTEGER -> text.matches("[0-9]+") ? text : json(text);
            default -> json(text);
        };
    }

    private static String json(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
