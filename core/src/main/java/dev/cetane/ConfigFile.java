package dev.cetane;

import dev.cetane.ConfigException.Problem;
import dev.cetane.log.FileReason;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.NodeType;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Reads a YAML file into keys, texts and line numbers. Nothing is constructed from tags; size, nesting and aliases are bounded.
 * Used by the loading thread only.
 */
final class ConfigFile {

    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_PROBLEMS = 200;

    /** One leaf of the file. */
    record Entry(String key, String text, String origin) {}

    private final Path file;
    private final List<Problem> problems;
    private final List<Entry> entries = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();

    private ConfigFile(Path file, List<Problem> problems) {
        this.file = file;
        this.problems = problems;
    }

    /** Reads the file; what is wrong with it is added to the problems. */
    static List<Entry> read(Path file, List<Problem> problems) {
        ConfigFile reader = new ConfigFile(file, problems);
        reader.read();
        return reader.entries;
    }

    private void read() {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file.toString())
                .setCodePointLimit(MAX_BYTES)
                .setMaxAliasesForCollections(10)
                .build();
        try {
            byte[] bytes;
            try (InputStream in = Files.newInputStream(file)) {
                bytes = in.readNBytes(MAX_BYTES + 1);
            }
            if (bytes.length > MAX_BYTES) {
                problem(file.toString(), "is larger than 1 MiB", file.toString());
                return;
            }
            Optional<Node> root = new Compose(settings).composeInputStream(new ByteArrayInputStream(bytes));
            if (root.isPresent() && !isNothing(root.get())) {
                section("", root.get());
            }
        } catch (MarkedYamlEngineException e) {
            String line =
                    e.getProblemMark().map(mark -> ":" + (mark.getLine() + 1)).orElse("");
            problem(file.toString(), "is no valid YAML: " + e.getProblem(), file + line);
        } catch (YamlEngineException e) {
            problem(file.toString(), "is no valid YAML: " + firstLine(e), file.toString());
        } catch (StackOverflowError e) {
            // The composer recurses into each level and has no limit of its own.
            problem(file.toString(), "is nested too deeply", file.toString());
        } catch (IOException e) {
            problem(file.toString(), "cannot be read: " + FileReason.of(e), "--config");
        }
    }

    private void section(String prefix, Node node) {
        if (!(node instanceof MappingNode mapping)) {
            String name = prefix.isEmpty() ? "the file" : prefix;
            problem(name, "is no mapping; keys with values are expected below it", origin(node));
            return;
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode name)) {
                problem(
                        prefix.isEmpty() ? "the file" : prefix,
                        "holds a key that is no plain text",
                        origin(tuple.getKeyNode()));
                continue;
            }
            String key = prefix.isEmpty() ? name.getValue() : prefix + "." + name.getValue();
            Setting<?> setting = ConfigLoader.setting(key);
            if (setting != null) {
                value(setting, key, tuple);
            } else if (ConfigLoader.isSection(key)) {
                if (!isNothing(tuple.getValueNode())) {
                    section(key, tuple.getValueNode());
                }
            } else {
                problem(key, ConfigLoader.unknown(key), origin(name));
            }
        }
    }

    private void value(Setting<?> setting, String key, NodeTuple tuple) {
        Node node = tuple.getValueNode();
        boolean isMap = setting.form() == Setting.Form.MAP && key.equals(setting.key());
        if (isMap) {
            map(setting, key, node);
        } else if (node instanceof ScalarNode scalar && !(isNothing(node) && setting.form() != Setting.Form.MAP)) {
            add(key, scalar.getValue(), tuple.getKeyNode());
        } else if (node instanceof SequenceNode sequence && setting.form() == Setting.Form.LIST) {
            List<String> elements = new ArrayList<>();
            for (Node element : sequence.getValue()) {
                if (element instanceof ScalarNode scalar) {
                    elements.add(scalar.getValue());
                } else {
                    problem(
                            key,
                            "holds something that is no plain text; allowed: " + setting.allowed(),
                            origin(element));
                }
            }
            add(key, String.join(", ", elements), tuple.getKeyNode());
        } else {
            String what = isNothing(node) ? "has no value" : "is a " + name(node) + " where one value is expected";
            problem(key, what + "; allowed: " + setting.allowed(), origin(tuple.getKeyNode()));
        }
    }

    private void map(Setting<?> setting, String key, Node node) {
        if (isNothing(node)) {
            return;
        }
        if (!(node instanceof MappingNode mapping)) {
            problem(key, "is no mapping; allowed: " + setting.allowed(), origin(node));
            return;
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (tuple.getKeyNode() instanceof ScalarNode name && tuple.getValueNode() instanceof ScalarNode value) {
                add(key + "." + name.getValue(), value.getValue(), name);
            } else {
                problem(
                        key,
                        "holds a name or value that is no plain text; allowed: " + setting.allowed(),
                        origin(tuple.getKeyNode()));
            }
        }
    }

    private void add(String key, String text, Node where) {
        if (seen.add(key)) {
            entries.add(new Entry(key, text, origin(where)));
        } else {
            problem(key, "is given twice", origin(where));
        }
    }

    private void problem(String key, String complaint, String origin) {
        if (problems.size() < MAX_PROBLEMS) {
            problems.add(new Problem(key, complaint, origin));
        }
    }

    private String origin(Node node) {
        Optional<Mark> mark = node.getStartMark();
        return file + mark.map(m -> ":" + (m.getLine() + 1)).orElse("");
    }

    /** An empty value, {@code null} or {@code ~}. */
    private static boolean isNothing(Node node) {
        return node.getTag().equals(Tag.NULL);
    }

    private static String name(Node node) {
        return node.getNodeType() == NodeType.MAPPING ? "mapping" : "list";
    }

    private static String firstLine(Exception e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }
}
