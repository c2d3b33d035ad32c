package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Makes {@link Sample}s of what the metrics count and the pool shows. One thread, the ops event loop. */
final class Sampler {
    private final Metrics metrics;
    private final Supplier<PoolSnapshot> pool;
    private final Supplier<Instance> instance;
    private final Ticker ticker;
    private Totals before;
    private long beforeNanos;

    /** Begins the first interval. */
    Sampler(Metrics metrics, Supplier<PoolSnapshot> pool, Supplier<Instance> instance, Ticker ticker) {
        this.metrics = metrics;
        this.pool = pool;
        this.instance = instance;
        this.ticker = ticker;
        before = metrics.totals();
        beforeNanos = ticker.nanos();
        metrics.latency().watch(true);
    }

    /** No more samples are wanted. */
    void close() {
        metrics.latency().watch(false);
    }

    /** How things stand, without what has happened. */
    Sample first() {
        return sample(before, before, 0);
    }

    /** What has happened since the last call. */
    Sample take() {
        Totals now = metrics.totals();
        long nowNanos = ticker.nanos();
        Sample sample = sample(before, now, (nowNanos - beforeNanos) / 1e9);
        before = now;
        beforeNanos = nowNanos;
        return sample;
    }

    private Sample sample(Totals from, Totals to, double seconds) {
        PoolSnapshot snapshot = pool.get();
        Map<String, Long> outcomes = new LinkedHashMap<>();
        to.outcomes()
                .forEach((name, count) ->
                        outcomes.put(name, count - from.outcomes().getOrDefault(name, 0L)));
        Map<String, Double> phases = new LinkedHashMap<>();
        to.phases().forEach((name, passed) -> {
            Totals.Passed earlier = from.phases().getOrDefault(name, Totals.Passed.NOTHING);
            long count = passed.count() - earlier.count();
            phases.put(name, count <= 0 ? 0 : (passed.nanos() - earlier.nanos()) / 1e3 / count);
        });
        // What waits for a boot is few requests; the chart shows what that means for all of them.
        long served = to.count("queue") - from.count("queue");
        long booted = to.count("boot") - from.count("boot");
        phases.computeIfPresent("boot", (name, micros) -> served <= 0 ? micros : micros * booted / served);
        return new Sample(
                ticker.now(),
                seconds,
                instance.get(),
                snapshot,
                Health.of(snapshot),
                to.connections(),
                outcomes,
                metrics.latency().take(),
                phases,
                to.failures(),
                to.rejections(),
                to.restarts(),
                metrics.slow().list(),
                metrics.slow().version(),
                metrics.ends().list(),
                metrics.ends().version());
    }
}
