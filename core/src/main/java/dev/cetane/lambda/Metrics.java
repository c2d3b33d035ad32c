package dev.cetane.lambda;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.RetireReason;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerEnd;
import java.io.IOException;
import java.io.OutputStream;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Writes what invocations cost as lines in CloudWatch's embedded metric format, at most one an invocation. Guarded by its own monitor;
 * {@link #record} runs on the loops' threads after the answer was sent, the methods of the pool's listener on the pool's threads.
 *
 * <p>All metrics have the function's name as their one dimension. What differs between invocations and environments (request, trace,
 * CPU) is a property: to be searched for in the log, and paid for by nobody.
 */
public final class Metrics implements PoolListener {
    private static final String NAMESPACE = "Cetane";
    private static final double NANOS_PER_MICRO = 1_000;

    /** The metrics that each invocation has a value of, in the order of their values. */
    private enum Metric {
        FETCH("Fetch", true),
        CONVERT("Convert", true),
        QUEUE("Queue", true),
        PHP("Php", true),
        HANDLER("Handler", true),
        ENCODE("Encode", true),
        SEND("Send", true),
        TERMINATE("Terminate", true),
        WORKER_PEAK_MEMORY("WorkerPeakMemory", false),
        COLD_STARTS("ColdStarts", false),
        FAILURES("Failures", false);

        private final String label;
        /** Milliseconds with three places, from microseconds. */
        private final boolean time;

        Metric(String label, boolean time) {
            this.label = label;
            this.time = time;
        }

        String unit() {
            return time ? "Milliseconds" : this == WORKER_PEAK_MEMORY ? "Bytes" : "Count";
        }
    }

    private static final Metric[] METRICS = Metric.values();
    private static final RetireReason[] REASONS = RetireReason.values();

    private final MetricsConfig config;
    private final OutputStream out;
    private final Ticker ticker;
    private final Map<RetireReason, AtomicInteger> restarts = new EnumMap<>(RetireReason.class);

    // Guarded by this.
    private final ByteWriter line = new ByteWriter();
    private final Map<Metric, long[]> values = new EnumMap<>(Metric.class);
    private int count;
    private int seen;
    private long initMicros = -1;
    private String failure = "";
    private String requestId = "";
    private String traceId = "";

    /** @param out takes each line in one write, with none of the log's in between */
    public Metrics(MetricsConfig config, OutputStream out, Ticker ticker) {
        this.config = config;
        this.out = out;
        this.ticker = ticker;
        int most = config.mode() == MetricsConfig.Mode.AGGREGATED ? config.every() : 1;
        for (Metric metric : METRICS) {
            values.put(metric, new long[most]);
        }
        for (RetireReason reason : REASONS) {
            restarts.put(reason, new AtomicInteger());
        }
    }

    /** The environment is ready; the next invocation is the one of its cold start. */
    synchronized void initialised(long nanos) {
        initMicros = micros(nanos);
    }

    /** An invocation has ended and was answered. */
    void record(Invocation invocation, InvocationFigures figures) {
        if (config.mode() != MetricsConfig.Mode.OFF) {
            add(invocation, figures);
        }
    }

    private synchronized void add(Invocation invocation, InvocationFigures figures) {
        boolean cold = seen == 0;
        boolean failed = !figures.failure.isEmpty();
        boolean sampled = seen % config.every() == 0 || cold || failed;
        seen = seen == Integer.MAX_VALUE ? 1 : seen + 1;
        if (config.mode() == MetricsConfig.Mode.SAMPLED && !sampled) {
            return;
        }
        JobReport report = figures.report;
        set(Metric.FETCH, micros(figures.fetchNanos));
        set(Metric.CONVERT, micros(figures.convertNanos));
        set(Metric.QUEUE, report == null ? 0 : micros(report.queueNanos() + report.bootNanos()));
        set(
                Metric.PHP,
                report == null ? 0 : micros(report.dispatchNanos() + report.firstByteNanos() + report.toEndNanos()));
        set(Metric.HANDLER, report == null ? 0 : report.handlerMicros());
        set(Metric.ENCODE, micros(figures.encodeNanos));
        set(Metric.SEND, micros(figures.sendNanos));
        set(Metric.TERMINATE, report == null ? 0 : micros(report.terminateNanos()));
        set(Metric.WORKER_PEAK_MEMORY, report == null ? 0 : report.peakMemoryBytes());
        set(Metric.COLD_STARTS, cold ? 1 : 0);
        set(Metric.FAILURES, failed ? 1 : 0);
        count++;
        requestId = invocation.requestId();
        traceId = invocation.traceId();
        if (failed) {
            failure = figures.failure;
        }
        if (config.mode() == MetricsConfig.Mode.SAMPLED || count == config.every()) {
            write();
        }
    }

