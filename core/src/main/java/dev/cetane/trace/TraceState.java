package dev.cetane.trace;

import org.jspecify.annotations.Nullable;

/**
 * Checks a {@code tracestate} field: W3C Trace Context, level 2. A list that breaks the grammar is dropped as a whole; the content of its entries
 * is nobody's business but their vendors'. Stateless.
 */
final class TraceState {
    /** Most entries of a list. */
    private static final int MOST_ENTRIES = 32;

    /** Most characters of a key, and of a value. */
    private static final int MOST_CHARS = 256;

    /** Most characters that are passed on. */
    static final int MOST_LENGTH = 512;

    /** Entries longer than this go first when there are more. */
    private static final int LONG_ENTRY = 128;

    private TraceState() {}

    /**
     * What is passed on of the fields' values, joined by commas: the same entries in the same order, as long as they fit.
     *
     * @return null when there is nothing to pass on: it has no entry, more than 32, or one that is malformed
     */
    static @Nullable String accept(String list) {
        int entries = 0;
        boolean plain = true;
        for (int start = 0; start <= list.length(); ) {
            int end = end(list, start);
            int from = skipSpaces(list, start, end);
            int to = trimSpaces(list, from, end);
            plain &= from == start && to == end && to > from;
            if (from < to && (++entries > MOST_ENTRIES || !isEntry(list, from, to))) {
                return null;
            }
            start = end + 1;
        }
        if (entries == 0) {
            return null;
        }
        return plain && list.length() <= MOST_LENGTH ? list : shorten(list);
    }

    /** Without empty entries and spaces around others; of those that are too many the long ones are left out, then the last ones. */
    private static @Nullable String shorten(String list) {
        boolean tooLong = joined(list, Integer.MAX_VALUE).length() > MOST_LENGTH;
        String kept = joined(list, tooLong ? LONG_ENTRY : Integer.MAX_VALUE);
        while (kept.length() > MOST_LENGTH) {
            kept = kept.substring(0, kept.lastIndexOf(','));
        }
        return kept.isEmpty() ? null : kept;
    }

    private static String joined(String list, int mostChars) {
        StringBuilder kept = new StringBuilder(MOST_LENGTH);
        for (int start = 0; start <= list.length(); ) {
            int end = end(list, start);
            int from = skipSpaces(list, start, end);
            int to = trimSpaces(list, from, end);
            if (from < to && to - from <= mostChars) {
                kept.append(kept.isEmpty() ? "" : ",").append(list, from, to);
            }
            start = end + 1;
        }
        return kept.toString();
    }

    private static int end(String list, int start) {
        int comma = list.indexOf(',', start);
        return comma < 0 ? list.length() : comma;
    }

    private static int skipSpaces(String list, int start, int end) {
        int from = start;
        while (from < end && isSpace(list.charAt(from))) {
            from++;
        }
        return from;
    }

    private static int trimSpaces(String list, int from, int end) {
        int to = end;
        while (to > from && isSpace(list.charAt(to - 1))) {
            to--;
        }
        return to;
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }

    private static boolean isEntry(String list, int from, int to) {
        int equals = list.indexOf('=', from);
        if (equals <= from || equals >= to - 1 || equals - from > MOST_CHARS || to - equals - 1 > MOST_CHARS) {
            return false;
        }
        for (int i = from; i < equals; i++) {
            char c = list.charAt(i);
            boolean letterOrDigit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            if (!letterOrDigit && (i == from || "_-*/@".indexOf(c) < 0)) {
                return false;
            }
        }
        for (int i = equals + 1; i < to; i++) {
            char c = list.charAt(i);
            if (c < ' ' || c > '~' || c == '=') {
                return false;
            }
        }
        return true;
    }
}
