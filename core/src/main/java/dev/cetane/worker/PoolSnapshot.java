package dev.cetane.worker;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pool at one moment, for health, metrics and the command line; not fit for decisions about requests. Immutable.
 *
 * @param target how many workers the pool keeps
 * @param queued jobs that wait for a worker
 * @param queueLimit most jobs that may wait
 * @param mostQueued most jobs that have waited at once
 * @param mostBusy most workers that were busy at once
 * @param generation number of the current generation, 1 at start, one more with each reload
 * @param draining whether the pool takes no more jobs
 * @param lastBootFailure message of the last failed boot while it is still the last word, else null
 * @param tasks the pool that runs tasks for this one; null without one
 */
public record PoolSnapshot(
        int target,
        int queued,
        int queueLimit,
        int mostQueued,
        int mostBusy,
        int generation,
        boolean draining,
        @Nullable String lastBootFailure,
        List<WorkerSnapshot> workers,
        @Nullable PoolSnapshot tasks) {

    /**
     * One worker.
     *
     * @param pid process id, 0 before the process exists
     * @param reason why it is leaving, null while it is not
     * @param requests requests served
     * @param stateNanos how long it has been in its state
     * @param ageNanos since its process was started
     * @param memoryBytes private resident memory of the process, 0 if not yet measured
     * @param request {@link Job#describe()} of the running request, null when idle
     * @param requestId {@link Job#id()} of the running request, null when idle
     */
    public record WorkerSnapshot(
            int id,
            long pid,
            WorkerState state,
            @Nullable RetireReason reason,
            int generation,
            long requests,
            long stateNanos,
            long ageNanos,
            long memoryBytes,
            @Nullable String request,
            @Nullable String requestId) {}

    /** This with the pool that runs its tasks, null for none. */
    public PoolSnapshot with(@Nullable PoolSnapshot tasks) {
        return new PoolSnapshot(
                target,
                queued,
                queueLimit,
                mostQueued,
                mostBusy,
                generation,
                draining,
                lastBootFailure,
                workers,
                tasks);
    }

    /** This as it is about to be: the stop has begun elsewhere. */
    public PoolSnapshot drained() {
        return new PoolSnapshot(
                target, queued, queueLimit, mostQueued, mostBusy, generation, true, lastBootFailure, workers, tasks);
    }

    /** The workers, and behind them those that run tasks. */
    public List<WorkerSnapshot> allWorkers() {
        if (tasks == null) {
            return workers;
        }
        List<WorkerSnapshot> all = new ArrayList<>(workers);
        all.addAll(tasks.workers);
        return List.copyOf(all);
    }

    /** What this worker runs. */
    public WorkerServices.Role role(WorkerSnapshot worker) {
        return tasks != null && tasks.workers.contains(worker) ? WorkerServices.Role.TASK : WorkerServices.Role.REQUEST;
    }

    /** How many workers are in this state, those that run tasks left out. */
    public int count(WorkerState state) {
        int count = 0;
        for (WorkerSnapshot worker : workers) {
            if (worker.state() == state) {
                count++;
            }
        }
        return count;
    }
}
