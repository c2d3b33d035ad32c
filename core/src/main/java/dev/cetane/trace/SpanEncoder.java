package dev.cetane.trace;

import com.google.protobuf.ByteString;
import dev.cetane.worker.JobReport;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.SpanFlags;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Makes OTLP's message of requests: for each a span of kind SERVER, and below it the wait for a worker ({@code queue}) and what PHP did until the
 * answer's end ({@code php}). Attributes are those of OpenTelemetry's semantic conventions for HTTP servers, and {@code cetane.*}. Of the exporter's thread.
 */
final class SpanEncoder {
    /** The methods that semantic conventions know; others would make names of spans without number. */
    private static final Set<String> METHODS =
            Set.of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "QUERY");

    private static final Status FAILED =
            Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR).build();

    private final Resource resource;
    private final InstrumentationScope scope;

    /** @param attributes of the resource */
    SpanEncoder(Map<String, String> attributes, String version) {
        Resource.Builder builder = Resource.newBuilder();
        attributes.forEach((name, value) -> builder.addAttributes(attribute(name, value)));
        resource = builder.build();
        scope = InstrumentationScope.newBuilder()
                .setName("dev.cetane")
                .setVersion(version)
                .build();
    }

    byte[] encode(List<RequestSpan> requests) {
        ScopeSpans.Builder spans = ScopeSpans.newBuilder().setScope(scope);
        for (RequestSpan request : requests) {
            spans.addSpans(server(request));
            JobReport job = request.job();
            if (job != null) {
                long submitted = request.startEpochNanos() + request.receiveNanos();
                long picked = submitted + job.queueNanos() + job.bootNanos();
                spans.addSpans(queue(request, job, submitted, picked));
                if (job.workerId() != 0) {
                    spans.addSpans(php(request, job, picked));
                }
            }
        }
        return ExportTraceServiceRequest.newBuilder()
                .addResourceSpans(
                        ResourceSpans.newBuilder().setResource(resource).addScopeSpans(spans))
                .build()
                .toByteArray();
    }

    private static Span server(RequestSpan request) {
        boolean known = METHODS.contains(request.method());
        TraceContext trace = request.trace();
        Span.Builder span = span(trace, known ? request.method() : "HTTP", trace.span(), trace.parentId())
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .setFlags(trace.flags() | remoteFlags(trace))
                .setStartTimeUnixNano(request.startEpochNanos())
                .setEndTimeUnixNano(request.startEpochNanos() + request.totalNanos());
        String state = trace.traceState();
        if (state != null) {
            span.setTraceState(state);
        }
        span.addAttributes(attribute("http.request.method", known ? request.method() : "_OTHER"));
        if (!known) {
            span.addAttributes(attribute("http.request.method_original", request.method()));
        }
        span.addAttributes(attribute("url.path", request.path()))
                .addAttributes(attribute("url.scheme", request.scheme()))
                .addAttributes(attribute("network.protocol.version", request.version()))
                .addAttributes(attribute("client.address", request.clientAddress()))
                .addAttributes(attribute("network.peer.address", request.peerAddress()));
        addServer(request.host(), span);
        if (!request.userAgent().isEmpty()) {
            span.addAttributes(attribute("user_agent.original", request.userAgent()));
        }
        if (request.status() != 0) {
            span.addAttributes(attribute("http.response.status_code", request.status()));
        }
        String error = error(request);
        if (!error.isEmpty()) {
            span.addAttributes(attribute("error.type", error)).setStatus(FAILED);
        }
        return span.addAttributes(attribute("cetane.request.id", request.requestId()))
                .addAttributes(attribute("cetane.outcome", request.outcome()))
                .build();
    }

    /** What makes it an error of the server's: a client's mistakes, and its leaving, are none. */
    private static String error(RequestSpan request) {
        boolean failed = request.status() >= 500;
        if (!failed && !request.outcome().equals("aborted")) {
            return "";
        }
        if (request.failure() != null) {
            return request.failure();
        }
        return failed ? Integer.toString(request.status()) : request.outcome();
    }

    private static void addServer(String host, Span.Builder span) {
        int colon = host.lastIndexOf(':');
        boolean port = colon > host.lastIndexOf(']');
        String name = port ? host.substring(0, colon) : host;
        if (!name.isEmpty()) {
            span.addAttributes(attribute("server.address", name));
        }
        // A long one may have been cut in its port.
        if (port && colon + 1 < host.length() && !host.endsWith(RequestSpan.CUT)) {
            span.addAttributes(attribute("server.port", Integer.parseInt(host.substring(colon + 1))));
        }
    }

    private static Span queue(RequestSpan request, JobReport job, long fromNanos, long toNanos) {
        TraceContext trace = request.trace();
        // Its id is nobody's to know before it is exported.
        Span.Builder span = span(trace, "queue", Tracer.newId(), trace.span())
                .setStartTimeUnixNano(fromNanos)
                .setEndTimeUnixNano(toNanos);
        if (job.bootNanos() > 0) {
            span.addAttributes(attribute("cetane.boot_us", TimeUnit.NANOSECONDS.toMicros(job.bootNanos())));
        }
        if (job.workerId() == 0 && request.failure() != null) {
            span.addAttributes(attribute("error.type", request.failure())).setStatus(FAILED);
        }
        return span.build();
    }

    private static Span php(RequestSpan request, JobReport job, long pickedNanos) {
        TraceContext trace = request.trace();
        long firstByte = pickedNanos + job.dispatchNanos() + job.firstByteNanos();
        Span.Builder span = span(trace, "php", trace.phpSpan(), trace.span())
                .setStartTimeUnixNano(pickedNanos)
                .setEndTimeUnixNano(firstByte + job.toEndNanos())
                .addAttributes(attribute("cetane.worker.id", job.workerId()));
        if (request.failure() != null) {
            return span.addAttributes(attribute("error.type", request.failure()))
                    .setStatus(FAILED)
                    .build();
        }
        return span.addEvents(Span.Event.newBuilder().setName("first byte").setTimeUnixNano(firstByte))
                .addAttributes(attribute("cetane.dispatch_us", TimeUnit.NANOSECONDS.toMicros(job.dispatchNanos())))
                .addAttributes(attribute("cetane.terminate_us", TimeUnit.NANOSECONDS.toMicros(job.terminateNanos())))
                .addAttributes(attribute("cetane.handler_us", job.handlerMicros()))
                .addAttributes(attribute("cetane.cpu_us", job.cpuMicros()))
                .addAttributes(attribute("cetane.peak_memory", job.peakMemoryBytes()))
                .build();
    }

    private static Span.Builder span(TraceContext trace, String name, long id, long parentId) {
        Span.Builder span = Span.newBuilder()
                .setTraceId(bytes(trace.traceHigh(), trace.traceLow()))
                .setSpanId(bytes(id))
                .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
                .setFlags(trace.flags() | SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK_VALUE)
                .setName(name);
        return parentId == 0 ? span : span.setParentSpanId(bytes(parentId));
    }

    /** The caller's span, where there is one, is another program's. */
    private static int remoteFlags(TraceContext trace) {
        return SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK_VALUE
                | (trace.parentId() == 0 ? 0 : SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK_VALUE);
    }

    private static ByteString bytes(long... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES);
        for (long number : numbers) {
            bytes.putLong(number);
        }
        return ByteString.copyFrom(bytes.flip());
    }

    private static KeyValue attribute(String name, String value) {
        return KeyValue.newBuilder()
                .setKey(name)
                .setValue(AnyValue.newBuilder().setStringValue(value))
                .build();
    }

    private static KeyValue attribute(String name, long value) {
        return KeyValue.newBuilder()
                .setKey(name)
                .setValue(AnyValue.newBuilder().setIntValue(value))
                .build();
    }
}
