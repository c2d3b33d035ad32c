package dev.cetane.ops;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.ops.Exporters.Export;
import dev.cetane.protocol.Measurement;
import dev.cetane.protocol.Measurement.Kind;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.DoubleConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The application's own metrics, under the prefix {@code app_}. The workers are not trusted: what has no usable name or value, contradicts
 * what is known of the metric, or is one series too many is counted, logged once for each of these reasons, and not shown.
 *
 * <p>Called on any reader thread; guarded by its own lock, which only workers that measure something take.
 */
final class ApplicationMetrics implements Consumer<List<Measurement>> {

    /** Why a measurement is not shown. */
    enum Refusal {
        TOO_MANY_SERIES,
        GIVEN_UP,
        INVALID,
        CONTRADICTING
    }

    private static final String PREFIX = "app.";
    private static final String TOTAL = "_total";
    private static final int MAX_NAME = 120;
    private static final int MAX_LABELS = 8;
    private static final int MAX_LABEL_VALUE = 256;
    private static final int MAX_BUCKETS = 32;
    private static final Pattern NAME = Pattern.compile("[a-zA-Z][a-zA-Z0-9_]*");

    /** Prometheus keeps these for itself. */
    private static final List<String> RESERVED_ENDS = List.of("_bucket", "_created", "_info");

    private static final Set<String> RESERVED_LABELS = Set.of("le", "quantile");

    /** For seconds, as Prometheus' own libraries have them. */
    private static final List<Double> DEFAULT_BUCKETS =
            List.of(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0);

    /** What all series of one name have in common. */
    private record Family(String name, Kind kind, Set<String> labels, List<Double> buckets) {}

    private record Series(Family family, DoubleConsumer taker) {}

    /** Where a gauge stands. */
    private static final class Standing {
        private volatile double value;
    }

    private final PrometheusMeterRegistry registry;
    private final MeterRegistry recording;
    private final List<Export> exports;
    private final Map<Refusal, Counter> refusals;
    private final int mostSeries;
    private final EventLog log;

    // Guarded by this.
    private final Map<String, Family> families = new HashMap<>();

    private final Map<String, ApplicationHistogram> histograms = new HashMap<>();

    /** What Prometheus makes of the families' names. */
    private final Set<String> shownNames = new HashSet<>();

    /** By name and labels, these sorted. */
    private final Map<List<String>, Series> series = new HashMap<>();

    /** By name and labels as workers send them; no more than there may be series. */
    private final Map<List<String>, Series> asSent = new HashMap<>();

    private final EnumSet<Refusal> logged = EnumSet.noneOf(Refusal.class);

    /**
     * @param recording that registry and the exporters, as one
     * @param refusals counts what is not shown
     * @param mostSeries at least 1
     */
    ApplicationMetrics(
            PrometheusMeterRegistry registry,
            MeterRegistry recording,
            List<Export> exports,
            Map<Refusal, Counter> refusals,
            int mostSeries,
            EventLog log) {
        this.registry = registry;
        this.recording = recording;
        this.exports = exports;
        this.refusals = refusals;
        this.mostSeries = mostSeries;
        this.log = log;
    }

    @Override
    public synchronized void accept(List<Measurement> measurements) {
        for (Measurement measured : measurements) {
            if (measured.kind() == Kind.GIVEN_UP) {
                double count = measured.values().get(0);
                refuse(
                        Refusal.GIVEN_UP,
                        count >= 1 && count <= Integer.MAX_VALUE ? count : 1,
                        "A worker has measured more between two answers than it can keep");
            } else {
                take(measured);
            }
        }
    }

    private void take(Measurement measured) {
        for (double value : measured.values()) {
            if (!Double.isFinite(value) || (value < 0 && measured.kind() != Kind.GAUGE)) {
                refuse(Refusal.INVALID, measured, "cannot have the value " + value);
                return;
            }
        }
        Series known = asSent.get(measured.texts());
        if (known == null) {
            known = find(measured);
        } else if (contradicts(known.family(), measured)) {
            known = null;
        }
        if (known != null) {
            measured.values().forEach(known.taker()::accept);
        }
    }

    /** The series of a measurement, made if there is none; null when it is refused. */
    private @Nullable Series find(Measurement measured) {
        SortedMap<String, String> labels = labels(measured);
        if (labels == null || !isNamed(measured)) {
            return null;
        }
        String base = measured.kind() == Kind.COUNTER && measured.name().endsWith(TOTAL)
                ? measured.name().substring(0, measured.name().length() - TOTAL.length())
                : measured.name();
        Family family = families.get(base);
        if (family != null && (contradicts(family, measured) || hasOtherLabels(family, labels, measured))) {
            return null;
        }
        List<String> key = new ArrayList<>();
        key.add(base);
        labels.forEach((label, value) -> {
            key.add(label);
            key.add(value);
        });
        Series found = series.get(key);
        if (found == null) {
            if (series.size() >= mostSeries) {
                refuse(
                        Refusal.TOO_MANY_SERIES,
                        measured,
                        "would be one more than metrics.application-series (" + mostSeries
                                + ") allows; give its labels fewer values, or raise that");
                return null;
            }
            if (family == null) {
                family = family(base, labels.keySet(), measured);
            }
            if (family == null) {
                return null;
            }
            found = new Series(family, meter(family, labels));
            series.put(List.copyOf(key), found);
        }
        if (asSent.size() < mostSeries) {
            asSent.put(measured.texts(), found);
        }
        return found;
    }

