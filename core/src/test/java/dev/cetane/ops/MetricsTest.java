package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.RetireReason;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerEnd;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerState;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class MetricsTest {

    private PoolSnapshot pool = Pools.of();
    private final Metrics metrics = new Metrics(() -> pool, Ticker.system(), "1.2.3");

    @Test
    void everySeriesExistsFromTheStart() {
        String text = metrics.scrape();

        assertThat(labels(text, "cetane_requests_seconds_count", "outcome"))
                .containsExactly("1xx", "2xx", "3xx", "4xx", "5xx", "abandoned", "aborted");
        assertThat(labels(text, "cetane_request_phase_seconds_count", "phase"))
                .containsExactly(
                        "boot",
                        "cpu",
                        "dispatch",
                        "first_byte",
                        "handler",
                        "queue",
                        "receive",
                        "terminate",
                        "to_end",
                        "transfer");
        assertThat(labels(text, "cetane_worker_stops_total", "reason"))
                .containsExactlyElementsOf(new TreeSet<>(Arrays.stream(RetireReason.values())
                        .map(RetireReason::label)
                        .toList()));
        assertThat(labels(text, "cetane_request_rejections_total", "reason"))
                .containsExactly("cancelled", "draining", "overloaded", "queue_timeout");
        assertThat(labels(text, "cetane_request_failures_total", "reason"))
                .containsExactly("application", "crashed", "draining", "protocol", "timed_out", "undeliverable");
        assertThat(labels(text, "cetane_workers", "state")).containsExactly("busy", "idle", "retiring", "starting");
        assertThat(text)
                .contains("cetane_build{version=\"1.2.3\"} 1.0\n")
                .contains("cetane_worker_starts_total 0.0\n")
                .contains("cetane_worker_boot_seconds_count 0\n")
                .contains("cetane_queue_depth 0.0\n")
                .contains("cetane_ready 0.0\n")
                .contains("cetane_http_connections 0.0\n")
                .contains("jvm_memory_used_bytes{area=\"heap\"} ")
                .contains("jvm_gc_time_seconds_total ")
                .contains("process_cpu_time_seconds_total ");
    }

    @Test
    void everyMeterIsDocumentedAndShown() {
        String text = metrics.scrape();

        for (Meters meter : Meters.values()) {
            String name = meter.meterName().replace('.', '_')
                    + (meter.type() == Meters.Type.TIMER ? "_seconds" : meter.unit() == null ? "" : "_" + meter.unit());
            assertThat(text).as("%s", meter).contains("# HELP " + name).contains(meter.doc());
        }
    }

    @Test
    void noSeriesHasALabelOfOneWorker() {
        metrics.started(7);
        pool = Pools.of(WorkerState.IDLE);

        assertThat(metrics.scrape())
                .doesNotContain("pid=")
                .doesNotContain("worker=")
                .doesNotContain("1001");
    }

    @Test
    void requestsAreCountedByTheClassOfTheirStatusWithAHistogram() {
        metrics.answered(200, 2_000_000, 0, 0);
        metrics.answered(204, 3_000_000, 0, 0);
        metrics.answered(503, 40_000, 0, 0);
        metrics.answered(999, 1, 0, 0);
        metrics.abandoned(1_000_000_000);
        metrics.aborted(60_000_000_000L);

        String text = metrics.scrape();

        assertThat(text)
                .contains("cetane_requests_seconds_count{outcome=\"2xx\"} 2\n")
                .contains("cetane_requests_seconds_sum{outcome=\"2xx\"} 0.005\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"2xx\",le=\"0.001\"} 0\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"2xx\",le=\"0.0025\"} 1\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"2xx\",le=\"0.005\"} 2\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"5xx\",le=\"5.0E-5\"} 2\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"abandoned\",le=\"1.0\"} 1\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"aborted\",le=\"30.0\"} 0\n")
                .contains("cetane_requests_seconds_bucket{outcome=\"aborted\",le=\"+Inf\"} 1\n");
    }

    @Test
    void eachPhaseOfARequestIsTimed() {
        metrics.completed(new JobReport(1, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000, 6, 7, 8));
        metrics.answered(200, 0, 9_000, 10_000);

        assertThat(metrics.scrape())
                .contains("cetane_request_phase_seconds_sum{phase=\"queue\"} 1.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"dispatch\"} 2.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"first_byte\"} 3.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"terminate\"} 5.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"handler\"} 6.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"cpu\"} 7.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"receive\"} 9.0E-6\n")
                .contains("cetane_request_phase_seconds_sum{phase=\"transfer\"} 1.0E-5\n");
    }

    @Test
    void whatHappensToWorkersAndJobsIsCounted() {
        metrics.started(1);
        metrics.started(2);
        metrics.booted(1, 250_000_000);
        metrics.stopped(new WorkerEnd(
                1, 812, 1, RetireReason.CRASHED, false, "signal 11 (SEGV)", 7, 1_000, null, null, null, ""));
        metrics.rejected(WorkerException.Kind.OVERLOADED);
        metrics.failed(WorkerException.Kind.TIMED_OUT);

        assertThat(metrics.scrape())
                .contains("cetane_worker_starts_total 2.0\n")
                .contains("cetane_worker_boot_seconds_sum 0.25\n")
                .contains("cetane_worker_stops_total{reason=\"crashed\"} 1.0\n")
                .contains("cetane_request_rejections_total{reason=\"overloaded\"} 1.0\n")
                .contains("cetane_request_failures_total{reason=\"timed_out\"} 1.0\n");
    }

    @Test
    void everyKindOfFailureCanBeHeard() {
        for (WorkerException.Kind kind : WorkerException.Kind.values()) {
            metrics.rejected(kind);
            metrics.failed(kind);
        }

        assertThat(metrics.scrape()).contains("cetane_request_failures_total{reason=\"crashed\"} 1.0\n");
    }

    @Test
    void workersThatRunTasksHaveGaugesOfTheirOwnAndCountForTheMemory() {
        pool = Pools.of(WorkerState.IDLE).with(Pools.tasks(5, 512, WorkerState.BUSY));

        assertThat(metrics.scrape())
                .contains("cetane_workers{state=\"idle\"} 1.0\n")
                .contains("cetane_workers{state=\"busy\"} 0.0\n")
                .contains("cetane_task_workers{state=\"busy\"} 1.0\n")
                .contains("cetane_task_workers_target 1.0\n")
                .contains("cetane_task_queue_depth 5.0\n")
                .contains("cetane_task_queue_limit 512.0\n")
                .contains("cetane_workers_memory_bytes " + (1 + 101) * 1048576.0 + "\n");
    }

    @Test
    void gaugesShowThePoolAtTheMomentOfTheScrape() {
        pool = Pools.queued(3, 64, WorkerState.IDLE, WorkerState.BUSY, WorkerState.BUSY);

        assertThat(metrics.scrape())
                .contains("cetane_workers{state=\"idle\"} 1.0\n")
                .contains("cetane_workers{state=\"busy\"} 2.0\n")
                .contains("cetane_workers_target 3.0\n")
                .contains("cetane_workers_memory_bytes 6291456.0\n")
                .contains("cetane_workers_memory_max_bytes 3145728.0\n")
                .contains("cetane_queue_depth 3.0\n")
                .contains("cetane_queue_limit 64.0\n")
                .contains("cetane_ready 1.0\n");
    }

    @Test
    void connectionsAreCounted() {
        metrics.connectionOpened();
        metrics.connectionOpened();
        metrics.connectionClosed();
        metrics.connectionRefused();

        assertThat(metrics.scrape())
                .contains("cetane_http_connections 1.0\n")
                .contains("cetane_http_connections_opened_total 2.0\n")
                .contains("cetane_http_connections_refused_total 1.0\n");
    }

    @Test
    void recordingARequestAllocatesNothing() {
        JobReport report = new JobReport(1, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000, 6, 7, 8);
        record(report, 20_000);

        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        record(report, 20_000);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        // The library turns its ring of maxima once a minute or so; a request's share is far below one byte.
        assertThat(allocated / 20_000).isZero();
    }

    private void record(JobReport report, int times) {
        for (int i = 0; i < times; i++) {
            metrics.answered(200, 1_000_000, 1_000, 2_000);
            metrics.completed(report);
        }
    }

    private static List<String> labels(String text, String series, String label) {
        return text.lines()
                .filter(line -> line.startsWith(series + "{"))
                .map(line -> line.replaceFirst(".*" + label + "=\"([^\"]*)\".*", "$1"))
                .sorted()
                .toList();
    }
}