    private void set(Metric metric, long value) {
        of(metric)[count] = value;
    }

    private long[] of(Metric metric) {
        return Objects.requireNonNull(values.get(metric));
    }

    private AtomicInteger of(RetireReason reason) {
        return Objects.requireNonNull(restarts.get(reason));
    }

    /** Writes what has been gathered; the process is about to end. Any thread. */
    synchronized void flush() {
        if (count > 0) {
            write();
        }
    }

    private void write() {
        int[] restarted = new int[REASONS.length];
        int total = 0;
        for (int i = 0; i < restarted.length; i++) {
            restarted[i] = of(REASONS[i]).getAndSet(0);
            total += restarted[i];
        }
        line.clear();
        line.put("{\"_aws\":{\"Timestamp\":").put(ticker.now().toEpochMilli());
        line.put(",\"CloudWatchMetrics\":[{\"Namespace\":\"" + NAMESPACE
                + "\",\"Dimensions\":[[\"FunctionName\"]],\"Metrics\":[");
        for (Metric metric : METRICS) {
            declare(metric.label, metric.unit());
        }
        if (initMicros >= 0) {
            declare("Init", "Milliseconds");
        }
        for (int i = 0; i < restarted.length; i++) {
            if (restarted[i] > 0) {
                declare(name(REASONS[i]), "Count");
            }
        }
        line.put("{\"Name\":\"WorkerRestarts\",\"Unit\":\"Count\"}]}]},\"FunctionName\":")
                .unicode(config.function());
        for (Metric metric : METRICS) {
            line.put(",\"").put(metric.label).put(count == 1 ? "\":" : "\":[");
            for (int i = 0; i < count; i++) {
                line.put(i == 0 ? "" : ",");
                value(of(metric)[i], metric.time);
            }
            line.put(count == 1 ? "" : "]");
        }
        if (initMicros >= 0) {
            line.put(",\"Init\":");
            value(initMicros, true);
        }
        for (int i = 0; i < restarted.length; i++) {
            if (restarted[i] > 0) {
                line.put(",\"").put(name(REASONS[i])).put("\":").put(restarted[i]);
            }
        }
        line.put(",\"WorkerRestarts\":").put(total);
        line.put(",\"functionVersion\":").unicode(config.version());
        line.put(",\"cpu\":").unicode(config.cpu());
        line.put(",\"requestId\":").string(requestId);
        line.put(",\"traceId\":").string(traceId);
        if (!failure.isEmpty()) {
            line.put(",\"failure\":").string(failure);
        }
        line.put("}\n");
        try {
            out.write(line.array(), 0, line.length());
            out.flush();
        } catch (IOException e) {
            // Nobody reads the log any more, and there is nowhere else to say so.
        }
        count = 0;
        initMicros = -1;
        failure = "";
    }

    private void declare(String name, String unit) {
        line.put("{\"Name\":\"").put(name).put("\",\"Unit\":\"").put(unit).put("\"},");
    }

    private void value(long value, boolean time) {
        line.put(time ? value / 1_000 : value);
        if (time) {
            long rest = value % 1_000;
            line.put(rest < 10 ? ".00" : rest < 100 ? ".0" : ".").put(rest);
        }
    }

    private static long micros(long nanos) {
        return Math.max(0, Math.round(nanos / NANOS_PER_MICRO));
    }

    /** As in {@code WorkerRestartsTimedOut}. */
    private static String name(RetireReason reason) {
        StringBuilder name = new StringBuilder("WorkerRestarts");
        for (String word : reason.label().split("_", -1)) {
            name.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
        }
        return name.toString();
    }

    // ---- the pool's listener ----

    @Override
    public void stopped(WorkerEnd end) {
        if (end.reason() != RetireReason.DRAIN) {
            of(end.reason()).incrementAndGet();
        }
    }
}
