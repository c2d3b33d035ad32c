package dev.cetane.worker;

import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import org.jspecify.annotations.Nullable;

/** One worker's state, limits and current job. Guarded by the pool's lock but for the final fields. */
final class Worker {
    final int id;
    final Generation generation;
    final long createdNanos;

    /** Its own limits, drawn when it was made; 0 is none. */
    final int maxRequests;

    final long maxLifetimeNanos;
    final long maxMemoryBytes;

    private WorkerState state = WorkerState.STARTING;
    private long stateSinceNanos;
    private @Nullable RetireReason reason;

    /** Set on the maintenance thread before the process is started. */
    @Nullable
    WorkerProcess process;

    /** What it serves; null when not BUSY. Stays after STOPPED only while its sender has not yet noticed that the worker is gone. */
    @Nullable
    Exchange exchange;

    /** The job that it was ended for: it ran too long, the protocol was broken for it, or it was the last one of its process. */
    @Nullable
    Job endedFor;

    /** Why it is to be replaced: it goes on serving until its replacement is ready. */
    @Nullable
    RetireReason due;

    long requests;
    long bootNanos;
    long memoryBytes;
    long memoryAtNanos;
    boolean memoryAsked;

    /** Whether it was started while the pool was backing off after a failed boot. */
    final boolean probe;

    Worker(
            int id,
            Generation generation,
            boolean probe,
            int maxRequests,
            long maxLifetimeNanos,
            long maxMemoryBytes,
            long nowNanos) {
        this.id = id;
        this.generation = generation;
        this.probe = probe;
        this.maxRequests = maxRequests;
        this.maxLifetimeNanos = maxLifetimeNanos;
        this.maxMemoryBytes = maxMemoryBytes;
        createdNanos = nowNanos;
        stateSinceNanos = nowNanos;
    }

    /**
     * Makes every transition.
     *
     * @param why why the worker leaves: needed for RETIRING and STOPPED unless it was given before, else null
     */
    void become(WorkerState next, @Nullable RetireReason why, long nowNanos) {
        boolean legal = switch (state) {
            case STARTING -> next == WorkerState.IDLE || next == WorkerState.RETIRING || next == WorkerState.STOPPED;
            case IDLE -> next == WorkerState.BUSY || next == WorkerState.RETIRING || next == WorkerState.STOPPED;
            case BUSY -> next == WorkerState.IDLE || next == WorkerState.RETIRING || next == WorkerState.STOPPED;
            case RETIRING -> next == WorkerState.STOPPED;
            case STOPPED -> false;
        };
        boolean leaving = next == WorkerState.RETIRING || next == WorkerState.STOPPED;
        if (!legal || leaving == (why == null)) {
            throw new IllegalStateException(
                    "worker " + id + " cannot go from " + state + " to " + next + " with reason " + why);
        }
        state = next;
        reason = why;
        stateSinceNanos = nowNanos;
    }

    WorkerState state() {
        return state;
    }

    @Nullable
    RetireReason reason() {
        return reason;
    }

    /** Whether it takes requests, now or when it is done with the one it has. */
    boolean serving() {
        return state == WorkerState.IDLE || state == WorkerState.BUSY;
    }

    long pid() {
        WorkerProcess started = process;
        return started == null ? 0 : started.pid();
    }

    /** The process of a worker that has been started. */
    WorkerProcess process() {
        WorkerProcess started = process;
        if (started == null) {
            throw new IllegalStateException("worker " + id + " has no process in state " + state);
        }
        return started;
    }

    WorkerSnapshot snapshot(long nowNanos) {
        Exchange running = exchange;
        return new WorkerSnapshot(
                id,
                pid(),
                state,
                reason == null ? due : reason,
                generation.number(),
                requests,
                nowNanos - stateSinceNanos,
                nowNanos - createdNanos,
                memoryBytes,
                running == null ? null : running.job.describe(),
                running == null ? null : running.job.id());
    }

    /** {@code worker 3 (pid 812)}. */
    String name() {
        long pid = pid();
        return "worker " + id + (pid == 0 ? "" : " (pid " + pid + ")");
    }
}
