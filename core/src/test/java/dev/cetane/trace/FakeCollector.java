package dev.cetane.trace;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;

/** A collector of OTLP that behaves as a test says, for each message. Thread-safe. */
public final class FakeCollector implements AutoCloseable {

    /** How one message is dealt with. */
    public interface Behaviour {
        void answer(HttpExchange exchange) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Queue<Behaviour> script = new ConcurrentLinkedQueue<>();
    private final List<ExportTraceServiceRequest> taken = new CopyOnWriteArrayList<>();
    private final List<Map<String, List<String>>> headers = new CopyOnWriteArrayList<>();
    private volatile Behaviour always = exchange -> status(exchange, 200);

    /** One on a port of the system's choice. */
    public FakeCollector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/traces", this::receive);
        server.start();
    }

    /** The next messages are dealt with so, in turn; all others are taken. */
    FakeCollector next(Behaviour... behaviours) {
        script.addAll(List.of(behaviours));
        return this;
    }

    /** All messages that no other is for are dealt with so. */
    public FakeCollector always(Behaviour behaviour) {
        always = behaviour;
        return this;
    }

    /** Where spans are sent, with the fastest of settings. */
    public TracingConfig.Export export() {
        return new TracingConfig.Export(
                url(),
                Map.of(),
                false,
                Map.of("service.name", "shop"),
                2048,
                Duration.ofMillis(20),
                Duration.ofSeconds(10));
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces");
    }

    /** Messages that have come, whatever became of them. */
    int received() {
        return headers.size();
    }

    /** Header fields of the messages that have come. */
    List<Map<String, List<String>>> headers() {
        return headers;
    }

    /** Messages that were answered with 200. */
    List<ExportTraceServiceRequest> taken() {
        return taken;
    }

    /** Spans of all those messages. */
    public List<Span> spans() {
        List<Span> spans = new ArrayList<>();
        taken.forEach(message -> message.getResourceSpansList()
                .forEach(
                        resource -> resource.getScopeSpansList().forEach(scope -> spans.addAll(scope.getSpansList()))));
        return spans;
    }

    private void receive(HttpExchange exchange) throws IOException {
        headers.add(Map.copyOf(exchange.getRequestHeaders()));
        Behaviour behaviour = script.poll();
        (behaviour == null ? always : behaviour).answer(exchange);
        exchange.close();
    }

    private void status(HttpExchange exchange, int status) throws IOException {
        if (status == 200) {
            taken.add(message(exchange));
        }
        exchange.sendResponseHeaders(status, -1);
    }

    private static ExportTraceServiceRequest message(HttpExchange exchange) throws IOException {
        boolean gzip = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
        return ExportTraceServiceRequest.parseFrom(
                gzip ? new GZIPInputStream(exchange.getRequestBody()) : exchange.getRequestBody());
    }

    /** Answers with a status and fields, names and values in turn. */
    static Behaviour answers(int status, String... fields) {
        return exchange -> {
            exchange.getRequestBody().readAllBytes();
            for (int i = 0; i < fields.length; i += 2) {
                exchange.getResponseHeaders().add(fields[i], fields[i + 1]);
            }
            exchange.sendResponseHeaders(status, -1);
        };
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
