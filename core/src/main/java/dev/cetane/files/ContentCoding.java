package dev.cetane.files;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A form in which a build has compressed a file beforehand, in the order of preference. */
enum ContentCoding {
    BROTLI("br", ".br"),
    GZIP("gzip", ".gz");

    private final String token;
    private final String extension;

    ContentCoding(String token, String extension) {
        this.token = token;
        this.extension = extension;
    }

    /** As in {@code Content-Encoding}. */
    String token() {
        return token;
    }

    /** What the name of the compressed file ends with, after that of the file itself. */
    String extension() {
        return extension;
    }

    /**
     * The one that a client wants most of those that are there; null for the file as it is, which is also what a client gets that accepts nothing at
     * all.
     *
     * @param acceptEncoding the request's field, null when it has none
     */
    static @Nullable ContentCoding choose(@Nullable String acceptEncoding, List<ContentCoding> available) {
        if (acceptEncoding == null || available.isEmpty()) {
            return null;
        }
        String accepted = acceptEncoding.toLowerCase(Locale.ROOT);
        ContentCoding best = null;
        // A client that ranks the plain form ranks it against the others; one that does not name it likes any coding
        // better.
        int bestWeight = weight(accepted, "identity", 0);
        int others = weight(accepted, "*", 0);
        for (ContentCoding coding : available) {
            int weight = weight(accepted, coding.token, others);
            if (weight > 0 && (weight > bestWeight || (best == null && weight == bestWeight))) {
                best = coding;
                bestWeight = weight;
            }
        }
        return best;
    }

    /** The weight of a coding in thousandths; one that is malformed is not accepted. */
    private static int weight(String accepted, String coding, int otherwise) {
        for (String element : accepted.split(",", -1)) {
            int semicolon = element.indexOf(';');
            String name = (semicolon < 0 ? element : element.substring(0, semicolon)).strip();
            boolean same = name.equals(coding) || (coding.equals("gzip") && name.equals("x-gzip"));
            if (same) {
                return semicolon < 0
                        ? 1000
                        : thousandths(element.substring(semicolon + 1).strip());
            }
        }
        return otherwise;
    }

    private static int thousandths(String parameter) {
        String value = parameter.startsWith("q") ? parameter.substring(1).strip() : "";
        if (!value.startsWith("=")) {
            return 0;
        }
        value = value.substring(1).strip();
        if (!value.matches("0(\\.[0-9]{0,3})?|1(\\.0{0,3})?")) {
            return 0;
        }
        return (int) Math.round(Double.parseDouble(value) * 1000);
    }
}
