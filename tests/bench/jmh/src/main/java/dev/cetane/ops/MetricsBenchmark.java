package dev.cetane.ops;

import dev.cetane.http.RequestReport;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What metrics cost a request with everything at its default: the clock is read as often as the phases need it, the report of the pool is made, and
 * all that is told of an answered request is recorded. In the package of what it measures. {@code -prof gc} tells the garbage, {@code -t 2} what
 * threads cost each other.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class MetricsBenchmark {
    private static final int REQUESTS = 1_024;
    /** First byte, submit, worker picked, written, head, end, last byte, done. */
    private static final int CLOCK_READINGS = 8;

    private static final PoolSnapshot POOL = new PoolSnapshot(0, 0, 0, 0, 0, 0, false, null, List.of(), null);

    /** Whether a dashboard is open. */
    @Param({"false", "true"})
    public boolean watched;

    private final Ticker ticker = Ticker.system();
    private final Metrics metrics = new Metrics(() -> POOL, ticker, "1");
    private final long[] times = new long[REQUESTS];

    /** Each thread's place in the times. */
    @State(Scope.Thread)
    public static class Position {
        private int next;
    }

    /** A request as the metrics see it; it is there anyway. */
    private record Ended(
            long startNanos, long totalNanos, @Nullable JobReport job) implements RequestReport {
        @Override
        public String id() {
            return "4f8a1c0e9b7d4e21";
        }

        @Override
        public String describe() {
            return "GET /orders/17";
        }

        @Override
        public int status() {
            return 200;
        }

        @Override
        public long receiveNanos() {
            return 40_000;
        }

        @Override
        public long transferNanos() {
            return 20_000;
        }
    }

    private final Ended ended = new Ended(ticker.nanos(), 0, null);

    /** From 100 µs to 100 ms, most of them short. */
    @Setup
    public void makeTimes() {
        Random random = new Random(6);
        for (int i = 0; i < REQUESTS; i++) {
            times[i] = (long) (100_000 * Math.pow(1_000, Math.pow(random.nextDouble(), 3)));
        }
    }

    @Setup(Level.Iteration)
    public void watch() {
        metrics.latency().watch(watched);
    }

    @Benchmark
    public long request(Position position) {
        long read = 0;
        for (int i = 0; i < CLOCK_READINGS; i++) {
            read += ticker.nanos();
        }
        long time = times[position.next++ & (REQUESTS - 1)];
        metrics.completed(
                new JobReport(1, 2_000, 0, 9_000, time, 30_000, 15_000, time / 1_000, time / 1_100, 2_097_152));
        metrics.answered(200, time + 100_000, 40_000, 20_000);
        metrics.ended(ended);
        return read;
    }
}
