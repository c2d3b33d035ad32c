package dev.cetane.ops;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.registry.otlp.OtlpMetricsSender;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleConsumer;

/**
 * The application's histograms by OTLP. Micrometer rounds each value up to a whole number before it looks for the value's bucket, so a third of a
 * second would count among the seconds. It is therefore given values and bounds that are multiplied by a power of two, with which rounding
 * changes nothing, and what it has made of them is divided again before it is sent.
 *
 * <p>Series are made on any thread, {@link #send} is called on the one that pushes.
 */
final class OtlpHistograms implements OtlpMetricsSender {
    /** Whole numbers up to this power of two are exact. */
    private static final int EXACT_BITS = 52;

    /** What all series of one name have in common. */
    private record Scaled(List<Double> bounds, double factor) {

        static Scaled of(List<Double> bounds) {
            return new Scaled(bounds, Math.scalb(1.0, EXACT_BITS - Math.getExponent(bounds.get(bounds.size() - 1))));
        }

        /** Rounded up as the values are: what is not above a bound stays so. */
        double[] multiplied() {
            double[] multiplied = new double[bounds.size()];
            double last = 0;
            for (int i = 0; i < multiplied.length; i++) {
                last = Math.max(last + 1, Math.ceil(bounds.get(i) * factor));
                multiplied[i] = last;
            }
            return multiplied;
        }
    }

    private final OtlpMetricsSender next;
    private final Map<String, Scaled> byName = new ConcurrentHashMap<>();

    /** @param next sends what this has put right */
    OtlpHistograms(OtlpMetricsSender next) {
        this.next = next;
    }

    /**
     * A new series; what is returned records a value in it.
     *
     * @param bounds ascending, above 0 and finite; the same for all series of the name
     */
    DoubleConsumer series(MeterRegistry registry, String name, List<Tag> tags, List<Double> bounds) {
        Scaled scaled = byName.computeIfAbsent(name, any -> Scaled.of(bounds));
        return DistributionSummary.builder(name)
                .tags(tags)
                .scale(scaled.factor())
                .serviceLevelObjectives(scaled.multiplied())
                .register(registry)::record;
    }

    @Override
    public void send(Request request) throws Exception {
        String address = request.getAddress();
        if (byName.isEmpty() || address == null) {
            next.send(request);
            return;
        }
        next.send(Request.builder(divided(request.getMetricsData()))
                .address(address)
                .headers(request.getHeaders())
                .compressionMode(request.getCompressionMode())
                .build());
    }

    private byte[] divided(byte[] metricsData) throws Exception {
        ExportMetricsServiceRequest.Builder message = ExportMetricsServiceRequest.parseFrom(metricsData).toBuilder();
        List<Metric.Builder> metrics = new ArrayList<>();
        for (ResourceMetrics.Builder resource : message.getResourceMetricsBuilderList()) {
            for (ScopeMetrics.Builder scope : resource.getScopeMetricsBuilderList()) {
                metrics.addAll(scope.getMetricsBuilderList());
            }
        }
        for (Metric.Builder metric : metrics) {
            Scaled scaled = byName.get(metric.getName());
            if (scaled != null && metric.hasHistogram()) {
                metric.getHistogramBuilder().getDataPointsBuilderList().forEach(point -> divide(point, scaled));
            }
        }
        return message.build().toByteArray();
    }

    private static void divide(HistogramDataPoint.Builder point, Scaled scaled) {
        point.setSum(point.getSum() / scaled.factor());
        if (point.hasMax()) {
            point.setMax(point.getMax() / scaled.factor());
        }
        point.clearExplicitBounds().addAllExplicitBounds(scaled.bounds());
    }
}
