package dev.cetane.ops;

import dev.cetane.log.EventLog;
import dev.cetane.ops.Exporters.Export;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.statsd.StatsdConfig;
import io.micrometer.statsd.StatsdFlavor;
import io.micrometer.statsd.StatsdMeterRegistry;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Pushes metrics to a StatsD server: an event or a duration when it happens, all else at intervals. The library's own UDP client, a
 * second Netty, stays unloaded: {@link StatsdSender} sends the lines.
 */
final class StatsdExport {
    private StatsdExport() {}

    static Export open(InetSocketAddress server, ExportConfig.Dialect dialect, Duration interval, EventLog log) {
        StatsdSender sender = StatsdSender.start(server, log);
        StatsdMeterRegistry registry = StatsdMeterRegistry.builder(new Config(flavor(dialect), interval))
                .clock(Clock.SYSTEM)
                .lineSink(sender::offer)
                .build();
        registry.config().meterFilter(new WithoutHistograms());
        return new Export(
                registry,
                (name, tags, bounds) ->
                        DistributionSummary.builder(name).tags(tags).register(registry)::record,
                sender::close);
    }

    /** The server makes its own of the single durations. */
    private static final class WithoutHistograms implements MeterFilter {

        @Override
        public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
            return DistributionStatisticConfig.builder()
                    .serviceLevelObjectives()
                    .build()
                    .merge(config);
        }

        /** The library makes a gauge of the bucket for all, whatever the configuration says. */
        @Override
        public MeterFilterReply accept(Meter.Id id) {
            return id.getName().endsWith(".histogram") ? MeterFilterReply.DENY : MeterFilterReply.NEUTRAL;
        }
    }

    private static StatsdFlavor flavor(ExportConfig.Dialect dialect) {
        return switch (dialect) {
            case ETSY -> StatsdFlavor.ETSY;
            case DATADOG -> StatsdFlavor.DATADOG;
            case TELEGRAF -> StatsdFlavor.TELEGRAF;
        };
    }

    private record Config(StatsdFlavor flavor, Duration interval) implements StatsdConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public Duration pollingFrequency() {
            return interval;
        }

        @Override
        public Duration step() {
            return interval;
        }

        /** {@link StatsdSender} puts lines together. */
        @Override
        public boolean buffered() {
            return false;
        }
    }
}
