package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.cetane.http.RawClient.Answer;
import dev.cetane.http.ScriptedDispatcher.Running;
import dev.cetane.log.RecordingLog;
import dev.cetane.trace.FakeCollector;
import dev.cetane.trace.Tracer;
import dev.cetane.trace.TracingConfig;
import dev.cetane.trace.TracingConfig.Audience;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.JobTimes;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What PHP, the client, the access log and a collector get of a request's trace. */
@Timeout(60)
final class TracingTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String CALLER = "00f067aa0ba902b7";
    private static final String PARENT = "traceparent: 00-" + TRACE + "-" + CALLER + "-01\r\n";
    private static final String ONE = "GET / HTTP/1.1\r\nHost: a\r\n";

    private final RecordingLog log = new RecordingLog();
    private FakeCollector collector;
    private @Nullable Tracer tracer;

    @BeforeEach
    void open() throws IOException {
        collector = new FakeCollector();
    }

    @AfterEach
    void close() {
        if (tracer != null) {
            tracer.close();
        }
        collector.close();
    }

    private TestServer start(boolean enabled, Audience accept, Audience answer, List<String> proxies)
            throws IOException {
        tracer = Tracer.start(
                new TracingConfig(enabled, accept, answer, 1, collector.export()), "1.2.3", Ticker.system(), log);
        return TestServer.start(config -> {
            config.tracer = tracer;
            config.accessLog = true;
            config.trustedProxies = proxies;
            return config;
        });
    }

    private TestServer start() throws IOException {
        return start(true, Audience.ALL, Audience.ALL, List.of());
    }

    // ---- what PHP sees ----

    @Test
    void without_tracing_php_sees_what_the_client_has_sent_and_only_the_log_names_the_trace() throws Exception {
        try (TestServer server = start(false, Audience.ALL, Audience.ALL, List.of());
                RawClient client = server.connect()) {
            client.send(ONE + "traceparent: nonsense\r\ntracestate: ,,\r\n\r\n");
            Map<String, String> seen = answer(server.dispatcher.take());
            assertThat(seen).containsEntry("HTTP_TRACEPARENT", "nonsense").containsEntry("HTTP_TRACESTATE", ",,");
            assertThat(client.answer().fields()).doesNotContainKey("server-timing");

            client.send(ONE + PARENT + "\r\n");
            assertThat(answer(server.dispatcher.take()))
                    .containsEntry("HTTP_TRACEPARENT", "00-" + TRACE + "-" + CALLER + "-01");
            client.answer();
            await("both logged").atMost(PATIENCE).until(() -> accesses(server).size() == 2);
            assertThat(accesses(server).get(0).fields()).doesNotContain("trace_id");
            assertThat(accesses(server).get(1).field("trace_id")).isEqualTo(TRACE);
        }
    }

    @Test
    void php_continues_the_caller_s_trace_below_a_span_of_its_own() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send(ONE + PARENT + "tracestate: rojo=1\r\ntracestate: , congo=2\r\n\r\n");
            Map<String, String> seen = answer(server.dispatcher.take());
            Answer answer = client.answer();

            Map<String, Span> spans = awaitSpans(3);
            assertThat(seen.get("HTTP_TRACEPARENT")).isEqualTo("00-" + TRACE + "-" + id(spans.get("php")) + "-01");
            assertThat(seen.get("HTTP_TRACESTATE")).isEqualTo("rojo=1,congo=2");
            assertThat(answer.field("server-timing"))
                    .isEqualTo("trace;desc=00-" + TRACE + "-" + id(spans.get("GET")) + "-01");
            assertThat(spans.values())
                    .allSatisfy(span ->
                            assertThat(hex(span.getTraceId().toByteArray())).isEqualTo(TRACE));
            assertThat(parent(spans.get("GET"))).isEqualTo(CALLER);
            assertThat(parent(spans.get("queue"))).isEqualTo(id(spans.get("GET")));
            assertThat(parent(spans.get("php"))).isEqualTo(id(spans.get("GET")));
            assertThat(spans.get("GET").getTraceState()).isEqualTo("rojo=1,congo=2");
            RecordingLog.Event access = server.log.await("http.access");
            assertThat(access.field("trace_id")).isEqualTo(TRACE);
            assertThat(access.field("span_id")).isEqualTo(id(spans.get("GET")));
        }
    }

    @Test
    void two_traceparents_are_none_and_take_the_tracestate_with_them() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send(ONE + PARENT + "TraceParent: 00-" + TRACE + "-" + CALLER + "-01\r\ntracestate: a=1\r\n\r\n");
            Map<String, String> seen = answer(server.dispatcher.take());
            assertThat(seen.get("HTTP_TRACEPARENT"))
                    .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-03")
                    .doesNotContain(TRACE);
            assertThat(seen).doesNotContainKey("HTTP_TRACESTATE");
            client.answer();
        }
    }

    @Test
    void spaces_around_a_traceparent_do_not_matter_and_names_with_underscores_are_nothing() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send(ONE + "TRACEPARENT: \t 00-" + TRACE + "-" + CALLER + "-01 \t\r\ntrace_parent: x\r\n\r\n");
            assertThat(answer(server.dispatcher.take()).get("HTTP_TRACEPARENT")).startsWith("00-" + TRACE);
            client.answer();
        }
    }

    @Test
    void a_stranger_s_trace_is_not_continued_and_a_trusted_proxy_s_is() throws Exception {
        try (TestServer server = start(true, Audience.TRUSTED, Audience.ALL, List.of());
                RawClient client = server.connect()) {
            client.send(ONE + PARENT + "tracestate: a=1\r\n\r\n");
            Map<String, String> seen = answer(server.dispatcher.take());
            assertThat(seen.get("HTTP_TRACEPARENT")).doesNotContain(TRACE);
            assertThat(seen).doesNotContainKey("HTTP_TRACESTATE");
            client.answer();
            assertThat(awaitSpans(3).get("GET").getParentSpanId().isEmpty()).isTrue();
        }
        try (TestServer server = start(true, Audience.TRUSTED, Audience.TRUSTED, List.of("127.0.0.1"));
                RawClient client = server.connect()) {
            client.send(ONE + PARENT + "tracestate: a=1\r\n\r\n");
            assertThat(answer(server.dispatcher.take())).containsEntry("HTTP_TRACESTATE", "a=1");
            assertThat(client.answer().field("server-timing")).contains(TRACE);
        }
    }

    @Test
    void a_request_that_the_caller_does_not_record_is_not_recorded() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send(ONE + PARENT.replace("-01\r", "-00\r") + "\r\n");
            assertThat(answer(server.dispatcher.take()).get("HTTP_TRACEPARENT")).endsWith("-00");
            client.answer();
            client.send(ONE + PARENT + "\r\n");
            answer(server.dispatcher.take());
            client.answer();
            awaitSpans(3);
            tracer.close();
            assertThat(collector.spans()).hasSize(3);
        }
    }

    // ---- answers that are not the application's ----

    @Test
    void what_the_supervisor_answers_itself_names_the_trace_and_is_a_span() throws Exception {
        try (TestServer server = TestServer.start(config -> {
            tracer = Tracer.start(
                    new TracingConfig(true, Audience.ALL, Audience.ALL, 1, collector.export()),
                    "1.2.3",
                    Ticker.system(),
                    log);
            config.tracer = tracer;
            config.maxBodyBytes = 10;
            config.closedPaths = List.of("closed");
            return config;
        })) {
            try (RawClient client = server.connect()) {
                client.send("POST /a?password=x HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n" + PARENT + "\r\n");
                Answer refused = client.answer();
                assertThat(refused.status()).isEqualTo(413);
                Span span = awaitSpans(1).get("POST");
                assertThat(refused.field("server-timing")).isEqualTo("trace;desc=00-" + TRACE + "-" + id(span) + "-01");
                assertThat(attributes(span))
                        .containsEntry("http.response.status_code", "413")
                        .containsEntry("url.path", "/a")
                        .containsEntry("cetane.outcome", "supervisor")
                        .doesNotContainKeys("error.type", "url.query");
                assertThat(span.toString()).doesNotContain("password");
                assertThat(span.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_UNSET);
            }
            try (RawClient client = server.connect()) {
                client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n" + PARENT + "\r\n");
                assertThat(client.answer().field("server-timing")).startsWith("trace;desc=00-" + TRACE);
                client.get("/closed");
                assertThat(client.answer().field("server-timing")).startsWith("trace;desc=00-");
            }
            try (RawClient client = server.connect()) {
                client.send("nonsense\r\n\r\n");
                assertThat(client.answer().fields()).doesNotContainKey("server-timing");
            }
        }
    }

    // ---- times and outcomes ----

    private final ManualTicker ticker = new ManualTicker();

    private record PoolTimes(long submittedNanos, JobReport report, long concludedNanos) implements JobTimes {}

    @Test
    void spans_are_the_phases_of_the_request() throws Exception {
        try (TestServer server = start()) {
            EmbeddedChannel channel = server.embedded(ticker);
            long startEpoch = 1_000_000_000L * 1_000_000_000L + ticker.nanos();
            channel.writeInbound(
                    bytes("GET /a/b?c=d HTTP/1.0\r\nHost: shop.test:81\r\nUser-Agent: x/1\r\nX-Request-Id: mine\r\n"
                            + PARENT));
            ticker.advance(7_000);
            channel.writeInbound(bytes("\r\n"));
            Running running = server.dispatcher.take();
            long submitted = ticker.nanos();
            // Queue 40 µs, boot 900, dispatch 30, first byte 5 000, to end 250; after it 8 000.
            JobReport report = new JobReport(3, 40_000, 900_000, 30_000, 5_000_000, 250_000, 0, 0, 0, 0);
            running.job.submitted(new PoolTimes(submitted, report, submitted + 6_220_000));
            ticker.advance(6_220_000);
            running.headOfLength(200, 2).data("ok").end();
            ticker.advance(110_000);
            channel.runPendingTasks();
            TestServer.written(channel);
            ticker.advance(8_000_000);
            running.job.done(
                    new JobReport(3, 40_000, 900_000, 30_000, 5_000_000, 250_000, 8_000_000, 5_100, 4_000, 1 << 21));
            channel.finishAndReleaseAll();

            Map<String, Span> spans = awaitSpans(3);
            Span get = spans.get("GET");
            assertThat(get.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
            assertThat(get.getStartTimeUnixNano()).isEqualTo(startEpoch);
            assertThat(get.getEndTimeUnixNano() - startEpoch).isEqualTo(7_000 + 6_220_000 + 110_000);
            assertThat(spans.get("queue").getStartTimeUnixNano() - startEpoch).isEqualTo(7_000);
            assertThat(spans.get("queue").getEndTimeUnixNano() - startEpoch).isEqualTo(7_000 + 940_000);
            assertThat(spans.get("php").getStartTimeUnixNano() - startEpoch).isEqualTo(7_000 + 940_000);
            assertThat(spans.get("php").getEndTimeUnixNano() - startEpoch).isEqualTo(7_000 + 6_220_000);
            assertThat(spans.get("php").getEvents(0).getTimeUnixNano() - startEpoch)
                    .isEqualTo(7_000 + 5_970_000);
            assertThat(attributes(get))
                    .containsOnly(
                            Map.entry("http.request.method", "GET"),
                            Map.entry("url.path", "/a/b"),
                            Map.entry("url.scheme", "http"),
                            Map.entry("network.protocol.version", "1.0"),
                            Map.entry("client.address", "unix:"),
                            Map.entry("network.peer.address", "unix:"),
                            Map.entry("server.address", "shop.test"),
                            Map.entry("server.port", "81"),
                            Map.entry("user_agent.original", "x/1"),
                            Map.entry("http.response.status_code", "200"),
                            Map.entry("cetane.request.id", "mine"),
                            Map.entry("cetane.outcome", "application"));
            assertThat(attributes(spans.get("queue"))).containsOnly(Map.entry("cetane.boot_us", "900"));
            assertThat(attributes(spans.get("php")))
                    .containsOnly(
                            Map.entry("cetane.worker.id", "3"),
                            Map.entry("cetane.dispatch_us", "30"),
                            Map.entry("cetane.terminate_us", "8000"),
                            Map.entry("cetane.handler_us", "5100"),
                            Map.entry("cetane.cpu_us", "4000"),
                            Map.entry("cetane.peak_memory", "2097152"));
        }
    }

    @Test
    void a_failure_says_what_it_was() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.get("/");
            Running timedOut = server.dispatcher.take();
            timedOut.job.submitted(new PoolTimes(1, new JobReport(2, 0, 0, 0, 0, 0, 0, 0, 0, 0), 2));
            timedOut.failed(WorkerException.Kind.TIMED_OUT);
            assertThat(client.answer().field("server-timing")).startsWith("trace;desc=00-");
            Map<String, Span> spans = awaitSpans(3);
            assertThat(spans.values()).filteredOn(TracingTest::failed).hasSize(2);
            assertThat(attributes(spans.get("GET")))
                    .containsEntry("error.type", "timed_out")
                    .containsEntry("http.response.status_code", "504")
                    .containsEntry("cetane.outcome", "supervisor");
            assertThat(attributes(spans.get("php"))).containsEntry("error.type", "timed_out");
        }
    }

    @Test
    void a_request_that_no_worker_took_has_no_span_of_php() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.get("/");
            Running refused = server.dispatcher.take();
            refused.job.submitted(new PoolTimes(1, new JobReport(0, 5, 0, 0, 0, 0, 0, 0, 0, 0), 6));
            refused.failed(WorkerException.Kind.QUEUE_TIMEOUT);
            client.answer();
            Map<String, Span> spans = awaitSpans(2);
            assertThat(attributes(spans.get("queue"))).containsEntry("error.type", "queue_timeout");
            assertThat(attributes(spans.get("GET"))).containsEntry("error.type", "queue_timeout");
        }
    }

    @Test
    void what_the_application_answers_is_an_error_from_500_on() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send("BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n");
            answer(server.dispatcher.take(), 500);
            client.answer();
            Span span = awaitSpans(3).get("HTTP");
            assertThat(failed(span)).isTrue();
            assertThat(attributes(span))
                    .containsEntry("error.type", "500")
                    .containsEntry("http.request.method", "_OTHER")
                    .containsEntry("http.request.method_original", "BREW");
        }
        collector.close();
        collector = new FakeCollector();
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.get("/");
            answer(server.dispatcher.take(), 404);
            client.answer();
            assertThat(failed(awaitSpans(3).get("GET"))).isFalse();
        }
    }

    @Test
    void a_client_that_leaves_is_no_error_and_an_answer_that_is_cut_is_one() throws Exception {
        try (TestServer server = start()) {
            try (RawClient client = server.connect()) {
                client.get("/leaves");
                server.dispatcher.take().head(200);
            }
            Running left = new Running(server.dispatcher.takeCancelled());
            left.end().done();
            Span span = awaitSpans(3).get("GET");
            assertThat(failed(span)).isFalse();
            assertThat(attributes(span)).containsEntry("cetane.outcome", "abandoned");
            assertThat(attributes(span)).doesNotContainKey("http.response.status_code");
        }
        collector.close();
        collector = new FakeCollector();
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.get("/cut");
            Running cut = server.dispatcher.take();
            cut.job.submitted(new PoolTimes(1, new JobReport(2, 0, 0, 0, 0, 0, 0, 0, 0, 0), 2));
            cut.head(200).data("half").failed(WorkerException.Kind.CRASHED);
            Span span = awaitSpans(3).get("GET");
            assertThat(failed(span)).isTrue();
            assertThat(attributes(span))
                    .containsEntry("cetane.outcome", "aborted")
                    .containsEntry("error.type", "crashed");
        }
    }

    @Test
    void long_texts_of_clients_are_cut() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send("GET /" + "p".repeat(5_000) + " HTTP/1.1\r\nHost: " + "h".repeat(2_000) + "\r\nUser-Agent: "
                    + "u".repeat(4_000) + "\r\n\r\n");
            answer(server.dispatcher.take());
            client.answer();
            Span span = awaitSpans(3).get("GET");
            assertThat(span.getSerializedSize()).isLessThan(2_500);
            assertThat(attributes(span).get("url.path"))
                    .startsWith("/ppp")
                    .endsWith("p…")
                    .hasSize(513);
        }
    }

    @Test
    void a_host_that_is_cut_in_its_port_has_none() throws Exception {
        try (TestServer server = start();
                RawClient client = server.connect()) {
            client.send("GET / HTTP/1.1\r\nHost: " + "h".repeat(510) + ":8080\r\n\r\n");
            answer(server.dispatcher.take());
            client.answer();
            assertThat(attributes(awaitSpans(3).get("GET")))
                    .containsEntry("server.address", "h".repeat(510))
                    .doesNotContainKey("server.port");
        }
    }

    /** Answers as a worker would. */
    private static Map<String, String> answer(Running running) {
        return answer(running, 200);
    }

    private static Map<String, String> answer(Running running, int status) {
        Map<String, String> seen = running.request().server();
        JobReport report = new JobReport(1, 10, 0, 10, 10, 10, 0, 0, 0, 0);
        running.job.submitted(
                new PoolTimes(Ticker.system().nanos(), report, Ticker.system().nanos()));
        running.headOfLength(status, 2).data("ok").end().job.done(report);
        return seen;
    }

    private static List<RecordingLog.Event> accesses(TestServer server) {
        return server.log.events("http.access");
    }

    /** By name, once so many have come. */
    private Map<String, Span> awaitSpans(int count) {
        await(count + " spans").atMost(PATIENCE).until(() -> collector.spans().size() >= count);
        Map<String, Span> spans = new TreeMap<>();
        collector.spans().forEach(span -> spans.put(span.getName(), span));
        assertThat(spans).hasSize(count);
        return spans;
    }

    private static boolean failed(Span span) {
        return span.getStatus().getCode() == Status.StatusCode.STATUS_CODE_ERROR;
    }

    private static Map<String, String> attributes(Span span) {
        Map<String, String> attributes = new TreeMap<>();
        span.getAttributesList().forEach(attribute -> {
            AnyValue value = attribute.getValue();
            attributes.put(
                    attribute.getKey(),
                    value.hasStringValue() ? value.getStringValue() : Long.toString(value.getIntValue()));
        });
        return attributes;
    }

    private static String id(Span span) {
        return hex(span.getSpanId().toByteArray());
    }

    private static String parent(Span span) {
        return hex(span.getParentSpanId().toByteArray());
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }
}
