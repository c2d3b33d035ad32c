package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.worker.WorkerException.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The pool's decisions, with scripted processes and a clock that the test moves. */
final class WorkerPoolTest {
    private final ManualTicker ticker = new ManualTicker();
    private final ManualMaintenance maintenance = new ManualMaintenance(ticker);
    private final ScriptedProcess.Factory processes = new ScriptedProcess.Factory(ticker);
    private final RecordingListener listener = new RecordingListener();
    private final RecordingLog log = new RecordingLog();

    private WorkerPool pool(Consumer<PhpPool.Settings> change) {
        PhpPool.Settings settings = new PhpPool.Settings();
        change.accept(settings);
        return pool(settings.toConfig(), ticker, maintenance, processes, listener, log);
    }

    static WorkerPool pool(
            PoolConfig config,
            ManualTicker ticker,
            ManualMaintenance maintenance,
            ScriptedProcess.Factory processes,
            RecordingListener listener,
            RecordingLog log) {
        ApplicationConfig application = new ApplicationConfig(
                ApplicationKind.WORKER,
                PhpPool.script("well-behaved"),
                "",
                "",
                Path.of("/usr/bin/php"),
                Map.of(),
                Map.of(),
                false,
                Path.of("/"),
                List.of());
        return new WorkerPool(
                config,
                application,
                new java.util.concurrent.atomic.AtomicInteger()::incrementAndGet,
                ticker,
                log,
                listener,
                maintenance,
                processes,
                new SplittableRandom(1));
    }

    private WorkerPool booted(Consumer<PhpPool.Settings> change) {
        WorkerPool pool = pool(change);
        CompletableFuture<Void> boot = pool.startBooting();
        maintenance.run();
        processes.made.forEach(ScriptedProcess::becomeReady);
        assertThat(boot).isCompleted();
        return pool;
    }

    private static RecordingJob submit(WorkerPool pool) {
        RecordingJob job = new RecordingJob("/");
        pool.submit(job);
        return job;
    }

    private ScriptedProcess process(int id) {
        return processes.made.get(id - 1);
    }

    // ---- dispatch ----

    @Test
    void the_worker_that_was_idle_last_gets_the_job() {
        WorkerPool pool = booted(settings -> settings.workers = 3);
        submit(pool);
        submit(pool);
        process(2).answer();
        process(3).answer();
        submit(pool);

        assertThat(process(3).running).isNotNull();
        assertThat(process(2).running).isNull();
    }

    @Test
    void waiting_jobs_are_served_first_come_first_served() {
        WorkerPool pool = booted(settings -> {});
        submit(pool);
        RecordingJob second = submit(pool);
        RecordingJob third = submit(pool);
        process(1).answer();
        assertThat(process(1).running.job).isSameAs(second);
        process(1).answer();
        assertThat(process(1).running.job).isSameAs(third);
    }

    @Test
    void a_job_beyond_the_queue_is_refused_with_the_numbers() {
        WorkerPool pool = booted(settings -> settings.queueSize = 1);
        submit(pool);
        submit(pool);
        RecordingJob refused = submit(pool);

        assertThat(refused.failureKind()).isEqualTo(Kind.OVERLOADED);
        assertThat(refused.failure())
                .hasMessageContaining("pool.queue-size is 1")
                .hasMessageContaining("1 workers");
        assertThat(listener.told()).contains("rejected OVERLOADED");
    }

    @Test
    void a_queue_of_size_zero_takes_nothing() {
        WorkerPool pool = booted(settings -> settings.queueSize = 0);
        submit(pool);

        assertThat(submit(pool).failureKind()).isEqualTo(Kind.OVERLOADED);
    }

    @Test
    void a_waiting_job_fails_at_its_queue_time_out_and_not_before() {
        WorkerPool pool = booted(settings -> settings.queueTimeout = Duration.ofSeconds(2));
        submit(pool);
        RecordingJob waiting = submit(pool);
        maintenance.advance(Duration.ofMillis(1999));
        assertThat(waiting.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));

