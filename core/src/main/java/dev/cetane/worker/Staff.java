package dev.cetane.worker;

import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a pool, from the start of their processes to the end: who comes, who is idle, who has to go and how. Guarded by the
 * pool's lock; methods without an {@link Effects} parameter take it themselves, and run on the maintenance thread unless they say
 * otherwise.
 */
final class Staff {
    private static final long MEMORY_SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final PoolConfig config;
    private final ApplicationConfig application;
    private final Ticker ticker;
    private final PoolListener listener;
    private final PoolJournal journal;
    private final Maintenance maintenance;
    private final WorkerProcess.Factory processes;
    private final Roster roster;
    private final PoolLock lock;
    private final WorkerPool pool;

    private final ArrayDeque<Worker> idle = new ArrayDeque<>();
    private final List<CompletableFuture<Integer>> reloads = new ArrayList<>();
    private boolean retryArmed;

    Staff(
            PoolConfig config,
            ApplicationConfig application,
            Ticker ticker,
            PoolListener listener,
            PoolJournal journal,
            Maintenance maintenance,
            WorkerProcess.Factory processes,
            Roster roster,
            PoolLock lock,
            WorkerPool pool) {
        this.config = config;
        this.application = application;
        this.ticker = ticker;
        this.listener = listener;
        this.journal = journal;
        this.maintenance = maintenance;
        this.processes = processes;
        this.roster = roster;
        this.lock = lock;
        this.pool = pool;
    }

    // ---- who is there ----

    /** All whose process has not ended; a copy, so that they may leave while one goes through it. */
    List<Worker> all() {
        return List.copyOf(roster.workers());
    }

    int size() {
        return roster.workers().size();
    }

    /** The worker that was idle last, and is no longer; null when none is idle. */
    @Nullable
    Worker takeIdle() {
        return idle.pollFirst();
    }

    /** This worker, if it is idle, or when it has gone the one that was idle longest; it is no longer. Null when there is none. */
    @Nullable
    Worker takeIdle(int workerId) {
        Worker wanted = roster.find(workerId);
        if (wanted == null) {
            return idle.pollLast();
        }
        return idle.remove(wanted) ? wanted : null;
    }

    int idleCount() {
        return idle.size();
    }

    int busyCount() {
        int busy = 0;
        for (Worker worker : roster.workers()) {
            if (worker.state() == WorkerState.BUSY) {
                busy++;
            }
        }
        return busy;
    }

    void addIdle(Worker worker) {
        idle.addFirst(worker);
    }

    @Nullable
    Worker serving(Job job) {
        for (Worker worker : roster.workers()) {
            if (worker.exchange != null && worker.exchange.job == job) {
                return worker;
            }
        }
        return null;
    }

    @Nullable
    Worker find(int workerId) {
        return roster.find(workerId);
    }

    int generation() {
        return roster.generation();
    }

    @Nullable
    String lastBootFailure() {
        return roster.lastBootFailure();
    }

    List<WorkerSnapshot> snapshot(long nowNanos) {
        List<WorkerSnapshot> snapshots = new ArrayList<>();
        roster.workers().forEach(worker -> snapshots.add(worker.snapshot(nowNanos)));
        return List.copyOf(snapshots);
    }

    // ---- who comes ----

    /** The application as it is on disk now. */
    Generation resolve() throws IOException {
        return Generation.resolve(lock.read(roster::nextGenerationNumber), application);
    }

    void employ(Generation first, Effects effects) {
        roster.replaceAllBy(first);
        fill(effects);
    }

    /** Starts the workers that are missing. */
    void fill(Effects effects) {
        assert lock.held();
        if (!pool.hiring()) {
            return;
        }
        long now = ticker.nanos();
        Worker recruit = roster.recruit(now);
        while (recruit != null) {
            Worker worker = recruit;
            effects.add(() -> maintenance.execute(() -> boot(worker)));
            recruit = roster.recruit(now);
        }
        long wait = roster.retryAtNanos() - now;
        if (roster.bootFailures() > 0 && wait > 0 && !retryArmed) {
            retryArmed = true;
            effects.add(() -> maintenance.schedule(
                    () -> lock.act(later -> {
                        retryArmed = false;
                        fill(later);
                    }),
                    wait));
        }
    }

