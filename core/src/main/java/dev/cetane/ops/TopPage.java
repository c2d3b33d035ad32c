package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What {@code cetane top} shows: a page of text for each sample, ended by a form feed. Immutable. */
final class TopPage implements Feed {
    private static final List<String> PHASES =
            List.of("receive", "queue", "boot", "dispatch", "first_byte", "to_end", "transfer");

    /** How the workers are sorted. */
    enum Order {
        ID(Comparator.comparingInt(WorkerSnapshot::id)),
        /** Those that have been busy longest first. */
        BUSY(Comparator.comparing((WorkerSnapshot worker) -> worker.state() != WorkerState.BUSY)
                .thenComparing(
                        Comparator.comparingLong(WorkerSnapshot::stateNanos).reversed())),
        REQUESTS(Comparator.comparingLong(WorkerSnapshot::requests).reversed()),
        MEMORY(Comparator.comparingLong(WorkerSnapshot::memoryBytes).reversed()),
        AGE(Comparator.comparingLong(WorkerSnapshot::ageNanos).reversed());

        /** All of them, for people. */
        static final String NAMES = Stream.of(values()).map(Order::key).collect(Collectors.joining(", "));

        @SuppressWarnings("ImmutableEnumChecker") // made of functions without state
        private final Comparator<WorkerSnapshot> comparator;

        Order(Comparator<WorkerSnapshot> comparator) {
            this.comparator = comparator.thenComparing(WorkerSnapshot::id);
        }

        private String key() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The one with this name, BUSY for none; null for another word. */
        static @Nullable Order of(String name) {
            if (name.isEmpty()) {
                return BUSY;
            }
            for (Order order : values()) {
                if (order.key().equals(name)) {
                    return order;
                }
            }
            return null;
        }
    }

    private final Order order;

    TopPage(Order order) {
        this.order = order;
    }

    @Override
    public String type() {
        return Reply.TEXT;
    }

    @Override
    public String next(Sample sample) {
        PoolSnapshot pool = sample.pool();
        Health health = sample.health();
        StringBuilder page = new StringBuilder(1024)
                .append("cetane ")
                .append(sample.instance().version())
                .append(", pid ")
                .append(sample.instance().pid())
                .append(", up ")
                .append(StatusPage.duration(Duration.between(sample.instance().startedAt(), sample.time())))
                .append(health.ready() ? ", ready" : ", NOT READY: " + health.reason())
                .append(", generation ")
                .append(pool.generation())
                .append('\n');
        page.append(String.format(
                Locale.ROOT,
                "requests  %.0f/s  queue %d of %d  connections %d%s%n",
                sample.rate(),
                pool.queued(),
                pool.queueLimit(),
                sample.connections(),
                outcomes(sample)));
        LatencyHistogram.Percentiles latency = sample.latency();
        page.append(String.format(
                Locale.ROOT,
                "latency   p50 %s  p95 %s  p99 %s  max %s%n",
                time(latency.p50()),
                time(latency.p95()),
                time(latency.p99()),
                time(latency.max())));
        page.append("phases   ");
        for (String phase : PHASES) {
            long micros = Math.round(sample.phaseMicros().getOrDefault(phase, 0.0));
            if (micros > 0) {
                page.append(' ').append(phase).append(' ').append(time(micros)).append(' ');
            }
        }
        page.append("\nrestarts ").append(counts(sample.restarts())).append('\n');
        if (!sample.ends().isEmpty()) {
            RecentEnds.Entry last = sample.ends().get(0);
            String error = last.end().error();
            page.append("last      worker ")
                    .append(last.end().workerId())
                    .append(": ")
                    .append(last.end().reason().label().replace('_', ' '))
                    .append(", ")
                    .append(last.end().exit())
                    .append(error == null ? "" : ", " + StatusPage.printable(error))
                    .append('\n');
        }
        return page.append('\n').append(workers(pool)).append('\f').toString();
    }

    private String workers(PoolSnapshot pool) {
        List<String[]> rows = new ArrayList<>();
        rows.add(new String[] {"ID", "ROLE", "PID", "STATE", "FOR", "REQUESTS", "MEMORY", "AGE", "GENERATION", "REQUEST"
        });
        pool.allWorkers().stream()
                .sorted(order.comparator)
                .forEach(worker -> rows.add(StatusPage.row(worker, pool.role(worker))));
        return StatusPage.table(rows);
    }

    private static String outcomes(Sample sample) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Long> outcome : sample.outcomes().entrySet()) {
            if (outcome.getValue() > 0 && !outcome.getKey().equals("2xx")) {
                text.append("  ").append(outcome.getKey()).append(' ').append(outcome.getValue());
            }
        }
        return text.toString();
    }

    private static String counts(Map<String, Long> counts) {
        return counts.isEmpty()
                ? " none"
                : counts.entrySet().stream()
                        .map(entry -> " " + entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining(" "));
    }

    /** Microseconds as people read them. */
    private static String time(long micros) {
        if (micros < 1_000) {
            return micros + " µs";
        }
        return micros < 1_000_000
                ? String.format(Locale.ROOT, "%.1f ms", micros / 1e3)
                : String.format(Locale.ROOT, "%.2f s", micros / 1e6);
    }
}
