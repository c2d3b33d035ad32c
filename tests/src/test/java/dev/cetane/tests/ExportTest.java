package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** OTLP and StatsD of a running instance, and that nothing of them is there where nobody has asked for it. */
@Timeout(180)
final class ExportTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final List<String> LIBRARIES = List.of(
            "io.micrometer.registry.otlp.",
            "io.opentelemetry.",
            "com.google.protobuf.",
            "io.micrometer.statsd.",
            "io.micrometer.shaded.");

    @TempDir
    Path directory;

    @Test
    void without_its_keys_no_class_of_a_library_for_export_is_loaded() throws IOException {
        RunningCetane cetane = starter().start();
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        assertThat(cetane.ops("/metrics").body()).contains("cetane_requests_seconds_count");
        stop(cetane);
        assertThat(loaded()).contains("io.micrometer.").doesNotContain(LIBRARIES);
    }

    @Test
    void an_otlp_collector_gets_what_was_counted_and_the_last_of_it_at_the_stop() throws IOException {
        List<String> pushed = new CopyOnWriteArrayList<>();
        HttpServer collector = HttpServer.create(ANY_PORT, 0);
        collector.createContext("/v1/metrics", exchange -> {
            pushed.add(exchange.getRequestHeaders().getFirst("Content-Type") + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        try {
            RunningCetane cetane = starter()
                    .set(
                            "metrics.otlp",
                            "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/metrics")
                    .set("metrics.interval", "10m")
                    .environment("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer secret")
                    .environment("OTEL_SERVICE_NAME", "shop")
                    .start();
            assertThat(cetane.get("/").statusCode()).isEqualTo(200);
            stop(cetane);
            assertThat(pushed)
                    .anySatisfy(push -> assertThat(push)
                            .startsWith("application/x-protobuf Bearer secret ")
                            .contains("cetane.requests", "outcome", "2xx", "service.name", "shop"));
            assertThat(loaded()).doesNotContain("io.micrometer.statsd.", "io.micrometer.shaded.");
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void a_statsd_server_gets_each_request_and_no_second_netty_is_started_for_it() throws IOException {
        try (DatagramSocket server = new DatagramSocket(ANY_PORT)) {
            server.setSoTimeout((int) RunningCetane.PATIENCE.toMillis());
            RunningCetane cetane = starter()
                    .set("metrics.statsd", "127.0.0.1:" + server.getLocalPort())
                    .start();
            assertThat(cetane.get("/").statusCode()).isEqualTo(200);
            DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
            await("the request").atMost(RunningCetane.PATIENCE).until(() -> {
                server.receive(packet);
                return new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8)
                        .lines()
                        .anyMatch(line -> line.matches("cetane\\.requests:[0-9.]+\\|ms\\|#outcome:2xx"));
            });
            stop(cetane);
            assertThat(loaded())
                    .doesNotContain(
                            "io.micrometer.registry.otlp.",
                            "io.micrometer.shaded.reactor.netty.",
                            "io.micrometer.shaded.io.netty.bootstrap.",
                            "io.micrometer.shaded.io.netty.buffer.");
        }
    }

    @Test
    void a_bad_address_is_refused_at_the_start() {
        for (String url : List.of("127.0.0.1:4318", "ftp://collector/", "http://user:secret@collector/v1/metrics")) {
            Command.Run refused = Command.cetane(
                            "check",
                            RunningCetane.TESTS.resolve("php/by-path.php").toString(),
                            "--set",
                            "metrics.otlp=" + url)
                    .run();
            assertThat(refused.code()).as(refused.toString()).isNotZero();
            assertThat(refused.out() + refused.err()).contains("metrics.otlp");
        }
    }

    @Test
    void an_interval_that_is_none_or_huge_is_refused_with_its_range() {
        for (String setting : List.of(
                "metrics.interval=0",
                "metrics.interval=11m",
                "metrics.interval=9999999999999999999d",
                "metrics.interval=-1s",
                "pool.slow-request=9999999999999999999d")) {
            Command.Run refused = Command.cetane(
                            "check",
                            RunningCetane.TESTS.resolve("php/by-path.php").toString(),
                            "--set",
                            setting)
                    .run();
            String[] keyAndValue = setting.split("=", 2);
            assertThat(refused.code()).as(setting).isNotZero();
            assertThat(refused.out() + refused.err())
                    .contains(keyAndValue[0], keyAndValue[1])
                    .containsPattern(keyAndValue[0].startsWith("metrics") ? "100ms.*10m" : "[0-9]+m?s");
        }
    }

    @Test
    void the_layer_for_lambda_goes_without_them() throws IOException, InterruptedException {
        Path layer = directory.resolve("layer");
        ProcessBuilder builder = new ProcessBuilder(
                        RunningCetane.LAUNCHER
                                .resolve("../../share/lambda/build-layer")
                                .normalize()
                                .toString(),
                        layer.toString())
                .redirectErrorStream(true);
        builder.environment().remove("JAVA_HOME");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        try (Stream<Path> jars = Files.list(layer.resolve("cetane/lib"))) {
            assertThat(jars.map(jar -> jar.getFileName().toString()).filter(name -> name.endsWith(".jar")))
                    .isNotEmpty()
                    .allMatch(name -> name.matches("(cetane|jspecify)-.*"));
        }
    }

    private static void stop(RunningCetane cetane) {
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
    }

    private RunningCetane.Starter starter() {
        return INSTANCES
                .worker("by-path.php")
                .environment(
                        "CETANE_JAVA_OPTIONS",
                        "-ea -Dio.netty.leakDetectionLevel=paranoid -XX:TieredStopAtLevel=1 -Xlog:class+load:file="
                                + directory.resolve("classes"));
    }

    private String loaded() throws IOException {
        return Files.readString(directory.resolve("classes"));
    }
}
