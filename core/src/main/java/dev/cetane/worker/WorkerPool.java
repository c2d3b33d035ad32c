package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Ready;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
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
public final class WorkerPool implements JobPool, AutoCloseable {
    private static final long CLOSE_TIMEOUT_SECONDS = 5;

    private enum Phase {
        NEW("not started"),
        RUNNING("running"),
        /** Takes no more jobs, finishes those it has. */
        DRAINING("draining"),
        /** Every worker has been told to go. */
        STOPPING("stopping"),
        STOPPED("stopped");

        final String label;

        Phase(String label) {
            this.label = label;
        }
    }

    private final PoolConfig config;
    private final Ticker ticker;
    private final PoolListener listener;
    private final PoolJournal journal;
    private final Maintenance maintenance;
    private final WorkerProcess.Factory processes;
    private final long requestTimeoutNanos;
    private final long queueTimeoutNanos;

    private final PoolLock lock = new PoolLock();

    // Guarded by lock.
    private Phase phase = Phase.NEW;
    private final Staff staff;
    private final ArrayDeque<Exchange> queue = new ArrayDeque<>();
    private final Peaks peaks = new Peaks();
    private final Deadline deadline;

    private volatile @Nullable Ready lastReady;
    private volatile @Nullable Generation lastBooted;

