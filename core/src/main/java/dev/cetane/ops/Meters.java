package dev.cetane.ops;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Every meter: its name, type, unit, tag and meaning. In Prometheus the dots become underscores and the unit is appended. */
enum Meters {
    REQUESTS(
            "cetane.requests",
            Type.TIMER,
            null,
            "outcome",
            "Requests by what the client got: the class of the status, abandoned (the client left first) or aborted"
                    + " (cut in the middle); with the time from the request's first byte to the answer's last."),
    PHASES(
            "cetane.request.phase",
            Type.TIMER,
            null,
            "phase",
            "Where the time of a request goes: receive (until it is given to the application), queue (waits for a worker), boot"
                    + " (waits for the boot of the one that took it), dispatch (is written to it), first_byte (PHP works until"
                    + " the answer's head), to_end (until its end), transfer (until the client has all of it); these add up."
                    + " terminate (PHP works after the answer) costs the client nothing; handler and cpu are what PHP"
                    + " itself measured."),
    FAILURES(
            "cetane.request.failures",
            Type.COUNTER,
            null,
            "reason",
            "Requests that a worker took and that have ended without a complete answer."),
    REJECTIONS(
            "cetane.request.rejections",
            Type.COUNTER,
            null,
            "reason",
            "Requests that were refused, or dropped, before a worker took them."),
    SLOW(
            "cetane.requests.slow",
            Type.COUNTER,
            null,
            null,
            "Requests that have run longer than pool.slow-request; none while that is off."),
    FILES(
            "cetane.files.served",
            Type.COUNTER,
            null,
            "status",
            "Answers that were a file of the document root, made without PHP; among the requests they count too."),
    TASKS("cetane.tasks", Type.TIMER, null, null, "Tasks that task workers have run, with the time that PHP took."),
    TASK_FAILURES(
            "cetane.task.failures",
            Type.COUNTER,
            null,
            "reason",
            "Tasks that were refused, dropped or ended from outside, or whose worker has not survived them."),
    TABLE_MEMORY("cetane.table.memory", Type.GAUGE, "bytes", null, "Memory that the rows of all shared tables take."),
    WORKERS("cetane.workers", Type.GAUGE, null, "state", "Workers that serve requests, by state."),
    WORKERS_TARGET(
            "cetane.workers.target", Type.GAUGE, null, null, "How many workers that serve requests the pool keeps."),
    WORKERS_MEMORY(
            "cetane.workers.memory",
            Type.GAUGE,
            "bytes",
            null,
            "Private resident memory of all workers, those that run tasks too."),
    WORKERS_MEMORY_MAX(
            "cetane.workers.memory.max", Type.GAUGE, "bytes", null, "Private resident memory of the largest worker."),
    TASK_WORKERS("cetane.task.workers", Type.GAUGE, null, "state", "Workers that run tasks, by state."),
    TASK_WORKERS_TARGET(
            "cetane.task.workers.target", Type.GAUGE, null, null, "How many workers that run tasks are kept."),
    TASK_QUEUE("cetane.task.queue.depth", Type.GAUGE, null, null, "Tasks that wait for a worker."),
    TASK_QUEUE_LIMIT("cetane.task.queue.limit", Type.GAUGE, null, null, "Most tasks that may wait for a worker."),
    STARTS("cetane.worker.starts", Type.COUNTER, null, null, "Workers' processes that were started."),
    STOPS("cetane.worker.stops", Type.COUNTER, null, "reason", "Workers' processes that have ended, by why."),
    BOOT(
            "cetane.worker.boot",
            Type.TIMER,
            null,
            null,
            "From the start of a worker's process until its application is booted."),
    GENERATION(
            "cetane.generation",
            Type.GAUGE,
            null,
            null,
            "Number of the generation that serves; one more with each reload."),
    QUEUE("cetane.queue.depth", Type.GAUGE, null, null, "Requests that wait for a worker."),
    QUEUE_LIMIT("cetane.queue.limit", Type.GAUGE, null, null, "Most requests that may wait for a worker."),
    READY("cetane.ready", Type.GAUGE, null, null, "1 while requests can be served, as /health/ready says, else 0."),
    CONNECTIONS("cetane.http.connections", Type.GAUGE, null, null, "Open HTTP connections."),
    CONNECTIONS_OPENED(
            "cetane.http.connections.opened", Type.COUNTER, null, null, "HTTP connections that were accepted."),
    CONNECTIONS_REFUSED(
            "cetane.http.connections.refused",
            Type.COUNTER,
            null,
            null,
            "HTTP connections above http.max-connections."),
    APPLICATION_REFUSED(
            "cetane.application.measurements.refused",
            Type.COUNTER,
            null,
            "reason",
            "Measurements of the application that are not shown: there are metrics.application-series already, the worker had too"
                    + " many between two answers, a name, label or value is none, or they contradict others of that name."),
    SPANS(
            "cetane.spans",
            Type.COUNTER,
            null,
            "fate",
            "Spans of requests by what has become of them: sent, dropped (more than tracing.queue-size requests waited), refused (by the"
                    + " collector), lost (the collector was away, or busy, for too long). All are 0 where tracing.otlp is off."),
    BUILD("cetane.build", Type.GAUGE, null, "version", "Always 1; the version is its tag."),
    JVM_MEMORY("jvm.memory.used", Type.GAUGE, "bytes", "area", "Memory that the supervisor's JVM uses."),
    JVM_GC("jvm.gc.time", Type.COUNTER, "seconds", null, "Time that garbage collections of the supervisor's JVM took."),
    JVM_CPU("process.cpu.time", Type.COUNTER, "seconds", null, "CPU time of the supervisor, without its workers.");

    /** What it does over time. */
    enum Type {
        /** Counts events and sums their durations, with a histogram. */
        TIMER,
        /** Only grows. */
        COUNTER,
        GAUGE
    }

    private final String meterName;
    private final Type type;
    private final @Nullable String unit;
    private final @Nullable String tag;
    private final String doc;

    Meters(String meterName, Type type, @Nullable String unit, @Nullable String tag, String doc) {
        this.meterName = meterName;
        this.type = type;
        this.unit = unit;
        this.tag = tag;
        this.doc = doc;
    }

    String meterName() {
        return meterName;
    }

    Type type() {
        return type;
    }

    /** Null for timers, whose unit is the second, and for plain numbers. */
    @Nullable
    String unit() {
        return unit;
    }

    /** Name of its one tag, or null. */
    @Nullable
    String tag() {
        return tag;
    }

    String doc() {
        return doc;
    }

    /** The tag with that value as Micrometer takes it. */
    String[] tagged(String value) {
        return tag == null ? new String[0] : List.of(tag, value).toArray(String[]::new);
    }
}
