package dev.cetane.ops;

import dev.cetane.http.HttpListener;
import dev.cetane.http.RequestReport;
import dev.cetane.log.EventLog;
import dev.cetane.ops.Exporters.Export;
import dev.cetane.protocol.Measurement;
import dev.cetane.trace.SpanFate;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.RetireReason;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerEnd;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerState;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times what happens, and renders it for Prometheus. Every series exists from the start, and recording allocates nothing.
 *
 * <p>The listener's methods run on any thread; {@link #scrape} on one at a time.
 */
public final class Metrics implements PoolListener, HttpListener {

    /** Where the time of a request goes. */
    private enum Phase {
        RECEIVE,
        QUEUE,
        BOOT,
        DISPATCH,
        FIRST_BYTE,
        TO_END,
        TRANSFER,
        TERMINATE,
        HANDLER,
        CPU
    }

    private static final String ABANDONED = "abandoned";
    private static final String ABORTED = "aborted";
    private static final Set<WorkerException.Kind> REJECTING = EnumSet.of(
            WorkerException.Kind.OVERLOADED,
            WorkerException.Kind.QUEUE_TIMEOUT,
            WorkerException.Kind.DRAINING,
            WorkerException.Kind.CANCELLED);
    private static final Set<WorkerException.Kind> FAILING = EnumSet.of(
            WorkerException.Kind.TIMED_OUT,
            WorkerException.Kind.CRASHED,
            WorkerException.Kind.PROTOCOL,
            WorkerException.Kind.APPLICATION,
            WorkerException.Kind.DRAINING,
            WorkerException.Kind.UNDELIVERABLE);

    private static final Duration[] BUCKETS = buckets(
            50,
            100,
            250,
            500,
            1_000,
            2_500,
            5_000,
            10_000,
            25_000,
            50_000,
            100_000,
            250_000,
            500_000,
            1_000_000,
            2_500_000,
            5_000_000,
            10_000_000,
            30_000_000);

    private static final int[] FILE_STATUSES = {200, 206, 304, 412, 416};

    private static final long SNAPSHOT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final PoolSnapshot NOTHING = new PoolSnapshot(0, 0, 0, 0, 0, 0, false, null, List.of(), null);

    private final PrometheusMeterRegistry registry;

    /** The one above, or where others are told too, all of them. */
    private final MeterRegistry recording;

    private final List<Export> exports;

    private final Supplier<PoolSnapshot> pool;

    /** Index is the first digit of the status. */
    private final Timer[] byStatus = new Timer[6];

    private final Timer abandoned;
    private final Timer aborted;
    private final Map<Phase, Timer> phases = new EnumMap<>(Phase.class);
    private final Map<WorkerException.Kind, Counter> failures = new EnumMap<>(WorkerException.Kind.class);
    private final Map<WorkerException.Kind, Counter> rejections = new EnumMap<>(WorkerException.Kind.class);
    private final Timer tasks;
    private final Map<WorkerException.Kind, Counter> taskFailures = new EnumMap<>(WorkerException.Kind.class);
    private final Map<RetireReason, Counter> stops = new EnumMap<>(RetireReason.class);
    private final Map<Integer, Counter> files = new HashMap<>();
    private final Counter slowRequests;
    private final Counter starts;
    private final Timer boot;
    private final Counter connectionsOpened;
    private final Counter connectionsRefused;
    private final LongAdder connections = new LongAdder();

    private final LatencyHistogram latency = new LatencyHistogram();
    private final SlowRequests slow;
    private final RecentEnds ends = new RecentEnds();
    private final LastReports lastReports = new LastReports();
    private final Ticker ticker;
    private final Map<ApplicationMetrics.Refusal, Counter> refusals = new EnumMap<>(ApplicationMetrics.Refusal.class);

    private volatile LongSupplier tableBytes = () -> 0;
    private volatile ToLongFunction<SpanFate> spans = fate -> 0;

    /** What the gauges show; taken once for all of them when a scrape begins, or when one is asked for after a while. */
    private volatile PoolSnapshot snapshot = NOTHING;

    private volatile long snapshotNanos;

    /**
     * @param pool asked once for each scrape
     * @param version of this program
     */
    public Metrics(Supplier<PoolSnapshot> pool, Ticker ticker, String version) {
        this(pool, ticker, version, List.<Export>of());
    }

    /**
     * @param pool asked once for each scrape
     * @param version of this program
     * @param exporters are told everything too
     */
    public Metrics(Supplier<PoolSnapshot> pool, Ticker ticker, String version, Exporters exporters) {
        this(pool, ticker, version, exporters.exports());
    }