    private void boot(Worker worker) {
        try {
            Generation generation = worker.generation;
            if (!generation.exists()) {
                // A deployment has removed the version that runs: what is there now is better than nothing.
                generation = Generation.resolve(generation.number(), application);
            }
            WorkerProcess process = processes.create(worker.id, generation, new Owner(worker));
            boolean wanted = lock.read(() -> {
                worker.process = process;
                return worker.state() == WorkerState.STARTING;
            });
            if (!wanted) {
                ended(worker, new WorkerProcess.Ending(0, null, null, null, ""));
                return;
            }
            process.start();
        } catch (IOException | RuntimeException | Error e) {
            // An Error, too, is a boot that failed: no thread or memory could be had for it.
            ended(worker, new WorkerProcess.Ending(127, null, PoolJournal.message(e), null, ""));
            return;
        }
        listener.started(worker.id);
        journal.started(worker);
        maintenance.schedule(() -> bootTimedOut(worker), config.bootTimeout().toNanos());
    }

    private void bootTimedOut(Worker worker) {
        lock.act(effects -> {
            if (worker.state() == WorkerState.STARTING) {
                leave(worker, RetireReason.BOOT_TIMED_OUT);
                effects.add(() -> kill(worker));
            }
        });
    }

    /** Reader thread. */
    private void ready(Worker worker, Ready ready) {
        lock.act(effects -> {
            if (worker.state() != WorkerState.STARTING) {
                return;
            }
            long now = ticker.nanos();
            long bootNanos = Math.max(1, now - worker.createdNanos);
            worker.bootNanos = bootNanos;
            pool.ready(ready, worker.generation);
            roster.booted(worker);
            Exchange next = pool.rest(worker, now, effects);
            if (next != null) {
                effects.add(() -> pool.dispatch(worker, next));
            }
            effects.add(() -> journal.booted(worker, ready, bootNanos));
            effects.add(() -> listener.booted(worker.id, bootNanos));
            effects.add(() -> pool.firstBoot(null));
            if (worker.maxLifetimeNanos > 0) {
                effects.add(() -> maintenance.schedule(() -> lifetimeOver(worker), worker.maxLifetimeNanos));
            }
            askMemory(worker, effects);
            Worker replaced = roster.surplus() ? roster.idleDue() : null;
            if (replaced != null && replaced.due != null) {
                retire(replaced, replaced.due, effects);
            }
            completeReloads(effects);
            fill(effects);
        });
    }

    // ---- who is to be replaced ----

    /** Marks a worker for replacement; false when it is not serving or is due already. */
    boolean makeDue(Worker worker, RetireReason reason, String measure, Effects effects) {
        assert lock.held();
        if (!worker.serving() || worker.due != null || !pool.replacing()) {
            return false;
        }
        worker.due = reason;
        effects.add(() -> journal.due(worker, reason, measure));
        fill(effects);
        return true;
    }

    /** Sends the worker, which has just become idle, away if it is due and its replacement is there. */
    boolean replaced(Worker worker, Effects effects) {
        RetireReason due = worker.due;
        if (due == null || !roster.surplus()) {
            return false;
        }
        retire(worker, due, effects);
        completeReloads(effects);
        return true;
    }

    private void lifetimeOver(Worker worker) {
        String measure = "pool.max-lifetime (" + PoolJournal.text(config.maxLifetime()) + ", less jitter) is over";
        lock.act(effects -> makeDue(worker, RetireReason.MAX_LIFETIME, measure, effects));
    }

    /** Has the worker's memory read soon, at most once a second and only after requests: an idle pool uses no CPU. */
    void askMemory(Worker worker, Effects effects) {
        if (!worker.memoryAsked) {
            worker.memoryAsked = true;
            long sampled = worker.memoryAtNanos;
            long delay = sampled == 0 ? 0 : Math.max(0, sampled + MEMORY_SAMPLE_NANOS - ticker.nanos());
            effects.add(() -> maintenance.schedule(() -> sampleMemory(worker), delay));
        }
    }

