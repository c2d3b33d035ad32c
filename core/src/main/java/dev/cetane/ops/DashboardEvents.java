package dev.cetane.ops;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerEnd;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes what the dashboard is sent, as server-sent events: {@code sample} once a second, {@code slow} and {@code ends} when their
 * lists have changed. Each is made once for all streams. Of a target only the path is told: what follows it may hold secrets. On the
 * ops event loop.
 */
final class DashboardEvents {
    private static final int MOST_REQUEST_CHARS = 200;

    private @Nullable Sample current;
    private String sampleEvent = "";
    private long slowVersion = -1;
    private String slowEvent = "";
    private long endsVersion = -1;
    private String endsEvent = "";

    /** What one dashboard is sent. */
    static final class Stream implements Feed {
        private final DashboardEvents events;
        private long slowSent = -1;
        private long endsSent = -1;

        Stream(DashboardEvents events) {
            this.events = events;
        }

        @Override
        public String type() {
            return "text/event-stream; charset=utf-8";
        }

        @Override
        public String next(Sample sample) {
            StringBuilder next = new StringBuilder(events.sample(sample));
            if (slowSent != sample.slowVersion()) {
                slowSent = sample.slowVersion();
                next.append(events.slow(sample));
            }
            if (endsSent != sample.endsVersion()) {
                endsSent = sample.endsVersion();
                next.append(events.ends(sample));
            }
            return next.toString();
        }
    }

    /** What does not change: the instance and its configuration. */
    String configuration(Instance instance, List<ConfigEntry> entries, boolean actions) {
        StringBuilder json = new StringBuilder("{");
        Json.field(json, "version", instance.version());
        Json.field(json, "pid", instance.pid());
        Json.field(json, "application", instance.application());
        Json.field(json, "started", instance.startedAt().toEpochMilli());
        Json.field(json, "actions", actions);
        Json.name(json, "urls").append('[');
        for (String url : instance.urls()) {
            Json.comma(json);
            json.append(Json.quoted(url));
        }
        json.append(']');
        Json.name(json, "configuration").append('[');
        for (ConfigEntry entry : entries) {
            Json.comma(json);
            json.append('{');
            Json.field(json, "key", entry.key());
            Json.field(json, "value", entry.shown());
            Json.field(json, "origin", entry.origin());
            json.append('}');
        }
        return json.append("]}\n").toString();
    }

    @SuppressWarnings("ReferenceEquality") // all streams are given the same one
    private String sample(Sample sample) {
        if (sample != current) {
            current = sample;
            sampleEvent = event("sample", json(sample));
        }
        return sampleEvent;
    }

    private String slow(Sample sample) {
        if (slowVersion != sample.slowVersion()) {
            slowVersion = sample.slowVersion();
            StringBuilder json = new StringBuilder("[");
            for (SlowRequests.Entry entry : sample.slow()) {
                Json.comma(json);
                slow(json, entry);
            }
            slowEvent = event("slow", json.append(']').toString());
        }
        return slowEvent;
    }

    private String ends(Sample sample) {
        if (endsVersion != sample.endsVersion()) {
            endsVersion = sample.endsVersion();
            StringBuilder json = new StringBuilder("[");
            for (RecentEnds.Entry entry : sample.ends()) {
                Json.comma(json);
                end(json, entry);
            }
            endsEvent = event("ends", json.append(']').toString());
        }
        return endsEvent;
    }

    private static String event(String name, String json) {
        return "event: " + name + "\ndata: " + json + "\n\n";
    }

    private static String json(Sample sample) {
        PoolSnapshot pool = sample.pool();
        StringBuilder json = new StringBuilder(1024).append('{');
        Json.field(json, "time", sample.time().toEpochMilli());
        Json.field(json, "seconds", sample.seconds());
        Json.field(json, "ready", sample.health().ready());
        Json.field(json, "reason", sample.health().reason());
        Json.field(json, "generation", pool.generation());
        Json.field(json, "boot_failure", pool.lastBootFailure());
        Json.field(json, "target", pool.target());
        Json.field(json, "queued", pool.queued());
        Json.field(json, "queue_limit", pool.queueLimit());
        Json.field(json, "connections", sample.connections());
        numbers(json, "outcomes", sample.outcomes());
        LatencyHistogram.Percentiles latency = sample.latency();
        Json.name(json, "latency").append('{');
        Json.field(json, "p50", latency.p50());
        Json.field(json, "p95", latency.p95());
        Json.field(json, "p99", latency.p99());
        Json.field(json, "max", latency.max());
        json.append('}');
        Json.name(json, "phases").append('{');
        sample.phaseMicros().forEach((phase, micros) -> Json.field(json, phase, Math.round(micros * 10) / 10.0));
        json.append('}');
        numbers(json, "failures", sample.failures());
        numbers(json, "rejections", sample.rejections());
        numbers(json, "restarts", sample.restarts());
        Json.name(json, "workers").append('[');
        for (WorkerSnapshot worker : pool.allWorkers()) {
            Json.comma(json);
            worker(json, pool, worker);
        }
        return json.append("]}").toString();
    }

