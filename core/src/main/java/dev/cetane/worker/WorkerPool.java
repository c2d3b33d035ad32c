package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of PHP workers that are kept alive, and the jobs for them. All state is guarded by one lock, held for a few
 * instructions and never during input or output: an action changes state and collects the effects to be run once the lock is released.
 *
 * <p>Capacity: an idle worker takes a job on the thread that submits it, the worker that was idle last first. Without one, jobs wait in
 * a bounded queue, first come, first served; the reader thread of the worker that becomes free takes the next. No worker is idle while
 * a job waits.
 *
 * <p>Eviction: limits make a worker <em>due</em>. A due worker goes on serving until its replacement is ready, so nobody waits for a
 * boot. Only a request that runs over its time, a broken protocol and the operator end a worker at once.
 *
 * <p>Waiters: a job in the queue ends by being taken, by its time-out, by {@link #cancel}, or when the pool stops. A job given to a
 * worker that turns out to be gone without having read it goes back to the queue's head, once.
 */
public final class WorkerPool implements Dispatcher, AutoCloseable {
    private static final long MEMORY_SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_TIMEOUT_SECONDS = 5;

    private enum Phase {
        NEW,
        RUNNING,
        /** Takes no more jobs, finishes those it has. */
        DRAINING,
        /** Every worker has been told to go. */
        STOPPING,
        STOPPED
    }

    private final PoolConfig config;
    private final ApplicationConfig application;
    private final Ticker ticker;
    private final PoolListener listener;
    private final PoolJournal journal;
    private final Maintenance maintenance;
    private final WorkerProcess.Factory processes;
    private final long requestTimeoutNanos;
    private final long queueTimeoutNanos;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private Phase phase = Phase.NEW;
    private final Roster roster;
    private final ArrayDeque<Worker> idle = new ArrayDeque<>();
    private final ArrayDeque<Exchange> queue = new ArrayDeque<>();
    private final List<CompletableFuture<Integer>> reloads = new ArrayList<>();
    private boolean checkArmed;
    private long checkAtNanos;
    private boolean retryArmed;

    private final CompletableFuture<Void> booted = new CompletableFuture<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /**
     * A pool that has not been started.
     *
     * @param runDirectory a directory of the supervisor's own, mode 0700, for the FIFOs
     * @param listener hears what happens, for metrics
     */
    public WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            Path runDirectory,
            Ticker ticker,
            EventLog log,
            PoolListener listener) {
        this(config, application, ticker, log, listener, new MaintenanceThread(log), runDirectory);
    }

    private WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            Ticker ticker,
            EventLog log,
            PoolListener listener,
            MaintenanceThread maintenance,
            Path runDirectory) {
        this(
                config,
                application,
                ticker,
                log,
                listener,
                maintenance,
                new PhpProcess.Factory(config, runDirectory, ticker, log, maintenance),
                new SplittableRandom());
    }

    WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            Ticker ticker,
            EventLog log,
            PoolListener listener,
            Maintenance maintenance,
            WorkerProcess.Factory processes,
            RandomGenerator random) {
        this.config = config;
        this.application = application;
        this.ticker = ticker;
        this.listener = listener;
        this.maintenance = maintenance;
        this.processes = processes;
        journal = new PoolJournal(config, log);
        roster = new Roster(config, random);
        requestTimeoutNanos = config.requestTimeout().toNanos();
        queueTimeoutNanos = config.queueTimeout().toNanos();
    }

    // ---- start, reload, stop ----

    /**
     * Starts all workers at once and returns when the first is ready. The pool takes jobs from the call on; they wait until then.
     * Blocks for {@code pool.boot-timeout} and a little at most.
     *
     * @throws WorkerException {@code BOOT_FAILED} with PHP's own message when the first worker to end its boot could not be booted; the
     *     pool is stopped then
     */
    public void start() {
        try {
            startBooting().get();
        } catch (ExecutionException e) {
            close();
            throw e.getCause() instanceof WorkerException failure ? failure : bootFailure(PoolJournal.message(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw bootFailure("the start was interrupted");
        }
    }

    /** {@link #start} without waiting. */
    CompletableFuture<Void> startBooting() {
        Generation first;
        try {
            first = Generation.resolve(1, application);
        } catch (IOException e) {
            booted.completeExceptionally(bootFailure(PoolJournal.message(e)));
            return booted;
        }
        Effects effects = new Effects();
        lock.lock();
        try {
            if (phase != Phase.NEW) {
                throw new IllegalStateException("a pool is started once, this one is " + phase);
            }
            phase = Phase.RUNNING;
            roster.replaceAllBy(first);
            fill(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
        return booted;
    }

    /**
     * Replaces all workers, one at a time, by workers of the application as it is on disk now, symbolic links resolved anew. No request
     * fails or waits for a boot. Callable from any thread, returns at once; a reload that comes during one replaces its workers too, and
     * both end together.
     *
     * @return completes with the new generation's number when only its workers serve; fails with a {@link WorkerException}
     *     ({@code BOOT_FAILED}, {@code DRAINING}) when the new version cannot be booted: the old one then goes on serving
     */
    public CompletableFuture<Integer> reload() {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        maintenance.execute(() -> reload(result));
        return result;
    }

    private void reload(CompletableFuture<Integer> result) {
        Generation next;
        try {
            // Only the maintenance thread makes generations after the first, so the number cannot be taken twice.
            next = Generation.resolve(locked(roster::nextGenerationNumber), application);
        } catch (IOException e) {
            journal.pool(
                    Level.ERROR, "pool.reload-failed", PoolJournal.message(e) + "; the old version goes on serving");
            result.completeExceptionally(bootFailure(PoolJournal.message(e)));
            return;
        }
        Effects effects = new Effects();
        lock.lock();
        try {
            if (phase != Phase.RUNNING) {
                String state = "the pool is " + phase + ", it cannot be reloaded";
                effects.add(() -> result.completeExceptionally(PoolJournal.draining(state)));
            } else {
                effects.add(() -> journal.pool(
                        Level.INFO,
                        "pool.reload",
                        "replacing all workers by generation " + next.number() + " of " + next.script(),
                        "generation",
                        next.number()));
                reloads.add(result);
                roster.replaceAllBy(next);
                for (Worker worker : List.copyOf(roster.workers())) {
                    if (worker.state() == WorkerState.STARTING) {
                        leave(worker, RetireReason.RELOAD);
                        effects.add(() -> maintenance.execute(() -> terminate(worker)));
                    }
                }
                fill(effects);
            }
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Replaces one worker once its replacement is ready; false when there is no such worker, or it is leaving already. */
    public boolean recycle(int workerId) {
        Effects effects = new Effects();
        boolean found;
        lock.lock();
        try {
            Worker worker = roster.find(workerId);
            found = worker != null && makeDue(worker, RetireReason.RECYCLED, "an operator asked for it", effects);
        } finally {
            lock.unlock();
        }
        effects.run();
        return found;
    }

    /**
     * Takes no more jobs, lets those it has finish within {@code grace}, then stops the workers, which may run their shutdown code. What
     * has not finished by then fails with {@code DRAINING}. A second call stops at once. Callable from any thread, returns at once.
     *
     * @return completes when every worker's process has ended
     */
    public CompletableFuture<Void> drain(Duration grace) {
        Effects effects = new Effects();
        lock.lock();
        try {
            if (phase == Phase.RUNNING) {
                phase = Phase.DRAINING;
                int running = 0;
                for (Worker worker : List.copyOf(roster.workers())) {
                    running += worker.state() == WorkerState.BUSY ? 1 : 0;
                }
                String message = "draining: " + running + " requests run, " + queue.size() + " wait, the grace is "
                        + PoolJournal.text(grace);
                effects.add(() -> journal.pool(Level.INFO, "pool.draining", message));
                failReloads(PoolJournal.draining("the pool was drained during the reload"), effects);
                stepDrain(effects);
                effects.add(() -> maintenance.schedule(() -> stop(false), grace.toNanos()));
            } else {
                abandon(true, effects);
            }
        } finally {
            lock.unlock();
        }
        effects.run();
        return stopped;
    }

    /** Kills every worker; the jobs it has fail with {@code DRAINING}. Completes when every process has ended. */
    public CompletableFuture<Void> stopNow() {
        stop(true);
        return stopped;
    }

    /** Stops at once and waits, a few seconds at most, until every process has ended. */
    @Override
    public void close() {
        try {
            stopNow().get(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            journal.pool(
                    Level.ERROR,
                    "pool.stop-failed",
                    "after " + CLOSE_TIMEOUT_SECONDS + " s some worker has not ended: " + e
                            + "; look for its process and kill it");
        }
        maintenance.close();
    }

    private void stop(boolean kill) {
        Effects effects = new Effects();
        lock.lock();
        try {
            abandon(kill, effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Ends every job and every worker, by SIGKILL or by SIGTERM first. */
    private void abandon(boolean kill, Effects effects) {
        assert lock.isHeldByCurrentThread();
        if (phase == Phase.STOPPED) {
            return;
        }
        phase = Phase.STOPPING;
        failReloads(PoolJournal.draining("the pool was stopped during the reload"), effects);
        for (Exchange waiting : queue) {
            effects.add(() -> waiting.reject(
                    PoolJournal.draining(waiting.job.describe() + " still waited for a worker when the pool stopped")));
        }
        queue.clear();
        for (Worker worker : List.copyOf(roster.workers())) {
            Exchange exchange = worker.exchange;
            if (exchange != null) {
                worker.exchange = null;
                effects.add(() -> exchange.conclude(
                        PoolJournal.draining(exchange.job.describe() + " still ran when the pool stopped"),
                        ticker.nanos()));
            }
            if (worker.state() != WorkerState.RETIRING) {
                leave(worker, RetireReason.DRAIN);
            }
            effects.add(() -> maintenance.execute(() -> {
                if (kill) {
                    kill(worker);
                } else {
                    terminate(worker);
                }
            }));
        }
        settle(effects);
    }

    /** Lets the workers go that have nothing more to do. */
    private void stepDrain(Effects effects) {
        if (phase == Phase.DRAINING && queue.isEmpty()) {
            for (Worker worker : List.copyOf(roster.workers())) {
                if (worker.state() == WorkerState.IDLE) {
                    retire(worker, RetireReason.DRAIN, effects);
                } else if (worker.state() == WorkerState.STARTING) {
                    leave(worker, RetireReason.DRAIN);
                    effects.add(() -> maintenance.execute(() -> terminate(worker)));
                }
            }
            settle(effects);
        }
    }

    /** Ends the pool's life when nothing is left. */
    private void settle(Effects effects) {
        if ((phase == Phase.STOPPING || phase == Phase.DRAINING)
                && roster.workers().isEmpty()
                && queue.isEmpty()) {
            phase = Phase.STOPPED;
            effects.add(() -> journal.pool(Level.INFO, "pool.stopped", "every worker has ended"));
            effects.add(() -> booted.completeExceptionally(bootFailure("the pool was stopped")));
            effects.add(() -> stopped.complete(null));
        }
    }

    // ---- jobs ----

    @Override
    public void submit(Job job) {
        Exchange exchange = new Exchange(job, listener, ticker);
        Worker worker = null;
        WorkerException refusal = null;
        long checkInNanos = -1;
        lock.lock();
        try {
            long now = exchange.submittedNanos();
            if (phase != Phase.RUNNING) {
                refusal = PoolJournal.draining("the pool is " + phase + " and takes no requests");
            } else {
                worker = idle.pollFirst();
                if (worker != null) {
                    checkInNanos = assign(worker, exchange, now);
                } else if (queue.size() < config.queueSize()) {
                    queue.addLast(exchange);
                    checkInNanos = armCheck(queueTimeoutNanos, now);
                } else {
                    refusal = journal.overloaded(roster.workers().size(), queue.size());
                }
            }
        } finally {
            lock.unlock();
        }
        if (refusal != null) {
            exchange.reject(refusal);
        } else if (worker != null) {
            dispatch(worker, exchange);
        }
        scheduleCheck(checkInNanos);
    }

    @Override
    public void cancel(Job job) {
        Exchange waiting;
        Effects effects = new Effects();
        lock.lock();
        try {
            waiting = find(queue, job);
            if (waiting != null) {
                queue.remove(waiting);
                stepDrain(effects);
            } else {
                for (Worker worker : roster.workers()) {
                    if (worker.exchange != null && worker.exchange.job == job) {
                        Exchange exchange = worker.exchange;
                        WorkerProcess process = processOf(worker);
                        effects.add(() -> process.cancel(exchange));
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        if (waiting != null) {
            waiting.reject(PoolJournal.cancelled(waiting));
        }
        effects.run();
    }

    private static @Nullable Exchange find(Iterable<Exchange> exchanges, Job job) {
        for (Exchange exchange : exchanges) {
            if (exchange.job == job) {
                return exchange;
            }
        }
        return null;
    }

    /** Gives a job to a worker that takes it now. Returns when the next check is to be scheduled, see {@link #armCheck}. */
    private long assign(Worker worker, Exchange exchange, long nowNanos) {
        assert lock.isHeldByCurrentThread();
        worker.become(WorkerState.BUSY, null, nowNanos);
        worker.exchange = exchange;
        exchange.assigned(worker.id, nowNanos);
        return armCheck(requestTimeoutNanos, nowNanos);
    }

    /** Writes the job's frame; if the job cannot be written, the worker gets the next one that waits. */
    private void dispatch(Worker worker, Exchange first) {
        assert !lock.isHeldByCurrentThread();
        Exchange exchange = first;
        while (exchange != null) {
            try {
                processOf(worker).send(exchange);
                return;
            } catch (WorkerProcess.UndeliverableException e) {
                WorkerException failure = PoolJournal.undeliverable(exchange, e);
                exchange.conclude(failure, ticker.nanos());
                exchange = freed(worker, exchange);
            } catch (IOException e) {
                undelivered(worker, exchange);
                return;
            }
        }
    }

    /** The worker did nothing for this exchange: returns its next one, already assigned, or null. */
    private @Nullable Exchange freed(Worker worker, Exchange exchange) {
        Effects effects = new Effects();
        Exchange next = null;
        lock.lock();
        try {
            if (worker.exchange == exchange) {
                worker.exchange = null;
                next = rest(worker, ticker.nanos(), effects);
            }
        } finally {
            lock.unlock();
        }
        effects.run();
        return next;
    }

    /** The worker is gone and has taken nothing: another gets the job. */
    private void undelivered(Worker worker, Exchange exchange) {
        Effects effects = new Effects();
        lock.lock();
        try {
            if (worker.exchange == exchange) {
                worker.exchange = null;
                if (worker.state() == WorkerState.BUSY) {
                    leave(worker, RetireReason.CRASHED);
                    effects.add(() -> maintenance.schedule(
                            () -> kill(worker), config.killGrace().toNanos()));
                }
                handOn(worker, exchange, effects);
                fill(effects);
            }
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** A job that its worker never read goes to an idle worker, or to the head of the queue; the second time it fails. */
    private void handOn(Worker from, Exchange exchange, Effects effects) {
        assert lock.isHeldByCurrentThread();
        if (exchange.attempts() > 1) {
            effects.add(() -> exchange.conclude(PoolJournal.untaken(exchange), ticker.nanos()));
            return;
        }
        exchange.unsent();
        effects.add(() -> journal.handedOn(from, exchange));
        long now = ticker.nanos();
        Worker worker = idle.pollFirst();
        if (worker != null) {
            long checkInNanos = assign(worker, exchange, now);
            effects.add(() -> dispatch(worker, exchange));
            effects.add(() -> scheduleCheck(checkInNanos));
        } else {
            queue.addFirst(exchange);
            long checkInNanos = armCheck(queueTimeoutNanos, now);
            effects.add(() -> scheduleCheck(checkInNanos));
        }
    }

    private void finished(Worker worker, Exchange exchange, boolean last) {
        Effects effects = new Effects();
        Exchange next = null;
        lock.lock();
        try {
            if (worker.exchange != exchange) {
                // The request was given up; the worker is on its way out.
                return;
            }
            worker.exchange = null;
            worker.requests++;
            long now = ticker.nanos();
            if (last) {
                leave(worker, RetireReason.EXITED);
                escalate(worker, config.stopGrace().toNanos(), effects);
                fill(effects);
                stepDrain(effects);
            } else {
                if (worker.maxRequests > 0 && worker.requests >= worker.maxRequests) {
                    makeDue(worker, RetireReason.MAX_REQUESTS, worker.requests + " requests served", effects);
                }
                askMemory(worker, now, effects);
                next = rest(worker, now, effects);
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            dispatch(worker, next);
        }
        effects.run();
    }

    /** A worker has nothing to do: it gets the next job (returned, to be dispatched), leaves, or becomes idle. */
    private @Nullable Exchange rest(Worker worker, long nowNanos, Effects effects) {
        assert lock.isHeldByCurrentThread();
        worker.become(WorkerState.IDLE, null, nowNanos);
        RetireReason due = worker.due;
        if (due != null && roster.surplus()) {
            retire(worker, due, effects);
            completeReloads(effects);
            return null;
        }
        Exchange next = queue.pollFirst();
        if (next == null) {
            idle.addFirst(worker);
        } else {
            long checkInNanos = assign(worker, next, nowNanos);
            if (checkInNanos >= 0) {
                effects.add(() -> scheduleCheck(checkInNanos));
            }
        }
        stepDrain(effects);
        return next;
    }

    // ---- time-outs ----

    /**
     * Makes sure that {@link #check} runs after this limit. Jobs come in the order of their deadlines, so one timer at a time watches
     * all of them, and a job costs none.
     *
     * @return the delay to be given to {@link #scheduleCheck} without the lock
     */
    private long armCheck(long limitNanos, long nowNanos) {
        assert lock.isHeldByCurrentThread();
        if (limitNanos == 0 || (checkArmed && checkAtNanos - (nowNanos + limitNanos) <= 0)) {
            return -1;
        }
        checkArmed = true;
        checkAtNanos = nowNanos + limitNanos;
        return limitNanos;
    }

    private void scheduleCheck(long delayNanos) {
        if (delayNanos >= 0) {
            maintenance.schedule(this::check, delayNanos);
        }
    }

    /** Ends what has run or waited too long. Maintenance thread. */
    private void check() {
        Effects effects = new Effects();
        lock.lock();
        try {
            long now = ticker.nanos();
            if (checkArmed && checkAtNanos - now <= 0) {
                checkArmed = false;
            }
            long next = Long.MAX_VALUE;
            if (queueTimeoutNanos > 0) {
                Exchange waiting = queue.peekFirst();
                while (waiting != null && waiting.submittedNanos() + queueTimeoutNanos - now <= 0) {
                    Exchange late = queue.removeFirst();
                    WorkerException failure =
                            journal.queueTimeout(late, roster.workers().size(), queue.size());
                    effects.add(() -> late.reject(failure));
                    waiting = queue.peekFirst();
                }
                if (waiting != null) {
                    next = waiting.submittedNanos() + queueTimeoutNanos - now;
                }
            }
            if (requestTimeoutNanos > 0) {
                for (Worker worker : List.copyOf(roster.workers())) {
                    Exchange running = worker.exchange;
                    if (running != null && worker.state() == WorkerState.BUSY) {
                        long remaining = running.remainingNanos(requestTimeoutNanos, now);
                        if (remaining <= 0) {
                            timeOut(worker, running, effects);
                        } else {
                            next = Math.min(next, remaining);
                        }
                    }
                }
            }
            if (next != Long.MAX_VALUE) {
                long checkInNanos = armCheck(next, now);
                effects.add(() -> scheduleCheck(checkInNanos));
            }
            stepDrain(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    private void timeOut(Worker worker, Exchange exchange, Effects effects) {
        worker.exchange = null;
        leave(worker, RetireReason.TIMED_OUT);
        WorkerException failure = journal.timedOut(worker.name(), exchange);
        effects.add(() -> exchange.conclude(failure, ticker.nanos()));
        effects.add(() -> journal.timedOut(worker, exchange, failure));
        effects.add(() -> maintenance.execute(() -> terminate(worker)));
        fill(effects);
    }

    // ---- workers come ----

    /** Starts the workers that are missing. */
    private void fill(Effects effects) {
        assert lock.isHeldByCurrentThread();
        if (phase != Phase.RUNNING && !(phase == Phase.DRAINING && !queue.isEmpty())) {
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
            effects.add(() -> maintenance.schedule(this::retry, wait));
        }
    }

    private void retry() {
        Effects effects = new Effects();
        lock.lock();
        try {
            retryArmed = false;
            fill(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Maintenance thread. */
    private void boot(Worker worker) {
        Generation generation = worker.generation;
        String failure = null;
        try {
            if (!generation.exists()) {
                // A deployment has removed the version that runs: what is there now is better than nothing.
                generation = Generation.resolve(generation.number(), application);
            }
            WorkerProcess process = processes.create(worker.id, generation, new Owner(worker));
            if (!locked(() -> {
                worker.process = process;
                return worker.state() == WorkerState.STARTING;
            })) {
                ended(worker, new WorkerProcess.Ending(0, null, null, ""));
                return;
            }
            process.start();
        } catch (IOException e) {
            failure = PoolJournal.message(e);
        }
        if (failure != null) {
            ended(worker, new WorkerProcess.Ending(127, null, failure, ""));
            return;
        }
        listener.started(worker.id);
        journal.started(worker);
        maintenance.schedule(() -> bootTimedOut(worker), config.bootTimeout().toNanos());
    }

    private void bootTimedOut(Worker worker) {
        Effects effects = new Effects();
        lock.lock();
        try {
            if (worker.state() == WorkerState.STARTING) {
                leave(worker, RetireReason.BOOT_TIMED_OUT);
                effects.add(() -> kill(worker));
            }
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    private void ready(Worker worker, Ready ready) {
        Effects effects = new Effects();
        Exchange next = null;
        lock.lock();
        try {
            if (worker.state() != WorkerState.STARTING) {
                return;
            }
            long now = ticker.nanos();
            worker.bootNanos = Math.max(1, now - worker.createdNanos);
            long bootNanos = worker.bootNanos;
            roster.booted(worker);
            effects.add(() -> journal.booted(worker, ready, bootNanos));
            effects.add(() -> listener.booted(worker.id, bootNanos));
            effects.add(() -> booted.complete(null));
            if (worker.maxLifetimeNanos > 0) {
                effects.add(() -> maintenance.schedule(() -> lifetimeOver(worker), worker.maxLifetimeNanos));
            }
            askMemory(worker, now - MEMORY_SAMPLE_NANOS, effects);
            next = rest(worker, now, effects);
            Worker replaced = roster.surplus() ? roster.idleDue() : null;
            if (replaced != null && replaced.due != null) {
                retire(replaced, replaced.due, effects);
            }
            completeReloads(effects);
            fill(effects);
        } finally {
            lock.unlock();
        }
        if (next != null) {
            dispatch(worker, next);
        }
        effects.run();
    }

    // ---- workers go ----

    /** Marks a worker for replacement; false when it is not serving or is due already. */
    private boolean makeDue(Worker worker, RetireReason reason, String measure, Effects effects) {
        assert lock.isHeldByCurrentThread();
        if (!worker.serving() || worker.due != null || phase != Phase.RUNNING) {
            return false;
        }
        worker.due = reason;
        effects.add(() -> journal.due(worker, reason, measure));
        fill(effects);
        return true;
    }

    private void lifetimeOver(Worker worker) {
        Effects effects = new Effects();
        lock.lock();
        try {
            makeDue(
                    worker,
                    RetireReason.MAX_LIFETIME,
                    "pool.max-lifetime (" + PoolJournal.text(config.maxLifetime()) + ", less jitter) is over",
                    effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Has the worker's memory read soon, at most once a second and only after requests: an idle pool uses no CPU. */
    private void askMemory(Worker worker, long nowNanos, Effects effects) {
        if (!worker.memoryAsked) {
            worker.memoryAsked = true;
            long delay = Math.max(0, worker.memoryAtNanos + MEMORY_SAMPLE_NANOS - nowNanos);
            effects.add(() -> maintenance.schedule(() -> sampleMemory(worker), delay));
        }
    }

    private void sampleMemory(Worker worker) {
        long bytes = processOf(worker).privateMemoryBytes();
        Effects effects = new Effects();
        lock.lock();
        try {
            worker.memoryAsked = false;
            worker.memoryAtNanos = ticker.nanos();
            worker.memoryBytes = bytes;
            if (worker.maxMemoryBytes > 0 && bytes > worker.maxMemoryBytes) {
                makeDue(
                        worker,
                        RetireReason.MAX_MEMORY,
                        "private memory of " + bytes + " bytes, pool.max-memory is " + config.maxMemoryBytes()
                                + ", less jitter",
                        effects);
            }
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Asks an idle worker to leave. */
    private void retire(Worker worker, RetireReason reason, Effects effects) {
        leave(worker, reason);
        WorkerProcess process = processOf(worker);
        effects.add(process::askToStop);
        escalate(worker, config.stopGrace().toNanos(), effects);
    }

    /** The worker takes no more jobs. */
    private void leave(Worker worker, RetireReason reason) {
        assert lock.isHeldByCurrentThread();
        idle.remove(worker);
        worker.become(WorkerState.RETIRING, reason, ticker.nanos());
    }

    /** SIGTERM after the grace, and SIGKILL after the grace that follows, if the worker has not ended by then. */
    private void escalate(Worker worker, long graceNanos, Effects effects) {
        effects.add(() -> maintenance.schedule(() -> terminate(worker), graceNanos));
    }

    private void terminate(Worker worker) {
        WorkerProcess process = worker.process;
        if (process != null && locked(() -> worker.state() != WorkerState.STOPPED)) {
            process.terminate();
            maintenance.schedule(() -> kill(worker), config.killGrace().toNanos());
        }
    }

    private void kill(Worker worker) {
        WorkerProcess process = worker.process;
        if (process != null && locked(() -> worker.state() != WorkerState.STOPPED)) {
            process.kill();
        }
    }

    private void violated(Worker worker, String message) {
        Effects effects = new Effects();
        lock.lock();
        try {
            Exchange exchange = worker.exchange;
            if (worker.state() != WorkerState.RETIRING && worker.state() != WorkerState.STOPPED) {
                worker.exchange = null;
                leave(worker, RetireReason.PROTOCOL_ERROR);
                if (exchange != null) {
                    effects.add(() ->
                            exchange.conclude(PoolJournal.violation(worker.name(), exchange, message), ticker.nanos()));
                }
                effects.add(() -> journal.violated(worker, exchange, message));
            }
            effects.add(() -> maintenance.execute(() -> kill(worker)));
            fill(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Maintenance thread. */
    private void ended(Worker worker, WorkerProcess.Ending ending) {
        Effects effects = new Effects();
        lock.lock();
        try {
            long now = ticker.nanos();
            RetireReason reason = reasonFor(worker, ending);
            boolean idleAndUnused = worker.state() == WorkerState.IDLE && worker.requests == 0;
            Exchange exchange = worker.exchange;
            Exchange lost = null;
            idle.remove(worker);
            worker.become(WorkerState.STOPPED, reason, now);
            roster.remove(worker);
            if (exchange != null && exchange == ending.untaken()) {
                worker.exchange = null;
                handOn(worker, exchange, effects);
            } else if (exchange != null && exchange.isSent()) {
                worker.exchange = null;
                lost = exchange;
                effects.add(() -> exchange.conclude(PoolJournal.crashed(worker.name(), exchange, ending), now));
            }
            Exchange served = lost;
            long requests = worker.requests;
            effects.add(() -> journal.stopped(worker, reason, ending, requests, served, now));
            effects.add(() -> listener.stopped(worker.id, reason));
            boolean booting = worker.bootNanos == 0 && reason != RetireReason.RELOAD && reason != RetireReason.DRAIN;
            if (booting) {
                bootFailed(worker, journal.bootFailure(reason, worker.generation, ending), now, effects);
            } else if (idleAndUnused) {
                bootFailed(
                        worker, worker.name() + " left before it served a request: " + ending.describe(), now, effects);
            }
            completeReloads(effects);
            fill(effects);
            stepDrain(effects);
            settle(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
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

    private void bootFailed(Worker worker, String message, long nowNanos, Effects effects) {
        roster.bootFailed(worker, message, nowNanos);
        if (roster.giveUpCurrent()) {
            effects.add(() ->
                    journal.pool(Level.ERROR, "pool.reload-failed", message + "; the old version goes on serving"));
        } else {
            int failures = roster.bootFailures();
            long retryIn = roster.retryAtNanos() - nowNanos;
            effects.add(() -> journal.bootFailed(message, failures, retryIn));
        }
        failReloads(bootFailure(message), effects);
        effects.add(() -> booted.completeExceptionally(bootFailure(message)));
    }

    private void completeReloads(Effects effects) {
        if (!reloads.isEmpty() && roster.switched()) {
            int generation = roster.generation();
            List<CompletableFuture<Integer>> done = List.copyOf(reloads);
            reloads.clear();
            effects.add(() -> journal.pool(
                    Level.INFO, "pool.reloaded", "all workers run generation " + generation, "generation", generation));
            effects.add(() -> done.forEach(reload -> reload.complete(generation)));
        }
    }

    private void failReloads(WorkerException failure, Effects effects) {
        List<CompletableFuture<Integer>> failed = List.copyOf(reloads);
        reloads.clear();
        effects.add(() -> failed.forEach(reload -> reload.completeExceptionally(failure)));
    }

    // ---- looking ----

    /** What the pool looks like now; costs the lock for as long as the workers take to be copied. */
    public PoolSnapshot snapshot() {
        return locked(() -> {
            long now = ticker.nanos();
            List<WorkerSnapshot> workers = new ArrayList<>();
            for (Worker worker : roster.workers()) {
                Exchange exchange = worker.exchange;
                workers.add(new WorkerSnapshot(
                        worker.id,
                        worker.pid(),
                        worker.state(),
                        worker.reason() == null ? worker.due : worker.reason(),
                        worker.generation.number(),
                        worker.requests,
                        now - worker.stateSinceNanos(),
                        now - worker.createdNanos,
                        worker.memoryBytes,
                        exchange == null ? null : exchange.job.describe(),
                        exchange == null ? null : exchange.job.id()));
            }
            return new PoolSnapshot(
                    config.workers(),
                    queue.size(),
                    config.queueSize(),
                    roster.generation(),
                    phase != Phase.RUNNING,
                    roster.lastBootFailure(),
                    List.copyOf(workers));
        });
    }

    private <T> T locked(java.util.function.Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    private static WorkerProcess processOf(Worker worker) {
        WorkerProcess process = worker.process;
        if (process == null) {
            throw new IllegalStateException("worker " + worker.id + " has no process in state " + worker.state());
        }
        return process;
    }

    private static WorkerException bootFailure(String message) {
        return new WorkerException(WorkerException.Kind.BOOT_FAILED, message);
    }

    /** Takes one process's events to its worker. */
    private final class Owner implements WorkerProcess.Owner {
        private final Worker worker;

        Owner(Worker worker) {
            this.worker = worker;
        }

        @Override
        public void ready(Ready ready) {
            WorkerPool.this.ready(worker, ready);
        }

        @Override
        public void finished(Exchange exchange, boolean last) {
            WorkerPool.this.finished(worker, exchange, last);
        }

        @Override
        public void violated(String message) {
            WorkerPool.this.violated(worker, message);
        }

        @Override
        public void ended(WorkerProcess.Ending ending) {
            WorkerPool.this.ended(worker, ending);
        }
    }
}
