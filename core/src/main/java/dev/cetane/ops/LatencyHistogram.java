package dev.cetane.ops;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How long requests took, fine enough for percentiles: 16 buckets for each doubling, so a percentile is off by 3 % at most. Counts only
 * while it is watched, so that nobody pays for it otherwise. {@link #record} on any thread, the rest on one.
 */
final class LatencyHistogram {
    private static final int SUB_BITS = 4;
    private static final int SUB_BUCKETS = 1 << SUB_BITS;

    /** Above 2^32 µs, more than an hour, all is the same. */
    private static final int MOST_BITS = 32;

    private static final int BUCKETS = (MOST_BITS - SUB_BITS + 1) * SUB_BUCKETS;

    private final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS);
    private final int[] before = new int[BUCKETS];
    private volatile boolean watched;

    /**
     * The percentiles of one interval.
     *
     * @param count how many requests; the rest is 0 when there was none
     * @param p50 microseconds, as the others
     */
    record Percentiles(long count, long p50, long p95, long p99, long max) {}

    void record(long nanos) {
        if (watched) {
            counts.incrementAndGet(bucket(nanos / 1_000));
        }
    }

    void watch(boolean on) {
        watched = on;
        take();
    }

    /** What has come since it was last taken. */
    Percentiles take() {
        int[] interval = new int[BUCKETS];
        long count = 0;
        int last = 0;
        for (int i = 0; i < BUCKETS; i++) {
            int now = counts.get(i);
            interval[i] = now - before[i];
            before[i] = now;
            count += interval[i];
            last = interval[i] > 0 ? i : last;
        }
        if (count == 0) {
            return new Percentiles(0, 0, 0, 0, 0);
        }
        return new Percentiles(
                count,
                percentile(interval, count, 0.5),
                percentile(interval, count, 0.95),
                percentile(interval, count, 0.99),
                middle(last));
    }

    private static long percentile(int[] interval, long count, double part) {
        long rank = Math.max(1, (long) Math.ceil(count * part));
        long seen = 0;
        for (int i = 0; i < BUCKETS; i++) {
            seen += interval[i];
            if (seen >= rank) {
                return middle(i);
            }
        }
        return middle(BUCKETS - 1);
    }

    private static int bucket(long micros) {
        if (micros < SUB_BUCKETS) {
            return (int) Math.max(0, micros);
        }
        int bits = 64 - Long.numberOfLeadingZeros(micros);
        if (bits > MOST_BITS) {
            return BUCKETS - 1;
        }
        int shift = bits - 1 - SUB_BITS;
        return (shift + 1) * SUB_BUCKETS + (int) (micros >>> shift) - SUB_BUCKETS;
    }

    private static long middle(int bucket) {
        if (bucket < SUB_BUCKETS) {
            return bucket;
        }
        int shift = bucket / SUB_BUCKETS - 1;
        long low = (long) (bucket % SUB_BUCKETS + SUB_BUCKETS) << shift;
        return low + ((1L << shift) >> 1);
    }
}
