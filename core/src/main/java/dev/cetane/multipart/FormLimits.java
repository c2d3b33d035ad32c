package dev.cetane.multipart;

import java.util.Map;

/**
 * The settings of a PHP that bound what it takes from a form. Immutable.
 *
 * @param postMaxBytes {@code post_max_size}, longest body; 0: no limit
 * @param uploadMaxBytes {@code upload_max_filesize}, longest file; 0: no limit
 * @param maxUploads {@code max_file_uploads}, most files that are not empty
 * @param maxFields {@code max_input_vars}, most text fields
 * @param maxParts {@code max_multipart_body_parts}, most parts of any kind, -1 of php.ini replaced by the sum that PHP makes of it
 * @param uploads {@code file_uploads}, whether files are taken at all
 */
public record FormLimits(
        long postMaxBytes, long uploadMaxBytes, long maxUploads, long maxFields, long maxParts, boolean uploads) {

    /** What PHP has without a php.ini. */
    public static final FormLimits PHP_DEFAULTS = new FormLimits(8L << 20, 2L << 20, 20, 1000, 1020, true);

    /** The limits among the facts of a READY frame; a fact that is missing, or no number, has PHP's default. */
    public static FormLimits of(Map<String, String> facts) {
        return new FormLimits(
                number(facts, "post-max-size", PHP_DEFAULTS.postMaxBytes),
                number(facts, "upload-max-filesize", PHP_DEFAULTS.uploadMaxBytes),
                number(facts, "max-file-uploads", PHP_DEFAULTS.maxUploads),
                number(facts, "max-input-vars", PHP_DEFAULTS.maxFields),
                number(facts, "max-multipart-body-parts", PHP_DEFAULTS.maxParts),
                !facts.getOrDefault("file-uploads", "1").equals("0"));
    }

    private static long number(Map<String, String> facts, String name, long otherwise) {
        String text = facts.getOrDefault(name, "");
        if (text.isEmpty() || text.length() > 18) {
            return otherwise;
        }
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return otherwise;
            }
            number = number * 10 + (c - '0');
        }
        return number;
    }
}