    private final CompletableFuture<Void> booted = new CompletableFuture<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /**
     * A pool that has not been started.
     *
     * @param services what the workers are for
     * @param runDirectory a directory of the supervisor's own, mode 0700, for the FIFOs
     * @param listener hears what happens, for metrics
     */
    public WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            WorkerServices services,
            Path runDirectory,
            Ticker ticker,
            EventLog log,
            PoolListener listener) {
        this(config, application, services, runDirectory, ticker, log, listener, new MaintenanceThread(log));
    }

    private WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            WorkerServices services,
            Path runDirectory,
            Ticker ticker,
            EventLog log,
            PoolListener listener,
            Maintenance maintenance) {
        this(
                config,
                application,
                services.ids(),
                ticker,
                log,
                listener,
                maintenance,
                application.kind() == ApplicationKind.CLASSIC
                        ? new FastCgiWorkers(config, runDirectory, ticker, log, maintenance)
                        : new PhpProcess.Factory(config, services, runDirectory, ticker, log, maintenance),
                new SplittableRandom());
    }

    WorkerPool(
            PoolConfig config,
            ApplicationConfig application,
            IntSupplier ids,
            Ticker ticker,
            EventLog log,
            PoolListener listener,
            Maintenance maintenance,
            WorkerProcess.Factory processes,
            RandomGenerator random) {
        this.config = config;
        this.ticker = ticker;
        this.listener = listener;
        this.maintenance = maintenance;
        this.processes = processes;
        journal = new PoolJournal(config, log);
        requestTimeoutNanos = config.requestTimeout().toNanos();
        queueTimeoutNanos = config.queueTimeout().toNanos();
        deadline = new Deadline(maintenance, this::check);
        Roster roster = new Roster(config, ids, random);
        staff = new Staff(config, application, ticker, listener, journal, maintenance, processes, roster, lock, this);
    }

    // ---- start and stop ----

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

    /** {@link #start} without waiting; what is returned fails with the same exceptions, and then the pool is not stopped. */
    public CompletableFuture<Void> startBooting() {
        Generation first;
        try {
            first = staff.resolve();
        } catch (IOException e) {
            booted.completeExceptionally(bootFailure(PoolJournal.message(e)));
            return booted;
        }
        lock.act(effects -> {
            if (phase != Phase.NEW) {
                throw new IllegalStateException("a pool is started once, this one is " + phase.label);
            }
            phase = Phase.RUNNING;
            staff.employ(first, effects);
        });
        return booted;
    }

    /**
     * Takes no more jobs, lets those it has finish within {@code grace}, then stops the workers, which may run their shutdown code. What
     * has not finished by then fails with {@code DRAINING}. A second call stops at once. Callable from any thread, returns at once.
     *
     * @return completes when every worker's process has ended
     */
    public CompletableFuture<Void> drain(Duration grace) {
        lock.act(effects -> {
            if (phase != Phase.RUNNING) {
                abandon(true, effects);
                return;
            }
            phase = Phase.DRAINING;
            long running = staff.all().stream()
                    .filter(worker -> worker.state() == WorkerState.BUSY)
                    .count();
            String message = "draining: " + running + " requests run, " + queue.size() + " wait, the grace is "
                    + PoolJournal.text(grace);
            effects.add(() -> journal.pool(Level.INFO, "pool.draining", message));
            staff.failReloads(PoolJournal.draining("the pool was drained during the reload"), effects);
            stepDrain(effects);
            effects.add(() -> maintenance.schedule(() -> lock.act(later -> abandon(false, later)), grace.toNanos()));
        });
        return stopped;
    }

    /** Kills every worker; the jobs it has fail with {@code DRAINING}. Completes when every process has ended. */
    public CompletableFuture<Void> stopNow() {
        lock.act(effects -> abandon(true, effects));
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

    /** Ends every job and every worker, by SIGKILL or by SIGTERM first. */
    private void abandon(boolean kill, Effects effects) {
        if (phase == Phase.STOPPED) {
            return;
        }
        phase = Phase.STOPPING;
        staff.failReloads(PoolJournal.draining("the pool was stopped during the reload"), effects);
        for (Exchange waiting : queue) {
            effects.add(() -> waiting.reject(
                    PoolJournal.draining(waiting.job.describe() + " still waited for a worker when the pool stopped"),
                    ticker.nanos()));
        }
        queue.clear();
        for (Worker worker : staff.all()) {
            Exchange exchange = worker.exchange;
            if (exchange != null) {
                worker.exchange = null;
                effects.add(() -> exchange.conclude(
                        PoolJournal.draining(exchange.job.describe() + " still ran when the pool stopped"),
                        ticker.nanos()));
            }
        }
        staff.dismissAll(kill, effects);
        settle(effects);
    }

    /** Lets the workers go that have nothing more to do. */
    private void stepDrain(Effects effects) {
        if (phase == Phase.DRAINING && queue.isEmpty()) {
            for (Worker worker : staff.all()) {
                if (worker.state() == WorkerState.IDLE) {
                    staff.retire(worker, RetireReason.DRAIN, effects);
                } else if (worker.state() == WorkerState.STARTING) {
                    staff.dismiss(worker, RetireReason.DRAIN, effects);
                }
            }
            settle(effects);
        }
    }

    /** A worker's process has ended. Under the lock. */
    void workerGone(Effects effects) {
        stepDrain(effects);
        settle(effects);
    }

    /** The first boot has ended, well or with this failure. */
    void firstBoot(@Nullable WorkerException failure) {
        if (failure == null) {
            booted.complete(null);
        } else {
            booted.completeExceptionally(failure);
        }
    }

    /** Whether workers that are missing are to be started. Under the lock. */
    boolean hiring() {
        return phase == Phase.RUNNING || (phase == Phase.DRAINING && !queue.isEmpty());
    }

    /** Whether workers that are due are to be replaced. Under the lock. */
    boolean replacing() {
        return phase == Phase.RUNNING;
    }

    /** Ends the pool's life when nothing is left. */
    private void settle(Effects effects) {
        boolean ending = phase == Phase.STOPPING || phase == Phase.DRAINING;
        if (ending && staff.size() == 0 && queue.isEmpty()) {
            phase = Phase.STOPPED;
            effects.add(processes::close);
            effects.add(() -> journal.pool(Level.INFO, "pool.stopped", "every worker has ended"));
            effects.add(() -> booted.completeExceptionally(bootFailure("the pool was stopped")));
            effects.add(() -> stopped.complete(null));
        }
    }

    // ---- reload and recycle ----

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
        // Only the maintenance thread makes generations after the first, so no number is taken twice.
        maintenance.execute(() -> reload(result));
        return result;
    }

    private void reload(CompletableFuture<Integer> result) {
        try {
            Generation next = staff.resolve();
            lock.act(effects -> {
                if (phase == Phase.RUNNING) {
                    staff.reload(next, result, effects);
                } else {
                    String message = "the pool is " + phase.label + ", it cannot be reloaded";
                    effects.add(() -> result.completeExceptionally(PoolJournal.draining(message)));
                }
            });
        } catch (IOException e) {
            String message = PoolJournal.message(e);
            journal.pool(Level.ERROR, "pool.reload-failed", message + "; the old version goes on serving");
            result.completeExceptionally(bootFailure(message));
        }
    }

    /** Replaces one worker once its replacement is ready; false when there is no such worker, or it is leaving already. */
    public boolean recycle(int workerId) {
        boolean[] found = new boolean[1];
        lock.act(effects -> {
            Worker worker = staff.find(workerId);
            found[0] =
                    worker != null && staff.makeDue(worker, RetireReason.RECYCLED, "an operator asked for it", effects);
        });
        return found[0];
    }

    // ---- jobs ----

    @Override
    public void submit(Job job) {
        Exchange exchange = new Exchange(job, listener, ticker);
        Worker worker = null;
        WorkerException refusal = null;
        long checkInNanos = Deadline.NONE;
        lock.lock();
        try {
            long now = exchange.submittedNanos();
            if (phase != Phase.RUNNING) {
                refusal = PoolJournal.draining("the pool is " + phase.label + " and takes no requests");
            } else {
                worker = staff.takeIdle();
                if (worker != null) {
                    checkInNanos = assign(worker, exchange, now);
                } else if (queue.size() < config.queueSize()) {
                    queue.addLast(exchange);
                    peaks.queued(queue.size());
                    checkInNanos = deadline.arm(queueTimeoutNanos, now);
                } else {
                    refusal = journal.overloaded(staff.size(), queue.size());
                }
            }
        } finally {
            lock.unlock();
        }
        if (refusal != null) {
            exchange.reject(refusal, ticker.nanos());
        } else if (worker != null) {
            dispatch(worker, exchange);
        }
        deadline.schedule(checkInNanos);
    }

    @Override
    public int offer(Job job, int workerId) {
        Exchange exchange = new Exchange(job, listener, ticker);
        Worker worker;
        long checkInNanos = Deadline.NONE;
        lock.lock();
        try {
            worker = phase == Phase.RUNNING ? staff.takeIdle(workerId) : null;
            if (worker != null) {
                checkInNanos = assign(worker, exchange, exchange.submittedNanos());
            }
        } finally {
            lock.unlock();
        }
        if (worker == null) {
            return 0;
        }
        dispatch(worker, exchange);
        deadline.schedule(checkInNanos);
        return worker.id;
    }

    @Override
    public void abort(Job job, WorkerException failure) {
        lock.act(effects -> {
            Exchange waiting = waiting(job);
            Worker worker = waiting == null ? staff.serving(job) : null;
            Exchange running = worker == null ? null : worker.exchange;
            if (waiting != null) {
                queue.remove(waiting);
                effects.add(() -> waiting.reject(failure, ticker.nanos()));
                stepDrain(effects);
            } else if (worker != null && running != null) {
                timeOut(worker, running, failure, effects);
            }
        });
    }

    @Override
    public Timer timer() {
        return maintenance;
    }

    @Override
    public void cancel(Job job) {
        lock.act(effects -> {
            Exchange waiting = waiting(job);
            if (waiting != null) {
                queue.remove(waiting);
                effects.add(() -> waiting.reject(PoolJournal.cancelled(waiting), ticker.nanos()));
                stepDrain(effects);
                return;
            }
            Worker worker = staff.serving(job);
            Exchange running = worker == null ? null : worker.exchange;
            if (worker != null && running != null) {
                WorkerProcess process = worker.process();
                effects.add(() -> process.cancel(running));
            }
        });
    }

    @Override
    public @Nullable Ready lastReady() {
        return lastReady;
    }

    /** Under the lock. */
    void ready(Ready ready, Generation generation) {
        lastReady = ready;
        lastBooted = generation;
    }

    private @Nullable Exchange waiting(Job job) {
        for (Exchange exchange : queue) {
            if (exchange.job == job) {
                return exchange;
            }
        }
        return null;
    }

    /** Gives a job to a worker that takes it now. Returns what is to be given to {@link Deadline#schedule}. */
    private long assign(Worker worker, Exchange exchange, long nowNanos) {
        assert lock.held();
        worker.become(WorkerState.BUSY, null, nowNanos);
        worker.exchange = exchange;
        peaks.busy(staff);
        exchange.assigned(worker.id, nowNanos);
        return deadline.arm(exchange.limitNanos(requestTimeoutNanos), nowNanos);
    }

    /** Writes the job's frame; if the job cannot be written, the worker gets the next one that waits. */
    void dispatch(Worker worker, Exchange first) {
        assert !lock.held();
        Exchange exchange = first;
        while (exchange != null) {
            try {
                worker.process().send(exchange);
                return;
            } catch (WorkerProcess.UndeliverableException e) {
                exchange.conclude(PoolJournal.undeliverable(exchange, e), ticker.nanos());
                exchange = freed(worker, exchange);
            } catch (IOException e) {
                undelivered(worker, exchange);
                return;
            }
        }
    }

    /** The worker did nothing for this exchange: returns its next one, already assigned, or null. */
    private @Nullable Exchange freed(Worker worker, Exchange exchange) {
        Exchange[] next = new Exchange[1];
        lock.act(effects -> {
            if (worker.exchange == exchange) {
                worker.exchange = null;
                next[0] = rest(worker, ticker.nanos(), effects);
            }
        });
        return next[0];
    }

    /** The worker is gone and has taken nothing: another gets the job. */
    private void undelivered(Worker worker, Exchange exchange) {
        lock.act(effects -> {
            if (worker.exchange == exchange) {
                worker.exchange = null;
                staff.unreachable(worker, effects);
                handOn(worker, exchange, effects);
                staff.fill(effects);
            }
        });
    }

    /** A job that its worker never read goes to an idle worker, or to the head of the queue; the second time it fails. */
    void handOn(Worker from, Exchange exchange, Effects effects) {
        assert lock.held();
        if (exchange.attempts() > 1) {
            WorkerException failure = PoolJournal.untaken(exchange);
            effects.add(() -> exchange.conclude(failure, ticker.nanos()));
            effects.add(() -> journal.untakenTwice(exchange, failure));
            return;
        }
        exchange.unsent();
        effects.add(() -> journal.handedOn(from, exchange));
        long now = ticker.nanos();
        long checkInNanos;
        Worker worker = staff.takeIdle();
        if (worker != null) {
            checkInNanos = assign(worker, exchange, now);
            effects.add(() -> dispatch(worker, exchange));
        } else {
            queue.addFirst(exchange);
            checkInNanos = deadline.arm(queueTimeoutNanos, now);
        }
        effects.add(() -> deadline.schedule(checkInNanos));
    }

    /** DONE has arrived. Reader thread. */
    void finished(Worker worker, Exchange exchange, boolean last) {
        Effects effects = new Effects();
        Exchange next = null;
        lock.lock();
        try {
            if (worker.exchange != exchange) {
                // The request was given up; the worker is on its way out.
                return;
            }
            worker.exchange = null;
            worker.requests += exchange.job.isCounted() ? 1 : 0;
            if (last) {
                worker.endedFor = exchange.job;
                staff.leave(worker, RetireReason.EXITED);
                staff.expectExit(worker, config.stopGrace().toNanos(), effects);
                staff.fill(effects);
                stepDrain(effects);
            } else {
                if (worker.maxRequests > 0 && worker.requests >= worker.maxRequests) {
                    staff.makeDue(worker, RetireReason.MAX_REQUESTS, worker.requests + " requests served", effects);
                }
                staff.askMemory(worker, effects);
                next = rest(worker, ticker.nanos(), effects);
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            dispatch(worker, next);
        }
        effects.run();
    }

    /** A worker has nothing to do: it leaves, gets the next job (returned, to be dispatched), or becomes idle. */
    @Nullable
    Exchange rest(Worker worker, long nowNanos, Effects effects) {
        assert lock.held();
        boolean booted = worker.state() == WorkerState.STARTING;
        worker.become(WorkerState.IDLE, null, nowNanos);
        if (staff.replaced(worker, effects)) {
            return null;
        }
        Exchange next = queue.pollFirst();
        if (next == null) {
            staff.addIdle(worker);
            stepDrain(effects);
        } else {
            long checkInNanos = assign(worker, next, nowNanos);
            if (booted) {
                next.awaitedBoot(worker.createdNanos);
            }
            if (checkInNanos != Deadline.NONE) {
                effects.add(() -> deadline.schedule(checkInNanos));
            }
        }
        return next;
    }

    // ---- time-outs ----

    /** A running job has another limit, which may end before the next check. */
    void limited(Exchange exchange) {
        lock.act(effects -> {
            long checkInNanos = deadline.arm(exchange.limitNanos(requestTimeoutNanos), ticker.nanos());
            effects.add(() -> deadline.schedule(checkInNanos));
        });
    }

    /** Ends what has run or waited too long. Maintenance thread. */
    private void check() {
        lock.act(effects -> {
            long now = ticker.nanos();
            deadline.fired(now);
            long next = Math.min(checkQueue(now, effects), checkRunning(now, effects));
            if (next != Long.MAX_VALUE) {
                long checkInNanos = deadline.arm(next, now);
                effects.add(() -> deadline.schedule(checkInNanos));
            }
            stepDrain(effects);
        });
    }

    /** Returns how long until the next job has waited too long. */
    private long checkQueue(long nowNanos, Effects effects) {
        if (queueTimeoutNanos == 0) {
            return Long.MAX_VALUE;
        }
        Exchange first = queue.peekFirst();
        while (first != null && first.submittedNanos() + queueTimeoutNanos - nowNanos <= 0) {
            Exchange late = queue.removeFirst();
            WorkerException failure = journal.queueTimeout(late, staff.size(), queue.size());
            effects.add(() -> late.reject(failure, nowNanos));
            first = queue.peekFirst();
        }
        return first == null ? Long.MAX_VALUE : first.submittedNanos() + queueTimeoutNanos - nowNanos;
    }

    /** Returns how long until the next job may have run too long. */
    private long checkRunning(long nowNanos, Effects effects) {
        long next = Long.MAX_VALUE;
        for (Worker worker : staff.all()) {
            Exchange running = worker.exchange;
            long limitNanos = running == null ? 0 : running.limitNanos(requestTimeoutNanos);
            if (running != null && limitNanos != 0 && worker.state() == WorkerState.BUSY) {
                long remaining = running.remainingNanos(limitNanos, nowNanos);
                if (remaining <= 0) {
                    timeOut(worker, running, journal.timedOut(worker.name(), running), effects);
                } else {
                    next = Math.min(next, remaining);
                }
            }
        }
        return next;
    }

    private void timeOut(Worker worker, Exchange exchange, WorkerException failure, Effects effects) {
        worker.exchange = null;
        worker.endedFor = exchange.job;
        effects.add(() -> exchange.conclude(failure, ticker.nanos()));
        effects.add(() -> listener.outOfTime(exchange.job.id(), journal.timedOut(worker, exchange, failure)));
        staff.dismiss(worker, RetireReason.TIMED_OUT, effects);
        staff.fill(effects);
    }

    // ---- looking ----

    /** What the pool looks like now; costs the lock for as long as the workers take to be copied. */
    public PoolSnapshot snapshot() {
        return lock.read(() -> new PoolSnapshot(
                config.workers(),
                queue.size(),
                config.queueSize(),
                peaks.mostQueued(),
                peaks.mostBusy(),
                staff.generation(),
                phase != Phase.RUNNING,
                staff.lastBootFailure(),
                staff.snapshot(ticker.nanos()),
                null));
    }

    /** The version that became ready last: the new one as soon as it is known to boot. Null as long as none was. Any thread. */
    public @Nullable Generation lastBooted() {
        return lastBooted;
    }

    private static WorkerException bootFailure(String message) {
        return new WorkerException(WorkerException.Kind.BOOT_FAILED, message);
    }
}
