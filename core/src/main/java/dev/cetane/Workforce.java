package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.protocol.Measurement;
import dev.cetane.shared.SharedTables;
import dev.cetane.shared.TableCalls;
import dev.cetane.task.TaskCalls;
import dev.cetane.task.Ticks;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.PoolConfig;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.SlowRequestWatch;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimitCalls;
import dev.cetane.worker.WorkerPool;
import dev.cetane.worker.WorkerServices;
import dev.cetane.worker.WorkerServices.Role;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All workers of an instance: the pool that serves requests, the one that runs tasks where {@code pool.task-workers} wants it, and what they
 * share. Immutable; the pools are thread-safe.
 */
final class Workforce implements AutoCloseable {
    private final WorkerPool requests;
    private final @Nullable WorkerPool tasks;
    private final SharedTables tables;
    private final Ticks ticks;
    private final @Nullable SlowRequestWatch slowRequests;

    /**
     * Workers that have not been started.
     *
     * @param directory the instance's own
     * @param measurements takes what the application measures, null where nobody wants it
     */
    Workforce(
            CetaneConfig config,
            ApplicationConfig application,
            Path directory,
            Ticker ticker,
            EventLog log,
            PoolListener requestListener,
            PoolListener taskListener,
            @Nullable Consumer<List<Measurement>> measurements) {
        CetaneConfig.Sharing sharing = config.sharing();
        AtomicInteger ids = new AtomicInteger();
        tables = new SharedTables(sharing.tableBytes(), log);
        TimeLimitCalls limitCalls = new TimeLimitCalls(config.pool().longestRequest());
        TableCalls tableCalls = new TableCalls(tables, ticker);
        // A classic application has no script that could take a task.
        int taskWorkers = application.kind() == ApplicationKind.CLASSIC ? 0 : sharing.taskWorkers();
        tasks = taskWorkers == 0
                ? null
                : new WorkerPool(
                        taskPool(config),
                        application,
                        // A task cannot wait for others, so the workers that run them call no pool.
                        new WorkerServices(
                                new WorkerCalls(tables, tableCalls, new TaskCalls(null, Duration.ZERO), limitCalls),
                                Role.TASK,
                                taskWorkers,
                                ids::incrementAndGet,
                                measurements),
                        directory,
                        ticker,
                        log,
                        taskListener);
        requests = new WorkerPool(
                config.pool(),
                application,
                new WorkerServices(
                        new WorkerCalls(tables, tableCalls, new TaskCalls(tasks, sharing.taskTimeout()), limitCalls),
                        Role.REQUEST,
                        taskWorkers,
                        ids::incrementAndGet,
                        measurements),
                directory,
                ticker,
                log,
                requestListener);
        Duration slow = config.telemetry().slowRequest();
        slowRequests = slow.isZero() ? null : new SlowRequestWatch(requests, slow, log, requestListener);
        ticks = new Ticks(tasks == null ? requests : tasks);
    }

    private static PoolConfig taskPool(CetaneConfig config) {
        CetaneConfig.Sharing sharing = config.sharing();
        return config.pool().with(sharing.taskWorkers(), sharing.taskQueueSize(), Duration.ZERO, sharing.taskTimeout());
    }

    WorkerPool requests() {
        return requests;
    }

    /** Null without task workers. */
    @Nullable
    WorkerPool tasks() {
        return tasks;
    }

    SharedTables tables() {
        return tables;
    }

    /** The pool that serves requests and, within, the one that runs tasks. */
    PoolSnapshot snapshot() {
        return requests.snapshot().with(tasks == null ? null : tasks.snapshot());
    }

    /** Starts all workers and returns when one of each kind is ready; as {@link WorkerPool#start}. */
    void start() {
        CompletableFuture<Void> booting =
                tasks == null ? CompletableFuture.completedFuture(null) : tasks.startBooting();
        requests.start();
        try {
            booting.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the start was interrupted", e);
        }
        ticks.start();
        if (slowRequests != null) {
            slowRequests.start();
        }
    }

    /** As {@link WorkerPool#reload}, for all. */
    CompletableFuture<Integer> reload() {
        CompletableFuture<Integer> reload = requests.reload();
        return tasks == null ? reload : reload.thenCombine(tasks.reload(), (generation, ofTasks) -> generation);
    }

    boolean recycle(int workerId) {
        return requests.recycle(workerId) || (tasks != null && tasks.recycle(workerId));
    }

    /** Drains the workers that serve requests, then those that run tasks for them; waits for both. */
    void drain(Duration grace) throws ExecutionException, InterruptedException {
        ticks.stop();
        requests.drain(grace).get();
        if (tasks != null) {
            tasks.drain(grace).get();
        }
    }

    @Override
    public void close() {
        ticks.stop();
        if (slowRequests != null) {
            slowRequests.stop();
        }
        requests.close();
        if (tasks != null) {
            tasks.close();
        }
    }
}
