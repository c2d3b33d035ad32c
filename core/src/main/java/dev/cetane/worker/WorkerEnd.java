package dev.cetane.worker;

import org.jspecify.annotations.Nullable;

/**
 * How a worker's process ended. Immutable.
 *
 * @param pid 0 when there was no process yet
 * @param planned whether the pool or the application wanted it, and no request was lost with it
 * @param exit for people: {@code exit code 255}, {@code signal 9 (KILL)}
 * @param requests requests served
 * @param ageNanos since its process was started
 * @param request {@link Job#describe()} of the request that it ended with, or was ended for; null when there was none
 * @param requestId {@link Job#id()} of that request
 * @param error PHP's fatal error, or why the application did not boot; null when neither was told
 * @param lastOutput its last lines of output, joined, may be empty
 */
public record WorkerEnd(
        int workerId,
        long pid,
        int generation,
        RetireReason reason,
        boolean planned,
        String exit,
        long requests,
        long ageNanos,
        @Nullable String request,
        @Nullable String requestId,
        @Nullable String error,
        String lastOutput) {

    /** Under the pool's lock. */
    static WorkerEnd of(
            Worker worker, RetireReason reason, WorkerProcess.Ending ending, @Nullable Exchange lost, long nowNanos) {
        Job job = lost == null ? worker.endedFor : lost.job;
        WorkerProcess.Fatal fatal = ending.fatal();
        boolean wanted = switch (reason) {
            case MAX_REQUESTS, MAX_LIFETIME, MAX_MEMORY, RELOAD, DRAIN, RECYCLED, EXITED -> true;
            case TIMED_OUT, CRASHED, BOOT_FAILED, BOOT_TIMED_OUT, PROTOCOL_ERROR -> false;
        };
        return new WorkerEnd(
                worker.id,
                worker.pid(),
                worker.generation.number(),
                reason,
                wanted && lost == null && fatal == null,
                ending.describe(),
                worker.requests,
                nowNanos - worker.createdNanos,
                job != null ? job.describe() : fatal != null ? fatal.request() : null,
                job != null ? job.id() : fatal != null ? fatal.requestId() : null,
                fatal != null ? fatal.message() : ending.bootError(),
                ending.lastOutput());
    }
}
