package dev.cetane.worker;

/**
 * Hears what happens in a pool, for metrics. Called on whatever thread it happens on, sometimes on a request's path and never under
 * the pool's lock: implementations must be quick, thread-safe and must not throw. What
 * nobody overrides is not heard.
 */
public interface PoolListener {

    /** A worker's process was started. */
    default void started(int workerId) {}

    /** A worker became ready for the first time. */
    default void booted(int workerId, long bootNanos) {}

    /** A worker's process has ended. */
    default void stopped(WorkerEnd end) {}

    /** A job was refused or dropped before a worker took it. */
    default void rejected(WorkerException.Kind kind) {}

    /** A job has ended with a complete answer. */
    default void completed(JobReport report) {}

    /** This job has run longer than {@code pool.slow-request}, and PHP had that stack. Told once for a job. */
    default void slow(String jobId, String stack) {}

    /** PHP's stack when this job was out of time. */
    default void outOfTime(String jobId, String stack) {}

    /** A job was taken by a worker and has ended without a complete answer. */
    default void failed(WorkerException.Kind kind) {}
}
