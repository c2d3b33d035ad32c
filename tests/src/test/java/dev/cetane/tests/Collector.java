package dev.cetane.tests;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A collector of OTLP for traces that takes what it gets, or misbehaves as it is told. Thread-safe. */
final class Collector implements AutoCloseable {
    /** What it does with each message. */
    enum Mood {
        TAKES,
        /** Never answers. */
        HANGS,
        /** Says nothing and closes the connection. */
        CLOSES,
        FAILS,
        BUSY
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ExportTraceServiceRequest> taken = new CopyOnWriteArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile Mood mood = Mood.TAKES;

    Collector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/traces", this::receive);
        server.start();
    }

    Collector is(Mood now) {
        mood = now;
        return this;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
    }

    /** One of the spans that it has taken, as text throughout. Times are nanoseconds since 1970. */
    record Taken(
            String trace,
            String id,
            String parent,
            String name,
            long start,
            long end,
            Map<String, String> attributes) {}

    List<Taken> spans() {
        List<Taken> spans = new ArrayList<>();
        taken.forEach(message -> message.getResourceSpansList()
                .forEach(resource -> resource.getScopeSpansList()
                        .forEach(scope -> scope.getSpansList().forEach(span -> spans.add(taken(span))))));
        return spans;
    }

    /** What those who sent say of themselves. */
    Map<String, String> resource() {
        return attributes(taken.get(0).getResourceSpans(0).getResource().getAttributesList());
    }

    private static Taken taken(Span span) {
        return new Taken(
                HexFormat.of().formatHex(span.getTraceId().toByteArray()),
                HexFormat.of().formatHex(span.getSpanId().toByteArray()),
                HexFormat.of().formatHex(span.getParentSpanId().toByteArray()),
                span.getName(),
                span.getStartTimeUnixNano(),
                span.getEndTimeUnixNano(),
                attributes(span.getAttributesList()));
    }

    private static Map<String, String> attributes(List<KeyValue> list) {
        Map<String, String> attributes = new TreeMap<>();
        list.forEach(attribute -> {
            AnyValue value = attribute.getValue();
            attributes.put(
                    attribute.getKey(),
                    value.hasStringValue() ? value.getStringValue() : Long.toString(value.getIntValue()));
        });
        return attributes;
    }

    private void receive(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        switch (mood) {
            case TAKES -> {
                taken.add(ExportTraceServiceRequest.parseFrom(body));
                exchange.sendResponseHeaders(200, -1);
            }
            case HANGS -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            case CLOSES -> {}
            case FAILS -> exchange.sendResponseHeaders(500, -1);
            case BUSY -> {
                exchange.getResponseHeaders().add("Retry-After", "1");
                exchange.sendResponseHeaders(429, -1);
            }
        }
        exchange.close();
    }

    @Override
    public void close() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
