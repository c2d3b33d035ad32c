package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerServices;
import dev.cetane.worker.WorkerState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The answers to {@code cetane status} and {@code cetane workers}, as text and as JSON. Immutable. */
final class StatusPage {

    private final Instance instance;
    private final PoolSnapshot pool;
    private final Instant now;

    StatusPage(Instance instance, PoolSnapshot pool, Instant now) {
        this.instance = instance;
        this.pool = pool;
        this.now = now;
    }

    String statusText() {
        Health health = Health.of(pool);
        StringBuilder text = new StringBuilder()
                .append("cetane ")
                .append(instance.version())
                .append(", pid ")
                .append(instance.pid())
                .append(", up ")
                .append(duration(Duration.between(instance.startedAt(), now)))
                .append(health.ready() ? ", ready" : ", not ready: " + health.reason())
                .append('\n');
        text.append("application  ").append(printable(instance.application())).append('\n');
        for (String url : instance.urls()) {
            text.append("listens on   ").append(url).append('\n');
        }
        text.append("workers      ").append(workers(pool)).append('\n');
        text.append("queue        ").append(queue(pool)).append('\n');
        PoolSnapshot tasks = pool.tasks();
        if (tasks != null) {
            text.append("task workers ").append(workers(tasks)).append('\n');
            text.append("task queue   ").append(queue(tasks)).append('\n');
        }
        text.append("generation   ").append(pool.generation()).append('\n');
        String failure = pool.lastBootFailure();
        if (failure != null) {
            text.append("last boot    failed: ").append(printable(failure)).append('\n');
        }
        return text.toString();
    }

    private static String workers(PoolSnapshot pool) {
        StringBuilder text = new StringBuilder().append(pool.target()).append(" wanted");
        for (WorkerState state : WorkerState.values()) {
            if (pool.count(state) > 0) {
                text.append(", ").append(pool.count(state)).append(' ').append(label(state));
            }
        }
        return text.toString();
    }

    private static String queue(PoolSnapshot pool) {
        return pool.queued() + " of " + pool.queueLimit();
    }

    String statusJson() {
        Health health = Health.of(pool);
        StringBuilder json = new StringBuilder("{");
        Json.field(json, "version", instance.version());
        Json.field(json, "pid", instance.pid());
        Json.field(json, "application", instance.application());
        json.append(",\"urls\":[");
        for (int i = 0; i < instance.urls().size(); i++) {
            json.append(i == 0 ? "" : ",").append(Json.quoted(instance.urls().get(i)));
        }
        json.append(']');
        Json.field(json, "started_at", instance.startedAt().toString());
        Json.field(json, "ready", health.ready());
        Json.field(json, "reason", health.reason());
        Json.field(json, "draining", pool.draining());
        Json.field(json, "generation", pool.generation());
        json.append(',');
        load(json, pool);
        PoolSnapshot tasks = pool.tasks();
        if (tasks != null) {
            json.append(",\"tasks\":{");
            load(json, tasks);
            json.append('}');
        }
        Json.field(json, "last_boot_failure", pool.lastBootFailure());
        return json.append("}\n").toString();
    }

    private static void load(StringBuilder json, PoolSnapshot pool) {
        json.append("\"queue\":{");
        Json.field(json, "depth", pool.queued());
        Json.field(json, "limit", pool.queueLimit());
        json.append("},\"workers\":{");
        Json.field(json, "target", pool.target());
        for (WorkerState state : WorkerState.values()) {
            if (state != WorkerState.STOPPED) {
                Json.field(json, label(state), pool.count(state));
            }
        }
        json.append('}');
    }

    String workersText() {
        List<String[]> rows = new ArrayList<>();
        rows.add(new String[] {"ID", "ROLE", "PID", "STATE", "FOR", "REQUESTS", "MEMORY", "AGE", "GENERATION", "REQUEST"
        });
        for (WorkerSnapshot worker : pool.allWorkers()) {
            rows.add(row(worker, pool.role(worker)));
        }
        return table(rows);
    }

    /** One worker under the headings of the table. */
    static String[] row(WorkerSnapshot worker, WorkerServices.Role role) {
        String state = label(worker.state())
                + (worker.reason() == null ? "" : " (" + worker.reason().label() + ")");
        return new String[] {
            Integer.toString(worker.id()),
            role.key(),
            worker.pid() == 0 ? "-" : Long.toString(worker.pid()),
            state,
            duration(Duration.ofNanos(worker.stateNanos())),
            Long.toString(worker.requests()),
            worker.memoryBytes() == 0 ? "-" : megabytes(worker.memoryBytes()),
            duration(Duration.ofNanos(worker.ageNanos())),
            Integer.toString(worker.generation()),
            worker.request() == null ? "" : printable(worker.request())
        };
    }

    String workersJson() {
        StringBuilder json = new StringBuilder("[");
        for (WorkerSnapshot worker : pool.allWorkers()) {
            json.append(json.length() == 1 ? "{" : ",{");
            Json.field(json, "id", worker.id());
            Json.field(json, "role", pool.role(worker).key());
            Json.field(json, "pid", worker.pid());
            Json.field(json, "state", label(worker.state()));
            Json.field(
                    json,
                    "reason",
                    worker.reason() == null ? null : worker.reason().label());
            Json.field(json, "generation", worker.generation());
            Json.field(json, "requests", worker.requests());
            Json.field(json, "state_seconds", worker.stateNanos() / 1e9);
            Json.field(json, "age_seconds", worker.ageNanos() / 1e9);
            Json.field(json, "memory_bytes", worker.memoryBytes());
            Json.field(json, "request", worker.request());
            Json.field(json, "request_id", worker.requestId());
            json.append('}');
        }
        return json.append("]\n").toString();
    }

    /** What a client or PHP chose must not steer the operator's terminal. */
    static String printable(String text) {
        StringBuilder printable = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int type = Character.getType(c);
            printable.append(type == Character.CONTROL || type == Character.FORMAT ? '?' : c);
        }
        return printable.toString();
    }

    static String table(List<String[]> rows) {
        int columns = rows.get(0).length;
        int[] widths = new int[columns];
        for (String[] row : rows) {
            for (int column = 0; column < columns; column++) {
                widths[column] = Math.max(widths[column], row[column].length());
            }
        }
        StringBuilder table = new StringBuilder();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < columns; column++) {
                line.append(row[column]).append(" ".repeat(widths[column] - row[column].length() + 2));
            }
            table.append(line.toString().stripTrailing()).append('\n');
        }
        return table.toString();
    }

    static String label(WorkerState state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0);
    }

    /** The two largest units, as in {@code 3m 2s}. */
    static String duration(Duration duration) {
        long seconds = Math.max(0, duration.toSeconds());
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3_600) {
            return seconds / 60 + "m " + seconds % 60 + "s";
        }
        if (seconds < 86_400) {
            return seconds / 3_600 + "h " + seconds % 3_600 / 60 + "m";
        }
        return seconds / 86_400 + "d " + seconds % 86_400 / 3_600 + "h";
    }
}
