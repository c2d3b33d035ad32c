package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Workers come and go by their limits and by the application's faults, and requests go on. */
@Timeout(180)
final class RecyclingTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @Test
    void workers_at_their_request_limit_are_replaced_under_load_without_a_failed_request() {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .set("pool.max-requests", 50)
                .set("pool.jitter-percent", 0)
                .start();
        List<Load.Result> results;
        try (Load load = new Load(cetane, 4, "/count")) {
            cetane.awaitStatus(
                    "six workers were replaced",
                    status -> cetane.log().fromStart().all("worker.stopped").size() >= 6);
            results = load.stop();
        }
        assertThat(results)
                .hasSizeGreaterThan(300)
                .allSatisfy(result -> assertThat(result.status()).isEqualTo(200));
        // Until its replacement is ready, a worker serves more than its limit: nobody waits for a boot.
        assertThat(cetane.log().fromStart().all("worker.stopped")).allSatisfy(line -> {
            assertThat(line.field("reason").asText()).isEqualTo("max_requests");
            assertThat(line.field("requests").asInt()).isGreaterThanOrEqualTo(50);
        });
        assertReplacementsCameFirst(cetane, 2);
    }

    @Test
    void a_worker_is_a_batch_process() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        assertThat(cetane.get("/count").statusCode()).isEqualTo(200);
        assertThat(Processes.schedulingPolicy(cetane.workerPids().get(0))).isEqualTo(3);
    }

    @Test
    void workers_at_their_lifetime_are_replaced_though_idle() {
        RunningCetane cetane =
                INSTANCES.worker("by-path.php").set("pool.max-lifetime", "1s").start();
        ServerLog.Line stopped = cetane.log().fromStart().await("worker.stopped");
        assertThat(stopped.field("reason").asText()).isEqualTo("max_lifetime");
        assertReplacementsCameFirst(cetane, 2);
    }

    @Test
    void a_worker_above_its_memory_limit_is_replaced_between_requests() {
        RunningCetane cetane = INSTANCES
                .worker("leak-memory.php")
                .workers(1)
                .set("pool.max-memory", "64MiB")
                .set("pool.jitter-percent", 0)
                .start();
        assertThat(cetane.get("/?megabytes=100").statusCode()).isEqualTo(200);
        ServerLog.Line due = cetane.log().fromStart().await("worker.due");
        assertThat(due.message()).contains("private memory", "pool.max-memory is 67108864");
        ServerLog.Line stopped = cetane.log().fromStart().await("worker.stopped");
        assertThat(stopped.field("reason").asText()).isEqualTo("max_memory");
        assertThat(cetane.get("/?megabytes=1").body()).as("a new worker").isEqualTo("1");
        assertReplacementsCameFirst(cetane, 1);
    }

    @Test
    void nothing_that_has_ended_stays_as_a_zombie() {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .set("pool.max-requests", 1)
                .set("pool.jitter-percent", 0)
                .start();
        try (Load load = new Load(cetane, 1, "/pid")) {
            cetane.awaitStatus(
                    "workers were replaced",
                    status -> cetane.log().fromStart().all("worker.stopped").size() >= 5);
            assertThat(load.stop()).extracting(Load.Result::status).containsOnly(200);
        }
        cetane.awaitStatus(
                "no zombie is left", status -> Processes.zombiesOf(cetane.pid()).isEmpty());
    }

    @Test
    void an_application_that_breaks_is_booted_less_and_less_often_and_heals_by_itself(@TempDir Path directory)
            throws IOException {
        Path flag = directory.resolve("break");
        Files.writeString(directory.resolve("worker.php"), """
                <?php
                if (file_exists(__DIR__ . '/break')) {
                    throw new RuntimeException('the database is away');
                }
                Cetane\\Worker::run(fn () => (string) getmypid());
                """);
        RunningCetane cetane = INSTANCES
                .application(directory)
                .set("pool.backoff-initial", "50ms")
                .set("pool.backoff-max", "500ms")
                .set("pool.queue-timeout", "200ms")
                .start();
        assertThat(cetane.ops("/health/ready").statusCode()).isEqualTo(200);

        Files.createFile(flag);
        ServerLog.Tail log = cetane.logFromHere();
        cetane.workerPids().forEach(pid -> Processes.signal(pid, "KILL"));
        ServerLog.Line last =
                log.await("worker.boot-failed", line -> line.field("failures").asInt() >= 4);
        assertThat(last.level()).isEqualTo("error");
        assertThat(last.message()).contains("could not be booted", "the database is away", "trying again in");
        List<ServerLog.Line> failures = log.all("worker.boot-failed");
        assertThat(last.field("retry_ms").asInt())
                .as("the wait grows")
                .isGreaterThan(failures.get(0).field("retry_ms").asInt());
        assertThat(cetane.ops("/health/ready").statusCode()).isEqualTo(503);
        assertThat(cetane.ops("/health/live").statusCode()).isEqualTo(200);
        assertThat(cetane.get("/").statusCode()).isEqualTo(503);

        Files.delete(flag);
        log.await("worker.ready");
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        assertThat(cetane.ops("/health/ready").statusCode()).isEqualTo(200);
        cetane.awaitStatus("both are back", status -> status.at("/workers/idle").asInt() == 2);
        assertThat(cetane.status().at("/last_boot_failure").isNull())
                .as("the failure is history")
                .isTrue();
    }

    @Test
    void workers_killed_under_load_fail_only_what_ran_on_them() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(3).start();
        List<Load.Result> results;
        try (Load load = new Load(cetane, 6, "/pid")) {
            for (int i = 0; i < 25; i++) {
                load.awaitAnswers(20);
                List<Long> pids = cetane.workerPids().stream()
                        .filter(pid -> pid > 0 && Processes.isRunning(pid))
                        .toList();
                if (!pids.isEmpty()) {
                    ProcessHandle.of(pids.get(i % pids.size())).ifPresent(ProcessHandle::destroyForcibly);
                }
            }
            load.awaitAnswers(100);
            results = load.stop();
        }
        // Beside what ran on a worker: what was given to two in turn that were killed before they took it.
        List<String> lost = cetane.log().fromStart().all().stream()
                .filter(line ->
                        line.event().equals("worker.stopped") || line.event().equals("request.failed"))
                .map(ServerLog.Line::request)
                .toList();
        List<Load.Result> failed =
                results.stream().filter(result -> result.status() != 200).toList();
        assertThat(failed).allSatisfy(result -> assertThat(lost).contains(result.id()));
        cetane.awaitStatus(
                "all workers are back", status -> status.at("/workers/idle").asInt() == 3);
        assertThat(cetane.log().fromStart().all("worker.stopped")).hasSizeGreaterThanOrEqualTo(20);
    }

    /** At no time were there fewer ready workers than the pool is to keep. */
    private static void assertReplacementsCameFirst(RunningCetane cetane, int target) {
        int ready = 0;
        for (ServerLog.Line line : cetane.log().fromStart().all()) {
            if (line.event().equals("worker.ready")) {
                ready++;
            } else if (line.event().equals("worker.stopped")) {
                ready--;
                assertThat(ready).as(line.text()).isGreaterThanOrEqualTo(target);
            }
        }
    }
}