    private @Nullable Family family(String base, Set<String> labels, Measurement measured) {
        List<Double> buckets = measured.bounds();
        double last = 0;
        for (double bound : buckets) {
            if (!(bound > last) || bound == Double.POSITIVE_INFINITY || buckets.size() > MAX_BUCKETS) {
                refuse(Refusal.INVALID, measured, "needs buckets that ascend from above 0, at most " + MAX_BUCKETS);
                return null;
            }
            last = bound;
        }
        List<String> shown = switch (measured.kind()) {
            case COUNTER -> List.of(base, base + TOTAL);
            case HISTOGRAM -> List.of(base, base + "_bucket", base + "_sum", base + "_count");
            default -> List.of(base);
        };
        if (shown.stream().anyMatch(shownNames::contains)) {
            refuse(Refusal.CONTRADICTING, measured, "is part of another metric");
            return null;
        }
        shownNames.addAll(shown);
        Family family = new Family(base, measured.kind(), Set.copyOf(labels), buckets);
        families.put(base, family);
        return family;
    }

    private DoubleConsumer meter(Family family, Map<String, String> labels) {
        String name = PREFIX + family.name();
        List<Tag> tags = labels.entrySet().stream()
                .map(label -> Tag.of(label.getKey(), label.getValue()))
                .toList();
        switch (family.kind()) {
            case COUNTER -> {
                return Counter.builder(name)
                        .description("A counter of the application.")
                        .tags(tags)
                        .register(recording)::increment;
            }
            case HISTOGRAM -> {
                List<Double> buckets = family.buckets().isEmpty() ? DEFAULT_BUCKETS : family.buckets();
                DoubleConsumer taker = histograms
                        .computeIfAbsent(family.name(), any -> {
                            ApplicationHistogram histogram = new ApplicationHistogram("app_" + family.name(), buckets);
                            registry.getPrometheusRegistry().register(histogram);
                            return histogram;
                        })
                        .series(labels);
                for (Export export : exports) {
                    taker = taker.andThen(export.histograms().series(name, tags, buckets));
                }
                return taker;
            }
            default -> {
                Standing standing = new Standing();
                Gauge.builder(name, standing, at -> at.value)
                        .description("A gauge of the application.")
                        .strongReference(true)
                        .tags(tags)
                        .register(recording);
                return value -> standing.value = value;
            }
        }
    }

    private boolean contradicts(Family family, Measurement measured) {
        if (family.kind() != measured.kind()) {
            refuse(Refusal.CONTRADICTING, measured, "was a " + label(family.kind()) + " before");
            return true;
        }
        if (!family.buckets().equals(measured.bounds())) {
            refuse(Refusal.CONTRADICTING, measured, "had other buckets before");
            return true;
        }
        return false;
    }

    private boolean hasOtherLabels(Family family, Map<String, String> labels, Measurement measured) {
        if (!family.labels().equals(labels.keySet())) {
            refuse(Refusal.CONTRADICTING, measured, "had other labels before");
            return true;
        }
        return false;
    }

    private boolean isNamed(Measurement measured) {
        String name = measured.name();
        boolean total = measured.kind() != Kind.COUNTER && name.endsWith(TOTAL);
        if (name.length() > MAX_NAME
                || name.equals(TOTAL)
                || total
                || !NAME.matcher(name).matches()
                || RESERVED_ENDS.stream().anyMatch(name::endsWith)) {
            refuse(
                    Refusal.INVALID,
                    measured,
                    "has no name for a metric: it needs letters, digits and _, " + MAX_NAME
                            + " at most, and must not end as Prometheus' own names do (_bucket, _created, _info;"
                            + " _total for counters alone)");
            return false;
        }
        return true;
    }

    /** Sorted by name; null when they are refused. */
    private @Nullable SortedMap<String, String> labels(Measurement measured) {
        List<String> texts = measured.texts();
        SortedMap<String, String> labels = new TreeMap<>();
        for (int i = 1; i < texts.size(); i += 2) {
            String label = texts.get(i);
            if (i > 2 * MAX_LABELS
                    || label.length() > MAX_NAME
                    || !NAME.matcher(label).matches()
                    || RESERVED_LABELS.contains(label)
                    || texts.get(i + 1).length() > MAX_LABEL_VALUE
                    || labels.put(label, texts.get(i + 1)) != null) {
                refuse(
                        Refusal.INVALID,
                        measured,
                        "needs other labels: at most " + MAX_LABELS
                                + ", their names letters, digits and _ but not le and" + " quantile, their values "
                                + MAX_LABEL_VALUE + " characters at most");
                return null;
            }
        }
        return labels;
    }

    private void refuse(Refusal refusal, Measurement measured, String why) {
        String name = measured.name();
        String shown = name.length() > MAX_NAME ? name.substring(0, MAX_NAME) + "…" : name;
        refuse(
                refusal,
                measured.values().size(),
                "The application's " + label(measured.kind()) + " " + shown + " " + why);
    }

    private void refuse(Refusal refusal, double measurements, String why) {
        Counter counter = refusals.get(refusal);
        if (counter != null) {
            counter.increment(measurements);
        }
        if (logged.add(refusal)) {
            log.log(
                    Level.WARN,
                    "metrics.refused",
                    null,
                    why + ". Such measurements are counted in cetane_application_measurements_refused_total and not"
                            + " reported again.");
        }
    }

    private static String label(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