    private void sampleMemory(Worker worker) {
        long bytes = worker.process().privateMemoryBytes();
        lock.act(effects -> {
            worker.memoryAsked = false;
            worker.memoryAtNanos = ticker.nanos();
            worker.memoryBytes = bytes;
            if (worker.maxMemoryBytes > 0 && bytes > worker.maxMemoryBytes) {
                String measure = "private memory of " + bytes + " bytes, pool.max-memory is " + config.maxMemoryBytes()
                        + ", less jitter";
                makeDue(worker, RetireReason.MAX_MEMORY, measure, effects);
            }
        });
    }

    /** Replaces all workers by those of this generation, one at a time. */
    void reload(Generation next, CompletableFuture<Integer> result, Effects effects) {
        effects.add(() -> journal.pool(
                Level.INFO,
                "pool.reload",
                "replacing all workers by generation " + next.number() + " of " + next.script(),
                "generation",
                next.number()));
        reloads.add(result);
        roster.replaceAllBy(next);
        for (Worker worker : all()) {
            if (worker.state() == WorkerState.STARTING) {
                dismiss(worker, RetireReason.RELOAD, effects);
            }
        }
        fill(effects);
    }

    private void completeReloads(Effects effects) {
        if (!reloads.isEmpty() && roster.switched()) {
            int generation = roster.generation();
            endReloads(reload -> reload.complete(generation), effects);
            effects.add(() -> journal.pool(
                    Level.INFO, "pool.reloaded", "all workers run generation " + generation, "generation", generation));
        }
    }

    void failReloads(WorkerException failure, Effects effects) {
        endReloads(reload -> reload.completeExceptionally(failure), effects);
    }

    private void endReloads(Consumer<CompletableFuture<Integer>> end, Effects effects) {
        List<CompletableFuture<Integer>> ended = List.copyOf(reloads);
        reloads.clear();
        effects.add(() -> ended.forEach(end));
    }

    // ---- who goes ----

    /** The worker takes no more pool. */
    void leave(Worker worker, RetireReason reason) {
        assert lock.held();
        idle.remove(worker);
        worker.become(WorkerState.RETIRING, reason, ticker.nanos());
    }

    /** Asks an idle worker to leave, then makes it. */
    void retire(Worker worker, RetireReason reason, Effects effects) {
        leave(worker, reason);
        WorkerProcess process = worker.process();
        effects.add(process::askToStop);
        expectExit(worker, config.stopGrace().toNanos(), effects);
    }

    /** SIGTERM now, SIGKILL later. */
    void dismiss(Worker worker, RetireReason reason, Effects effects) {
        leave(worker, reason);
        effects.add(() -> maintenance.execute(() -> terminate(worker)));
    }

    /** The worker is about to exit; if it does not, SIGTERM after the grace, and SIGKILL after the grace that follows. */
    void expectExit(Worker worker, long graceNanos, Effects effects) {
        effects.add(() -> maintenance.schedule(() -> terminate(worker), graceNanos));
    }

    /** Every worker goes, by SIGKILL at once or by SIGTERM first. */
    void dismissAll(boolean kill, Effects effects) {
        for (Worker worker : all()) {
            if (worker.state() != WorkerState.RETIRING) {
                leave(worker, RetireReason.DRAIN);
            }
            effects.add(() -> maintenance.execute(kill ? () -> kill(worker) : () -> terminate(worker)));
        }
    }

    private void terminate(Worker worker) {
        if (stillThere(worker)) {
            worker.process().terminate();
            maintenance.schedule(() -> kill(worker), config.killGrace().toNanos());
        }
    }

    private void kill(Worker worker) {
        if (stillThere(worker)) {
            worker.process().kill();
        }
    }

    private boolean stillThere(Worker worker) {
        return lock.read(() -> worker.state() != WorkerState.STOPPED && worker.process != null);
    }

    /** The worker reads no more: it is gone, or will be. */
    void unreachable(Worker worker, Effects effects) {
        if (worker.state() == WorkerState.BUSY) {
            leave(worker, RetireReason.CRASHED);
            effects.add(() ->
                    maintenance.schedule(() -> kill(worker), config.killGrace().toNanos()));
        }
    }

