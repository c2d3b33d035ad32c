package dev.cetane;

import dev.cetane.log.FileReason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code cetane measure} has found: facts about where, and for each part of a request its times. Belongs to one thread; as a file, a line for
 * each fact and figure.
 */
final class Measurements {
    private static final String FORMAT = "cetane-measure 1";
    private static final int MAX_FILE_BYTES = 65_536;
    private static final int BATCHES = 10;

    /** The parts, in the order of the table; the first is their sum. */
    enum Part {
        TOTAL("total"),
        APPLICATION("PHP application"),
        CLIENT("PHP client"),
        PIPE("pipe"),
        SUPERVISOR("supervisor"),
        HTTP("HTTP");

        private final String title;

        Part(String title) {
            this.title = title;
        }

        String title() {
            return title;
        }
    }

    /**
     * The times of one part, microseconds.
     *
     * @param low lower quartile of the medians of ten parts of the run
     * @param high upper quartile of those
     */
    record Times(double p50, double p95, double p99, double low, double high) {
        static Times of(double[] micros) {
            double[] sorted = micros.clone();
            Arrays.sort(sorted);
            int batch = Math.max(1, micros.length / BATCHES);
            double[] medians = new double[micros.length / batch];
            for (int i = 0; i < medians.length; i++) {
                double[] some = Arrays.copyOfRange(micros, i * batch, (i + 1) * batch);
                Arrays.sort(some);
                medians[i] = at(some, 0.5);
            }
            Arrays.sort(medians);
            return new Times(at(sorted, 0.5), at(sorted, 0.95), at(sorted, 0.99), at(medians, 0.25), at(medians, 0.75));
        }

        private static double at(double[] sorted, double quantile) {
            return sorted[(int) Math.min(sorted.length - 1L, Math.round(quantile * (sorted.length - 1)))];
        }

        private String text() {
            return String.format(Locale.ROOT, "%.2f %.2f %.2f %.2f %.2f", p50, p95, p99, low, high);
        }

        private static @Nullable Times parse(@Nullable String text) {
            String[] numbers = text == null ? new String[0] : text.split(" ", -1);
            if (numbers.length != 5
                    || !Arrays.stream(numbers).allMatch(n -> n.matches("[0-9]{1,15}(\\.[0-9]{1,9})?"))) {
                return null;
            }
            double[] n = Arrays.stream(numbers).mapToDouble(Double::parseDouble).toArray();
            return new Times(n[0], n[1], n[2], n[3], n[4]);
        }
    }

    private final Map<String, String> facts = new LinkedHashMap<>();
    private final Map<Part, Times> times = new LinkedHashMap<>();

    void fact(String name, Object value) {
        facts.put(name, String.valueOf(value).replaceAll("\\p{Cntrl}", " ").strip());
    }

    String fact(String name) {
        return facts.getOrDefault(name, "");
    }

    Map<String, String> facts() {
        return facts;
    }

    void times(Part part, double[] micros) {
        times.put(part, Times.of(micros));
    }

    @Nullable
    Times times(Part part) {
        return times.get(part);
    }

    /** Before minutes are spent on what cannot be saved then. */
    static void checkFile(Path file) {
        Path directory = file.toAbsolutePath().getParent();
        String why = directory == null || Files.isDirectory(file)
                ? "it is a directory"
                : !Files.isDirectory(directory)
                        ? "there is no directory " + directory
                        : Files.isWritable(Files.exists(file) ? file : directory) ? "" : "permission denied";
        if (!why.isEmpty()) {
            throw new CommandException(CommandException.WRONG_USE, "--save: " + file + " cannot be written: " + why);
        }
    }

    void save(Path file) {
        StringBuilder text = new StringBuilder(FORMAT).append('\n');
        facts.forEach(
                (name, value) -> text.append(name).append(": ").append(value).append('\n'));
        times.forEach((part, measured) -> text.append("micros ")
                .append(part.title())
                .append(": ")
                .append(measured.text())
                .append('\n'));
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED, "--save: " + file + " cannot be written: " + FileReason.of(e), e);
        }
    }

    static Measurements load(Path file) {
        String text;
        try {
            if (Files.size(file) > MAX_FILE_BYTES) {
                throw new IOException("it is too large to be one of these");
            }
            text = Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.WRONG_USE, "--compare: " + file + " cannot be read: " + FileReason.of(e), e);
        }
        if (!text.startsWith(FORMAT + "\n")) {
            throw new CommandException(
                    CommandException.WRONG_USE, "--compare: " + file + " was not saved by cetane measure --save");
        }
        Measurements loaded = new Measurements();
        text.lines().skip(1).forEach(line -> {
            int colon = line.indexOf(": ");
            if (colon > 0) {
                loaded.facts.put(line.substring(0, colon), line.substring(colon + 2));
            }
        });
        for (Part part : Part.values()) {
            Times measured = Times.parse(loaded.facts.remove("micros " + part.title()));
            if (measured == null) {
                throw new CommandException(
                        CommandException.WRONG_USE,
                        "--compare: " + file + " has no times of the part " + part.title() + "; save it anew");
            }
            loaded.times.put(part, measured);
        }
        return loaded;
    }
}
