package dev.cetane.trace;

import org.jspecify.annotations.Nullable;

/**
 * What a {@code traceparent} field says: W3C Trace Context, levels 1 and 2. Immutable.
 *
 * @param traceHigh upper half of the trace's id
 * @param traceLow lower half; not both are 0
 * @param parentId id of the caller's span, not 0
 * @param flags those that are known: {@link #SAMPLED} and {@link #RANDOM}
 */
public record TraceParent(long traceHigh, long traceLow, long parentId, int flags) {
    /** The caller may have recorded its part. */
    static final int SAMPLED = 1;

    /** The lower 7 bytes of the trace's id are random. */
    static final int RANDOM = 2;

    /** {@code 00-<32 digits>-<16 digits>-<2 digits>}; a future version may say more behind it. */
    private static final int LENGTH = 55;

    private static final int TRACE_AT = 3;
    private static final int PARENT_AT = 36;
    private static final int FLAGS_AT = 53;

    /**
     * Reads the value of a request's only such field, without white space around it. Several fields, joined by commas, are none.
     *
     * @return null when it is invalid, or in a version that cannot be read
     */
    public static @Nullable TraceParent parse(String value) {
        int length = value.length();
        if (length < LENGTH
                || value.charAt(TRACE_AT - 1) != '-'
                || value.charAt(PARENT_AT - 1) != '-'
                || value.charAt(FLAGS_AT - 1) != '-') {
            return null;
        }
        boolean digits = areDigits(value, 0, 2)
                && areDigits(value, TRACE_AT, PARENT_AT - 1)
                && areDigits(value, PARENT_AT, FLAGS_AT - 1)
                && areDigits(value, FLAGS_AT, LENGTH);
        if (!digits || value.startsWith("ff")) {
            return null;
        }
        boolean future = !value.startsWith("00");
        if (length > LENGTH && !(future && value.charAt(LENGTH) == '-' && value.indexOf(',', LENGTH) < 0)) {
            return null;
        }
        long high = number(value, TRACE_AT, TRACE_AT + 16);
        long low = number(value, TRACE_AT + 16, PARENT_AT - 1);
        long parent = number(value, PARENT_AT, FLAGS_AT - 1);
        if ((high | low) == 0 || parent == 0) {
            return null;
        }
        return new TraceParent(high, low, parent, (int) number(value, FLAGS_AT, LENGTH) & (SAMPLED | RANDOM));
    }

    /** The trace's id as it is written: 32 lower-case hexadecimal digits. */
    public String traceId() {
        return Hex.trace(traceHigh, traceLow);
    }

    private static boolean areDigits(String value, int from, int to) {
        for (int i = from; i < to; i++) {
            char c = value.charAt(i);
            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
                return false;
            }
        }
        return true;
    }

    private static long number(String value, int from, int to) {
        long number = 0;
        for (int i = from; i < to; i++) {
            char c = value.charAt(i);
            number = number << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
        }
        return number;
    }
}
