package dev.cetane.worker;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pool at one moment, for health, metrics and the command line; not fit for decisions about requests. Immutable.
 *
 * @param target how many workers the pool keeps
 * @param queued jobs that wait for a worker
 * @param queueLimit most jobs that may wait
 * @param generation number of the current generation, 1 at start, one more with each reload
 * @param draining whether the pool takes no more jobs
 * @param lastBootFailure message of the last failed boot while it is still the last word, else null
 */
public record PoolSnapshot(
        int target,
        int queued,
        int queueLimit,
        int generation,
        boolean draining,
        @Nullable String lastBootFailure,
        List<WorkerSnapshot> workers) {

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

    /** How many workers are in this state. */
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
