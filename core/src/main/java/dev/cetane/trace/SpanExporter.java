package dev.cetane.trace;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.trace.CollectorClient.Reply;
import dev.cetane.worker.Ticker;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sends spans in batches, tries again what may succeed later, and counts what is lost. {@link #offer} may be called on a request's path; all else is
 * done by the thread {@code cetane-spans}, so a collector that hangs or is away costs spans and nothing else.
 */
final class SpanExporter implements AutoCloseable {
    /** How long one batch is tried, so that newer ones get their turn. */
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** How long a stop waits for what is left to be sent. */
    private static final long LAST_MILLIS = 5_000;

    private static final long LOG_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final int MOST_DOUBLINGS = 4;

    private final TracingConfig.Export config;
    private final Ticker ticker;
    private final EventLog log;
    private final Duration firstPause;
    private final SpanQueue queue;
    private final SpanEncoder encoder;
    private final CollectorClient client;
    private final Map<SpanFate, LongAdder> counts = new EnumMap<>(SpanFate.class);
    private final Thread thread = new Thread(this::run, "cetane-spans");

    // Of the thread alone.
    private final Map<SpanFate, Long> logged = new EnumMap<>(SpanFate.class);
    private long lastLogNanos;
    private boolean everLogged;
    private String lastProblem = "";

    private SpanExporter(
            TracingConfig.Export config, String version, Ticker ticker, EventLog log, Duration firstPause) {
        this.config = config;
        this.ticker = ticker;
        this.log = log;
        this.firstPause = firstPause;
        this.queue = new SpanQueue(config.queueSize(), ticker);
        this.encoder = new SpanEncoder(config.resource(), version);
        this.client = new CollectorClient(config, version, ticker);
        for (SpanFate fate : SpanFate.values()) {
            counts.put(fate, new LongAdder());
        }
    }

    static SpanExporter start(TracingConfig.Export config, String version, Ticker ticker, EventLog log) {
        return start(config, version, ticker, log, FIRST_PAUSE);
    }

    /** @param firstPause before a second try; doubled with each more */
    static SpanExporter start(
            TracingConfig.Export config, String version, Ticker ticker, EventLog log, Duration firstPause) {
        SpanExporter exporter = new SpanExporter(config, version, ticker, log, firstPause);
        exporter.thread.setDaemon(true);
        exporter.thread.start();
        return exporter;
    }

    /** Any thread. */
    void offer(RequestSpan span) {
        if (!queue.offer(span)) {
            count(SpanFate.DROPPED, span.spans());
        }
    }

    /** Any thread. */
    long count(SpanFate fate) {
        return adder(fate).sum();
    }

    private LongAdder adder(SpanFate fate) {
        return Objects.requireNonNull(counts.get(fate));
    }

    private void count(SpanFate fate, long spans) {
        adder(fate).add(spans);
    }

    private void run() {
        try {
            List<RequestSpan> batch;
            do {
                batch = queue.take(config.interval().toNanos());
                if (!batch.isEmpty()) {
                    send(batch);
                }
                report(false);
            } while (!queue.stopping() || !batch.isEmpty());
        } catch (InterruptedException e) {
            // The stop has waited long enough.
            Thread.currentThread().interrupt();
        } finally {
            count(SpanFate.LOST, queue.abandon());
            report(true);
        }
    }

    private void send(List<RequestSpan> batch) throws InterruptedException {
        long spans = batch.stream().mapToLong(RequestSpan::spans).sum();
        try {
            byte[] message = encoder.encode(batch);
            long since = ticker.nanos();
            for (int tries = 0; ; tries++) {
                Reply reply = client.post(message);
                if (!reply.mayRetry()) {
                    long refused = reply.taken() ? Math.min(reply.rejectedSpans(), spans) : spans;
                    count(SpanFate.REFUSED, refused);
                    count(SpanFate.SENT, spans - refused);
                    spans = 0;
                    if (refused > 0) {
                        lastProblem = reply.problem();
                    }
                    return;
                }
                lastProblem = reply.problem();
                long pause = Math.max(pauseNanos(tries), reply.pauseNanos());
                if (queue.stopping() || ticker.nanos() - since + pause > PATIENCE_NANOS) {
                    return;
                }
                report(false);
                queue.pause(pause);
            }
        } catch (RuntimeException e) {
            // The thread goes on, or nothing would be sent any more.
            lastProblem = e.toString();
        } finally {
            count(SpanFate.LOST, spans);
        }
    }

    /** Spread, so that the instances of a fleet do not come back all at once. */
    private long pauseNanos(int tries) {
        long pause = firstPause.toNanos() << Math.min(tries, MOST_DOUBLINGS);
        return pause - ThreadLocalRandom.current().nextLong(pause / 4 + 1);
    }

    /** Says what was lost since it was last said, once a minute at most. */
    private void report(boolean atEnd) {
        long dropped = unlogged(SpanFate.DROPPED);
        long refused = unlogged(SpanFate.REFUSED);
        long lost = unlogged(SpanFate.LOST);
        long now = ticker.nanos();
        boolean due = !everLogged || now - lastLogNanos >= LOG_NANOS;
        if (dropped + refused + lost == 0 || !(due || atEnd)) {
            return;
        }
        everLogged = true;
        lastLogNanos = now;
        for (SpanFate fate : SpanFate.values()) {
            logged.put(fate, count(fate));
        }
        StringBuilder message = new StringBuilder("Spans are lost, requests are not affected:");
        if (dropped > 0) {
            message.append(" more than tracing.queue-size (")
                    .append(config.queueSize())
                    .append(") requests waited for the collector;");
        }
        message.append(" look at tracing.otlp (").append(config.collector()).append(')');
        if (!lastProblem.isEmpty()) {
            message.append(", whose last problem was: ").append(lastProblem);
        }
        log.log(
                Level.WARN,
                "spans.lost",
                null,
                message.append(". This is said once a minute at most").toString(),
                "dropped",
                dropped,
                "refused",
                refused,
                "lost",
                lost);
    }

    private long unlogged(SpanFate fate) {
        return count(fate) - logged.getOrDefault(fate, 0L);
    }

    /** Sends what is left, within some seconds. */
    @Override
    public void close() {
        queue.stop();
        try {
            thread.join(LAST_MILLIS);
            thread.interrupt();
            thread.join(LAST_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
