package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.cetane.log.RecordingLog;
import dev.cetane.ops.ExportConfig.Dialect;
import dev.cetane.protocol.Measurement;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerState;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What small receivers of OTLP and StatsD get of the metrics. */
@Timeout(60)
final class ExportersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration INTERVAL = Duration.ofMillis(100);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void otlp_gets_every_meter_with_the_figures_of_prometheus() throws IOException {
        List<ExportMetricsServiceRequest> received = new CopyOnWriteArrayList<>();
        HttpServer collector = collector(received);
        try (Exporters exporters = open(new ExportConfig(url(collector), null, Dialect.DATADOG, INTERVAL))) {
            Metrics metrics = measured(exporters);
            // A push may come between two of these; the next one has them all.
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(names(received)).containsAll(metersAlwaysThere());
                assertThat(count(received, "cetane.requests", "2xx")).isEqualTo(2);
                assertThat(count(received, "app.basket", "a")).isEqualTo(1);
                assertThat(sum(received, "cetane.request.failures", "crashed")).isEqualTo(1);
                assertThat(value(received, "cetane.workers", "busy")).isEqualTo(1);
            });
            assertThat(attributes(received)).contains("service.name=cetane", "service.version=1.2.3");
            assertThat(metrics.scrape()).contains("cetane_requests_seconds_count{outcome=\"2xx\"} 2");
            assertThat(metrics.totals().outcomes()).containsEntry("2xx", 2L);
            assertThat(metrics.figures().ended()).isEqualTo(2);
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void otlp_gets_the_applications_histograms_with_their_buckets_and_fractions() throws IOException {
        List<ExportMetricsServiceRequest> received = new CopyOnWriteArrayList<>();
        HttpServer collector = collector(received);
        try (Exporters exporters = open(new ExportConfig(url(collector), null, Dialect.DATADOG, INTERVAL))) {
            measured(exporters);
            await().atMost(PATIENCE).untilAsserted(() -> {
                HistogramDataPoint wait = histogram(received, "app.wait");
                assertThat(wait.getExplicitBoundsList()).containsExactly(0.1, 0.5, 2.0);
                assertThat(wait.getBucketCountsList()).containsExactly(1L, 2L, 0L, 1L);
                assertThat(wait.getCount()).isEqualTo(4);
                assertThat(wait.getSum()).isCloseTo(3.375, within(1e-9));
            });
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void a_collector_that_is_away_delays_nobody_and_gets_the_sums_later() throws IOException {
        HttpServer collector = HttpServer.create(ANY_PORT, 0);
        URI url = url(collector);
        collector.stop(0);
        try (Exporters exporters = open(new ExportConfig(url, null, Dialect.DATADOG, INTERVAL))) {
            Metrics metrics = measured(exporters);
            assertThat(metrics.scrape()).contains("cetane_requests_seconds_count{outcome=\"2xx\"} 2");
        }
    }

    @Test
    void statsd_gets_each_event_and_duration_with_tags_and_the_gauges_at_intervals() throws IOException {
        Set<String> lines = awaitLines(
                Dialect.DATADOG,
                "cetane.requests:12|ms|#outcome:2xx",
                "cetane.requests:34|ms|#outcome:2xx",
                "cetane.request.phase:1.5|ms|#phase:queue",
                "cetane.request.failures:1|c|#statistic:count,reason:crashed",
                "app.basket:7|h|#shop:a",
                "app.wait:0.25|h",
                "cetane.workers:1|g|#statistic:value,state:busy",
                "cetane.queue.limit:128|g|#statistic:value");
        assertThat(lines).noneMatch(line -> line.contains("histogram"));
    }

    @Test
    void statsd_without_tags_gets_them_in_the_names() throws IOException {
        awaitLines(Dialect.ETSY, "cetaneRequests.outcome.2xx:12|ms", "cetaneWorkers.state.busy.statistic.value:1|g");
    }

    @Test
    void telegraf_has_tags_of_its_own() throws IOException {
        awaitLines(
                Dialect.TELEGRAF, "cetane_requests,outcome=2xx:12|ms", "cetane_workers,statistic=value,state=busy:1|g");
    }

    /** All that has come when these lines have. */
    private static Set<String> awaitLines(Dialect dialect, String... wanted) throws IOException {
        try (DatagramSocket server = new DatagramSocket(ANY_PORT)) {
            server.setSoTimeout((int) PATIENCE.toMillis());
            InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
            Set<String> lines = new TreeSet<>();
            try (Exporters exporters = open(new ExportConfig(null, address, dialect, INTERVAL))) {
                measured(exporters);
                DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
                while (!lines.containsAll(List.of(wanted))) {
                    server.receive(packet);
                    assertThat(packet.getLength()).isLessThanOrEqualTo(1_432);
                    lines.addAll(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8)
                            .lines()
                            .toList());
                }
            }
            return lines;
        }
    }

    private static HttpServer collector(List<ExportMetricsServiceRequest> received) throws IOException {
        HttpServer collector = HttpServer.create(ANY_PORT, 0);
        collector.createContext("/v1/metrics", exchange -> {
            received.add(ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody()));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        return collector;
    }

    private static URI url(HttpServer collector) {
        return URI.create("http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/metrics");
    }

    private static HistogramDataPoint histogram(List<ExportMetricsServiceRequest> received, String name) {
        return metrics(received).stream()
                .filter(metric -> metric.getName().equals(name))
                .flatMap(metric -> metric.getHistogram().getDataPointsList().stream())
                .findFirst()
                .orElseGet(HistogramDataPoint::getDefaultInstance);
    }

    private static Exporters open(ExportConfig config) {
        return new Exporters(config, "1.2.3", new RecordingLog());
    }

    private static Metrics measured(Exporters exporters) {
        Metrics metrics =
                new Metrics(() -> Pools.of(WorkerState.IDLE, WorkerState.BUSY), Ticker.system(), "1.2.3", exporters);
        metrics.answered(200, 12_000_000, 0, 0);
        metrics.answered(204, 34_000_000, 0, 0);
        metrics.completed(new JobReport(1, 1_500_000, 0, 1, 1, 1, 1, 1, 1, 1));
        metrics.failed(WorkerException.Kind.CRASHED);
        Objects.requireNonNull(metrics.application(10, new RecordingLog()))
                .accept(List.of(
                        new Measurement(
                                Measurement.Kind.HISTOGRAM,
                                List.of("basket", "shop", "a"),
                                List.of(5.0, 10.0),
                                List.of(7.0)),
                        new Measurement(
                                Measurement.Kind.HISTOGRAM,
                                List.of("wait"),
                                List.of(0.1, 0.5, 2.0),
                                List.of(0.025, 0.25, 0.5, 2.6))));
        return metrics;
    }

    /** Those that have no value before something happens are not sent; gauges and counters always are. */
    private static List<String> metersAlwaysThere() {
        return Arrays.stream(Meters.values())
                .filter(meter -> meter.type() != Meters.Type.TIMER)
                .map(Meters::meterName)
                .toList();
    }

    private static List<Metric> metrics(List<ExportMetricsServiceRequest> received) {
        return received.isEmpty()
                ? List.of()
                : received.get(received.size() - 1)
                        .getResourceMetrics(0)
                        .getScopeMetrics(0)
                        .getMetricsList();
    }

    private static Set<String> names(List<ExportMetricsServiceRequest> received) {
        return metrics(received).stream().map(Metric::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    private static double count(List<ExportMetricsServiceRequest> received, String name, String tag) {
        return metrics(received).stream()
                .filter(metric -> metric.getName().equals(name))
                .flatMap(metric -> metric.getHistogram().getDataPointsList().stream())
                .filter(point -> point.getAttributesList().stream()
                        .anyMatch(attribute ->
                                attribute.getValue().getStringValue().equals(tag)))
                .mapToDouble(point -> point.getCount())
                .sum();
    }

    private static double sum(List<ExportMetricsServiceRequest> received, String name, String tag) {
        return points(received, name, tag, false);
    }

    private static double value(List<ExportMetricsServiceRequest> received, String name, String tag) {
        return points(received, name, tag, true);
    }

    private static double points(
            List<ExportMetricsServiceRequest> received, String name, @Nullable String tag, boolean gauge) {
        return metrics(received).stream()
                .filter(metric -> metric.getName().equals(name))
                .flatMap(metric -> (gauge
                                ? metric.getGauge().getDataPointsList()
                                : metric.getSum().getDataPointsList())
                        .stream())
                .filter(point -> point.getAttributesList().stream()
                        .anyMatch(attribute ->
                                attribute.getValue().getStringValue().equals(tag)))
                .mapToDouble(NumberDataPoint::getAsDouble)
                .sum();
    }

    private static List<String> attributes(List<ExportMetricsServiceRequest> received) {
        return received.get(0).getResourceMetrics(0).getResource().getAttributesList().stream()
                .map(attribute ->
                        attribute.getKey() + "=" + attribute.getValue().getStringValue())
                .toList();
    }
}
