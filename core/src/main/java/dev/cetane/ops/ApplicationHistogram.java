package dev.cetane.ops;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleConsumer;

/**
 * All series of one histogram of the application. Micrometer's own summaries take whole numbers for their buckets, and would count a third of a
 * second among the seconds.
 *
 * <p>Recording and collecting may run on any threads; each is guarded by this.
 */
final class ApplicationHistogram implements Collector {

    private static final class Counts {
        private final Labels labels;
        private final long[] byBucket;
        private double sum;

        Counts(Labels labels, int buckets) {
            this.labels = labels;
            byBucket = new long[buckets];
        }
    }

    private final String name;
    private final double[] bounds;
    private final List<Counts> series = new ArrayList<>();

    /**
     * A histogram without series.
     *
     * @param name as Prometheus shows it
     * @param bounds upper ones, ascending and finite
     */
    ApplicationHistogram(String name, List<Double> bounds) {
        this.name = name;
        this.bounds = new double[bounds.size() + 1];
        for (int i = 0; i < bounds.size(); i++) {
            this.bounds[i] = bounds.get(i);
        }
        this.bounds[bounds.size()] = Double.POSITIVE_INFINITY;
    }

    /** A new series; what is returned records a value in it. */
    synchronized DoubleConsumer series(Map<String, String> labels) {
        Counts counts = new Counts(
                Labels.of(
                        labels.keySet().toArray(String[]::new), labels.values().toArray(String[]::new)),
                bounds.length);
        series.add(counts);
        return value -> record(counts, value);
    }

    private synchronized void record(Counts counts, double value) {
        int bucket = 0;
        while (value > bounds[bucket]) {
            bucket++;
        }
        counts.byBucket[bucket]++;
        counts.sum += value;
    }

    @Override
    public synchronized HistogramSnapshot collect() {
        HistogramSnapshot.Builder snapshot =
                HistogramSnapshot.builder().name(name).help("A histogram of the application.");
        for (Counts counts : series) {
            ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
            for (int i = 0; i < bounds.length; i++) {
                buckets.bucket(bounds[i], counts.byBucket[i]);
            }
            snapshot.dataPoint(HistogramDataPointSnapshot.builder()
                    .labels(counts.labels)
                    .classicHistogramBuckets(buckets.build())
                    .sum(counts.sum)
                    .build());
        }
        return snapshot.build();
    }
}
