package dev.cetane.http;

import dev.cetane.cgi.ClientConnection;
import dev.cetane.cgi.FieldNames;
import dev.cetane.trace.RequestSpan;
import dev.cetane.trace.TraceContext;
import dev.cetane.trace.Tracer;
import dev.cetane.worker.JobReport;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request as a part of a trace, from its head on. Immutable; {@link #ended} is called once, by whoever knows last how the request has ended.
 */
final class TracedRequest {
    private final FrontDoor door;
    private final Tracer tracer;
    private final RequestHead head;
    private final Peer peer;
    private final String id;
    private final long startNanos;
    private final TraceContext trace;

    /** Finds the request's place in a trace, and puts it into the head. On the event loop. */
    TracedRequest(FrontDoor door, Tracer tracer, RequestHead head, Peer peer, String id, long startNanos) {
        this.door = door;
        this.tracer = tracer;
        this.head = head;
        this.peer = peer;
        this.id = id;
        this.startNanos = startNanos;
        this.trace =
                tracer.begin(head.field(FieldNames.TRACEPARENT), head.field(FieldNames.TRACESTATE), peer.trusted());
        head.trace(trace);
    }

    TraceContext trace() {
        return trace;
    }

    /** Value of {@code Server-Timing} for the answer; null where this client is not told of its trace. */
    @Nullable
    String answer() {
        return tracer.answer(trace, peer.trusted());
    }

    /**
     * Has its spans exported, where that is wanted.
     *
     * @param status what the client got, 0 where that is no whole answer
     * @param outcome as {@link RequestSpan#outcome}
     * @param failure why the application has given no answer, or null
     */
    void ended(
            int status,
            String outcome,
            @Nullable String failure,
            long receiveNanos,
            long totalNanos,
            @Nullable JobReport job) {
        if (!tracer.records(trace)) {
            return;
        }
        Instant now = door.ticker().now();
        long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        String target = head.target();
        int query = target.indexOf('?');
        String userAgent = head.field(FieldNames.USER_AGENT);
        ClientConnection client = door.variables().connection(head, peer);
        tracer.ended(new RequestSpan(
                trace,
                id,
                RequestSpan.cut(head.method()),
                RequestSpan.cut(query < 0 ? target : target.substring(0, query)),
                head.http11() ? "1.1" : "1.0",
                client.scheme(),
                RequestSpan.cut(client.host()),
                client.remoteAddress(),
                peer.remoteAddress(),
                userAgent == null ? "" : RequestSpan.cut(userAgent),
                status,
                outcome,
                failure,
                epochNanos - (door.ticker().nanos() - startNanos),
                receiveNanos,
                totalNanos,
                job));
    }
}
