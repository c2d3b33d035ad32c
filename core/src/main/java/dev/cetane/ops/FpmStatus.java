package dev.cetane.ops;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerState;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The status page of php-fpm, with its names, types and order, so that what is made for php-fpm can read it: plain text, {@code ?json},
 * {@code ?xml}, {@code ?openmetrics}, and {@code full} beside them for each process. Immutable.
 *
 * <p>A worker is a process, a request that waits for one is in the listen queue. Workers that boot or leave are none. What Cetane does
 * not know is as php-fpm says that it knows nothing: the method and URI of a request that has ended, its user and script are
 * {@code -}, its content length is 0.
 */
final class FpmStatus {
    private static final String POOL = "cetane";
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String UNKNOWN = "-";

    /**
     * What the pool's snapshot does not hold.
     *
     * @param ended requests that a worker had taken and that have ended
     * @param slow those that have run longer than {@code pool.slow-request}
     */
    record Figures(long ended, long slow, LastReports last) {}

    /** An answer: the content type and the text. */
    record Page(String type, String text) {}

    /** One metric of {@code ?openmetrics}. */
    private record OpenMetric(String field, String name, String type, String help) {}

    private static final List<OpenMetric> OPEN_METRICS = List.of(
            new OpenMetric("start since", "start_since", "counter", "The number of seconds since Cetane has started."),
            new OpenMetric(
                    "accepted conn",
                    "accepted_connections",
                    "counter",
                    "The number of requests that workers have taken."),
            new OpenMetric(
                    "listen queue", "listen_queue", "gauge", "The number of requests that wait for a worker now."),
            new OpenMetric(
                    "max listen queue",
                    "max_listen_queue",
                    "counter",
                    "The most requests that waited for a worker at once since Cetane has started."),
            new OpenMetric(
                    "listen queue len",
                    "listen_queue_length",
                    "gauge",
                    "The most requests that may wait for a worker."),
            new OpenMetric("idle processes", "idle_processes", "gauge", "The number of idle workers."),
            new OpenMetric("active processes", "active_processes", "gauge", "The number of busy workers."),
            new OpenMetric("total processes", "total_processes", "gauge", "The number of idle and busy workers."),
            new OpenMetric(
                    "max active processes",
                    "max_active_processes",
                    "counter",
                    "The most workers that were busy at once since Cetane has started."),
            new OpenMetric(
                    "max children reached",
                    "max_children_reached",
                    "counter",
                    "Always 0: the number of workers is fixed."),
            new OpenMetric("slow requests", "slow_requests", "counter", "The number of requests that were slow."),
            new OpenMetric(
                    "memory peak", "memory_peak", "gauge", "The most memory that a request has used, in bytes."));

    private final Map<String, Object> pool;
    private final List<Map<String, Object>> processes = new ArrayList<>();

    FpmStatus(Instance instance, PoolSnapshot snapshot, Figures figures, Instant now) {
        int idle = snapshot.count(WorkerState.IDLE);
        int busy = snapshot.count(WorkerState.BUSY);
        pool = new LinkedHashMap<>();
        pool.put("pool", POOL);
        pool.put("process manager", "static");
        pool.put("start time", instance.startedAt());
        pool.put(
                "start since",
                Math.max(0, now.getEpochSecond() - instance.startedAt().getEpochSecond()));
        pool.put("accepted conn", figures.ended() + busy);
        pool.put("listen queue", snapshot.queued());
        pool.put("max listen queue", snapshot.mostQueued());
        pool.put("listen queue len", snapshot.queueLimit());
        pool.put("idle processes", idle);
        pool.put("active processes", busy);
        pool.put("total processes", idle + busy);
        pool.put("max active processes", snapshot.mostBusy());
        pool.put("max children reached", 0);
        pool.put("slow requests", figures.slow());
        pool.put("memory peak", figures.last().mostMemoryBytes());
        for (WorkerSnapshot worker : snapshot.workers()) {
            if (worker.state() == WorkerState.IDLE || worker.state() == WorkerState.BUSY) {
                processes.add(process(worker, figures.last().of(worker.id()), now));
            }
        }
    }