        assertThat(waiting.failureKind()).isEqualTo(Kind.QUEUE_TIMEOUT);
    }

    @Test
    void each_waiting_job_has_its_own_time_out() {
        WorkerPool pool = booted(settings -> settings.queueTimeout = Duration.ofSeconds(2));
        submit(pool);
        RecordingJob early = submit(pool);
        maintenance.advance(Duration.ofSeconds(1));
        RecordingJob late = submit(pool);
        maintenance.advance(Duration.ofSeconds(1));

        assertThat(early.failureKind()).isEqualTo(Kind.QUEUE_TIMEOUT);
        assertThat(late.ended()).isFalse();
        maintenance.advance(Duration.ofSeconds(1));
        assertThat(late.failureKind()).isEqualTo(Kind.QUEUE_TIMEOUT);
    }

    @Test
    void an_offered_job_goes_to_the_worker_that_was_asked_for_or_to_nobody() {
        WorkerPool pool = booted(settings -> settings.workers = 2);
        RecordingJob first = new RecordingJob("/");
        int chosen = pool.offer(first, 0);
        assertThat(chosen).isIn(1, 2);
        assertThat(process(chosen).running.job).isSameAs(first);
        assertThat(pool.offer(new RecordingJob("/"), chosen)).as("it is busy").isZero();
        process(chosen).answer();
        assertThat(pool.offer(new RecordingJob("/"), chosen)).isEqualTo(chosen);
        assertThat(pool.offer(new RecordingJob("/"), 99))
                .as("a worker that has gone")
                .isEqualTo(3 - chosen);
        assertThat(pool.offer(new RecordingJob("/"), 99)).as("all are busy").isZero();
    }

    @Test
    void an_aborted_job_fails_at_once_and_costs_the_worker_that_runs_it() {
        WorkerPool pool = booted(settings -> {});
        RecordingJob running = submit(pool);
        RecordingJob waiting = submit(pool);
        pool.abort(waiting, new WorkerException(Kind.TIMED_OUT, "waited too long"));
        assertThat(waiting.failure()).hasMessage("waited too long");
        assertThat(running.ended()).isFalse();
        pool.abort(running, new WorkerException(Kind.TIMED_OUT, "ran too long"));
        assertThat(running.failure()).hasMessage("ran too long");
        maintenance.run();
        assertThat(process(1).terminated).isTrue();
        pool.abort(running, new WorkerException(Kind.TIMED_OUT, "again"));
        assertThat(running.calls()).containsExactly("failed");
    }

    @Test
    void a_job_whose_client_left_is_dropped_from_the_queue() {
        WorkerPool pool = booted(settings -> {});
        RecordingJob running = submit(pool);
        RecordingJob waiting = submit(pool);
        pool.cancel(waiting);
        pool.cancel(running);

        assertThat(waiting.failureKind()).isEqualTo(Kind.CANCELLED);
        assertThat(running.ended()).isFalse();
        assertThat(process(1).cancelled).isTrue();
        process(1).answer();
        assertThat(process(1).running).isNull();
    }

    @Test
    void jobs_that_cannot_be_written_do_not_hold_up_the_next_one() {
        WorkerPool pool = booted(settings -> {});
        submit(pool);
        RecordingJob bad = new RecordingJob("/").failingToEncode(new IllegalArgumentException("NUL in a header"));
        RecordingJob worse = new RecordingJob("/").failingToEncode(new IllegalArgumentException("NUL in a header"));
        pool.submit(bad);
        pool.submit(worse);
        RecordingJob good = submit(pool);
        process(1).answer();

        assertThat(bad.failureKind()).isEqualTo(Kind.UNDELIVERABLE);
        assertThat(worse.failureKind()).isEqualTo(Kind.UNDELIVERABLE);
        assertThat(process(1).running.job).isSameAs(good);
    }

    @Test
    void an_idle_pool_has_no_timers_running() {
        WorkerPool pool = booted(settings -> {});
        submit(pool);
        process(1).answer();
        maintenance.advance(Duration.ofMinutes(1));

        assertThat(maintenance.waiting()).isZero();
    }

    // ---- workers that are gone ----

    @Test
    void a_job_whose_worker_is_gone_when_it_is_written_goes_to_another() {
        WorkerPool pool = booted(settings -> settings.workers = 2);
        processes.nextSendFails = true;
        RecordingJob job = submit(pool);

        assertThat(process(1).running.job).isSameAs(job);
        process(1).answer();
        assertThat(job.calls()).endsWith("end", "done");
    }

    @Test
    void a_job_that_its_worker_did_not_read_waits_at_the_head_of_the_queue() {
        WorkerPool pool = booted(settings -> {});
        RecordingJob first = submit(pool);
        submit(pool);
        process(1).exitWithoutHavingRead(137);
        maintenance.run();
        process(2).becomeReady();

        assertThat(process(2).running.job).isSameAs(first);
    }

    @Test
    void a_job_that_two_workers_did_not_take_fails() {
        WorkerPool pool = booted(settings -> settings.workers = 2);
        processes.nextSendFails = true;
        RecordingJob job = submit(pool);
        process(1).exitWithoutHavingRead(137);

        assertThat(job.failureKind()).isEqualTo(Kind.CRASHED);
    }

    @Test
    void a_worker_that_dies_with_a_job_that_it_has_read_fails_the_job() {
        WorkerPool pool = booted(settings -> {});
        RecordingJob job = submit(pool);
        process(1).exit(139);

        assertThat(job.failure()).hasMessageContaining("signal 11 (SEGV)");
        assertThat(listener.told()).contains("failed CRASHED", "stopped 1 CRASHED");
    }

    // ---- the request time-out ----

    @Test
    void a_request_over_its_time_fails_at_once_and_its_worker_is_terminated_then_killed() {
        WorkerPool pool = booted(settings -> {
            settings.requestTimeout = Duration.ofSeconds(3);
            settings.killGrace = Duration.ofSeconds(1);
        });
        RecordingJob job = submit(pool);
        maintenance.advance(Duration.ofMillis(2999));
        assertThat(job.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));

        assertThat(job.failureKind()).isEqualTo(Kind.TIMED_OUT);
        assertThat(process(1).terminated).isTrue();
        assertThat(process(1).killed).isFalse();
        maintenance.advance(Duration.ofSeconds(1));
        assertThat(process(1).killed).isTrue();
    }

    @Test
    void the_replacement_of_a_worker_that_is_killed_boots_meanwhile() {
        WorkerPool pool = booted(settings -> settings.requestTimeout = Duration.ofSeconds(3));
        submit(pool);
        maintenance.advance(Duration.ofSeconds(3));

        assertThat(processes.alive()).hasSize(2);
        process(2).becomeReady();
        submit(pool);
        assertThat(process(2).running).isNotNull();
    }

    @Test
    void time_spent_waiting_for_the_client_is_not_the_workers() {
        WorkerPool pool = booted(settings -> settings.requestTimeout = Duration.ofSeconds(3));
        RecordingJob job = new RecordingJob("/").whenData(bytes -> ticker.advance(Duration.ofSeconds(10)));
        pool.submit(job);
        process(1).head();
        process(1).running.data(java.nio.ByteBuffer.allocate(1), ticker);
        maintenance.advance(Duration.ofMillis(2999));
        assertThat(job.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));

        assertThat(job.failureKind()).isEqualTo(Kind.TIMED_OUT);
    }

    @Test
    void what_comes_after_a_time_out_is_ignored() {
        WorkerPool pool = booted(settings -> settings.requestTimeout = Duration.ofSeconds(3));
        RecordingJob job = submit(pool);
        maintenance.advance(Duration.ofSeconds(3));
        process(1).answer();
        process(1).exit(0);

        assertThat(job.calls()).containsExactly("failed");
        assertThat(listener.told()).contains("stopped 1 TIMED_OUT");
        WorkerEnd end = listener.ends().get(0);
        assertThat(end.planned()).isFalse();
        assertThat(end.request()).isEqualTo(job.describe());
        assertThat(end.requestId()).isEqualTo(job.id());
    }

    @Test
    void a_worker_that_leaves_with_its_answer_names_the_request_whatever_its_exit_code() {
        WorkerPool pool = booted(settings -> {});
        for (int worker = 1; worker <= 2; worker++) {
            RecordingJob job = new RecordingJob("/exit-" + worker);
            pool.submit(job);
            process(worker).answer(true);
            process(worker).exit(worker == 1 ? 0 : 3);
            maintenance.run();
            process(worker + 1).becomeReady();

            WorkerEnd end = listener.ends().get(worker - 1);
            assertThat(end.request()).isEqualTo(job.describe());
            assertThat(end.requestId()).isEqualTo(job.id());
        }
        assertThat(log.events("worker.stopped"))
                .extracting(RecordingLog.Event::message)
                .satisfiesExactly(
                        first -> assertThat(first).endsWith("stopped: exited, exit code 0, after GET /exit-1"),
                        second -> assertThat(second)
                                .contains("stopped: crashed, exit code 3, while it served GET /exit-2"));
    }

    @Test
    void a_request_with_a_limit_of_its_own_runs_that_long_and_no_longer() {
        WorkerPool pool = booted(settings -> {
            settings.workers = 3;
            settings.requestTimeout = Duration.ofSeconds(3);
        });
        process(2).becomeReady();
        process(3).becomeReady();
        RecordingJob longer = new RecordingJob("/report").limitedTo(Duration.ofSeconds(60), "the route /report");
        RecordingJob shorter = new RecordingJob("/api").limitedTo(Duration.ofSeconds(1), "the route /api");
        RecordingJob usual = new RecordingJob("/");
        pool.submit(longer);
        pool.submit(usual);
        pool.submit(shorter);
        maintenance.advance(Duration.ofMillis(999));
        assertThat(shorter.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));
        assertThat(shorter.failureKind()).isEqualTo(Kind.TIMED_OUT);
        assertThat(shorter.failure()).hasMessageContaining("ran longer than the route /api (1s)");
        maintenance.advance(Duration.ofSeconds(2));
        assertThat(usual.failureKind()).isEqualTo(Kind.TIMED_OUT);
        assertThat(usual.failure()).hasMessageContaining("pool.request-timeout (3s)");
        maintenance.advance(Duration.ofMillis(56_999));
        assertThat(longer.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));
        assertThat(longer.failureKind()).isEqualTo(Kind.TIMED_OUT);
    }

    @Test
    void a_limit_of_its_own_holds_where_the_pool_has_none_and_can_be_none() {
        WorkerPool pool = booted(settings -> {
            settings.workers = 2;
            settings.requestTimeout = Duration.ZERO;
        });
        process(2).becomeReady();
        RecordingJob limited = new RecordingJob("/").limitedTo(Duration.ofSeconds(1), "test");
        RecordingJob unlimited = new RecordingJob("/").limitedTo(Duration.ZERO, "test");
        pool.submit(limited);
        pool.submit(unlimited);
        maintenance.advance(Duration.ofDays(1));
        assertThat(limited.failureKind()).isEqualTo(Kind.TIMED_OUT);
        assertThat(unlimited.ended()).isFalse();
    }

    @Test
    void the_application_can_give_a_running_request_another_limit_which_begins_then() {
        WorkerPool pool = booted(settings -> settings.requestTimeout = Duration.ofSeconds(3));
        RecordingJob job = submit(pool);
        maintenance.advance(Duration.ofSeconds(2));
        process(1)
                .running
                .restartLimit(new TimeLimit(Duration.ofSeconds(60), "the application's wish"), ticker.nanos());
        process(1).owner.limited(process(1).running);
        maintenance.advance(Duration.ofMillis(59_999));
        assertThat(job.ended()).isFalse();
        maintenance.advance(Duration.ofMillis(1));
        assertThat(job.failureKind()).isEqualTo(Kind.TIMED_OUT);
        assertThat(job.failure()).hasMessageContaining("ran longer than the application's wish (1m)");
    }

    @Test
    void the_application_can_shorten_it_too_and_the_next_request_has_the_usual_one() {
        WorkerPool pool = booted(settings -> settings.requestTimeout = Duration.ofSeconds(30));
        RecordingJob job = submit(pool);
        process(1).running.restartLimit(new TimeLimit(Duration.ofSeconds(1), "wish"), ticker.nanos());
        process(1).owner.limited(process(1).running);
        process(1).answer();
        RecordingJob next = submit(pool);
        maintenance.advance(Duration.ofSeconds(29));
        assertThat(job.calls()).endsWith("done");
        assertThat(next.ended()).isFalse();
        process(1).running.restartLimit(new TimeLimit(Duration.ofMillis(500), "wish"), ticker.nanos());
        process(1).owner.limited(process(1).running);
        maintenance.advance(Duration.ofMillis(500));
        assertThat(next.failureKind()).isEqualTo(Kind.TIMED_OUT);
    }

    // ---- boots ----

    @Test
    void failed_boots_are_tried_again_ever_later_for_ever() {
        WorkerPool pool = booted(settings -> settings.backoffInitial = Duration.ofMillis(100));
        process(1).exit(1);
        long before = 0;
        for (int attempt = 2; attempt <= 12; attempt++) {
            maintenance.advance(Duration.ofSeconds(1));
            assertThat(processes.made).hasSize(attempt);
            long started = ticker.nanos();
            process(attempt).failBoot("the database is away");
            maintenance.run();
            assertThat(processes.made).hasSize(attempt);
            before = started;
        }
        assertThat(before).isPositive();
        assertThat(pool.snapshot().lastBootFailure()).contains("the database is away");
        maintenance.advance(Duration.ofSeconds(1));
        processes.last().becomeReady();
        assertThat(pool.snapshot().lastBootFailure()).isNull();
    }

    @Test
    void boots_that_are_killed_from_outside_are_tried_again_without_waiting_longer_each_time() {
        booted(settings -> settings.backoffInitial = Duration.ofMillis(100));
        process(1).exit(137);
        maintenance.run();
        for (int attempt = 2; attempt <= 10; attempt++) {
            assertThat(processes.made).hasSize(attempt);
            process(attempt).exit(137);
            maintenance.advance(Duration.ofMillis(100));
        }
    }

    @Test
    void while_boots_fail_one_worker_at_a_time_is_tried() {
        WorkerPool pool = booted(settings -> settings.workers = 3);
        List.copyOf(processes.alive()).forEach(process -> process.exit(1));
        maintenance.advance(Duration.ofSeconds(1));
        processes.alive().forEach(process -> process.failBoot("away"));
        int before = processes.made.size();
        maintenance.advance(Duration.ofSeconds(1));
        assertThat(processes.made).hasSize(before + 1);
        processes.last().becomeReady();
        maintenance.run();

        assertThat(processes.alive()).hasSize(3);
        assertThat(pool.snapshot().workers()).hasSize(3);
    }

    @Test
    void a_boot_over_its_time_is_killed() {
        WorkerPool pool = pool(settings -> settings.bootTimeout = Duration.ofSeconds(3));
        CompletableFuture<Void> boot = pool.startBooting();
        maintenance.advance(Duration.ofSeconds(3));
        assertThat(process(1).killed).isTrue();
        process(1).exit(137);

        assertThat(boot).isCompletedExceptionally();
        assertThatThrownBy(boot::get).hasMessageContaining("pool.boot-timeout (3s)");
        assertThat(listener.told()).contains("stopped 1 BOOT_TIMED_OUT");
    }

    @Test
    void jobs_wait_for_the_first_boot() {
        WorkerPool pool = pool(settings -> {});
        CompletableFuture<Void> boot = pool.startBooting();
        RecordingJob job = submit(pool);
        maintenance.run();
        process(1).becomeReady();

        assertThat(boot).isCompleted();
        assertThat(process(1).running.job).isSameAs(job);
    }

    @Test
    void the_wait_for_a_boot_is_told_from_the_wait_for_a_worker_that_is_busy() {
        WorkerPool pool = pool(settings -> settings.workers = 1);
        CompletableFuture<Void> boot = pool.startBooting();
        maintenance.run();
        ticker.advance(Duration.ofMillis(200));
        RecordingJob first = submit(pool);
        RecordingJob second = submit(pool);
        ticker.advance(Duration.ofMillis(300));
        process(1).becomeReady();
        ticker.advance(Duration.ofMillis(50));
        process(1).answer();
        process(1).answer();

        assertThat(boot).isCompleted();
        assertThat(first.report().bootNanos()).isEqualTo(Duration.ofMillis(300).toNanos());
        assertThat(first.report().queueNanos()).isZero();
        assertThat(second.report().bootNanos()).isZero();
        assertThat(second.report().queueNanos())
                .isEqualTo(Duration.ofMillis(350).toNanos());
    }

    // ---- make before break ----

    @Test
    void a_worker_at_its_limit_serves_until_its_replacement_is_ready() {
        WorkerPool pool = booted(settings -> settings.maxRequests = 1);
        submit(pool);
        process(1).answer();
        maintenance.run();
        submit(pool);
        assertThat(process(1).running).isNotNull();
        process(2).becomeReady();
        assertThat(process(1).askedToStop).isFalse();
        process(1).answer();

        assertThat(process(1).askedToStop).isTrue();
        submit(pool);
        assertThat(process(2).running).isNotNull();
        process(1).exit(0);
        assertThat(listener.told()).contains("stopped 1 MAX_REQUESTS");
    }

    @Test
    void what_is_no_request_counts_neither_as_served_nor_toward_the_limit() {
        WorkerPool pool = booted(settings -> settings.maxRequests = 1);
        RecordingJob tick = new RecordingJob("/tick").uncounted();
        pool.submit(tick);
        process(1).answer();
        maintenance.run();

        assertThat(pool.snapshot().workers()).singleElement().satisfies(worker -> {
            assertThat(worker.requests()).isZero();
            assertThat(worker.reason()).isNull();
        });
        assertThat(listener.told()).noneMatch(told -> told.startsWith("completed"));
    }

    @Test
    void workers_at_their_limits_are_replaced_one_at_a_time() {
        WorkerPool pool = booted(settings -> {
            settings.workers = 3;
            settings.maxRequests = 1;
        });
        for (int i = 0; i < 3; i++) {
            submit(pool);
        }
        for (int i = 1; i <= 3; i++) {
            process(i).answer();
        }
        maintenance.run();

        assertThat(processes.alive()).hasSize(4);
        process(4).becomeReady();
        maintenance.run();
        assertThat(processes.alive()).hasSize(4);
        processes.alive().stream()
                .filter(process -> process.askedToStop)
                .findFirst()
                .orElseThrow()
                .exit(0);
        maintenance.run();
        assertThat(processes.alive()).hasSize(4);
    }

    @Test
    void a_worker_that_does_not_leave_is_terminated_then_killed() {
        WorkerPool pool = booted(settings -> {
            settings.stopGrace = Duration.ofSeconds(5);
            settings.killGrace = Duration.ofSeconds(1);
        });
        pool.recycle(1);
        maintenance.run();
        process(2).becomeReady();
        assertThat(process(1).askedToStop).isTrue();
        maintenance.advance(Duration.ofMillis(4999));
        assertThat(process(1).terminated).isFalse();
        maintenance.advance(Duration.ofMillis(1));
        assertThat(process(1).terminated).isTrue();
        maintenance.advance(Duration.ofSeconds(1));

        assertThat(process(1).killed).isTrue();
    }

    @Test
    void a_worker_over_its_memory_limit_is_due_soon_after_the_request() {
        WorkerPool pool = booted(settings -> settings.maxMemoryBytes = 100);
        process(1).memoryBytes = 101;
        submit(pool);
        process(1).answer();
        maintenance.advance(Duration.ofSeconds(1));
        process(2).becomeReady();

        assertThat(process(1).askedToStop).isTrue();
        assertThat(pool.snapshot().workers().get(0).reason()).isEqualTo(RetireReason.MAX_MEMORY);
    }

    // ---- reload ----

    @Test
    void a_reload_replaces_one_worker_after_the_other() {
        WorkerPool pool = booted(settings -> settings.workers = 2);
        CompletableFuture<Integer> reload = pool.reload();
        maintenance.run();
        assertThat(processes.alive()).hasSize(3);
        process(3).becomeReady();
        maintenance.run();
        assertThat(processes.alive()).hasSize(3);
        processes.alive().stream()
                .filter(process -> process.askedToStop)
                .findFirst()
                .orElseThrow()
                .exit(0);
        maintenance.run();
        process(4).becomeReady();

        assertThat(reload).isCompletedWithValue(2);
    }

    @Test
    void a_busy_worker_finishes_before_the_reload_takes_it() {
        WorkerPool pool = booted(settings -> {});
        RecordingJob job = submit(pool);
        CompletableFuture<Integer> reload = pool.reload();
        maintenance.run();
        process(2).becomeReady();
        assertThat(process(1).askedToStop).isFalse();
        assertThat(reload).isNotDone();
        process(1).answer();

        assertThat(job.calls()).endsWith("end", "done");
        assertThat(process(1).askedToStop).isTrue();
        assertThat(reload).isCompleted();
    }

    @Test
    void a_reload_that_does_not_boot_keeps_the_old_workers() {
        WorkerPool pool = booted(settings -> {});
        CompletableFuture<Integer> reload = pool.reload();
        maintenance.run();
        process(2).failBoot("a class is missing");

        assertThatThrownBy(reload::get).hasMessageContaining("a class is missing");
        maintenance.advance(Duration.ofMinutes(1));
        assertThat(processes.made).hasSize(2);
        assertThat(pool.snapshot().generation()).isEqualTo(1);
        submit(pool);
        assertThat(process(1).running).isNotNull();
    }

    @Test
    void a_second_reload_takes_the_first_along() {
        WorkerPool pool = booted(settings -> {});
        CompletableFuture<Integer> first = pool.reload();
        maintenance.run();
        CompletableFuture<Integer> second = pool.reload();
        maintenance.run();
        assertThat(process(2).terminated).isTrue();
        process(2).exit(143);
        maintenance.run();
        process(3).becomeReady();

        assertThat(first).isCompletedWithValue(3);
        assertThat(second).isCompletedWithValue(3);
    }

    // ---- drain ----

    @Test
    void a_drain_lets_workers_go_as_they_finish() {
        WorkerPool pool = booted(settings -> settings.workers = 2);
        RecordingJob job = submit(pool);
        CompletableFuture<Void> drained = pool.drain(Duration.ofSeconds(10));
        assertThat(process(1).askedToStop).isTrue();
        assertThat(process(2).askedToStop).isFalse();
        assertThat(submit(pool).failureKind()).isEqualTo(Kind.DRAINING);
        process(2).answer();
        assertThat(process(2).askedToStop).isTrue();
        process(1).exit(0);
        assertThat(drained).isNotDone();
        process(2).exit(0);

        assertThat(drained).isCompleted();
        assertThat(job.calls()).endsWith("end", "done");
    }

    @Test
    void a_worker_that_dies_during_a_drain_is_replaced_while_jobs_wait() {
        WorkerPool pool = booted(settings -> {});
        submit(pool);
        RecordingJob waiting = submit(pool);
        CompletableFuture<Void> drained = pool.drain(Duration.ofSeconds(10));
        process(1).exit(137);
        maintenance.run();
        process(2).becomeReady();
        process(2).answer();
        process(2).exit(0);

        assertThat(waiting.calls()).endsWith("end", "done");
        assertThat(drained).isCompleted();
    }

    @Test
    void a_pool_that_never_started_stops_at_once() {
        WorkerPool pool = pool(settings -> {});

        assertThat(pool.drain(Duration.ofSeconds(1))).isCompleted();
        assertThat(submit(pool).failureKind()).isEqualTo(Kind.DRAINING);
    }
}
