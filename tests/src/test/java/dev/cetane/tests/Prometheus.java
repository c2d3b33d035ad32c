package dev.cetane.tests;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A real Prometheus in a process and a directory of its own, that asks instances each second. Used by one test's thread. */
final class Prometheus implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Path directory;
    private final String url;
    private final Process process;

    private Prometheus(Path directory, String url, Process process) {
        this.directory = directory;
        this.url = url;
        this.process = process;
    }

    /**
     * Starts it and waits until it answers.
     *
     * @param targets ports on loopback by the names that their instances get
     * @param rules texts of files of rules
     */
    static Prometheus start(Map<String, Integer> targets, List<String> rules) throws IOException {
        Path directory = Files.createTempDirectory("cetane-prometheus-");
        StringBuilder config = new StringBuilder(
                "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s\nrule_files:\n");
        for (int i = 0; i < rules.size(); i++) {
            Files.writeString(directory.resolve("rules-" + i + ".yaml"), rules.get(i));
            config.append("  - rules-").append(i).append(".yaml\n");
        }
        config.append("scrape_configs:\n  - job_name: cetane\n    static_configs:\n");
        targets.forEach((name, port) -> config.append("      - targets: ['127.0.0.1:")
                .append(port)
                .append("']\n        labels:\n          instance: ")
                .append(name)
                .append('\n'));
        Path file = Files.writeString(directory.resolve("prometheus.yml"), config);
        String address = "127.0.0.1:" + freePort();
        Process process = new ProcessBuilder(
                        "prometheus",
                        "--config.file=" + file,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=" + address)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        Prometheus prometheus = new Prometheus(directory, "http://" + address, process);
        try {
            await("Prometheus answers")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> !process.isAlive() || prometheus.isReady());
            if (!process.isAlive()) {
                throw new AssertionError("Prometheus has ended: " + Files.readString(directory.resolve("log")));
            }
            return prometheus;
        } catch (AssertionError | RuntimeException e) {
            prometheus.close();
            throw e;
        }
    }

    /** The samples that the query gives now; fails when it is not understood. */
    List<JsonNode> query(String expression) {
        JsonNode answer = get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
        if (!answer.path("status").asText().equals("success")) {
            throw new AssertionError(expression + " is refused: " + answer);
        }
        List<JsonNode> samples = new ArrayList<>();
        answer.path("data").path("result").forEach(samples::add);
        return samples;
    }

    /** The one number that it gives; 0 for none. */
    double number(String expression) {
        List<JsonNode> samples = query(expression);
        return samples.isEmpty()
                ? 0
                : Double.parseDouble(samples.get(0).path("value").path(1).asText());
    }

    /** The names of the alerts that fire for that instance. */
    List<String> firing(String instance) {
        return query("ALERTS{alertstate=\"firing\", instance=\"" + instance + "\"}").stream()
                .map(sample -> sample.path("metric").path("alertname").asText())
                .distinct()
                .toList();
    }

    private boolean isReady() {
        try {
            return send("/-/ready").statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private JsonNode get(String target) {
        try {
            return RunningCetane.json(send(target).body());
        } catch (IOException e) {
            throw new AssertionError("Prometheus does not answer: " + e, e);
        }
    }

    private HttpResponse<String> send(String target) throws IOException {
        try {
            return HTTP.send(
                    HttpRequest.newBuilder(URI.create(url + target))
                            .timeout(RunningCetane.PATIENCE)
                            .build(),
                    BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
        RunningCetane.delete(directory);
    }
}
