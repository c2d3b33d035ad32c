package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Figures that an application counts with {@code Cetane\\Metrics}, as Prometheus reads them. */
@Timeout(180)
final class ApplicationMeasurementsTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    Path directory;

    @Test
    void what_all_workers_and_their_tasks_count_adds_up() throws Exception {
        RunningCetane cetane = start("""
                <?php
                use Cetane\\{Metrics, Request, Tasks, Worker};
                function send(): void
                {
                    Metrics::counter('mails', labels: ['queue' => 'default']);
                }
                Metrics::gauge('booted', 1);
                Worker::run(function (Request $request) {
                    Metrics::counter('orders_total', 2, ['country' => 'de']);
                    Metrics::counter('orders_total', 1, ['country' => 'de']);
                    Metrics::histogram('basket', 12.5, buckets: [10, 20]);
                    Tasks::resolve(['send']);
                    return 'ok';
                });
                """, 2);

        for (int i = 0; i < 10; i++) {
            assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        }

        shows(
                cetane,
                "app_orders_total{country=\"de\"} 30.0",
                "app_mails_total{queue=\"default\"} 10.0",
                "app_basket_bucket{le=\"20.0\"} 10",
                "app_basket_sum 125.0",
                "app_booted 1.0");
    }

    @Test
    void a_request_that_fails_or_is_the_last_one_tells_what_it_counted() throws Exception {
        RunningCetane cetane = start("""
                <?php
                ini_set('memory_limit', '64M');
                Cetane\\Worker::run(function ($request) {
                    Cetane\\Metrics::counter('tries', labels: ['how' => $how = ltrim($request->server()['REQUEST_URI'], '/')]);
                    match ($how) {
                        'throw' => throw new DomainException('no'),
                        'fatal' => str_repeat('x', 1 << 30),
                        'exit' => exit('bye'),
                    };
                });
                """, 0);

        assertThat(cetane.get("/throw").statusCode()).isEqualTo(500);
        assertThat(cetane.get("/fatal").statusCode()).isEqualTo(500);
        assertThat(cetane.get("/exit").statusCode()).isEqualTo(200);

        shows(
                cetane,
                "app_tries_total{how=\"throw\"} 1.0",
                "app_tries_total{how=\"fatal\"} 1.0",
                "app_tries_total{how=\"exit\"} 1.0");
    }

    @Test
    void a_worker_that_counts_without_end_is_held_in_bounds_and_goes_on_serving() throws Exception {
        RunningCetane cetane = start("""
                <?php
                Cetane\\Worker::run(function () {
                    for ($i = 0; $i < 5000; $i++) {
                        Cetane\\Metrics::counter('visits', labels: ['visitor' => bin2hex(random_bytes(4))]);
                    }
                    Cetane\\Metrics::counter('long', labels: ['text' => str_repeat('x', 100_000)]);
                    Cetane\\Metrics::counter("bad name\\0");
                    return 'ok';
                });
                """, 0);

        assertThat(cetane.get("/").body()).isEqualTo("ok");
        assertThat(cetane.get("/").body()).isEqualTo("ok");

        await().untilAsserted(() -> {
            String text = cetane.ops("/metrics").body();
            assertThat(text.lines().filter(line -> line.startsWith("app_visits_total{")))
                    .hasSize(1000);
            assertThat(text)
                    .contains("refused_total{reason=\"too_many_series\"} 1000.0")
                    .contains("refused_total{reason=\"given_up\"} 8004.0");
        });
        assertThat(cetane.log().fromStart().all("metrics.refused")).hasSize(2);
    }

    @Test
    void an_application_that_may_have_no_series_counts_nothing() throws Exception {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, "<?php Cetane\\Worker::run(fn () => Cetane\\Metrics::counter('a') ?? 'ok');");
        RunningCetane cetane = INSTANCES
                .application(script)
                .set("metrics.application-series", 0)
                .start();

        assertThat(cetane.get("/").body()).isEqualTo("ok");
        assertThat(cetane.ops("/metrics").body()).doesNotContain("app_");
    }

    @Test
    void an_octane_application_counts_in_requests_and_in_what_octane_runs_concurrently() {
        RunningCetane cetane = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/octane"))
                .workers(1)
                .set("pool.task-workers", 1)
                .set("app.environment.DEMO_STORAGE", directory)
                .start();

        assertThat(cetane.get("/measured").statusCode()).isEqualTo(200);
        assertThat(cetane.get("/measured").statusCode()).isEqualTo(200);

        shows(cetane, "app_signups_total{plan=\"free\"} 2.0", "app_thumbnails_total 4.0");
    }

    private RunningCetane start(String code, int taskWorkers) throws Exception {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, code);
        return INSTANCES
                .application(script)
                .workers(2)
                .set("pool.task-workers", taskWorkers)
                .start();
    }

    /** A worker says what it has measured behind its answer. */
    private static void shows(RunningCetane cetane, String... lines) {
        await().untilAsserted(
                        () -> assertThat(cetane.ops("/metrics").body().lines()).contains(lines));
    }
}
