package dev.cetane.tests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One case of the oracle: requests that are sent one after the other on one connection. A file of {@code src/test/resources/oracle}
 * holds the cases of one group; {@code tests/apps/oracle/README.md} describes it.
 *
 * @param id group and name
 */
record OracleCase(String id, List<Step> steps) {
    private static final Pattern ESCAPE = Pattern.compile("\\\\(x[0-9A-Fa-f]{2}|.)", Pattern.DOTALL);
    private static final Pattern REPEAT = Pattern.compile("\\\\\\{(\\d+)\\}\\(");

    /**
     * One request and, maybe, the script that answers it.
     *
     * @param request one char a byte
     * @param scriptName under which the front controller finds the script, null when there is none
     * @param awaited text of the answer that has to arrive before the script goes on, empty when it does not wait
     * @param leaves whether the client leaves once that has arrived
     * @param masks what differs at random: where a pattern matches, its text counts as the pattern's own
     */
    record Step(
            String request,
            String method,
            @Nullable String scriptName,
            String script,
            String awaited,
            boolean leaves,
            List<Pattern> masks) {
        boolean hasScript() {
            return scriptName != null;
        }

        String masked(String text) {
            String masked = text;
            for (Pattern mask : masks) {
                masked = mask.matcher(masked).replaceAll(Matcher.quoteReplacement("<" + mask + ">"));
            }
            return masked;
        }
    }

    /** Reads the cases of one file. */
    static List<OracleCase> read(Path file) throws IOException {
        String group = file.getFileName().toString().replaceFirst("\\.[a-z]+$", "");
        List<OracleCase> cases = new ArrayList<>();
        Set<String> names = new HashSet<>();
        String name = null;
        List<String> lines = new ArrayList<>();
        List<String> all = new ArrayList<>(Files.readAllLines(file, StandardCharsets.UTF_8));
        all.add("=== ");
        for (String line : all) {
            if (line.startsWith("=== ")) {
                if (name != null) {
                    cases.add(parse(group + "/" + name, lines));
                }
                name = line.substring(4).strip();
                if (!names.add(name)) {
                    throw new IOException(file + ": two cases are named " + name);
                }
                lines.clear();
            } else if (name != null) {
                lines.add(line);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                throw new IOException(file + ": a line before the first case: " + line);
            }
        }
        return cases;
    }

    private static OracleCase parse(String id, List<String> lines) throws IOException {
        List<Step> steps = new ArrayList<>();
        List<String> step = new ArrayList<>();
        List<String> all = new ArrayList<>(lines);
        all.add("--- then");
        for (String line : all) {
            if (line.equals("--- then")) {
                steps.add(new StepParser(id, steps.size(), step).parse());
                step.clear();
            } else if (!line.startsWith("# ")) {
                step.add(line);
            }
        }
        return new OracleCase(id, steps);
    }

    /** Reads the lines of one step. */
    private static final class StepParser {
        private final String id;
        private final int number;
        private final List<String> lines;
        private int next;

        StepParser(String id, int number, List<String> lines) {
            this.id = id;
            this.number = number;
            this.lines = lines;
        }

        Step parse() throws IOException {
            boolean raw = false;
            String awaited = "";
            boolean leaves = false;
            List<Pattern> masks = new ArrayList<>();
            for (; next < lines.size() && lines.get(next).startsWith("@"); next++) {
                String[] directive = lines.get(next).substring(1).split(" ", 2);
                String value = directive.length > 1 ? directive[1] : "";
                switch (directive[0]) {
                    case "raw" -> raw = true;
                    case "await" -> awaited = value;
                    case "leave" -> {
                        awaited = value;
                        leaves = true;
                    }
                    case "mask" -> masks.add(Pattern.compile(value));
                    default -> throw new IOException(id + ": unknown directive " + lines.get(next));
                }
            }
            List<String> head = new ArrayList<>();
            for (; next < lines.size() && !lines.get(next).isBlank() && !isScript(lines.get(next)); next++) {
                head.add(lines.get(next));
            }
            String body = body();
            String script = script();
            String scriptName =
                    script.isEmpty() ? null : id.replaceAll("[^A-Za-z0-9]+", "-") + (number == 0 ? "" : "-" + number);
            if (head.isEmpty()) {
                head.add("GET /");
            }
            if (scriptName != null) {
                head.set(0, withCase(head.get(0), scriptName));
            }
            String request = raw ? bytes(String.join("\r\n", head) + "\r\n\r\n" + body) : request(head, body);
            return new Step(
                    request, head.get(0).split(" ", 2)[0], scriptName, script, awaited, leaves, List.copyOf(masks));
        }