    private Metrics(Supplier<PoolSnapshot> pool, Ticker ticker, String version, List<Export> exports) {
        this.pool = pool;
        this.ticker = ticker;
        this.slow = new SlowRequests(ticker);
        this.registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), clock(ticker));
        this.exports = exports;
        this.recording = recording();
        this.snapshotNanos = ticker.nanos();
        for (int digit = 1; digit < byStatus.length; digit++) {
            byStatus[digit] = timer(Meters.REQUESTS, digit + "xx");
        }
        abandoned = timer(Meters.REQUESTS, ABANDONED);
        aborted = timer(Meters.REQUESTS, ABORTED);
        for (Phase phase : Phase.values()) {
            phases.put(phase, timer(Meters.PHASES, label(phase)));
        }
        FAILING.forEach(kind -> failures.put(kind, counter(Meters.FAILURES, label(kind))));
        REJECTING.forEach(kind -> rejections.put(kind, counter(Meters.REJECTIONS, label(kind))));
        tasks = timer(Meters.TASKS, "");
        EnumSet<WorkerException.Kind> failingTasks = EnumSet.copyOf(FAILING);
        failingTasks.addAll(REJECTING);
        failingTasks.forEach(kind -> taskFailures.put(kind, counter(Meters.TASK_FAILURES, label(kind))));
        for (RetireReason reason : RetireReason.values()) {
            stops.put(reason, counter(Meters.STOPS, reason.label()));
        }
        for (int status : FILE_STATUSES) {
            files.put(status, counter(Meters.FILES, Integer.toString(status)));
        }
        slowRequests = counter(Meters.SLOW, "");
        starts = counter(Meters.STARTS, "");
        boot = timer(Meters.BOOT, "");
        connectionsOpened = counter(Meters.CONNECTIONS_OPENED, "");
        connectionsRefused = counter(Meters.CONNECTIONS_REFUSED, "");
        gauge(Meters.CONNECTIONS, "", metrics -> metrics.connections.sum());
        gauge(Meters.TABLE_MEMORY, "", metrics -> metrics.tableBytes.getAsLong());
        for (ApplicationMetrics.Refusal refusal : ApplicationMetrics.Refusal.values()) {
            refusals.put(refusal, counter(Meters.APPLICATION_REFUSED, label(refusal)));
        }
        for (SpanFate fate : SpanFate.values()) {
            functionCounter(Meters.SPANS, label(fate), metrics -> metrics.spans.applyAsLong(fate));
        }
        gauge(Meters.BUILD, version, metrics -> 1);
        poolGauges();
        jvmMeters();
    }

    /** The answer to {@code GET /metrics}, in Prometheus' text format. */
    public String scrape() {
        look();
        return registry.scrape();
    }

    private void look() {
        snapshotNanos = ticker.nanos();
        snapshot = pool.get();
    }

    /** The pool as it is, or was within the last second: each exporter asks for all gauges in turn, whenever it likes. */
    private PoolSnapshot pool() {
        if (snapshot.target() == 0 || ticker.nanos() - snapshotNanos > SNAPSHOT_NANOS) {
            look();
        }
        return snapshot;
    }

    private MeterRegistry recording() {
        if (exports.isEmpty()) {
            return registry;
        }
        CompositeMeterRegistry all =
                new CompositeMeterRegistry(registry.config().clock());
        all.add(registry);
        exports.forEach(export -> all.add(export.registry()));
        return all;
    }

    @Override
    public void started(int workerId) {
        starts.increment();
    }

    @Override
    public void booted(int workerId, long bootNanos) {
        boot.record(bootNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void stopped(WorkerEnd end) {
        count(stops.get(end.reason()));
        ends.add(ticker.now().toEpochMilli(), end);
    }

    @Override
    public void rejected(WorkerException.Kind kind) {
        count(rejections.get(kind));
    }

    @Override
    public void completed(JobReport report) {
        lastReports.keep(report);
        record(Phase.QUEUE, report.queueNanos());
        if (report.bootNanos() > 0) {
            record(Phase.BOOT, report.bootNanos());
        }
        record(Phase.DISPATCH, report.dispatchNanos());
        record(Phase.FIRST_BYTE, report.firstByteNanos());
        record(Phase.TO_END, report.toEndNanos());
        record(Phase.TERMINATE, report.terminateNanos());
        record(Phase.HANDLER, report.handlerMicros() * 1_000);
        record(Phase.CPU, report.cpuMicros() * 1_000);
    }

    @Override
    public void failed(WorkerException.Kind kind) {
        count(failures.get(kind));
    }

    /** A task has ended with an answer. */
    public void taskCompleted(JobReport report) {
        tasks.record(report.handlerMicros(), TimeUnit.MICROSECONDS);
    }

    /** A task was not run to its end. */
    public void taskFailed(WorkerException.Kind kind) {
        count(taskFailures.get(kind));
    }

    /** Takes what the application measures, and shows it with the rest; null where it may have no series. */
    public @Nullable Consumer<List<Measurement>> application(int mostSeries, EventLog log) {
        return mostSeries == 0 ? null : new ApplicationMetrics(registry, recording, exports, refusals, mostSeries, log);
    }

    /** What the shared tables take is asked from here on. */
    public void tables(LongSupplier usedBytes) {
        tableBytes = usedBytes;
    }

    /** What has become of spans is asked from here on. */
    public void spans(ToLongFunction<SpanFate> counts) {
        spans = counts;
    }

    @Override
    public void connectionOpened() {
        connections.increment();
        connectionsOpened.increment();
    }

    @Override
    public void connectionClosed() {
        connections.decrement();
    }

    @Override
    public void connectionRefused() {
        connectionsRefused.increment();
    }

    @Override
    public void answered(int status, long durationNanos, long receiveNanos, long transferNanos) {
        byStatus[Math.max(1, Math.min(status / 100, byStatus.length - 1))].record(durationNanos, TimeUnit.NANOSECONDS);
        latency.record(durationNanos);
        record(Phase.RECEIVE, receiveNanos);
        record(Phase.TRANSFER, transferNanos);
    }

    @Override
    public void ended(RequestReport report) {
        slow.offer(report);
    }

    /** Shown beside the request where the slowest are. */
    @Override
    public void slow(String requestId, String stack) {
        slowRequests.increment();
        slow.traced(requestId, stack);
    }

    @Override
    public void outOfTime(String requestId, String stack) {
        slow.traced(requestId, stack);
    }

    @Override
    public void fileServed(int status) {
        count(files.get(status));
    }

    @Override
    public void abandoned(long durationNanos) {
        abandoned.record(durationNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void aborted(long durationNanos) {
        aborted.record(durationNanos, TimeUnit.NANOSECONDS);
    }

    LatencyHistogram latency() {
        return latency;
    }

    SlowRequests slow() {
        return slow;
    }

    /** For php-fpm's status page. */
    FpmStatus.Figures figures() {
        double failed = failures.values().stream()
                .mapToDouble(counter -> counted(counter).count())
                .sum();
        Timer passed = phases.get(Phase.FIRST_BYTE);
        return new FpmStatus.Figures(
                (passed == null ? 0 : counted(passed).count()) + (long) failed,
                (long) counted(slowRequests).count(),
                lastReports);
    }

    RecentEnds ends() {
        return ends;
    }

    /** What was counted so far. */
    Totals totals() {
        Map<String, Long> outcomes = new LinkedHashMap<>();
        for (int digit = 1; digit < byStatus.length; digit++) {
            outcomes.put(digit + "xx", counted(byStatus[digit]).count());
        }
        outcomes.put(ABANDONED, counted(abandoned).count());
        outcomes.put(ABORTED, counted(aborted).count());
        Map<String, Totals.Passed> passed = new LinkedHashMap<>();
        phases.forEach((phase, timer) -> passed.put(
                label(phase),
                new Totals.Passed(counted(timer).count(), counted(timer).totalTime(TimeUnit.NANOSECONDS))));
        return new Totals(outcomes, passed, counted(failures), counted(rejections), counted(stops), connections.sum());
    }

    private Map<String, Long> counted(Map<? extends Enum<?>, Counter> counters) {
        Map<String, Long> counted = new LinkedHashMap<>();
        counters.forEach((kind, counter) -> {
            long count = (long) counted(counter).count();
            if (count > 0) {
                counted.put(label(kind), count);
            }
        });
        return counted;
    }

    private void record(Phase phase, long nanos) {
        Timer timer = phases.get(phase);
        if (timer != null) {
            timer.record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** A kind that cannot come from there has no series, and is not counted. */
    private static void count(@Nullable Counter counter) {
        if (counter != null) {
            counter.increment();
        }
    }

    private PoolSnapshot tasks() {
        PoolSnapshot tasks = pool().tasks();
        return tasks == null ? NOTHING : tasks;
    }

    private void poolGauges() {
        for (WorkerState state : EnumSet.complementOf(EnumSet.of(WorkerState.STOPPED))) {
            gauge(Meters.WORKERS, label(state), metrics -> metrics.pool().count(state));
            gauge(Meters.TASK_WORKERS, label(state), metrics -> metrics.tasks().count(state));
        }
        gauge(Meters.TASK_WORKERS_TARGET, "", metrics -> metrics.tasks().target());
        gauge(Meters.TASK_QUEUE, "", metrics -> metrics.tasks().queued());
        gauge(Meters.TASK_QUEUE_LIMIT, "", metrics -> metrics.tasks().queueLimit());
        gauge(Meters.WORKERS_TARGET, "", metrics -> metrics.pool().target());
        gauge(
                Meters.WORKERS_MEMORY,
                "",
                metrics -> metrics.pool().allWorkers().stream()
                        .mapToLong(PoolSnapshot.WorkerSnapshot::memoryBytes)
                        .sum());
        gauge(
                Meters.WORKERS_MEMORY_MAX,
                "",
                metrics -> metrics.pool().allWorkers().stream()
                        .mapToLong(PoolSnapshot.WorkerSnapshot::memoryBytes)
                        .max()
                        .orElse(0));
        gauge(Meters.GENERATION, "", metrics -> metrics.pool().generation());
        gauge(Meters.QUEUE, "", metrics -> metrics.pool().queued());
        gauge(Meters.QUEUE_LIMIT, "", metrics -> metrics.pool().queueLimit());
        gauge(Meters.READY, "", metrics -> Health.of(metrics.pool()).ready() ? 1 : 0);
    }

    /** The management beans cost tens of milliseconds: they are looked up when the first scrape asks. */
    private void jvmMeters() {
        gauge(Meters.JVM_MEMORY, "heap", metrics -> heap().getUsed());
        gauge(
                Meters.JVM_MEMORY,
                "nonheap",
                metrics -> ManagementFactory.getMemoryMXBean()
                        .getNonHeapMemoryUsage()
                        .getUsed());
        functionCounter(Meters.JVM_GC, "", metrics -> {
            long millis = 0;
            for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
                millis += Math.max(0, collector.getCollectionTime());
            }
            return millis / 1e3;
        });
        functionCounter(
                Meters.JVM_CPU,
                "",
                metrics -> ManagementFactory.getOperatingSystemMXBean()
                                instanceof com.sun.management.OperatingSystemMXBean system
                        ? system.getProcessCpuTime() / 1e9
                        : 0);
    }

    private static MemoryUsage heap() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    }

    /** The part of it that counts from the start; others may count from their last push. */
    private Timer counted(Timer timer) {
        return recording == registry
                ? timer
                : Timer.builder(timer.getId().getName())
                        .tags(timer.getId().getTags())
                        .register(registry);
    }

    private Counter counted(Counter counter) {
        return recording == registry
                ? counter
                : Counter.builder(counter.getId().getName())
                        .tags(counter.getId().getTags())
                        .register(registry);
    }

    private Timer timer(Meters meter, String tagValue) {
        return Timer.builder(meter.meterName())
                .description(meter.doc())
                .tags(meter.tagged(tagValue))
                .serviceLevelObjectives(BUCKETS)
                .register(recording);
    }

    private Counter counter(Meters meter, String tagValue) {
        return Counter.builder(meter.meterName())
                .description(meter.doc())
                .tags(meter.tagged(tagValue))
                .register(recording);
    }

    private void gauge(Meters meter, String tagValue, ToDoubleFunction<Metrics> value) {
        Gauge.builder(meter.meterName(), this, value)
                .description(meter.doc())
                .baseUnit(meter.unit())
                .tags(meter.tagged(tagValue))
                .register(recording);
    }

    private void functionCounter(Meters meter, String tagValue, ToDoubleFunction<Metrics> value) {
        FunctionCounter.builder(meter.meterName(), this, value)
                .description(meter.doc())
                .baseUnit(meter.unit())
                .tags(meter.tagged(tagValue))
                .register(recording);
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static Duration[] buckets(long... micros) {
        Duration[] buckets = new Duration[micros.length];
        for (int i = 0; i < micros.length; i++) {
            buckets[i] = Duration.ofNanos(micros[i] * 1_000);
        }
        return buckets;
    }

    /** The library asks for the wall time at each recording: it is made of the monotonic one, which allocates nothing. */
    private static Clock clock(Ticker ticker) {
        long startMillis = ticker.now().toEpochMilli();
        long startNanos = ticker.nanos();
        return new Clock() {
            @Override
            public long wallTime() {
                return startMillis + TimeUnit.NANOSECONDS.toMillis(ticker.nanos() - startNanos);
            }

            @Override
            public long monotonicTime() {
                return ticker.nanos();
            }
        };
    }
}
