package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What happened in about one second, and how things stood at its end. Immutable.
 *
 * @param seconds how long; 0 in the first sample, which has no events in it
 * @param outcomes requests by what the client got, as in {@code cetane.requests}
 * @param latency of these requests
 * @param phaseMicros mean time of each phase, microseconds; phases that nothing has passed are 0
 * @param failures since the start, by kind, and likewise {@code rejections} and {@code restarts}; those that are 0 are left out
 * @param slow the slowest requests, {@code slowVersion} changes with it; likewise {@code ends}
 */
record Sample(
        Instant time,
        double seconds,
        Instance instance,
        PoolSnapshot pool,
        Health health,
        long connections,
        Map<String, Long> outcomes,
        LatencyHistogram.Percentiles latency,
        Map<String, Double> phaseMicros,
        Map<String, Long> failures,
        Map<String, Long> rejections,
        Map<String, Long> restarts,
        List<SlowRequests.Entry> slow,
        long slowVersion,
        List<RecentEnds.Entry> ends,
        long endsVersion) {

    /** Requests that have ended, however. */
    long requests() {
        return outcomes.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The same a second. */
    double rate() {
        return seconds == 0 ? 0 : requests() / seconds;
    }
}
