package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * {@link Maintenance} on the thread {@code cetane-maintenance}, which lives as long as the pool: the kernel ties a worker's parent-death
 * signal to the thread that started it, so that thread must not end before the workers.
 */
final class MaintenanceThread implements Maintenance {
    private final EventLog log;
    private final ScheduledThreadPoolExecutor executor;

    MaintenanceThread(EventLog log) {
        this.log = log;
        executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "cetane-maintenance");
            thread.setDaemon(true);
            return thread;
        });
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // run() reports what a task throws
    public void schedule(Runnable task, long delayNanos) {
        try {
            executor.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            // The pool has stopped: every worker is gone, so no task has anything left to do.
            if (!executor.isShutdown()) {
                throw closed;
            }
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.log(Level.ERROR, "pool.fault", null, "a maintenance task failed: " + e);
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }
}
