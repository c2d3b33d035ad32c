package dev.cetane.http;

import dev.cetane.cgi.FieldNames;
import dev.cetane.log.EventLog;
import dev.cetane.trace.TraceParent;
import dev.cetane.trace.Tracer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection's current exchange as metrics and logs see it: its id, its times, and how it ended, which is told exactly once. On the
 * connection's event loop.
 */
final class ExchangeRecord {
    private static final String SUPERVISOR = "supervisor";
    private static final String FILE = "file";
    private static final String APPLICATION = "application";
    private static final String ABANDONED = "abandoned";
    private static final String ABORTED = "aborted";

    private final FrontDoor door;
    private boolean open;
    private String id = "";
    private String what = "-";
    private String source = SUPERVISOR;
    private @Nullable TracedRequest traced;

    /** Of the client's own trace, where Cetane takes no part in traces and the access log names it. */
    private @Nullable TraceParent clients;

    private long startNanos;
    private long receivedNanos;

    ExchangeRecord(FrontDoor door) {
        this.door = door;
    }

    /** The first byte of a request has arrived. */
    void begin(long atNanos) {
        open = true;
        id = "";
        what = "-";
        source = SUPERVISOR;
        traced = null;
        clients = null;
        startNanos = atNanos;
        receivedNanos = atNanos;
    }

    /** Its head is known. */
    void head(RequestHead head, Peer peer) {
        String given = head.requestId();
        id = given != null ? given : RequestId.next();
        Tracer tracer = door.tracer();
        if (tracer != null) {
            traced = new TracedRequest(door, tracer, head, peer, id, startNanos);
        }
        if (door.config().accessLog()) {
            what = head.method() + " " + head.target();
            String traceParent = tracer == null ? head.field(FieldNames.TRACEPARENT) : null;
            clients = traceParent == null ? null : TraceParent.parse(traceParent);
        }
    }

    /** Its last byte has arrived. */
    void received() {
        receivedNanos = door.ticker().nanos();
    }

    /** A file is the answer, and no worker was asked. */
    void fromFile() {
        source = FILE;
    }

    /** The answer is the application's. */
    void fromApplication() {
        source = APPLICATION;
    }

    /** Whether a request has begun to arrive and has not ended. */
    boolean open() {
        return open;
    }

    /** The id that the request has in logs; made if it has none, because its head is not known. */
    String id() {
        if (id.isEmpty()) {
            id = RequestId.next();
        }
        return id;
    }

    /** Its part in a trace; null where it has none, or its head is not known. */
    @Nullable
    TracedRequest traced() {
        return traced;
    }

    /** What an answer of the front door's own says in {@code Server-Timing}; null for nothing. */
    @Nullable
    String timing() {
        return traced == null ? null : traced.answer();
    }

    /**
     * The whole answer was taken by the operating system.
     *
     * @param job null when the application was not asked
     */
    void answered(int status, long bytes, @Nullable HttpJob job, Peer peer) {
        if (!open) {
            return;
        }
        open = false;
        long now = door.ticker().nanos();
        if (job == null) {
            traceEnded(status, source, now);
            door.listener().answered(status, now - startNanos, receivedNanos - startNanos, 0);
        } else {
            job.left(status, now, source);
            door.listener().answered(status, now - startNanos, job.receiveNanos(), job.transferNanos());
        }
        if (source.equals(FILE)) {
            door.listener().fileServed(status);
        }
        if (door.config().accessLog()) {
            logAccess(status, bytes, TimeUnit.NANOSECONDS.toMicros(now - startNanos), peer);
        }
    }

    private void logAccess(int status, long bytes, long micros, Peer peer) {
        List<Object> fields = new ArrayList<>(16);
        add(fields, "status", status);
        add(fields, "bytes", bytes);
        add(fields, "micros", micros);
        add(fields, "peer", peer.remoteAddress());
        add(fields, "source", source);
        if (traced != null) {
            add(fields, "trace_id", traced.trace().traceId());
            add(fields, "span_id", traced.trace().spanId());
        } else if (clients != null) {
            add(fields, "trace_id", clients.traceId());
        }
        door.log().log(EventLog.Level.INFO, "http.access", id, what, fields.toArray());
    }

    private static void add(List<Object> fields, String name, Object value) {
        fields.add(name);
        fields.add(value);
    }

    /**
     * The client has left before that.
     *
     * @param job null when the application was not asked
     */
    void abandoned(@Nullable HttpJob job) {
        if (open) {
            open = false;
            long now = door.ticker().nanos();
            leave(job, now, ABANDONED);
            door.listener().abandoned(now - startNanos);
        }
    }

    /** The connection is cut in the middle of the answer. */
    void aborted(@Nullable HttpJob job) {
        if (open) {
            open = false;
            long now = door.ticker().nanos();
            leave(job, now, ABORTED);
            door.listener().aborted(now - startNanos);
        }
    }

    private void leave(@Nullable HttpJob job, long nowNanos, String outcome) {
        if (job == null) {
            traceEnded(0, outcome, nowNanos);
        } else {
            job.left(0, nowNanos, outcome);
        }
    }

    /** Of a request that the application was not asked for. */
    private void traceEnded(int status, String outcome, long nowNanos) {
        if (traced != null) {
            traced.ended(status, outcome, null, receivedNanos - startNanos, nowNanos - startNanos, null);
        }
    }

    /** When its first byte came. */
    long startNanos() {
        return startNanos;
    }
}
