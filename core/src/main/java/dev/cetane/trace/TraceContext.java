package dev.cetane.trace;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The place of one request in its trace: its own span, below its caller's if that is known, and the span of PHP's work below its own.
 * Immutable.
 */
public final class TraceContext {
    /** What stands before it in {@code Server-Timing}: Trace Context, level 3 (draft). */
    private static final byte[] METRIC = "trace;desc=".getBytes(StandardCharsets.US_ASCII);

    private static final int PARENT_LENGTH = 55;

    private final long traceHigh;
    private final long traceLow;
    private final long parentId;
    private final long spanId;
    private final long phpSpanId;
    private final int flags;
    private final @Nullable String state;

    /**
     * @param parentId 0 where the trace begins with this request
     * @param state the caller's {@code tracestate} as far as it is passed on
     */
    TraceContext(
            long traceHigh,
            long traceLow,
            long parentId,
            long spanId,
            long phpSpanId,
            int flags,
            @Nullable String state) {
        this.traceHigh = traceHigh;
        this.traceLow = traceLow;
        this.parentId = parentId;
        this.spanId = spanId;
        this.phpSpanId = phpSpanId;
        this.flags = flags;
        this.state = state;
    }

    /** 32 hexadecimal digits. */
    public String traceId() {
        return Hex.trace(traceHigh, traceLow);
    }

    /** Of the request's span, 16 hexadecimal digits. */
    public String spanId() {
        return Hex.span(spanId);
    }

    /** Whether its spans are to be recorded. */
    public boolean sampled() {
        return (flags & TraceParent.SAMPLED) != 0;
    }

    /** The {@code traceparent} for PHP: what it does is below the span that Cetane has for PHP. */
    public String traceParent() {
        byte[] out = new byte[PARENT_LENGTH];
        write(phpSpanId, out, 0);
        return new String(out, StandardCharsets.ISO_8859_1);
    }

    /** The {@code tracestate} for PHP; null for none. */
    public @Nullable String traceState() {
        return state;
    }

    /** The metric of {@code Server-Timing} that tells the client trace and span of its request. */
    public String serverTiming() {
        byte[] out = new byte[METRIC.length + PARENT_LENGTH];
        System.arraycopy(METRIC, 0, out, 0, METRIC.length);
        write(spanId, out, METRIC.length);
        return new String(out, StandardCharsets.ISO_8859_1);
    }

    private void write(long id, byte[] out, int at) {
        Hex.put(0, 2, out, at);
        out[at + 2] = '-';
        Hex.put(traceHigh, 16, out, at + 3);
        Hex.put(traceLow, 16, out, at + 19);
        out[at + 35] = '-';
        Hex.put(id, 16, out, at + 36);
        out[at + 52] = '-';
        Hex.put(flags, 2, out, at + 53);
    }

    long traceHigh() {
        return traceHigh;
    }

    long traceLow() {
        return traceLow;
    }

    /** 0 where the trace begins with this request. */
    long parentId() {
        return parentId;
    }

    long span() {
        return spanId;
    }

    long phpSpan() {
        return phpSpanId;
    }

    int flags() {
        return flags;
    }
}
