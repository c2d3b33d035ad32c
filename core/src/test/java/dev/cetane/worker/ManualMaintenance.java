package dev.cetane.worker;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

/** The maintenance thread's work, done by the test's own thread when the test says so. */
final class ManualMaintenance implements Maintenance {
    private record Task(long atNanos, long order, Runnable action) {}

    private final ManualTicker ticker;
    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::atNanos).thenComparingLong(Task::order));
    private long order;
    private boolean closed;

    ManualMaintenance(ManualTicker ticker) {
        this.ticker = ticker;
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0);
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
        if (!closed) {
            tasks.add(new Task(ticker.nanos() + delayNanos, order++, task));
        }
    }

    @Override
    public void close() {
        closed = true;
        tasks.clear();
    }

    /** Runs what is due now. */
    void run() {
        advance(Duration.ZERO);
    }

    /** Moves the clock, stopping at each task on the way. */
    void advance(Duration by) {
        long end = ticker.nanos() + by.toNanos();
        Task next = tasks.peek();
        while (next != null && next.atNanos() <= end) {
            tasks.remove();
            ticker.advanceTo(next.atNanos());
            next.action().run();
            next = tasks.peek();
        }
        ticker.advanceTo(end);
    }

    int waiting() {
        return tasks.size();
    }
}
