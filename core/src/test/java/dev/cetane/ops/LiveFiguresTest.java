package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.cetane.http.RequestReport;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.RetireReason;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerEnd;
import dev.cetane.worker.WorkerState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the dashboard shows of requests: percentiles, the slowest, phases, and workers that ended. */
final class LiveFiguresTest {
    private static final long MILLI = 1_000_000;

    /** A clock that the test moves. */
    private static final class Clock implements Ticker {
        private long nanos = 1_000;

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public Instant now() {
            return Instant.ofEpochSecond(1_700_000_000L, nanos);
        }
    }

    private record Request(String id, long startNanos, long totalNanos) implements RequestReport {
        @Override
        public String describe() {
            return "GET /" + id + "?secret=1";
        }

        @Override
        public int status() {
            return 200;
        }

        @Override
        public long receiveNanos() {
            return 5;
        }

        @Override
        public JobReport job() {
            return new JobReport(1, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        }

        @Override
        public long transferNanos() {
            return 6;
        }
    }

    private final Clock clock = new Clock();
    private final Metrics metrics = new Metrics(() -> Pools.of(WorkerState.IDLE), clock, "1");

    private Sampler sampler() {
        return new Sampler(
                metrics,
                () -> Pools.of(WorkerState.IDLE),
                () -> new Instance("1", 1, "/srv/app", List.of(), Instant.EPOCH),
                clock);
    }

    private void pass(Duration time) {
        clock.nanos += time.toNanos();
    }

    private void request(String id, long totalNanos) {
        metrics.ended(new Request(id, clock.nanos - totalNanos, totalNanos));
    }

    @Test
    void percentiles_are_right_to_a_few_percent_from_microseconds_to_minutes() {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.watch(true);
        long[] micros = new Random(6).longs(10_000, 0, 90_000_000).sorted().toArray();
        for (long each : micros) {
            histogram.record(each * 1_000);
        }
        LatencyHistogram.Percentiles percentiles = histogram.take();
        assertThat(percentiles.count()).isEqualTo(10_000);
        assertThat(percentiles.p50()).isCloseTo(micros[4_999], within(micros[4_999] / 25));
        assertThat(percentiles.p95()).isCloseTo(micros[9_499], within(micros[9_499] / 25));
        assertThat(percentiles.p99()).isCloseTo(micros[9_899], within(micros[9_899] / 25));
        assertThat(percentiles.max()).isCloseTo(micros[9_999], within(micros[9_999] / 25));
        assertThat(histogram.take().count()).isZero();
    }

    @Test
    void every_duration_has_a_bucket() {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.watch(true);
        for (long nanos : new long[] {-5, 0, 999, 1_000, 16_000, 17_000, Long.MAX_VALUE}) {
            histogram.record(nanos);
        }
        assertThat(histogram.take().count()).isEqualTo(7);
    }

    @Test
    void nothing_is_recorded_while_nobody_watches() {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.record(5);
        histogram.watch(true);
        assertThat(histogram.take().count()).isZero();
    }

    @Test
    void the_slowest_of_the_last_minutes_are_kept_slowest_first() {
        for (int i = 1; i <= 100; i++) {
            request("r" + i, i * MILLI);
        }
        List<SlowRequests.Entry> slow = metrics.slow().list();
        assertThat(slow).hasSize(SlowRequests.MOST);
        assertThat(slow.get(0).id()).isEqualTo("r100");
        assertThat(slow.get(SlowRequests.MOST - 1).id()).isEqualTo("r81");

        pass(Duration.ofMinutes(6));
        request("later", MILLI);
        assertThat(metrics.slow().list().get(0).id()).isEqualTo("r100");
        assertThat(metrics.slow().list()).hasSize(SlowRequests.MOST);
        pass(Duration.ofMinutes(6));
        request("last", MILLI / 2);
        assertThat(metrics.slow().list()).extracting(SlowRequests.Entry::id).containsExactly("later", "last");
        pass(Duration.ofHours(1));
        assertThat(metrics.slow().list()).isEmpty();
    }

    @Test
    void a_stack_that_was_taken_while_a_request_ran_is_shown_with_it() {
        metrics.slow("a", "#0 sleep()");
        request("a", 5 * MILLI);
        request("b", 4 * MILLI);
        long version = metrics.slow().version();
        metrics.outOfTime("b", "#0 query()");
        assertThat(metrics.slow().version()).isNotEqualTo(version);
        assertThat(metrics.slow().list())
                .extracting(SlowRequests.Entry::stack)
                .containsExactly("#0 sleep()", "#0 query()");
        // One that was killed before pool.slow-request was over, or without it, is none of those.
        assertThat(metrics.figures().slow()).isEqualTo(1);
        assertThat(metrics.scrape()).contains("cetane_requests_slow_total 1.0\n");
    }

    @Test
    void a_sample_has_what_happened_since_the_one_before() {
        Sampler sampler = sampler();
        metrics.answered(200, 8 * MILLI, MILLI, MILLI);
        metrics.completed(new JobReport(1, MILLI, 4 * MILLI, MILLI, 2 * MILLI, MILLI, MILLI, 1, 1, 1));
        metrics.answered(200, 4 * MILLI, MILLI, MILLI);
        metrics.completed(new JobReport(1, 3 * MILLI, 0, MILLI, 2 * MILLI, MILLI, MILLI, 1, 1, 1));
        metrics.answered(503, MILLI, MILLI, 0);
        pass(Duration.ofSeconds(2));
        Sample sample = sampler.take();
        assertThat(sample.rate()).isEqualTo(1.5);
        assertThat(sample.outcomes()).containsEntry("2xx", 2L).containsEntry("5xx", 1L);
        assertThat(sample.phaseMicros()).containsEntry("queue", 2_000.0).containsEntry("boot", 2_000.0);
        assertThat(sample.latency().count()).isEqualTo(3);
        pass(Duration.ofSeconds(1));
        assertThat(sampler.take().rate()).isZero();
    }

    @Test
    void ends_that_were_not_planned_are_kept_newest_first_and_their_targets_without_queries() {
        metrics.stopped(end(1, RetireReason.RELOAD, true, null));
        for (int i = 2; i < 40; i++) {
            metrics.stopped(end(i, RetireReason.CRASHED, false, "GET /reset?token=hunter2"));
        }
        assertThat(metrics.ends().list()).hasSize(20);
        assertThat(metrics.ends().list().get(0).end().workerId()).isEqualTo(39);
        String events =
                new DashboardEvents.Stream(new DashboardEvents()).next(sampler().first());
        assertThat(events).contains("\"request\":\"GET /reset?…\"").doesNotContain("hunter2");
    }

    private static WorkerEnd end(int id, RetireReason reason, boolean planned, String request) {
        return new WorkerEnd(id, 1, 1, reason, planned, "signal 11 (SEGV)", 1, 1, request, "id", "fatal", "output");
    }
}
