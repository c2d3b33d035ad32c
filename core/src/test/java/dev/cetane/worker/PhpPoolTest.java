package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cetane.worker.WorkerException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool with real PHP processes: what its jobs see when they work and when they do not, and that nothing is left behind. */
@Timeout(60)
final class PhpPoolTest {

    // ---- answers ----

    @Test
    void a_job_gets_its_answer_and_its_cost() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/");

            assertThat(job.calls()).containsExactly("head", "data", "end", "done");
            assertThat(job.head().status()).isEqualTo(200);
            assertThat(job.body()).isEqualTo("hello");
            assertThat(job.report().workerId()).isEqualTo(1);
            // On a busy machine the head may come before the write has returned.
            assertThat(job.report().dispatchNanos() + job.report().firstByteNanos())
                    .isPositive();
            php.listener.await("completed");
            assertThat(php.listener.told()).containsExactly("started 1", "booted 1", "completed");
        }
    }

    @Test
    void a_worker_serves_many_requests() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            for (int i = 1; i <= 1000; i++) {
                assertThat(php.get("/count").body()).isEqualTo(Integer.toString(i));
            }
        }
    }

    @Test
    void jobs_beyond_the_workers_wait_their_turn() {
        try (PhpPool php = PhpPool.started(settings -> settings.workers = 2)) {
            List<RecordingJob> jobs = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                jobs.add(php.submit("/"));
            }

            assertThat(jobs).allSatisfy(job -> assertThat(job.await().body()).isEqualTo("hello"));
        }
    }

    @Test
    void a_body_larger_than_all_buffers_waits_for_a_slow_sink_and_arrives_whole() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            CountDownLatch client = new CountDownLatch(1);
            RecordingJob job = php.submit(new RecordingJob("/big").whenData(bytes -> await(client)));
            job.awaitCall("data");
            RecordingJob next = php.submit("/");
            assertThat(job.ended()).isFalse();
            client.countDown();

            assertThat(job.await().bodyLength()).isEqualTo(4 << 20);
            assertThat(job.calls()).endsWith("end", "done");
            assertThat(next.await().body()).isEqualTo("hello");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_worker_hears_that_the_client_has_left() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.submit("/until-cancelled").awaitCall("data");
            php.pool.cancel(job);

            assertThat(job.await().body()).isEqualTo("waiting, cancelled");
        }
    }

    @Test
    void a_job_that_cannot_be_encoded_costs_no_worker() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.submit(new RecordingJob("/").failingToEncode(new IllegalArgumentException("NUL")));

            assertThat(job.failureKind()).isEqualTo(Kind.UNDELIVERABLE);
            assertThat(php.get("/count").body()).isEqualTo("1");
        }
    }

    // ---- workers that fail their request ----

    @Test
    void a_worker_that_dies_before_the_head_fails_the_job_and_is_replaced() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/die-before-head");

            assertThat(job.calls()).containsExactly("failed");
            assertThat(job.failureKind()).isEqualTo(Kind.CRASHED);
            assertThat(job.failure())
                    .hasMessageContaining("signal 9 (KILL)")
                    .hasMessageContaining("GET /die-before-head");
            assertThat(php.get("/").body()).isEqualTo("hello");
            assertThat(php.listener.told()).contains("stopped 1 CRASHED");
        }
    }

    @Test
    void a_worker_that_dies_after_the_head_fails_the_job_and_never_ends_it() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/die-after-head");

            assertThat(job.calls()).containsExactly("head", "data", "failed");
            assertThat(job.failureKind()).isEqualTo(Kind.CRASHED);
        }
    }

    @Test
    void an_answer_that_was_complete_before_the_crash_counts() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/die-after-end");

            assertThat(job.calls()).containsExactly("head", "data", "end", "done");
            php.listener.await("stopped 1 CRASHED");
        }
    }

    @Test
    void an_exit_code_and_the_last_words_are_in_the_message() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/exit-with-last-words");

            assertThat(job.failure()).hasMessageContaining("exit code 3").hasMessageContaining("last words");
            assertThat(php.log.await("worker.output").requestId()).isEqualTo(job.id());
        }
    }

    @Test
    void an_exit_without_an_answer_fails_the_job_but_is_no_crash() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            assertThat(php.get("/exit-zero").failureKind()).isEqualTo(Kind.CRASHED);
            php.listener.await("stopped 1 EXITED");
        }
    }

    @Test
    void a_worker_that_announces_its_last_request_is_replaced() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            assertThat(php.get("/last").body()).isEqualTo("bye");
            assertThat(php.get("/count").body()).isEqualTo("1");
            php.listener.await("stopped 1 EXITED");
        }
    }

    @Test
    void what_a_worker_wrote_before_it_left_reaches_a_slow_client() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            long pid = php.pool.snapshot().workers().get(0).pid();
            RecordingJob job = php.submit(new RecordingJob("/last").whenData(bytes -> PhpPool.awaitEnd(pid)));

            assertThat(job.await().body()).isEqualTo("bye");
            assertThat(job.calls()).endsWith("end", "done");
        }
    }

    @Test
    void an_exception_fails_the_job_and_keeps_the_worker() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/exception");

            assertThat(job.failureKind()).isEqualTo(Kind.APPLICATION);
            assertThat(job.failure().publicDetail()).isEqualTo("it broke");
            assertThat(php.get("/exception-after-head").calls()).containsExactly("head", "data", "failed");
            assertThat(php.get("/count").body()).isEqualTo("3");
            assertThat(php.log.await("request.failed").requestId()).isEqualTo(job.id());
        }
    }

    @Test
    void a_fatal_error_fails_the_job_and_costs_the_worker() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            assertThat(php.get("/fatal").failureKind()).isEqualTo(Kind.APPLICATION);
            assertThat(php.get("/count").body()).isEqualTo("1");
            php.listener.await("stopped 1 CRASHED");
        }
    }

    @Test
    void a_worker_that_closes_its_pipes_and_lives_is_killed() {
        try (PhpPool php = PhpPool.started(settings -> settings.killGrace = Duration.ofMillis(50))) {
            assertThat(php.get("/close-pipes").failureKind()).isEqualTo(Kind.CRASHED);
            assertThat(php.get("/").body()).isEqualTo("hello");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage",
                "huge-length",
                "frame-out-of-turn",
                "wrong-request-number",
                "wrong-content-length-long",
                "wrong-content-length-short"
            })
    void a_worker_that_breaks_the_protocol_is_killed_and_replaced(String misbehaviour) {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script(misbehaviour))) {
            RecordingJob job = php.get("/");

            assertThat(job.failureKind()).isEqualTo(Kind.PROTOCOL);
            assertThat(job.failure()).hasMessageContaining("Protocol violation").hasMessageContaining("at byte");
            assertThat(job.calls()).doesNotContain("end");
            php.listener.await("stopped 1 PROTOCOL_ERROR");
            php.listener.await("booted 2");
            assertThat(php.log.await("worker.protocol-error").requestId()).isEqualTo(job.id());
        }
    }

    @Test
    void a_worker_that_answers_without_having_read_the_request_is_killed_before_its_pipe_is_full() {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script("answers-unread-request"))) {
            assertThat(php.get("/").calls()).containsExactly("head", "data", "end", "done");
            php.listener.await("stopped 1 PROTOCOL_ERROR");
        }
    }

    @Test
    void a_worker_that_stops_reading_is_killed_before_its_pipe_is_full() {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script("stops-reading"))) {
            for (int i = 0; i < 10; i++) {
                php.get("/");
            }
            php.listener.await("stopped 1 PROTOCOL_ERROR");
        }
    }

    @Test
    void a_request_too_large_for_what_a_worker_has_left_unread_fails_and_nobody_is_stuck_with_it() {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script("stops-reading"))) {
            for (int i = 0; i < 4; i++) {
                assertThat(php.get("/").calls()).endsWith("done");
            }
            assertThat(php.get("/" + "x".repeat(50_000)).failureKind()).isEqualTo(Kind.PROTOCOL);
            php.listener.await("stopped 1 PROTOCOL_ERROR");
            php.listener.await("booted 2");
        }
    }

    @Test
    void half_a_frame_fails_the_job() {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script("half-frame"))) {
            RecordingJob job = php.get("/");

            assertThat(job.calls()).endsWith("failed").doesNotContain("end");
            php.listener.await("booted 2");
        }
    }

    // ---- time-outs ----

    @ParameterizedTest
    @ValueSource(strings = {"hang", "hang-after-head", "ignores-sigterm", "endless-body"})
    void a_request_over_its_time_fails_at_once_and_its_worker_is_killed(String misbehaviour) {
        try (PhpPool php = PhpPool.started(settings -> {
            settings.script = PhpPool.script(misbehaviour);
            settings.requestTimeout = Duration.ofMillis(300);
            settings.killGrace = Duration.ofMillis(100);
        })) {
            RecordingJob job = php.get("/slow");

            assertThat(job.failureKind()).isEqualTo(Kind.TIMED_OUT);
            assertThat(job.failure())
                    .hasMessageContaining("pool.request-timeout (300ms)")
                    .hasMessageContaining("GET /slow");
            php.listener.await("stopped 1 TIMED_OUT");
            php.listener.await("booted 2");
        }
    }

    @Test
    void a_worker_that_hangs_after_a_complete_answer_is_killed_and_the_answer_counts() {
        try (PhpPool php = PhpPool.started(settings -> {
            settings.script = PhpPool.script("hang-after-end");
            settings.requestTimeout = Duration.ofMillis(300);
        })) {
            RecordingJob job = php.get("/");

            assertThat(job.calls()).containsExactly("head", "data", "end", "done");
            php.listener.await("stopped 1 TIMED_OUT");
        }
    }

    @Test
    void a_job_that_waits_too_long_for_a_worker_is_refused() {
        try (PhpPool php = PhpPool.started(settings -> settings.queueTimeout = Duration.ofMillis(200))) {
            RecordingJob running = php.submit("/until-cancelled");
            RecordingJob waiting = php.get("/");

            assertThat(waiting.failureKind()).isEqualTo(Kind.QUEUE_TIMEOUT);
            assertThat(waiting.failure()).hasMessageContaining("pool.queue-timeout (200ms)");
            assertThat(running.ended()).isFalse();
        }
    }

    // ---- children and pipes ----

    @Test
    void a_child_that_holds_the_pipes_delays_nobody() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            assertThat(php.get("/fork-and-die").failureKind()).isEqualTo(Kind.CRASHED);
            assertThat(php.get("/").body()).isEqualTo("hello");
        }
    }

    @Test
    void what_a_worker_started_ends_with_it() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            long child = Long.parseLong(php.get("/leave-child").body());
            assertThat(php.processes()).contains(child);
            php.get("/exit-zero");
            php.listener.await("stopped 1 EXITED");

            PhpPool.awaitEnd(child);
            assertThat(php.processes()).doesNotContain(child);
        }
    }

    @Test
    void a_worker_killed_while_idle_costs_no_request() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            for (int i = 1; i <= 20; i++) {
                String pid = php.get("/pid").body();
                new ProcessBuilder("kill", "-9", pid).start().waitFor();
                // Whether the pool has noticed by now or not: the job is served.
                RecordingJob job = php.get("/");

                assertThat(job.failure()).isNull();
                php.listener.await("stopped " + i + " CRASHED");
            }
        }
    }

    @Test
    void workers_killed_under_load_fail_only_what_ran_on_them() throws IOException {
        try (PhpPool php = PhpPool.started(settings -> settings.workers = 2)) {
            List<RecordingJob> jobs = new ArrayList<>();
            int kills = 0;
            for (int round = 0; round < 30; round++) {
                for (int i = 0; i < 50; i++) {
                    jobs.add(php.submit("/"));
                }
                long victim = php.pool.snapshot().workers().stream()
                        .filter(worker -> worker.state() != WorkerState.STARTING && worker.pid() > 0)
                        .mapToLong(PoolSnapshot.WorkerSnapshot::pid)
                        .findFirst()
                        .orElse(0);
                if (victim > 0) {
                    new ProcessBuilder("kill", "-9", Long.toString(victim)).start();
                    kills++;
                }
                jobs.forEach(RecordingJob::await);
            }

            long failed = jobs.stream().filter(job -> job.failure() != null).count();
            assertThat(failed).isLessThanOrEqualTo(kills);
            assertThat(jobs).allSatisfy(job -> assertThat(job.failureKind()).isIn(null, Kind.CRASHED));
        }
    }

    // ---- output ----

    @Test
    void a_flood_of_output_is_bounded_and_counted_and_the_answer_arrives() {
        try (PhpPool php = PhpPool.started(settings -> {
            settings.script = PhpPool.script("stdout-flood");
            settings.outputLinesPerSecond = 10;
        })) {
            assertThat(php.get("/").body()).isEqualTo("flooded");
            php.pool.close();
            php.log.await("worker.output-dropped");
            assertThat(php.log.events("worker.output")).hasSizeLessThan(100);
        }
    }

    @Test
    void each_printed_line_carries_the_request_that_printed_it() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            for (int i = 0; i < 200; i++) {
                RecordingJob job = php.submit("/print");
                php.submit("/");
                job.await();
                php.log.await("worker.output", event -> event.message().equals("printed by " + job.id()));
            }
            assertThat(php.log.events("worker.output"))
                    .allSatisfy(event -> assertThat(event.message()).isEqualTo("printed by " + event.requestId()));
        }
    }

    // ---- boots ----

    @Test
    void the_start_fails_with_the_applications_own_words() {
        try (PhpPool php = PhpPool.notStarted(settings -> settings.script = PhpPool.script("boot-failure"))) {
            WorkerException failure = catchThrowableOfType(WorkerException.class, php.pool::start);

            assertThat(failure.kind()).isEqualTo(Kind.BOOT_FAILED);
            assertThat(failure).hasMessageContaining("The database password is not set.");
        }
    }

    @Test
    void the_start_fails_within_the_boot_time_out_when_the_application_hangs() {
        try (PhpPool php = PhpPool.notStarted(settings -> {
            settings.script = PhpPool.script("hang-in-boot");
            settings.bootTimeout = Duration.ofMillis(300);
        })) {
            WorkerException failure = catchThrowableOfType(WorkerException.class, php.pool::start);

            assertThat(failure).hasMessageContaining("pool.boot-timeout (300ms)");
            assertThat(php.listener.told()).contains("stopped 1 BOOT_TIMED_OUT");
        }
    }

    @Test
    void the_start_fails_with_phps_own_words() throws IOException {
        Path broken = Files.createTempFile("cetane-broken", ".php");
        Files.writeString(broken, "<?php this is no PHP");
        try (PhpPool php = PhpPool.notStarted(settings -> settings.script = broken)) {
            WorkerException failure = catchThrowableOfType(WorkerException.class, php.pool::start);

            assertThat(failure).hasMessageContaining("syntax error").hasMessageContaining("exit code 255");
        } finally {
            Files.delete(broken);
        }
    }

    @Test
    void a_php_that_is_not_there_is_named() {
        try (PhpPool php = PhpPool.notStarted(settings -> settings.php = Path.of("/no/such/php"))) {
            WorkerException failure = catchThrowableOfType(WorkerException.class, php.pool::start);

            assertThat(failure).hasMessageContaining("/no/such/php");
        }
    }

    @Test
    void an_application_that_is_not_there_is_named() {
        try (PhpPool php = PhpPool.notStarted(settings -> settings.script = Path.of("/no/such/app.php"))) {
            WorkerException failure = catchThrowableOfType(WorkerException.class, php.pool::start);

            assertThat(failure).hasMessageContaining("/no/such/app.php");
        }
    }

    @Test
    void a_pool_heals_when_the_application_boots_again() throws IOException {
        Path directory = Files.createTempDirectory("cetane-app");
        Path script = directory.resolve("app.php");
        Files.createSymbolicLink(script, PhpPool.script("by-path"));
        Path current = directory.resolve("current.php");
        Files.writeString(current, "<?php require " + quoted(PhpPool.script("by-path")) + ";");
        try (PhpPool php = PhpPool.started(settings -> settings.script = current)) {
            Files.writeString(current, "<?php throw new Exception('the database is away');");
            php.get("/exit-zero");
            php.log.await("worker.boot-failed", event -> event.message().contains("the database is away"));
            assertThat(php.pool.snapshot().lastBootFailure()).contains("the database is away");
            RecordingJob waiting = php.submit("/");
            Files.writeString(current, "<?php require " + quoted(PhpPool.script("by-path")) + ";");

            assertThat(waiting.await().body()).isEqualTo("hello");
            assertThat(php.pool.snapshot().lastBootFailure()).isNull();
        } finally {
            Files.delete(current);
            Files.delete(script);
            Files.delete(directory);
        }
    }

    private static String quoted(Path path) {
        return "'" + path + "'";
    }

    // ---- limits ----

    @Test
    void a_worker_at_its_request_limit_is_replaced_before_it_leaves() {
        try (PhpPool php = PhpPool.started(settings -> settings.maxRequests = 10)) {
            for (int i = 0; i < 200; i++) {
                assertThat(php.get("/").body()).isEqualTo("hello");
            }
            php.listener.await("stopped 1 MAX_REQUESTS");

            List<String> told = php.listener.told();
            assertThat(told.indexOf("booted 2")).isLessThan(told.indexOf("stopped 1 MAX_REQUESTS"));
        }
    }

    @Test
    void a_worker_over_its_memory_limit_is_replaced() {
        try (PhpPool php = PhpPool.started(settings -> settings.maxMemoryBytes = 60 << 20)) {
            php.get("/");
            php.get("/allocate");
            php.listener.await("stopped 1 MAX_MEMORY");

            assertThat(php.get("/count").body()).isEqualTo("1");
        }
    }

    @Test
    void a_worker_at_its_lifetime_is_replaced() {
        try (PhpPool php = PhpPool.started(settings -> settings.maxLifetime = Duration.ofMillis(200))) {
            php.listener.await("stopped 1 MAX_LIFETIME");
            assertThat(php.get("/").body()).isEqualTo("hello");
        }
    }

    @Test
    void an_operator_can_have_a_worker_replaced() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            assertThat(php.pool.recycle(1)).isTrue();
            assertThat(php.pool.recycle(7)).isFalse();
            php.listener.await("stopped 1 RECYCLED");
            assertThat(php.get("/").body()).isEqualTo("hello");
        }
    }

    // ---- reload ----

    @Test
    void a_reload_follows_the_symbolic_link_and_fails_no_request() throws Exception {
        try (Releases releases = new Releases();
                PhpPool php = PhpPool.started(settings -> {
                    settings.script = releases.current;
                    settings.workers = 2;
                })) {
            releases.pointTo("two");
            CompletableFuture<Integer> reload = php.pool.reload();
            List<RecordingJob> jobs = new ArrayList<>();
            while (!reload.isDone()) {
                jobs.add(php.get("/file"));
            }

            assertThat(reload.get()).isEqualTo(2);
            assertThat(jobs).allSatisfy(job -> assertThat(job.failure()).isNull());
            assertThat(php.get("/file").body()).endsWith("two");
            assertThat(php.pool.snapshot().workers().stream().filter(worker -> worker.state() == WorkerState.IDLE))
                    .hasSize(2)
                    .allSatisfy(worker -> assertThat(worker.generation()).isEqualTo(2));
        }
    }

    @Test
    void a_reload_to_a_version_that_does_not_boot_keeps_the_old_one() throws Exception {
        try (Releases releases = new Releases();
                PhpPool php = PhpPool.started(settings -> settings.script = releases.current)) {
            releases.pointTo("broken");
            ExecutionException failure = catchThrowableOfType(
                    ExecutionException.class, () -> php.pool.reload().get());

            assertThat(failure).hasMessageContaining("this release is broken");
            assertThat(php.get("/file").body()).endsWith("one");
            php.get("/exit-zero");
            assertThat(php.get("/file").body()).endsWith("one");

            releases.pointTo("two");
            assertThat(php.pool.reload().get()).isEqualTo(3);
            assertThat(php.get("/file").body()).endsWith("two");
        }
    }

    @Test
    void reloads_and_recycling_under_load_fail_no_request() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> {
            settings.workers = 2;
            settings.maxRequests = 50;
        })) {
            ExecutorService clients = Executors.newFixedThreadPool(4);
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger answered = new AtomicInteger();
            List<Future<List<WorkerException>>> loads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                loads.add(clients.submit(() -> {
                    List<WorkerException> failures = new ArrayList<>();
                    while (!over.get()) {
                        WorkerException failure = php.get("/").failure();
                        if (failure == null) {
                            answered.incrementAndGet();
                        } else {
                            failures.add(failure);
                        }
                    }
                    return failures;
                }));
            }
            for (int generation = 2; generation <= 11; generation++) {
                assertThat(php.pool.reload().get()).isEqualTo(generation);
            }
            over.set(true);
            clients.shutdown();

            for (Future<List<WorkerException>> load : loads) {
                assertThat(load.get()).isEmpty();
            }
            assertThat(answered).hasPositiveValue();
        }
    }

    /** Directories with a version of the application each, and a link to one of them. */
    private static final class Releases implements AutoCloseable {
        final Path directory = Files.createTempDirectory("cetane-releases");
        final Path current = directory.resolve("current.php");

        Releases() throws IOException {
            for (String release : List.of("one", "two")) {
                Files.createDirectory(directory.resolve(release));
                for (String file : List.of("raw", "by-path")) {
                    Files.copy(PhpPool.script(file), directory.resolve(release).resolve(file + ".php"));
                }
            }
            Files.createDirectory(directory.resolve("broken"));
            Files.writeString(
                    directory.resolve("broken/by-path.php"),
                    "<?php fwrite(STDERR, \"this release is broken\\n\"); exit(1);");
            pointTo("one");
        }

        void pointTo(String release) throws IOException {
            Files.deleteIfExists(current);
            Files.createSymbolicLink(current, directory.resolve(release).resolve("by-path.php"));
        }

        @Override
        public void close() throws IOException {
            for (String file : List.of(
                    "one/raw.php",
                    "one/by-path.php",
                    "one",
                    "two/raw.php",
                    "two/by-path.php",
                    "two",
                    "broken/by-path.php",
                    "broken",
                    "current.php",
                    "")) {
                Files.delete(directory.resolve(file));
            }
        }
    }

    // ---- the end ----

    @Test
    void a_drain_finishes_what_runs_and_what_waits() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob running = php.submit("/until-cancelled").awaitCall("data");
            RecordingJob waiting = php.submit("/");
            CompletableFuture<Void> drained = php.pool.drain(Duration.ofSeconds(10));
            RecordingJob late = php.get("/");
            php.pool.cancel(running);
            drained.get();

            assertThat(running.calls()).endsWith("end", "done");
            assertThat(waiting.body()).isEqualTo("hello");
            assertThat(late.failureKind()).isEqualTo(Kind.DRAINING);
            assertThat(php.log.await("worker.stopped").field("exit")).isEqualTo("exit code 0");
        }
    }

    @Test
    void a_worker_may_run_its_shutdown_code_when_it_is_drained() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> settings.script = PhpPool.script("exits-after-stop-slowly"))) {
            php.pool.drain(Duration.ofSeconds(10)).get();

            php.log.await("worker.output", event -> event.message().equals("shutdown code has run"));
        }
    }

    @Test
    void what_a_drain_does_not_finish_in_time_fails() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob running = php.submit("/hang");
            RecordingJob waiting = php.submit("/");
            php.pool.drain(Duration.ofMillis(200)).get();

            assertThat(running.failureKind()).isEqualTo(Kind.DRAINING);
            assertThat(waiting.failureKind()).isEqualTo(Kind.DRAINING);
        }
    }

    @Test
    void a_second_drain_stops_at_once() throws Exception {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob running = php.submit("/hang");
            CompletableFuture<Void> drained = php.pool.drain(Duration.ofHours(1));
            CompletableFuture<Void> again = php.pool.drain(Duration.ofHours(1));
            drained.get();
            again.get();

            assertThat(running.failureKind()).isEqualTo(Kind.DRAINING);
        }
    }
}
