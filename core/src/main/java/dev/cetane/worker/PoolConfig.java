package dev.cetane.worker;

import java.time.Duration;

/**
 * The {@code pool} section of the configuration. Immutable; the loader has checked every range.
 *
 * @param workers how many workers, at least 1 (default: CPUs of the cgroup)
 * @param queueSize most jobs that wait for a worker, 0 or more (128)
 * @param queueTimeout longest wait in the queue, zero: none (10s)
 * @param bootTimeout longest time from the process's start to READY (30s)
 * @param requestTimeout longest time a worker may take from dispatch to END, and again from END to DONE; zero: none (30s). Time
 *     spent waiting for a slow client does not count
 * @param stopGrace how long a worker that was asked to stop may take before it is killed, and how long a drain waits (10s)
 * @param killGrace time between SIGTERM and SIGKILL (1s)
 * @param maxRequests requests after which a worker is replaced, 0: never (0 … 10 000 000; default 0)
 * @param maxLifetime age after which a worker is replaced, zero: never (0)
 * @param maxMemoryBytes private resident memory above which a worker is replaced between requests, 0: never (0)
 * @param jitterPercent spread of the three limits, 0 to 50 (10): a worker's own limit is drawn from [limit - jitter, limit]
 * @param backoffInitial wait after the first failed boot (500ms), doubled with each further failure
 * @param backoffMax longest wait between boots (30s)
 * @param outputLineBytes longest line of worker output kept whole, bytes (8 KiB)
 * @param outputLinesPerSecond worker output lines logged a second and worker; more are counted and dropped (1 000)
 * @param longestRequest most time that an application may give one of its requests, zero: it cannot (1h)
 */
public record PoolConfig(
        int workers,
        int queueSize,
        Duration queueTimeout,
        Duration bootTimeout,
        Duration requestTimeout,
        Duration stopGrace,
        Duration killGrace,
        int maxRequests,
        Duration maxLifetime,
        long maxMemoryBytes,
        int jitterPercent,
        Duration backoffInitial,
        Duration backoffMax,
        int outputLineBytes,
        int outputLinesPerSecond,
        Duration longestRequest) {

    /** The same for other work: how many workers, and how much work may wait and run for how long. */
    public PoolConfig with(int workers, int queueSize, Duration queueTimeout, Duration requestTimeout) {
        return new PoolConfig(
                workers,
                queueSize,
                queueTimeout,
                bootTimeout,
                requestTimeout,
                stopGrace,
                killGrace,
                maxRequests,
                maxLifetime,
                maxMemoryBytes,
                jitterPercent,
                backoffInitial,
                backoffMax,
                outputLineBytes,
                outputLinesPerSecond,
                longestRequest);
    }
}
