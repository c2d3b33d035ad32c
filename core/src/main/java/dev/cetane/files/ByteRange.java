package dev.cetane.files;

import org.jspecify.annotations.Nullable;

/**
 * The part of a file that a {@code Range} field asks for (RFC 9110, 14). Immutable.
 *
 * @param start of the part, in bytes
 * @param length of the part, in bytes; 0 says that the file has no such part
 */
record ByteRange(long start, long length) {
    private static final ByteRange UNSATISFIABLE = new ByteRange(0, 0);

    /** More digits than any length has; such a number is beyond every end. */
    private static final int MOST_DIGITS = 18;

    boolean satisfiable() {
        return length > 0;
    }

    /**
     * What the field asks for; null when the whole is to be sent: a unit other than bytes, wrong syntax, or several ranges, which are not served as such
     * because small overlapping ones make a large answer.
     *
     * @param size of the file, in bytes
     */
    static @Nullable ByteRange of(String field, long size) {
        if (!field.regionMatches(true, 0, "bytes=", 0, 6) || field.indexOf(',') >= 0) {
            return null;
        }
        String range = field.substring(6).strip();
        int dash = range.indexOf('-');
        if (dash < 0) {
            return null;
        }
        String first = range.substring(0, dash).strip();
        String last = range.substring(dash + 1).strip();
        if (!isNumber(first) || !isNumber(last) || (first.isEmpty() && last.isEmpty())) {
            return null;
        }
        if (first.isEmpty()) {
            long suffix = number(last);
            if (suffix == 0) {
                return UNSATISFIABLE;
            }
            // No range can describe nothing: an empty file is sent whole.
            return size == 0 ? null : new ByteRange(size - Math.min(suffix, size), Math.min(suffix, size));
        }
        long start = number(first);
        long end = last.isEmpty() ? Long.MAX_VALUE : number(last);
        if (end < start) {
            return null;
        }
        return start >= size ? UNSATISFIABLE : new ByteRange(start, Math.min(end, size - 1) - start + 1);
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private static long number(String digits) {
        return digits.length() > MOST_DIGITS ? Long.MAX_VALUE : Long.parseLong(digits);
    }
}