    /** Reader or dispatching thread. */
    private void violated(Worker worker, String message) {
        lock.act(effects -> {
            Exchange exchange = worker.exchange;
            if (worker.state() != WorkerState.RETIRING && worker.state() != WorkerState.STOPPED) {
                worker.exchange = null;
                leave(worker, RetireReason.PROTOCOL_ERROR);
                if (exchange != null) {
                    worker.endedFor = exchange.job;
                    effects.add(() ->
                            exchange.conclude(PoolJournal.violation(worker.name(), exchange, message), ticker.nanos()));
                }
                effects.add(() -> journal.violated(worker, exchange, message));
            }
            effects.add(() -> maintenance.execute(() -> kill(worker)));
            fill(effects);
        });
    }

    private void ended(Worker worker, WorkerProcess.Ending ending) {
        lock.act(effects -> {
            long now = ticker.nanos();
            RetireReason reason = reasonFor(worker, ending);
            boolean unused = worker.state() == WorkerState.IDLE && worker.requests == 0;
            idle.remove(worker);
            worker.become(WorkerState.STOPPED, reason, now);
            roster.remove(worker);
            Exchange lost = loseExchange(worker, ending, now, effects);
            WorkerEnd end = WorkerEnd.of(worker, reason, ending, lost, now);
            effects.add(() -> journal.stopped(worker, end));
            effects.add(() -> listener.stopped(end));
            if (worker.bootNanos == 0 && reason != RetireReason.RELOAD && reason != RetireReason.DRAIN) {
                String message = journal.bootFailure(reason, worker.generation, ending);
                boolean killed = reason == RetireReason.BOOT_FAILED && ending.killed();
                bootFailed(worker, message, killed, now, effects);
            } else if (unused && !ending.killed()) {
                String message = worker.name() + " left before it served a request: " + ending.describe();
                bootFailed(worker, message, false, now, effects);
            }
            completeReloads(effects);
            fill(effects);
            pool.workerGone(effects);
        });
    }

    /** Returns the exchange that failed with the worker, null when there is none. */
    private @Nullable Exchange loseExchange(
            Worker worker, WorkerProcess.Ending ending, long nowNanos, Effects effects) {
        Exchange exchange = worker.exchange;
        if (exchange == null) {
            return null;
        }
        if (exchange == ending.untaken()) {
            worker.exchange = null;
            pool.handOn(worker, exchange, effects);
            return null;
        }
        if (!exchange.isSent()) {
            // Its sender is about to find the pipe closed, and hands the job on.
            return null;
        }
        worker.exchange = null;
        effects.add(() -> exchange.conclude(PoolJournal.crashed(worker.name(), exchange, ending), nowNanos));
        return exchange;
    }

    private static RetireReason reasonFor(Worker worker, WorkerProcess.Ending ending) {
        RetireReason known = worker.reason();
        if (known != null && known != RetireReason.EXITED) {
            return known;
        }
        if (worker.bootNanos == 0) {
            return RetireReason.BOOT_FAILED;
        }
        return ending.clean() ? RetireReason.EXITED : RetireReason.CRASHED;
    }

    private void bootFailed(Worker worker, String message, boolean killed, long nowNanos, Effects effects) {
        roster.bootFailed(worker, message, killed, nowNanos);
        if (roster.giveUpCurrent()) {
            effects.add(() ->
                    journal.pool(Level.ERROR, "pool.reload-failed", message + "; the old version goes on serving"));
        } else {
            int failures = roster.bootFailures();
            long retryIn = roster.retryAtNanos() - nowNanos;
            effects.add(() -> journal.bootFailed(message, failures, retryIn));
        }
        WorkerException failure = new WorkerException(WorkerException.Kind.BOOT_FAILED, message);
        failReloads(failure, effects);
        effects.add(() -> pool.firstBoot(failure));
    }

    /** Takes one process's events to its worker. */
    private final class Owner implements WorkerProcess.Owner {
        private final Worker worker;

        Owner(Worker worker) {
            this.worker = worker;
        }

        @Override
        public void ready(Ready ready) {
            Staff.this.ready(worker, ready);
        }

        @Override
        public void finished(Exchange exchange, boolean last) {
            pool.finished(worker, exchange, last);
        }

        @Override
        public void limited(Exchange exchange) {
            pool.limited(exchange);
        }

        @Override
        public void violated(String message) {
            Staff.this.violated(worker, message);
        }

        @Override
        public void ended(WorkerProcess.Ending ending) {
            Staff.this.ended(worker, ending);
        }
    }
}
