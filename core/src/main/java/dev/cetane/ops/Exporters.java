package dev.cetane.ops;

import dev.cetane.log.EventLog;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;

/**
 * Pushes the metrics to where the configuration says. What nobody asks for is not loaded: the libraries for OTLP and StatsD bring
 * thousands of classes, and the Lambda layer goes without them. Opened and closed by the main thread; they push on threads of their own.
 */
public final class Exporters implements AutoCloseable {

    /** One of them, and what is left to do when it is closed. */
    record Export(MeterRegistry registry, Runnable afterwards) {}

    private final List<Export> exports = new ArrayList<>();

    /** @param version of this program */
    public Exporters(ExportConfig config, String version, EventLog log) {
        if (config.otlp() != null) {
            exports.add(OtlpExport.open(config.otlp(), config.interval(), version));
        }
        if (config.statsd() != null) {
            exports.add(StatsdExport.open(config.statsd(), config.dialect(), config.interval(), log));
        }
    }

    /** For {@link Metrics}. */
    public List<MeterRegistry> registries() {
        return exports.stream().map(Export::registry).toList();
    }

    /** Pushes what was counted last, and ends. A receiver that does not answer delays it by seconds at most. */
    @Override
    public void close() {
        for (Export export : exports) {
            export.registry().close();
            export.afterwards().run();
        }
    }
}