        private static boolean isScript(String line) {
            return line.startsWith("<?php");
        }

        /** Its lines are joined by CR LF; a backslash at the end of a line joins it with the next one. */
        private String body() {
            List<String> body = new ArrayList<>();
            for (next = next < lines.size() && lines.get(next).isBlank() ? next + 1 : next;
                    next < lines.size() && !isScript(lines.get(next));
                    next++) {
                body.add(lines.get(next));
            }
            while (!body.isEmpty() && body.get(body.size() - 1).isBlank()) {
                body.remove(body.size() - 1);
            }
            return String.join("\r\n", body).replace("\\\r\n", "");
        }

        private String script() {
            StringBuilder script = new StringBuilder();
            for (; next < lines.size(); next++) {
                script.append(lines.get(next)).append('\n');
            }
            return script.toString().stripTrailing();
        }

        private static String withCase(String requestLine, String scriptName) {
            String[] words = requestLine.split(" ", 3);
            int question = words[1].indexOf('?');
            words[1] = question < 0
                    ? words[1] + "?case=" + scriptName
                    : words[1].substring(0, question) + "?case=" + scriptName + "&" + words[1].substring(question + 1);
            return String.join(" ", words);
        }

        /** Adds what every sane request has: the version, Host, and the length of its body. */
        private String request(List<String> head, String body) throws IOException {
            String bodyBytes = bytes(body);
            StringBuilder text = new StringBuilder(head.get(0));
            if (!head.get(0).contains(" HTTP/")) {
                text.append(" HTTP/1.1");
            }
            text.append("\r\n");
            if (isAbsent("host", head)) {
                text.append("Host: oracle.test\r\n");
            }
            for (String field : head.subList(1, head.size())) {
                text.append(field).append("\r\n");
            }
            if (!bodyBytes.isEmpty() && isAbsent("content-length", head) && isAbsent("transfer-encoding", head)) {
                text.append("Content-Length: ").append(bodyBytes.length()).append("\r\n");
            }
            return bytes(text + "\r\n") + bodyBytes;
        }

        private static boolean isAbsent(String field, List<String> head) {
            return head.stream().noneMatch(line -> line.toLowerCase(Locale.ROOT).startsWith(field + ":"));
        }

        /** Undoes the escapes: {@code \r \n \t \0 \\ \xHH}, and {@code \{N}(text)}, N times the text with {@code \i} for 1 … N. */
        private String bytes(String text) throws IOException {
            String utf8 = new String(repeat(text).getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
            StringBuilder bytes = new StringBuilder(utf8.length());
            Matcher escape = ESCAPE.matcher(utf8);
            while (escape.find()) {
                String code = escape.group(1);
                String undone = switch (code.charAt(0)) {
                    case 'r' -> "\r";
                    case 'n' -> "\n";
                    case 't' -> "\t";
                    case '0' -> "\0";
                    case '\\' -> "\\";
                    case 'x' -> Character.toString(Integer.parseInt(code.substring(1), 16));
                    default -> throw new IOException(id + ": unknown escape \\" + code);
                };
                escape.appendReplacement(bytes, Matcher.quoteReplacement(undone));
            }
            return escape.appendTail(bytes).toString();
        }

        private static String repeat(String text) {
            Matcher matcher = REPEAT.matcher(text);
            StringBuilder out = new StringBuilder();
            int from = 0;
            while (matcher.find(from)) {
                int end = text.indexOf(')', matcher.end());
                String repeated = text.substring(matcher.end(), end);
                out.append(text, from, matcher.start());
                for (int i = 1; i <= Integer.parseInt(matcher.group(1)); i++) {
                    out.append(repeated.replace("\\i", Integer.toString(i)));
                }
                from = end + 1;
            }
            return out.append(text.substring(from)).toString();
        }
    }
}
