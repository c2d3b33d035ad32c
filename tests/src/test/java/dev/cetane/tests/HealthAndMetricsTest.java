package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What orchestrators and Prometheus read on the ops port. */
@Timeout(180)
final class HealthAndMetricsTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    // ---- health ----

    @Test
    void an_idle_pool_and_a_busy_one_are_ready_and_one_whose_queue_is_full_is_not() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.queue-size", 1)
                .start();
        assertThat(cetane.ops("/health/live").statusCode()).isEqualTo(200);
        assertThat(cetane.ops("/health/ready").body()).isEqualTo("ok: 1 idle, 0 busy, 0 waiting\n");
        try (RawClient waiting = cetane.connect();
                RawClient running = cetane.connect()) {
            running.get("/until-cancelled").head();
            cetane.awaitRunning("/until-cancelled");
            HttpResponse<String> busy = cetane.ops("/health/ready");
            assertThat(busy.statusCode()).isEqualTo(200);
            assertThat(busy.body()).isEqualTo("ok: 0 idle, 1 busy, 0 waiting\n");

            waiting.get("/");
            cetane.awaitStatus("one waits", status -> status.at("/queue/depth").asInt() == 1);
            HttpResponse<String> full = cetane.ops("/health/ready", "Accept", "application/json");
            assertThat(full.statusCode()).isEqualTo(503);
            assertThat(RunningCetane.json(full).path("status").asText()).isEqualTo("unavailable");
            assertThat(RunningCetane.json(full).path("reason").asText()).contains("queue is full");
            assertThat(cetane.ops("/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void a_draining_instance_is_live_and_not_ready() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        try (RawClient running = cetane.connect()) {
            running.get("/until-cancelled").head();
            cetane.signal("TERM");
            cetane.log().fromStart().await("supervisor.draining");
            HttpResponse<String> ready = cetane.ops("/health/ready");
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).isEqualTo("unavailable: draining\n");
            assertThat(cetane.ops("/health/live").statusCode()).isEqualTo(200);
        }
        assertThat(cetane.awaitExit()).isZero();
    }

    @Test
    void an_instance_whose_application_boots_is_live_and_not_ready(@TempDir Path directory) throws IOException {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, """
                <?php
                while (!file_exists(__DIR__ . '/go-on')) {
                    usleep(1000);
                }
                Cetane\\Worker::run(fn () => 'booted');
                """);
        RunningCetane cetane = INSTANCES.application(script).launch();
        cetane.awaitControl();
        assertThat(cetane.controlAnswer("GET", "/health/ready"))
                .startsWith("HTTP/1.1 503")
                .contains("booting");
        assertThat(cetane.controlAnswer("GET", "/health/live")).startsWith("HTTP/1.1 200");
        Files.createFile(directory.resolve("go-on"));
        cetane.awaitStarted();
        assertThat(cetane.ops("/health/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void the_ops_port_takes_no_orders() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        for (String target : new String[] {"/stop", "/workers"}) {
            assertThat(cetane.ops(target).statusCode()).as(target).isEqualTo(404);
        }
        for (String target : new String[] {"/reload", "/workers/1/recycle"}) {
            assertThat(cetane.ops(target).statusCode()).as(target).isEqualTo(403);
        }
    }

    // ---- metrics ----

    @Test
    void every_series_is_there_from_the_start_and_none_names_a_process() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").start();
        Map<String, Double> metrics = metrics(cetane);
        assertThat(metrics)
                .containsKeys(
                        "cetane_requests_seconds_count{outcome=\"2xx\"}",
                        "cetane_requests_seconds_count{outcome=\"5xx\"}",
                        "cetane_requests_seconds_count{outcome=\"abandoned\"}",
                        "cetane_requests_seconds_count{outcome=\"aborted\"}",
                        "cetane_request_phase_seconds_count{phase=\"queue\"}",
                        "cetane_request_phase_seconds_count{phase=\"boot\"}",
                        "cetane_request_phase_seconds_count{phase=\"to_end\"}",
                        "cetane_request_phase_seconds_count{phase=\"dispatch\"}",
                        "cetane_request_phase_seconds_count{phase=\"first_byte\"}",
                        "cetane_request_phase_seconds_count{phase=\"transfer\"}",
                        "cetane_request_phase_seconds_count{phase=\"terminate\"}",
                        "cetane_request_rejections_total{reason=\"overloaded\"}",
                        "cetane_request_rejections_total{reason=\"queue_timeout\"}",
                        "cetane_request_failures_total{reason=\"crashed\"}",
                        "cetane_request_failures_total{reason=\"timed_out\"}",
                        "cetane_workers{state=\"idle\"}",
                        "cetane_workers{state=\"busy\"}",
                        "cetane_worker_stops_total{reason=\"max_requests\"}",
                        "cetane_worker_stops_total{reason=\"crashed\"}",
                        "cetane_queue_depth",
                        "cetane_ready",
                        "cetane_generation");
        assertThat(metrics.get("cetane_workers_target")).isEqualTo(2);
        assertThat(metrics.get("cetane_workers{state=\"idle\"}")).isEqualTo(2);
        assertThat(metrics.get("cetane_worker_starts_total")).isEqualTo(2);
        assertThat(metrics.get("cetane_worker_boot_seconds_count")).isEqualTo(2);
        assertThat(metrics.get("cetane_ready")).isEqualTo(1);
        assertThat(metrics.keySet()).noneMatch(name -> name.contains("pid"));
    }

    @Test
    void counters_follow_what_happens_to_requests_and_workers() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.queue-size", 0)
                .start();
        Map<String, Double> before = metrics(cetane);
        for (int i = 0; i < 5; i++) {
            cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
            assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        }
        cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
        assertThat(cetane.get("/exception").statusCode()).isEqualTo(500);
        cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
        try (RawClient running = cetane.connect()) {
            running.get("/until-cancelled").head();
            assertThat(cetane.get("/").statusCode()).isEqualTo(503);
        }
        cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
        assertThat(cetane.get("/die-before-head").statusCode()).isEqualTo(502);
        cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);

        awaitIncrease(cetane, before, "cetane_requests_seconds_count{outcome=\"2xx\"}", 5.0);
        awaitIncrease(cetane, before, "cetane_requests_seconds_count{outcome=\"5xx\"}", 3.0);
        awaitIncrease(cetane, before, "cetane_requests_seconds_count{outcome=\"abandoned\"}", 1.0);
        awaitIncrease(cetane, before, "cetane_request_phase_seconds_count{phase=\"first_byte\"}", 6.0);
        awaitIncrease(cetane, before, "cetane_request_rejections_total{reason=\"overloaded\"}", 1.0);
        awaitIncrease(cetane, before, "cetane_request_failures_total{reason=\"application\"}", 1.0);
        awaitIncrease(cetane, before, "cetane_request_failures_total{reason=\"crashed\"}", 1.0);
        awaitIncrease(cetane, before, "cetane_worker_stops_total{reason=\"crashed\"}", 1.0);
        awaitIncrease(cetane, before, "cetane_worker_starts_total", 1.0);
    }

    private static void awaitIncrease(RunningCetane cetane, Map<String, Double> before, String name, Double by) {
        await(name)
                .atMost(RunningCetane.PATIENCE)
                .until(() -> metrics(cetane).getOrDefault(name, -1.0) - before.getOrDefault(name, 0.0), by::equals);
    }

    @Test
    void a_thousand_scrapes_at_once_are_answered_or_told_so_and_requests_do_not_notice() throws Exception {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(2).start();
        URI ops = URI.create(cetane.opsUrl());
        List<Load.Result> results;
        AtomicInteger scraped = new AtomicInteger();
        AtomicInteger toldSo = new AtomicInteger();
        try (Load load = new Load(cetane, 4, "/")) {
            load.awaitAnswers(50);
            List<Thread> scrapers = new ArrayList<>();
            CountDownLatch together = new CountDownLatch(1);
            for (int i = 0; i < 1_000; i++) {
                Thread scraper = new Thread(() -> {
                    try (RawClient client = new RawClient(new InetSocketAddress(ops.getHost(), ops.getPort()))) {
                        together.await();
                        client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                        int status = client.head().status();
                        (status == 200 ? scraped : status == 503 ? toldSo : new AtomicInteger()).incrementAndGet();
                    } catch (IOException | InterruptedException e) {
                        // Neither: the sum will say so.
                        Thread.currentThread().interrupt();
                    }
                });
                scrapers.add(scraper);
                scraper.start();
            }
            together.countDown();
            for (Thread scraper : scrapers) {
                scraper.join();
            }
            load.awaitAnswers(50);
            results = load.stop();
        }
        assertThat(scraped.get() + toldSo.get()).isEqualTo(1_000);
        assertThat(scraped.get()).isPositive();
        assertThat(results).allMatch(result -> result.status() == 200);
        assertThat(cetane.ops("/metrics").statusCode()).isEqualTo(200);
    }

    @Test
    void a_scrape_during_a_reload_and_a_drain_has_all_series() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(2).start();
        int before = metrics(cetane).size();
        Thread reload = new Thread(() -> cetane.command("reload").run());
        reload.start();
        while (reload.isAlive()) {
            assertThat(metrics(cetane)).hasSizeGreaterThanOrEqualTo(before);
        }
        try (RawClient running = cetane.connect()) {
            running.get("/until-cancelled").head();
            cetane.signal("TERM");
            cetane.log().fromStart().await("supervisor.draining");
            assertThat(metrics(cetane)).hasSizeGreaterThanOrEqualTo(before).containsEntry("cetane_ready", 0.0);
        }
        assertThat(cetane.awaitExit()).isZero();
    }

    @Test
    void a_dashboard_that_reads_nothing_holds_up_neither_requests_nor_the_stop() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(2).start();
        URI ops = URI.create(cetane.opsUrl());
        try (RawClient stalled = new RawClient(new InetSocketAddress(ops.getHost(), ops.getPort()));
                Load load = new Load(cetane, 2, "/")) {
            stalled.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
            load.awaitAnswers(200);
            assertThat(cetane.ops("/health/ready").statusCode()).isEqualTo(200);
            assertThat(load.stop()).allMatch(result -> result.status() == 200);
            cetane.signal("TERM");
            assertThat(cetane.awaitExit()).isZero();
        }
    }

    @Test
    void what_the_slowest_requests_took_is_the_sum_of_their_phases() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/laravel"))
                .workers(1)
                .start();
        for (int i = 0; i < 5; i++) {
            assertThat(cetane.get("/slow?ms=" + 20 * i).statusCode()).isEqualTo(200);
            assertThat(cetane.get("/stream").statusCode()).isEqualTo(200);
        }
        JsonNode slow = slowest(cetane);
        assertThat(slow.size()).isGreaterThanOrEqualTo(10);
        for (JsonNode request : slow) {
            long sum = 0;
            for (JsonNode phase : request.path("phases")) {
                sum += phase.asLong();
            }
            assertThat(Math.abs(request.path("total").asLong() - sum))
                    .as(request.toString())
                    .isLessThan(50);
            assertThat(request.path("handler").asLong()).isPositive();
            assertThat(request.path("peak_memory").asLong()).isPositive();
        }
    }

    /** The list that a dashboard gets when it opens. */
    private static JsonNode slowest(RunningCetane cetane) throws IOException {
        URI ops = URI.create(cetane.opsUrl());
        try (Socket socket = new Socket(ops.getHost(), ops.getPort());
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
            socket.getOutputStream().write("GET /events HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals("event: slow")) {
                    return RunningCetane.json(lines.readLine().substring("data: ".length()));
                }
            }
        }
        throw new AssertionError("no list came");
    }

    /** Samples by name and labels, as Prometheus reads them. */
    private static Map<String, Double> metrics(RunningCetane cetane) {
        HttpResponse<String> answer = cetane.ops("/metrics");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
        Map<String, Double> samples = new TreeMap<>();
        answer.body().lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            int space = line.lastIndexOf(' ');
            samples.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
        });
        return samples;
    }
}
