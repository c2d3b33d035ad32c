package dev.cetane.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.cetane.log.RecordingLog;
import dev.cetane.trace.TracingConfig.Audience;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.Ticker;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How spans reach a collector, and what becomes of them where it does not behave. */
@Timeout(60)
final class SpanExporterTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final RecordingLog log = new RecordingLog();
    private final CountDownLatch never = new CountDownLatch(1);
    private FakeCollector collector;
    private @Nullable SpanExporter exporter;

    /** Runs ahead of the machine's clock by what a test says. */
    private static final class AheadTicker implements Ticker {
        private final AtomicLong ahead = new AtomicLong();

        void advance(Duration by) {
            ahead.addAndGet(by.toNanos());
        }

        @Override
        public long nanos() {
            return Ticker.system().nanos() + ahead.get();
        }

        @Override
        public Instant now() {
            return Ticker.system().now().plusNanos(ahead.get());
        }
    }

    private final AheadTicker ticker = new AheadTicker();

    @BeforeEach
    void open() throws IOException {
        collector = new FakeCollector();
    }

    @AfterEach
    void close() {
        never.countDown();
        if (exporter != null) {
            exporter.close();
        }
        collector.close();
    }

    private SpanExporter start(TracingConfig.Export config) {
        exporter = SpanExporter.start(config, "1.2.3", ticker, log, PAUSE);
        return exporter;
    }

    private static TracingConfig.Export with(TracingConfig.Export config, URI url, int queue, Duration timeout) {
        return new TracingConfig.Export(
                url, config.headers(), config.gzip(), config.resource(), queue, config.interval(), timeout);
    }

    /** A request of three spans. */
    private static RequestSpan request() {
        TraceContext trace =
                new Tracer(new TracingConfig(true, Audience.ALL, Audience.ALL, 1, null)).begin(null, null, false);
        return new RequestSpan(
                trace,
                "id",
                "GET",
                "/",
                "1.1",
                "http",
                "shop.test",
                "192.0.2.1",
                "192.0.2.1",
                "",
                200,
                "application",
                null,
                1_000_000_000_000_000_000L,
                10,
                100,
                new JobReport(1, 20, 0, 5, 30, 5, 0, 0, 0, 0));
    }

    private void awaitCount(SpanFate fate, long spans) {
        await(fate + " " + spans).atMost(PATIENCE).until(() -> exporter.count(fate), count -> count == spans);
    }

    @Test
    void spans_go_out_together_with_the_names_of_this_program() {
        TracingConfig.Export config = collector.export();
        exporter = start(new TracingConfig.Export(
                config.collector(),
                Map.of("Authorization", "Bearer secret"),
                true,
                config.resource(),
                100,
                Duration.ofMinutes(10),
                config.timeout()));
        for (int i = 0; i < 100; i++) {
            exporter.offer(request());
        }
        exporter.close();
        assertThat(exporter.count(SpanFate.SENT)).isEqualTo(300);
        assertThat(collector.spans()).hasSize(300);
        assertThat(collector.received()).isEqualTo(1);
        assertThat(collector.headers().get(0))
                .containsEntry("Content-type", List.of("application/x-protobuf"))
                .containsEntry("Authorization", List.of("Bearer secret"))
                .containsEntry("User-agent", List.of("cetane/1.2.3"));
        assertThat(collector
                        .taken()
                        .get(0)
                        .getResourceSpans(0)
                        .getResource()
                        .getAttributes(0)
                        .getValue()
                        .getStringValue())
                .isEqualTo("shop");
    }

    @Test
    void a_full_batch_does_not_wait() {
        TracingConfig.Export config = collector.export();
        start(new TracingConfig.Export(
                config.collector(), Map.of(), false, Map.of(), 2048, Duration.ofMinutes(10), config.timeout()));
        for (int i = 0; i < SpanQueue.BATCH; i++) {
            exporter.offer(request());
        }
        awaitCount(SpanFate.SENT, 3 * SpanQueue.BATCH);
    }

    @Test
    void a_collector_that_is_busy_gets_them_later_and_not_before_it_says() {
        AtomicLong firstAt = new AtomicLong();
        AtomicLong secondAt = new AtomicLong();
        collector.next(
                exchange -> {
                    firstAt.set(Ticker.system().nanos());
                    FakeCollector.answers(429, "Retry-After", "1").answer(exchange);
                },
                exchange -> {
                    secondAt.set(Ticker.system().nanos());
                    FakeCollector.answers(503).answer(exchange);
                });
        start(collector.export()).offer(request());
        awaitCount(SpanFate.SENT, 3);
        assertThat(secondAt.get() - firstAt.get())
                .isGreaterThanOrEqualTo(Duration.ofSeconds(1).toNanos());
        assertThat(collector.received()).isEqualTo(3);
        assertThat(exporter.count(SpanFate.LOST)).isZero();
    }

    @Test
    void what_the_collector_does_not_want_is_not_sent_again() {
        collector.next(
                FakeCollector.answers(400),
                FakeCollector.answers(500),
                FakeCollector.answers(302, "Location", "/elsewhere"));
        start(collector.export()).offer(request());
        awaitCount(SpanFate.REFUSED, 3);
        exporter.offer(request());
        awaitCount(SpanFate.REFUSED, 6);
        exporter.offer(request());
        awaitCount(SpanFate.REFUSED, 9);
        exporter.offer(request());
        awaitCount(SpanFate.SENT, 3);
        assertThat(collector.received()).isEqualTo(4);
    }

    @Test
    void spans_of_a_message_that_it_rejects_are_counted() throws InterruptedException {
        byte[] answer = ExportTraceServiceResponse.newBuilder()
                .setPartialSuccess(ExportTracePartialSuccess.newBuilder()
                        .setRejectedSpans(2)
                        .setErrorMessage("too\nold"))
                .build()
                .toByteArray();
        collector.always(exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        });
        start(collector.export()).offer(request());
        awaitCount(SpanFate.REFUSED, 2);
        assertThat(exporter.count(SpanFate.SENT)).isEqualTo(1);
        assertThat(log.await("spans.lost").message()).contains("it has rejected spans: too");
    }

    @Test
    void a_collector_that_hangs_is_given_up_at_the_time_out() throws InterruptedException {
        collector.always(exchange -> hang());
        start(with(collector.export(), collector.url(), 2048, Duration.ofMillis(50)))
                .offer(request());
        awaitMessages(2);
        ticker.advance(Duration.ofMinutes(2));
        awaitCount(SpanFate.LOST, 3);
        assertThat(log.await("spans.lost").message()).contains("no answer within tracing.timeout (50 ms)");
    }

    @Test
    void one_that_hangs_within_its_answer_too() {
        collector.always(exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            hang();
        });
        start(with(collector.export(), collector.url(), 2048, Duration.ofMillis(50)))
                .offer(request());
        awaitMessages(2);
    }

    @Test
    void of_an_answer_without_end_only_the_beginning_is_read() {
        byte[] much = new byte[1 << 20];
        collector.always(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            while (true) {
                exchange.getResponseBody().write(much);
            }
        });
        start(collector.export()).offer(request());
        awaitCount(SpanFate.SENT, 3);
    }

    @Test
    void a_collector_that_closes_without_an_answer_or_is_away_costs_spans_only_after_a_while() throws IOException {
        URI nowhere;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nowhere = URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/v1/traces");
        }
        start(with(collector.export(), nowhere, 2048, Duration.ofSeconds(10))).offer(request());
        exporter.close();
        assertThat(exporter.count(SpanFate.LOST)).isEqualTo(3);
        assertThat(log.events("spans.lost").get(0).message()).contains("ConnectException");

        collector.next(exchange -> exchange.getRequestBody().close(), exchange -> {});
        start(collector.export()).offer(request());
        awaitCount(SpanFate.SENT, 3);
    }

    @Test
    void what_is_too_much_for_the_queue_is_dropped_counted_and_told_once_a_minute() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        collector.next(exchange -> {
            awaitRelease(release);
            FakeCollector.answers(400).answer(exchange);
        });
        start(with(collector.export(), collector.url(), 2, Duration.ofSeconds(30)))
                .offer(request());
        awaitMessages(1);
        for (int i = 0; i < 10; i++) {
            exporter.offer(request());
        }
        assertThat(exporter.count(SpanFate.DROPPED)).isEqualTo(8 * 3);
        release.countDown();
        awaitCount(SpanFate.SENT, 6);
        RecordingLog.Event told = log.await("spans.lost");
        assertThat(told.message())
                .contains("tracing.queue-size (2)")
                .contains(collector.url().toString());
        assertThat(told.field("dropped")).isEqualTo(24L);
        assertThat(told.field("refused")).isEqualTo(3L);

        collector.next(FakeCollector.answers(400));
        exporter.offer(request());
        awaitCount(SpanFate.REFUSED, 6);
        exporter.offer(request());
        awaitCount(SpanFate.SENT, 9);
        assertThat(log.events("spans.lost")).hasSize(1);
        ticker.advance(Duration.ofMinutes(1));
        await("told again")
                .atMost(PATIENCE)
                .until(() -> log.events("spans.lost").size() == 2);
        assertThat(log.events("spans.lost").get(1).field("refused")).isEqualTo(3L);
        assertThat(log.events("spans.lost").get(1).field("dropped")).isEqualTo(0L);
    }

    @Test
    void a_stop_sends_what_waits() {
        TracingConfig.Export config = collector.export();
        start(new TracingConfig.Export(
                config.collector(), Map.of(), false, Map.of(), 2048, Duration.ofMinutes(10), config.timeout()));
        for (int i = 0; i < SpanQueue.BATCH - 1; i++) {
            exporter.offer(request());
        }
        exporter.close();
        assertThat(exporter.count(SpanFate.SENT)).isEqualTo(3 * (SpanQueue.BATCH - 1));
    }

    @Test
    void a_stop_does_not_wait_for_ever_and_accounts_for_every_span() {
        collector.always(exchange -> hang());
        TracingConfig.Export config = with(collector.export(), collector.url(), 2048, Duration.ofMinutes(1));
        start(config).offer(request());
        awaitMessages(1);
        for (int i = 0; i < 1_000; i++) {
            exporter.offer(request());
        }
        exporter.close();
        assertThat(exporter.count(SpanFate.LOST)).isEqualTo(3_003);
        assertThat(log.events("spans.lost")).hasSize(1);
    }

    private void awaitMessages(int count) {
        await(count + " messages").atMost(PATIENCE).until(() -> collector.received() >= count);
    }

    private void hang() {
        awaitRelease(never);
    }

    private static void awaitRelease(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
