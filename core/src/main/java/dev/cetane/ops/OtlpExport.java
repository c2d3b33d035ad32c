package dev.cetane.ops;

import dev.cetane.ops.Exporters.Export;
import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpHttpMetricsSender;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pushes metrics by OTLP over HTTP, in protobuf. What OpenTelemetry's own environment variables say of header fields, compression,
 * temporality and resource attributes holds. A push that fails is logged as a warning and its figures are in the next one.
 */
final class OtlpExport {
    private OtlpExport() {}

    static Export open(URI address, Duration interval, String version) {
        OtlpHistograms histograms = new OtlpHistograms(new OtlpHttpMetricsSender(new HttpUrlConnectionSender()));
        OtlpMeterRegistry registry = OtlpMeterRegistry.builder(new Config(address, interval, version))
                .metricsSender(histograms)
                .build();
        return new Export(registry, (name, tags, bounds) -> histograms.series(registry, name, tags, bounds), () -> {});
    }

    private record Config(URI address, Duration interval, String version) implements OtlpConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public String url() {
            return address.toString();
        }

        @Override
        public Duration step() {
            return interval;
        }

        @Override
        public Map<String, String> resourceAttributes() {
            Map<String, String> attributes = new HashMap<>(OtlpConfig.super.resourceAttributes());
            attributes.putIfAbsent("service.name", "cetane");
            attributes.putIfAbsent("service.version", version);
            return attributes;
        }
    }
}
