package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever happens in whatever order: a job ends once, nobody idles while a job waits, there are never too many workers. */
final class WorkerPoolModelTest {

    private enum Event {
        SUBMIT,
        SUBMIT_UNDELIVERABLE,
        CANCEL,
        BOOT,
        FAIL_BOOT,
        START_FAILS,
        ANSWER,
        ANSWER_LAST,
        HEAD,
        CRASH,
        CRASH_UNREAD,
        EXIT,
        VIOLATE,
        SEND_FAILS,
        OBEY,
        GROW,
        RELOAD,
        RECYCLE,
        PASS_A_MOMENT,
        PASS_SECONDS
    }

    /** What happens, and to which worker or job of those it can happen to. */
    private record Step(Event event, int choice) {}

    @Provide
    Arbitrary<List<Step>> histories() {
        Arbitrary<Event> events = Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(30, Arbitraries.of(Event.SUBMIT, Event.ANSWER, Event.BOOT)),
                net.jqwik.api.Tuple.of(20, Arbitraries.of(Event.values())));
        return net.jqwik.api.Combinators.combine(events, Arbitraries.integers().between(0, 1000))
                .as(Step::new)
                .list()
                .ofMinSize(10)
                .ofMaxSize(150);
    }

    private final ManualTicker ticker = new ManualTicker();
    private final ManualMaintenance maintenance = new ManualMaintenance(ticker);
    private final ScriptedProcess.Factory processes = new ScriptedProcess.Factory(ticker);
    private final RecordingListener listener = new RecordingListener();
    private final List<RecordingJob> jobs = new ArrayList<>();

    private PhpPool.Settings settings(int workers, int queueSize, boolean recycling) {
        PhpPool.Settings settings = new PhpPool.Settings();
        settings.workers = workers;
        settings.queueSize = queueSize;
        settings.queueTimeout = Duration.ofSeconds(3);
        settings.requestTimeout = Duration.ofSeconds(5);
        settings.maxRequests = recycling ? 3 : 0;
        settings.maxMemoryBytes = 1000;
        settings.maxLifetime = recycling ? Duration.ofSeconds(60) : Duration.ZERO;
        return settings;
    }

    @Property(tries = 300)
    void the_invariants_hold_and_the_pool_recovers_and_stops(
            @ForAll("histories") List<Step> history,
            @ForAll @net.jqwik.api.constraints.IntRange(min = 1, max = 3) int workers,
            @ForAll @net.jqwik.api.constraints.IntRange(min = 0, max = 4) int queueSize,
            @ForAll boolean recycling,
            @ForAll boolean drains) {
        WorkerPool pool = WorkerPoolTest.pool(
                settings(workers, queueSize, recycling).toConfig(),
                ticker,
                maintenance,
                processes,
                listener,
                new RecordingLog(false));
        List<CompletableFuture<Integer>> reloads = new ArrayList<>();
        CompletableFuture<Void> booted = pool.startBooting();
        maintenance.run();
        for (Step step : history) {
            happen(pool, step, reloads);
            maintenance.run();
            check(pool, workers, queueSize);
        }
        recover(pool, workers);
        assertThat(reloads).allMatch(CompletableFuture::isDone);
        assertThat(booted).isDone();
        stop(pool, drains);
        assertThat(jobs).allMatch(RecordingJob::ended);
        assertThat(processes.alive()).isEmpty();
        assertThat(listener.told().stream().filter(what -> what.startsWith("stopped")))
                .hasSize(processes.made.size())
                .noneMatch(what -> what.endsWith("null"));
    }

    private void happen(WorkerPool pool, Step step, List<CompletableFuture<Integer>> reloads) {
        switch (step.event()) {
            case SUBMIT -> submit(pool, new RecordingJob("/"));
            case SUBMIT_UNDELIVERABLE ->
                submit(pool, new RecordingJob("/").failingToEncode(new IllegalArgumentException("too large")));
            case CANCEL -> choose(jobs, step).forEach(pool::cancel);
            case BOOT -> choose(booting(), step).forEach(ScriptedProcess::becomeReady);
            case FAIL_BOOT -> choose(booting(), step).forEach(process -> process.failBoot("the database is away"));
            case START_FAILS -> processes.startFailure = processes.startFailure == null ? "no more processes" : null;
            case ANSWER -> choose(busy(), step).forEach(ScriptedProcess::answer);
            case ANSWER_LAST -> choose(busy(), step).forEach(process -> process.answer(true));
            case HEAD -> choose(busy(), step).forEach(ScriptedProcess::head);
            case CRASH -> choose(processes.alive(), step).forEach(process -> process.exit(139));
            case CRASH_UNREAD -> choose(busy(), step).forEach(process -> process.exitWithoutHavingRead(137));
            case EXIT -> choose(processes.alive(), step).forEach(process -> process.exit(0));
            case VIOLATE -> choose(processes.alive(), step).forEach(ScriptedProcess::violate);
            case SEND_FAILS -> processes.nextSendFails = true;
            case OBEY -> obey();
            case GROW -> choose(processes.alive(), step).forEach(process -> process.memoryBytes = 2000);
            case RELOAD -> reloads.add(pool.reload());
            case RECYCLE -> pool.recycle(1 + step.choice() % Math.max(1, processes.made.size()));
            case PASS_A_MOMENT -> maintenance.advance(Duration.ofMillis(step.choice()));
            case PASS_SECONDS -> maintenance.advance(Duration.ofSeconds(step.choice() % 20));
        }
    }

    private void submit(WorkerPool pool, RecordingJob job) {
        jobs.add(job);
        pool.submit(job);
    }

    private static <T> List<T> choose(List<T> from, Step step) {
        return from.isEmpty() ? List.of() : List.of(from.get(step.choice() % from.size()));
    }

    private List<ScriptedProcess> booting() {
        return processes.alive().stream()
                .filter(process -> !process.ready && !process.terminated && !process.killed && process.running == null)
                .toList();
    }

    private List<ScriptedProcess> busy() {
        return processes.alive().stream()
                .filter(process -> process.running != null)
                .toList();
    }

    /** Whoever was told to leave leaves. */
    private void obey() {
        for (ScriptedProcess process : processes.alive()) {
            if (process.killed) {
                process.exit(137);
            } else if (process.terminated) {
                process.exit(143);
            } else if (process.askedToStop && process.running == null) {
                process.exit(0);
            }
        }
    }

    private void check(WorkerPool pool, int workers, int queueSize) {
        PoolSnapshot snapshot = pool.snapshot();
        assertThat(processes.alive().size()).isLessThanOrEqualTo(workers + 1);
        assertThat(snapshot.workers().size()).isLessThanOrEqualTo(workers + 1);
        // Jobs that came back from a worker that did not read them are put in front of the bound.
        assertThat(snapshot.queued()).isLessThanOrEqualTo(queueSize + workers + 1);
        if (snapshot.queued() > 0) {
            assertThat(snapshot.count(WorkerState.IDLE)).isZero();
        }
        assertThat(snapshot.workers()).allSatisfy(worker -> {
            assertThat(worker.state()).isNotEqualTo(WorkerState.STOPPED);
            assertThat(worker.requestId() != null).isEqualTo(worker.state() == WorkerState.BUSY);
            if (worker.state() == WorkerState.RETIRING) {
                assertThat(worker.reason()).isNotNull();
            }
        });
        long running = jobs.stream().filter(job -> !job.ended()).count();
        assertThat(running).isEqualTo(snapshot.queued() + snapshot.count(WorkerState.BUSY));
    }

    /** When nothing goes wrong any more, all workers serve again, and every job has ended. */
    private void recover(WorkerPool pool, int workers) {
        processes.startFailure = null;
        processes.nextSendFails = false;
        processes.made.forEach(process -> process.memoryBytes = 0);
        for (int i = 0; i < 50; i++) {
            obey();
            booting().forEach(ScriptedProcess::becomeReady);
            busy().stream()
                    .filter(process -> !process.terminated && !process.killed)
                    .forEach(ScriptedProcess::answer);
            maintenance.advance(Duration.ofSeconds(2));
        }
        assertThat(pool.snapshot().count(WorkerState.IDLE)).isGreaterThanOrEqualTo(workers);
        assertThat(jobs).allMatch(RecordingJob::ended);
    }

    private void stop(WorkerPool pool, boolean drains) {
        submit(pool, new RecordingJob("/"));
        submit(pool, new RecordingJob("/"));
        CompletableFuture<Void> stopped = drains ? pool.drain(Duration.ofSeconds(5)) : pool.stopNow();
        for (int i = 0; i < 20; i++) {
            maintenance.advance(Duration.ofSeconds(1));
            obey();
        }
        assertThat(stopped).isCompleted();
    }
}
