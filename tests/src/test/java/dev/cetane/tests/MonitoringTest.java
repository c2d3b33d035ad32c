package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The dashboards and rules that are shipped, before a real Prometheus that asks real instances. */
@Timeout(420)
final class MonitoringTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final Path SHARE =
            RunningCetane.LAUNCHER.resolve("../../share").normalize();
    private static final Pattern ALERT = Pattern.compile("(?m)^ *- alert: (\\w+)$");
    private static final String HEALTHY = "healthy";
    private static final String FAULTY = "faulty";

    @TempDir
    Path directory;

    // ---- as they are ----

    @Test
    void the_rules_are_sound_and_keep_their_times() throws IOException {
        promtool(
                "check",
                "rules",
                rules("cetane-recording").toString(),
                rules("cetane-alerts").toString());
        promtool(
                "test",
                "rules",
                RunningCetane.TESTS.resolve("prometheus/cetane-test.yaml").toString());
    }

    // ---- dashboards ----

    @Test
    void every_query_of_every_dashboard_returns_figures_under_load() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").start();
        try (Load load = new Load(cetane, 2, "/");
                Prometheus prometheus =
                        Prometheus.start(Map.of(HEALTHY, opsPort(cetane)), List.of(read("cetane-recording")))) {
            load.awaitAnswers(10);
            List<String> expressions = new ArrayList<>();
            for (String name : List.of("cetane-overview", "cetane-workers")) {
                expressions.addAll(expressions(dashboard(name)));
            }
            assertThat(expressions).hasSizeGreaterThan(40);
            for (String expression : expressions) {
                await(expression)
                        .atMost(RunningCetane.PATIENCE)
                        .until(() -> prometheus.query(expression), MonitoringTest::areFigures);
            }
            for (String record : records()) {
                await(record)
                        .atMost(RunningCetane.PATIENCE)
                        .until(() -> prometheus.query(record), MonitoringTest::areFigures);
            }
        }
    }

    @Test
    void every_dashboard_says_what_it_shows_and_asks_the_data_source_that_is_chosen() throws IOException {
        Set<String> uids = new TreeSet<>();
        try (Stream<Path> files = Files.list(SHARE.resolve("grafana"))) {
            for (Path file : files.toList()) {
                JsonNode dashboard = RunningCetane.json(Files.readString(file));
                uids.add(dashboard.path("uid").asText());
                assertThat(dashboard
                                .path("templating")
                                .path("list")
                                .path(0)
                                .path("type")
                                .asText())
                        .isEqualTo("datasource");
                for (JsonNode panel : dashboard.path("panels")) {
                    assertThat(panel.path("description").asText())
                            .as(panel.path("title").asText())
                            .isNotEmpty();
                    assertThat(panel.path("datasource").path("uid").asText()).isEqualTo("${datasource}");
                    assertThat(panel.path("targets")).isNotEmpty();
                }
            }
        }
        assertThat(uids).containsExactly("cetane-lambda", "cetane-overview", "cetane-workers");
    }

    // ---- alerts ----

    /** With the times of the rules cut: two seconds stand for a minute. */
    @Test
    @SuppressWarnings("try") // what is open and not asked is the load, or takes a connection
    void every_alert_fires_in_its_fault_and_none_where_all_is_well() throws IOException {
        Path broken = directory.resolve("broken");
        Path application = Files.writeString(
                directory.resolve("worker.php"),
                "<?php\nif (file_exists(" + quoted(broken) + ")) {\n    exit(1);\n}\nrequire "
                        + quoted(RunningCetane.TESTS.resolve("php/by-path.php")) + ";\n");
        RunningCetane healthy = INSTANCES.worker("by-path.php").start();
        RunningCetane faulty = INSTANCES
                .application(application)
                .workers(1)
                .set("pool.queue-size", 2)
                .set("pool.queue-timeout", "5m")
                .set("pool.request-timeout", "1500ms")
                .set("http.route-timeouts./until-cancelled", "5m")
                .set("http.write-timeout", "5m")
                .set("http.max-connections", 8)
                .set("pool.backoff-initial", "100ms")
                .set("pool.backoff-max", "200ms")
                .start();
        Map<String, Integer> targets = Map.of(HEALTHY, opsPort(healthy), FAULTY, opsPort(faulty));
        Set<String> fired = new TreeSet<>();
        try (Load everyday = new Load(healthy, 1, "/");
                Prometheus prometheus = Prometheus.start(targets, List.of(quick(read("cetane-alerts"))))) {
            try (Load load = new Load(faulty, 1, "/")) {
                load.awaitAnswers(10);
                await("rules are looked at again and again")
                        .atMost(RunningCetane.PATIENCE)
                        .until(() -> prometheus.number("count_over_time(up{instance=\"" + FAULTY + "\"}[1h])") > 8);
                assertThat(prometheus.query("ALERTS{alertstate=\"firing\"}")).isEmpty();
            }

            try (Load load = new Load(faulty, 1, "/exception")) {
                awaitFiring(prometheus, fired, "CetaneErrors");
            }
            try (Load load = new Load(faulty, 1, "/die-before-head")) {
                awaitFiring(prometheus, fired, "CetaneWorkersFail");
            }
            try (Load load = new Load(faulty, 1, "/hang")) {
                awaitFiring(prometheus, fired, "CetaneSlow");
            }
            faulty.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
            try (RawClient running = faulty.connect();
                    RawClient first = faulty.connect();
                    RawClient second = faulty.connect();
                    RawClient refused = faulty.connect()) {
                running.get("/until-cancelled").head();
                first.get("/");
                second.get("/");
                faulty.awaitStatus("full", status -> status.at("/queue/depth").asInt() == 2);
                awaitFiring(prometheus, fired, "CetaneQueueGrows", "CetaneNotReady", "CetaneSaturated");
                await("CetaneRequestsRefused").atMost(RunningCetane.PATIENCE).until(() -> {
                    assertThat(faulty.get("/").statusCode()).isEqualTo(503);
                    return prometheus.firing(FAULTY).contains("CetaneRequestsRefused");
                });
                fired.add("CetaneRequestsRefused");
            }
            await("CetaneConnectionsRefused").atMost(RunningCetane.PATIENCE).until(() -> {
                List<RawClient> clients = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    clients.add(faulty.connect());
                }
                for (RawClient client : clients) {
                    client.close();
                }
                return prometheus.firing(FAULTY).contains("CetaneConnectionsRefused");
            });
            fired.add("CetaneConnectionsRefused");

            faulty.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 1);
            Files.createFile(broken);
            faulty.workerPids().forEach(pid -> Processes.signal(pid, "KILL"));
            awaitFiring(prometheus, fired, "CetaneBootsFail");
            Files.delete(broken);
            faulty.awaitStatus(
                    "idle again", status -> status.at("/workers/idle").asInt() == 1);

            faulty.signal("TERM");
            faulty.awaitExit();
            awaitFiring(prometheus, fired, "CetaneDown");

            assertThat(prometheus.query(
                            "count_over_time(ALERTS{alertstate=\"firing\", instance=\"" + HEALTHY + "\"}[1h])"))
                    .isEmpty();
        }
        Set<String> all = new TreeSet<>();
        Matcher alert = ALERT.matcher(read("cetane-alerts"));
        while (alert.find()) {
            all.add(alert.group(1));
        }
        assertThat(fired).isEqualTo(all);
    }

    private static void awaitFiring(Prometheus prometheus, Set<String> fired, String... alerts) {
        await(String.join(", ", alerts))
                .atMost(RunningCetane.PATIENCE)
                .until(() -> prometheus.firing(FAULTY), firing -> firing.containsAll(List.of(alerts)));
        fired.addAll(List.of(alerts));
    }

    // ---- what is shipped ----

    private static Path rules(String name) {
        return SHARE.resolve("prometheus").resolve(name + ".yaml");
    }

    private static String read(String name) throws IOException {
        return Files.readString(rules(name));
    }

    private static JsonNode dashboard(String name) throws IOException {
        return RunningCetane.json(Files.readString(SHARE.resolve("grafana").resolve(name + ".json")));
    }

    /** As Grafana asks, with everything selected. */
    private static List<String> expressions(JsonNode dashboard) {
        List<String> expressions = new ArrayList<>();
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                expressions.add(target.path("expr")
                        .asText()
                        .replace("$__rate_interval", "10s")
                        .replace("$job", ".+")
                        .replace("$instance", ".+"));
            }
        }
        return expressions;
    }

    private static List<String> records() throws IOException {
        List<String> records = new ArrayList<>();
        Matcher record = Pattern.compile("(?m)^ *- record: (\\S+)$").matcher(read("cetane-recording"));
        while (record.find()) {
            records.add(record.group(1));
        }
        return records;
    }

    private static boolean areFigures(List<JsonNode> samples) {
        return !samples.isEmpty()
                && samples.stream()
                        .allMatch(sample -> Double.isFinite(
                                Double.parseDouble(sample.path("value").path(1).asText())));
    }

    /** Minutes become twice as many seconds. */
    private static String quick(String rules) {
        return Pattern.compile("(?<=\\[|for: )(\\d+)m\\b")
                .matcher(rules)
                .replaceAll(minutes -> 2 * Integer.parseInt(minutes.group(1)) + "s");
    }

    private static int opsPort(RunningCetane cetane) {
        return URI.create(cetane.opsUrl()).getPort();
    }

    private static String quoted(Path path) {
        return "'" + path.toString().replace("'", "\\'") + "'";
    }

    private static void promtool(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            assertThat(process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        assertThat(process.exitValue()).as(output).isZero();
    }
}
