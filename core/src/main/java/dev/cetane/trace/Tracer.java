package dev.cetane.trace;

import dev.cetane.log.EventLog;
import dev.cetane.worker.Ticker;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Gives requests their place in a trace, and takes their spans to where they are exported. {@link #begin} and {@link #ended} run on requests' paths, on
 * any thread; they neither wait nor make a system call. Started and closed by the main thread.
 *
 * <p>A trace that a caller has begun is recorded if the caller records it, one that begins here by its random id.
 */
public final class Tracer implements AutoCloseable {
    /** What the random part of a trace's id is taken for: 7 bytes. */
    private static final int RANDOM_BITS = 56;

    private static final long RANDOM_MASK = (1L << RANDOM_BITS) - 1;

    private final TracingConfig config;

    /** Traces from this number on are recorded. */
    private final long threshold;

    private final @Nullable SpanExporter exporter;

    /** One that exports nothing. */
    public Tracer(TracingConfig config) {
        this(config, null);
    }

    private Tracer(TracingConfig config, @Nullable SpanExporter exporter) {
        this.config = config;
        this.threshold = (1L << RANDOM_BITS) - (long) (config.sampleRatio() * (1L << RANDOM_BITS));
        this.exporter = exporter;
    }

    /**
     * Starts what the configuration asks for; null when that is nothing.
     *
     * @param version of this program
     */
    public static @Nullable Tracer start(TracingConfig config, String version, Ticker ticker, EventLog log) {
        if (!config.enabled()) {
            return null;
        }
        TracingConfig.Export export = config.export();
        return new Tracer(config, export == null ? null : SpanExporter.start(export, version, ticker, log));
    }

    /**
     * The place of a request: in its caller's trace where that is known and believed, else at the beginning of a new one.
     *
     * @param parentField the request's {@code traceparent}, several joined by commas
     * @param stateField its {@code tracestate}, likewise
     * @param trusted whether it came from a trusted proxy
     */
    public TraceContext begin(@Nullable String parentField, @Nullable String stateField, boolean trusted) {
        TraceParent parent =
                parentField == null || !config.accept().contains(trusted) ? null : TraceParent.parse(parentField);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (parent == null) {
            long low = newId();
            boolean sampled = (low & RANDOM_MASK) >= threshold;
            int flags = TraceParent.RANDOM | (sampled ? TraceParent.SAMPLED : 0);
            return new TraceContext(random.nextLong(), low, 0, newId(), newId(), flags, null);
        }
        return new TraceContext(
                parent.traceHigh(),
                parent.traceLow(),
                parent.parentId(),
                newId(),
                newId(),
                parent.flags(),
                stateField == null ? null : TraceState.accept(stateField));
    }

    /** The metric of {@code Server-Timing} for an answer, null where this client is not told. */
    public @Nullable String answer(TraceContext trace, boolean trusted) {
        return config.answer().contains(trusted) ? trace.serverTiming() : null;
    }

    /** Whether {@link #ended} is to be told of a request in this trace. */
    public boolean records(TraceContext trace) {
        return exporter != null && trace.sampled();
    }

    /** A request has ended whose trace is {@linkplain #records recorded}. Its spans are dropped, and counted, where too many wait already. */
    public void ended(RequestSpan span) {
        if (exporter != null) {
            exporter.offer(span);
        }
    }

    /** How many spans have met that fate. */
    public long count(SpanFate fate) {
        return exporter == null ? 0 : exporter.count(fate);
    }

    /** Sends what waits, within some seconds. */
    @Override
    public void close() {
        if (exporter != null) {
            exporter.close();
        }
    }

    /** Random, and never 0, which would not be valid. */
    static long newId() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long id = random.nextLong();
        while (id == 0) {
            id = random.nextLong();
        }
        return id;
    }
}