    private static void numbers(StringBuilder json, String name, Map<String, Long> numbers) {
        Json.name(json, name).append('{');
        numbers.forEach((key, count) -> Json.field(json, key, count));
        json.append('}');
    }

    private static void worker(StringBuilder json, PoolSnapshot pool, WorkerSnapshot worker) {
        json.append('{');
        Json.field(json, "id", worker.id());
        Json.field(json, "role", pool.role(worker).key());
        Json.field(json, "pid", worker.pid());
        Json.field(json, "state", StatusPage.label(worker.state()));
        Json.field(
                json, "reason", worker.reason() == null ? null : worker.reason().label());
        Json.field(json, "generation", worker.generation());
        Json.field(json, "requests", worker.requests());
        Json.field(json, "state_seconds", seconds(worker.stateNanos()));
        Json.field(json, "age_seconds", seconds(worker.ageNanos()));
        Json.field(json, "memory", worker.memoryBytes());
        Json.field(json, "request", withoutQuery(worker.request()));
        Json.field(json, "request_id", worker.requestId());
        json.append('}');
    }

    private static void slow(StringBuilder json, SlowRequests.Entry entry) {
        json.append('{');
        Json.field(json, "id", entry.id());
        Json.field(json, "request", withoutQuery(entry.request()));
        Json.field(json, "time", entry.epochMillis());
        Json.field(json, "status", entry.status());
        Json.field(json, "total", micros(entry.totalNanos()));
        Json.name(json, "phases").append('{');
        Json.field(json, "receive", micros(entry.receiveNanos()));
        JobReport job = entry.job();
        if (job != null) {
            Json.field(json, "queue", micros(job.queueNanos()));
            Json.field(json, "boot", micros(job.bootNanos()));
            Json.field(json, "dispatch", micros(job.dispatchNanos()));
            Json.field(json, "first_byte", micros(job.firstByteNanos()));
            Json.field(json, "to_end", micros(job.toEndNanos()));
        }
        Json.field(json, "transfer", micros(entry.transferNanos()));
        json.append('}');
        if (job != null) {
            Json.field(json, "terminate", micros(job.terminateNanos()));
            Json.field(json, "handler", job.handlerMicros());
            Json.field(json, "cpu", job.cpuMicros());
            Json.field(json, "peak_memory", job.peakMemoryBytes());
            Json.field(json, "worker", job.workerId());
        }
        Json.field(json, "stack", entry.stack());
        json.append('}');
    }

    private static void end(StringBuilder json, RecentEnds.Entry entry) {
        WorkerEnd end = entry.end();
        json.append('{');
        Json.field(json, "time", entry.epochMillis());
        Json.field(json, "worker", end.workerId());
        Json.field(json, "pid", end.pid());
        Json.field(json, "generation", end.generation());
        Json.field(json, "reason", end.reason().label());
        Json.field(json, "exit", end.exit());
        Json.field(json, "requests", end.requests());
        Json.field(json, "age_seconds", seconds(end.ageNanos()));
        Json.field(json, "request", withoutQuery(end.request()));
        Json.field(json, "request_id", end.requestId());
        Json.field(json, "error", end.error());
        Json.field(json, "output", end.lastOutput());
        json.append('}');
    }

    /** Method and path. */
    static @Nullable String withoutQuery(@Nullable String request) {
        if (request == null) {
            return null;
        }
        int question = request.indexOf('?');
        String path = question < 0 ? request : request.substring(0, question) + "?…";
        return path.length() > MOST_REQUEST_CHARS ? path.substring(0, MOST_REQUEST_CHARS) + "…" : path;
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e8) / 10.0;
    }

    private static long micros(long nanos) {
        return nanos / 1_000;
    }
}
