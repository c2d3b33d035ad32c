package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.Collector.Mood;
import dev.cetane.tests.Collector.Taken;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A trace from the client through Cetane to a real PHP, and its spans at a collector, however that behaves. */
@Timeout(180)
final class TraceTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00-" + TRACE + "-00f067aa0ba902b7-01";
    private static final Pattern COUNT = Pattern.compile("(?m)^cetane_spans_total\\{fate=\"(\\w+)\"} ([0-9.]+)$");

    private static final String ECHO = """
            http_response_code($_SERVER['REQUEST_URI'] === '/fail' ? 500 : 200);
            header('Content-Type: application/json');
            $began = microtime(true);
            usleep(2000);
            echo json_encode([
                'parent' => $_SERVER['HTTP_TRACEPARENT'] ?? null,
                'state' => $_SERVER['HTTP_TRACESTATE'] ?? null,
                'began' => $began,
                'ended' => microtime(true),
            ]);
            """;

    @TempDir
    Path directory;

    private Collector collector;

    @BeforeEach
    void open() throws IOException {
        collector = new Collector();
        Files.createDirectories(directory.resolve("public"));
        Files.writeString(directory.resolve("public/index.php"), "<?php\n" + ECHO);
        Files.writeString(directory.resolve("public/file.txt"), "of the document root");
    }

    @AfterEach
    void close() {
        collector.close();
    }

    private RunningCetane.Starter starter() {
        return INSTANCES
                .application(directory)
                .set("http.access-log", true)
                .set("tracing.enabled", true)
                .set("tracing.accept", "all")
                .set("tracing.interval", "100ms");
    }

    private RunningCetane.Starter exporting() {
        return starter().set("tracing.otlp", collector.url());
    }

    // ---- one request, seen from everywhere ----

    @ParameterizedTest
    @ValueSource(strings = {"front-controller", "classic"})
    void php_the_client_the_log_and_the_collector_know_the_same_trace(String kind) {
        RunningCetane cetane = exporting()
                .set("app.kind", kind)
                .environment("OTEL_SERVICE_NAME", "shop")
                .environment("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=a%20test")
                .start();
        HttpResponse<String> answer = cetane.get(
                "/buy?password=secret", "traceparent", PARENT, "tracestate", "rojo=1, congo=2", "X-Request-Id", "mine");
        JsonNode seen = RunningCetane.json(answer);

        Map<String, Taken> spans = awaitSpans("mine", 3);
        Taken request = spans.get("GET");
        Taken queue = spans.get("queue");
        Taken php = spans.get("php");
        assertThat(List.of(request.trace(), queue.trace(), php.trace())).containsOnly(TRACE);
        assertThat(request.parent()).isEqualTo("00f067aa0ba902b7");
        assertThat(List.of(queue.parent(), php.parent())).containsOnly(request.id());
        assertThat(seen.path("parent").asText()).isEqualTo("00-" + TRACE + "-" + php.id() + "-01");
        assertThat(seen.path("state").asText()).isEqualTo("rojo=1,congo=2");
        assertThat(answer.headers().firstValue("Server-Timing"))
                .contains("trace;desc=00-" + TRACE + "-" + request.id() + "-01");
        ServerLog.Line access = cetane.log().fromStart().await("http.access", "mine");
        assertThat(access.field("trace_id").asText()).isEqualTo(TRACE);
        assertThat(access.field("span_id").asText()).isEqualTo(request.id());

        assertThat(request.attributes())
                .containsEntry("http.response.status_code", "200")
                .containsEntry("url.path", "/buy")
                .containsEntry("cetane.request.id", "mine");
        assertThat(spans.toString()).doesNotContain("secret");
        assertThat(collector.resource())
                .containsEntry("service.name", "shop")
                .containsEntry("deployment.environment.name", "a test")
                .containsKey("service.version");

        // The clocks of PHP and of the supervisor are the machine's, read at different moments of the same request.
        assertThat(queue.start()).isBetween(request.start(), request.end());
        assertThat(queue.end()).isEqualTo(php.start());
        assertThat(php.end()).isBetween(php.start(), request.end());
        assertThat(nanos(seen.path("began"))).isBetween(php.start() - TimeUnit.MILLISECONDS.toNanos(1), php.end());
        assertThat(nanos(seen.path("ended"))).isBetween(php.start(), php.end() + TimeUnit.MILLISECONDS.toNanos(1));
        assertThat(request.end() - request.start())
                .isLessThanOrEqualTo(
                        TimeUnit.MICROSECONDS.toNanos(access.field("micros").asLong() + 1));
    }

    @Test
    void a_persistent_worker_sees_a_new_parent_with_each_request() throws IOException {
        Path worker = Files.writeString(directory.resolve("worker.php"), """
                <?php
                Cetane\\Worker::run(fn ($request) => $request->server()['HTTP_TRACEPARENT'] . ' ' . $request->header('traceparent'));
                """);
        RunningCetane cetane = INSTANCES
                .application(worker)
                .workers(1)
                .set("tracing.enabled", true)
                .start();
        String first = cetane.get("/").body();
        String second = cetane.get("/").body();
        assertThat(first).matches("(00-[0-9a-f]{32}-[0-9a-f]{16}-03) \\1");
        assertThat(second).matches("(00-[0-9a-f]{32}-[0-9a-f]{16}-03) \\1").isNotEqualTo(first);
        // From a stranger, as nobody is trusted.
        assertThat(cetane.get("/", "traceparent", PARENT).body()).doesNotContain(TRACE);
    }

    @Test
    void a_file_and_a_failure_have_spans_too() {
        RunningCetane cetane = exporting().start();
        HttpResponse<String> file = cetane.get("/file.txt", "X-Request-Id", "file");
        assertThat(file.body()).isEqualTo("of the document root");
        assertThat(file.headers().firstValue("Server-Timing")).isEmpty();
        assertThat(awaitSpans("file", 1).get("GET").attributes())
                .containsEntry("cetane.outcome", "file")
                .doesNotContainKey("error.type");
        assertThat(cetane.get("/fail", "X-Request-Id", "fail").statusCode()).isEqualTo(500);
        assertThat(awaitSpans("fail", 3).get("GET").attributes())
                .containsEntry("cetane.outcome", "application")
                .containsEntry("error.type", "500");
    }

    @Test
    void without_tracing_php_has_what_the_client_sent_and_no_class_for_spans_is_loaded() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(directory)
                .set("http.access-log", true)
                .environment(
                        "CETANE_JAVA_OPTIONS",
                        "-ea -XX:TieredStopAtLevel=1 -Xlog:class+load:file=" + directory.resolve("classes"))
                .start();
        HttpResponse<String> answer =
                cetane.get("/", "traceparent", PARENT, "tracestate", "a=1, b=2", "X-Request-Id", "mine");
        assertThat(RunningCetane.json(answer).path("parent").asText()).isEqualTo(PARENT);
        assertThat(RunningCetane.json(answer).path("state").asText()).isEqualTo("a=1, b=2");
        assertThat(answer.headers().firstValue("Server-Timing")).isEmpty();
        assertThat(cetane.log()
                        .fromStart()
                        .await("http.access", "mine")
                        .field("trace_id")
                        .asText())
                .isEqualTo(TRACE);
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(Files.readString(directory.resolve("classes")))
                .contains("dev.cetane.trace.TraceParent")
                .doesNotContain(
                        "dev.cetane.trace.SpanExporter",
                        "dev.cetane.trace.RequestSpan",
                        "io.opentelemetry.",
                        "com.google.protobuf.",
                        "java.net.http.HttpClient ");
    }

    // ---- collectors ----

    @ParameterizedTest
    @EnumSource(names = "TAKES", mode = EnumSource.Mode.EXCLUDE)
    void a_collector_that_misbehaves_disturbs_no_request_and_each_span_is_accounted_for(Mood mood) {
        collector.is(mood);
        RunningCetane cetane = exporting()
                .set("tracing.queue-size", 5)
                .set("tracing.timeout", "200ms")
                .start();
        askMany(cetane);
        awaitDropped(cetane, mood == Mood.FAILS ? "refused" : "dropped");
        ServerLog.Line lost = cetane.log().fromStart().await("spans.lost");
        assertThat(lost.message()).contains(collector.url());
        askMany(cetane);
        assertThat(cetane.log().fromStart().all("spans.lost")).hasSize(1);

        collector.is(Mood.TAKES);
        cetane.get("/", "X-Request-Id", "afterwards");
        await("spans arrive again").atMost(RunningCetane.PATIENCE).until(() -> {
            cetane.get("/", "X-Request-Id", "afterwards");
            return collector.spans().stream()
                    .anyMatch(span -> "afterwards".equals(span.attributes().get("cetane.request.id")));
        });
    }

    @Test
    void a_collector_that_is_not_there_disturbs_no_request_and_no_stop() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        RunningCetane cetane = starter()
                .set("tracing.otlp", "http://127.0.0.1:" + port + "/v1/traces")
                .set("tracing.queue-size", 5)
                .start();
        askMany(cetane);
        awaitDropped(cetane, "dropped");
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(cetane.log().fromStart().await("spans.lost").message()).contains("ConnectException");
    }

    @Test
    void a_stop_sends_what_waits() {
        RunningCetane cetane = exporting().set("tracing.interval", "10m").start();
        cetane.get("/", "X-Request-Id", "last");
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(collector.spans()).hasSize(3);
    }

    // ---- settings ----

    @Test
    void what_cannot_be_is_refused_at_the_start() {
        assertThat(refused("tracing.otlp=http://127.0.0.1:4318/v1/traces"))
                .contains("tracing.otlp", "no effect, because tracing.enabled is false");
        assertThat(refused("tracing.sample-ratio=1.5")).contains("tracing.sample-ratio", "is too large", "0 … 1");
        assertThat(refused("tracing.sample-ratio=5%")).contains("is not a number such as 0.05");
        assertThat(refused("tracing.accept=me")).contains("tracing.accept");
    }

    private String refused(String setting) {
        Command.Run run =
                Command.cetane("check", directory.toString(), "--set", setting).run();
        assertThat(run.code()).as(run.toString()).isNotZero();
        return run.out() + run.err();
    }

    /** Every one is answered as if there were no collector. */
    private static void askMany(RunningCetane cetane) {
        for (int i = 0; i < 50; i++) {
            assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        }
    }

    private static void awaitDropped(RunningCetane cetane, String fate) {
        await("spans are " + fate).atMost(RunningCetane.PATIENCE).until(() -> {
            Map<String, Double> counts = new TreeMap<>();
            COUNT.matcher(cetane.ops("/metrics").body())
                    .results()
                    .forEach(match -> counts.put(match.group(1), Double.valueOf(match.group(2))));
            assertThat(counts).containsOnlyKeys("sent", "dropped", "refused", "lost");
            assertThat(counts).containsEntry("sent", 0.0);
            return counts.get(fate) > 0;
        });
    }

    private Map<String, Taken> awaitSpans(String request, int count) {
        Map<String, Taken> spans = new TreeMap<>();
        await("the spans of " + request).atMost(RunningCetane.PATIENCE).until(() -> {
            List<Taken> all = collector.spans();
            all.stream()
                    .filter(span -> request.equals(span.attributes().get("cetane.request.id")))
                    .forEach(root -> all.stream()
                            .filter(span -> span.trace().equals(root.trace()))
                            .forEach(span -> spans.put(span.name(), span)));
            return spans.size() == count;
        });
        return spans;
    }

    private static long nanos(JsonNode seconds) {
        return ((long) (seconds.asDouble() * 1e6)) * 1_000;
    }
}