    private static Map<String, Object> process(WorkerSnapshot worker, @Nullable JobReport report, Instant now) {
        boolean busy = worker.state() == WorkerState.BUSY;
        long durationMicros = busy ? worker.stateNanos() / 1_000 : report == null ? 0 : durationNanos(report) / 1_000;
        String request = worker.request() == null ? UNKNOWN : worker.request();
        int space = request.indexOf(' ');
        Map<String, Object> process = new LinkedHashMap<>();
        process.put("pid", worker.pid());
        process.put("state", busy ? "Running" : "Idle");
        process.put("start time", now.minusNanos(worker.ageNanos()));
        process.put("start since", TimeUnit.NANOSECONDS.toSeconds(worker.ageNanos()));
        process.put("requests", worker.requests() + (busy ? 1 : 0));
        process.put("request duration", durationMicros);
        process.put("request method", space < 0 ? request : request.substring(0, space));
        process.put("request uri", space < 0 ? UNKNOWN : request.substring(space + 1));
        process.put("content length", 0);
        process.put("user", UNKNOWN);
        process.put("script", UNKNOWN);
        // Of the one that runs nothing is known yet.
        JobReport known = busy || durationMicros == 0 ? null : report;
        process.put("last request cpu", known == null ? 0.0 : 100.0 * known.cpuMicros() / durationMicros);
        process.put("last request memory", known == null ? 0L : known.peakMemoryBytes());
        return process;
    }

    private static long durationNanos(JobReport report) {
        return report.dispatchNanos() + report.firstByteNanos() + report.toEndNanos() + report.terminateNanos();
    }

    /** @param query as php-fpm takes it: names with {@code &} between them, of which unknown ones count for nothing */
    Page page(String query) {
        Set<String> asked = Set.copyOf(List.of(query.split("&", -1)).stream()
                .map(part -> part.split("=", -1)[0])
                .distinct()
                .toList());
        boolean full = asked.contains("full");
        if (asked.contains("json")) {
            return new Page("application/json", json(full));
        }
        if (asked.contains("xml")) {
            return new Page("text/xml; charset=utf-8", xml(full));
        }
        if (asked.contains("openmetrics")) {
            return new Page("application/openmetrics-text; version=1.0.0; charset=utf-8", openMetrics());
        }
        return new Page("text/plain; charset=utf-8", text(full));
    }

    private String text(boolean full) {
        StringBuilder text = new StringBuilder();
        pool.forEach((name, value) -> line(text, name, value));
        if (full) {
            for (Map<String, Object> process : processes) {
                text.append("\n************************\n");
                process.forEach((name, value) -> line(text, name.equals("request uri") ? "request URI" : name, value));
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String name, Object value) {
        String shown = value instanceof Instant time ? TIME.format(time) : shown(value);
        text.append(String.format(Locale.ROOT, "%-21s %s\n", name + ":", StatusPage.printable(shown)));
    }

    private String json(boolean full) {
        StringBuilder json = new StringBuilder("{");
        fields(json, pool);
        if (full) {
            json.append(",\"processes\":[");
            for (Map<String, Object> process : processes) {
                json.append(json.charAt(json.length() - 1) == '[' ? "{" : ",{");
                fields(json, process);
                json.append('}');
            }
            json.append(']');
        }
        return json.append("}\n").toString();
    }

    private static void fields(StringBuilder json, Map<String, Object> fields) {
        fields.forEach((name, value) -> {
            if (value instanceof String) {
                Json.field(json, name, value);
            } else {
                Json.name(json, name).append(shown(value));
            }
        });
    }

    private String xml(boolean full) {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" ?>\n<status>\n");
        pool.forEach((name, value) -> element(xml, name, value).append('\n'));
        if (full) {
            xml.append("<processes>\n");
            for (Map<String, Object> process : processes) {
                xml.append("<process>");
                process.forEach((name, value) -> element(xml, name, value));
                xml.append("</process>\n");
            }
            xml.append("</processes>\n");
        }
        return xml.append("</status>\n").toString();
    }

    private static StringBuilder element(StringBuilder xml, String name, Object value) {
        String tag = name.replace(' ', '-');
        String text = StatusPage.printable(shown(value))
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;");
        return xml.append('<')
                .append(tag)
                .append('>')
                .append(text)
                .append("</")
                .append(tag)
                .append('>');
    }

    private String openMetrics() {
        StringBuilder text = new StringBuilder(
                "# HELP phpfpm_up Could pool " + POOL + " be reached?\n" + "# TYPE phpfpm_up gauge\nphpfpm_up 1\n");
        for (OpenMetric metric : OPEN_METRICS) {
            String name = "phpfpm_" + metric.name();
            text.append("# HELP ")
                    .append(name)
                    .append(' ')
                    .append(metric.help())
                    .append('\n');
            text.append("# TYPE ")
                    .append(name)
                    .append(' ')
                    .append(metric.type())
                    .append('\n');
            text.append(name).append(' ').append(pool.get(metric.field())).append('\n');
        }
        return text.append("# EOF\n").toString();
    }

    private static String shown(Object value) {
        if (value instanceof Instant time) {
            return Long.toString(time.getEpochSecond());
        }
        return value instanceof Double number ? String.format(Locale.ROOT, "%.2f", number) : value.toString();
    }
}
