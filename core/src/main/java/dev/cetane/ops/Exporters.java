package dev.cetane.ops;

import dev.cetane.log.EventLog;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleConsumer;

/**
 * Pushes the metrics to where the configuration says. What nobody asks for is not loaded: the libraries for OTLP and StatsD bring
 * thousands of classes, and the Lambda layer goes without them. Opened and closed by the main thread; they push on threads of their own.
 */
public final class Exporters implements AutoCloseable {

    /**
     * One of them.
     *
     * @param histograms makes the application's
     * @param afterwards what is left to do when it is closed
     */
    record Export(MeterRegistry registry, Histograms histograms, Runnable afterwards) {}

    /** How the application's histograms are made for one of them. */
    @FunctionalInterface
    interface Histograms {
        /**
         * Makes a series, and returns what records a value in it.
         *
         * @param bounds upper ones of the buckets, ascending and finite; the same for all series of a name
         */
        DoubleConsumer series(String name, List<Tag> tags, List<Double> bounds);
    }

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

    List<Export> exports() {
        return List.copyOf(exports);
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
