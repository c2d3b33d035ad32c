package dev.cetane.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The differences that are meant: the table of {@code php-client/DIFFERENCES.md}. What stands in backticks is read, with {@code *} for
 * any text; a cell with several holds for each of them, an empty one or one without holds for all.
 */
final class DifferenceTable {
    private final List<Row> rows = new ArrayList<>();

    DifferenceTable(Path markdown) throws IOException {
        boolean inTable = false;
        for (String line : Files.readAllLines(markdown)) {
            if (line.startsWith("| what ")) {
                inTable = true;
            } else if (!line.startsWith("|")) {
                inTable = false;
            } else if (inTable && !line.startsWith("|---")) {
                rows.add(Row.of(line));
            }
        }
        if (rows.isEmpty()) {
            throw new IOException(markdown + " holds no table of differences");
        }
    }

    /** One thing that a client sees otherwise; {@code absent} stands for what one server does not give. */
    record Difference(String caseId, String what, String fpm, String cetane) {
        @Override
        public String toString() {
            return caseId + ": " + what + "\n      php-fpm: " + fpm + "\n      Cetane:  " + cetane;
        }
    }

    /** Whether it is meant; its row then counts as seen. */
    boolean allows(Difference difference) {
        boolean allowed = false;
        for (Row row : rows) {
            if (row.matches(difference)) {
                row.seen = true;
                allowed = true;
            }
        }
        return allowed;
    }

    /** Rows that no difference has matched. */
    List<String> unseen() {
        return rows.stream().filter(row -> !row.seen).map(row -> row.line).toList();
    }

    private static final class Row {
        private static final Pattern CODE = Pattern.compile("`` ?(.+?) ?``|`([^`]+)`");

        private final String line;
        private final List<List<Pattern>> cells;
        private boolean seen;

        private Row(String line, List<List<Pattern>> cells) {
            this.line = line;
            this.cells = cells;
        }

        static Row of(String line) throws IOException {
            String[] cells = line.split("(?<!\\\\)\\|", -1);
            if (cells.length != 7) {
                throw new IOException("a row of the table of differences needs five cells: " + line);
            }
            List<List<Pattern>> patterns = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                List<Pattern> alternatives = new ArrayList<>();
                Matcher code = CODE.matcher(cells[i].replace("\\|", "|"));
                while (code.find()) {
                    String glob = code.group(1) == null ? code.group(2) : code.group(1);
                    alternatives.add(Pattern.compile("\\Q" + glob.replace("*", "\\E.*\\Q") + "\\E", Pattern.DOTALL));
                }
                patterns.add(alternatives);
            }
            return new Row(line, patterns);
        }

        boolean matches(Difference difference) {
            return holds(0, difference.what())
                    && holds(1, difference.caseId())
                    && holds(2, difference.fpm())
                    && holds(3, difference.cetane());
        }

        private boolean holds(int cell, String value) {
            List<Pattern> alternatives = cells.get(cell);
            return alternatives.isEmpty()
                    || alternatives.stream()
                            .anyMatch(glob -> glob.matcher(value).matches());
        }
    }
}
