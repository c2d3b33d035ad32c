package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.log.RecordingLog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A whole instance with real PHP, in this process. */
@Timeout(60)
final class SupervisorTest {

    private static final Path CLIENT = Path.of("../php-client").toAbsolutePath().normalize();

    @TempDir
    Path root;

    private final RecordingLog log = new RecordingLog();
    private final List<String> sets = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();
    private Path run;
    private volatile Supervisor supervisor;
    private CompletableFuture<Void> ended;

    @BeforeEach
    void configure() throws IOException {
        run = root.resolve("run");
        sets.addAll(List.of(
                "http.listen=127.0.0.1:0",
                "ops.listen=127.0.0.1:0",
                "pool.workers=1",
                "run-directory=" + run,
                "http.spool-directory=" + root.resolve("spool")));
        Files.writeString(root.resolve("index.php"), "<?php echo 'version 1';");
    }

    @AfterEach
    void stop() {
        Supervisor started = supervisor;
        if (started != null && ended != null && !ended.isDone()) {
            started.stop(true);
            started.stop(true);
        }
    }

    @Test
    void anInstanceServesReloadsAndStops() throws Exception {
        start();
        String message = log.await("supervisor.started").message();
        assertThat(message)
                .matches("Serving " + root + " \\(front-controller\\) on http://127\\.0\\.0\\.1:\\d+;"
                        + " health and metrics on http://127\\.0\\.0\\.1:\\d+");
        String url = message.replaceFirst(".* on (http://[^;]+);.*", "$1");
        String ops = message.replaceFirst(".* on ", "");

        assertThat(get(url + "/").body()).isEqualTo("version 1");
        assertThat(get(ops + "/health/ready").statusCode()).isEqualTo(200);
        assertThat(get(ops + "/metrics").body()).contains("cetane_requests_seconds_count{outcome=\"2xx\"} 1\n");

        ControlClient control = ControlClient.find(List.of(run), null);
        assertThat(control.ask("GET", "/status").body()).contains("listens on   " + url + "\n");

        Files.writeString(root.resolve("index.php"), "<?php echo 'version 2';");
        assertThat(control.ask("POST", "/reload")).isEqualTo(new ControlClient.Answer(200, "Generation 2 serves.\n"));
        assertThat(get(url + "/").body()).isEqualTo("version 2");

        supervisor.stop(false);
        ended.get(30, TimeUnit.SECONDS);

        assertThat(log.events("supervisor.stopped").get(0).message()).isEqualTo("Stopped");
        assertThat(RunDirectory.instances(run)).isEmpty();
        assertThatThrownBy(() -> get(url + "/")).isInstanceOf(IOException.class);
    }

    @Test
    void aRunningRequestIsFinishedByAStopAndCutByASecondOne() throws Exception {
        Files.writeString(
                root.resolve("index.php"),
                "<?php touch('" + root + "/running'); while (!file_exists('" + root
                        + "/go')) { usleep(1000); } echo 'finished';");
        start();
        String url = log.await("supervisor.started").message().replaceFirst(".* on (http://[^;]+);.*", "$1");
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request(url + "/"), HttpResponse.BodyHandlers.ofString());
        awaitFile(root.resolve("running"));

        supervisor.stop(false);
        log.await("supervisor.draining");
        ControlClient control = ControlClient.find(List.of(run), null);
        assertThat(control.ask("GET", "/health/ready"))
                .isEqualTo(new ControlClient.Answer(503, "unavailable: draining\n"));
        Files.createFile(root.resolve("go"));

        assertThat(answer.get(30, TimeUnit.SECONDS).body()).isEqualTo("finished");
        ended.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aSecondStopDoesNotWait() throws Exception {
        Files.writeString(
                root.resolve("index.php"), "<?php touch('" + root + "/running'); while (true) { usleep(1000); }");
        start();
        String url = log.await("supervisor.started").message().replaceFirst(".* on (http://[^;]+);.*", "$1");
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request(url + "/"), HttpResponse.BodyHandlers.ofString());
        awaitFile(root.resolve("running"));

        supervisor.stop(false);
        log.await("supervisor.draining");
        supervisor.stop(false);

        ended.get(30, TimeUnit.SECONDS);
        assertThat(log.await("supervisor.stopped").message()).isEqualTo("Stopped at once, running requests were cut");
        // A 503 or a cut connection, but not an answer of the application.
        HttpResponse<String> got = answer.exceptionally(failure -> null).get(30, TimeUnit.SECONDS);
        assertThat(got == null || got.statusCode() == 503).isTrue();
    }

    @Test
    void aBrokenNewVersionIsReportedAndTheOldOneServes() throws Exception {
        Path script = Files.writeString(
                root.resolve("worker.php"), "<?php Cetane\\Worker::run(fn () => new Cetane\\Response(200, [], 'x'));");
        start("worker.php");
        log.await("supervisor.started");
        ControlClient control = ControlClient.find(List.of(run), null);
        Files.writeString(script, "<?php throw new RuntimeException('no database');");

        ControlClient.Answer answer = control.ask("POST", "/reload");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.body()).contains("no database");
        assertThat(control.ask("GET", "/health/ready").status()).isEqualTo(200);
        assertThat(control.ask("GET", "/status").body()).contains("no database");
    }

    @Test
    void aPortInUseIsNamedWithWhatToDo() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            sets.add("http.listen=127.0.0.1:" + taken.getLocalPort());
            start();

            assertThatThrownBy(() -> ended.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(CommandException.class)
                    .hasMessageStartingWith("cannot start: cannot listen on 127.0.0.1:" + taken.getLocalPort() + ": ")
                    .hasMessageContaining("Address already in use")
                    .hasMessageContaining("--listen");
        }
    }

    @Test
    void anApplicationThatCannotBootEndsTheStartWithItsOwnMessage() throws IOException {
        Files.writeString(root.resolve("worker.php"), "<?php throw new RuntimeException('no database');");
        start("worker.php");

        assertThatThrownBy(() -> ended.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("cannot start: ")
                .hasMessageContaining("no database")
                .hasMessageContaining("worker.php");
        assertThat(RunDirectory.instances(run)).isEmpty();
    }

    @Test
    void anApplicationThatHangsWhileItBootsEndsTheStartAtTheTimeout() throws IOException {
        Files.writeString(root.resolve("worker.php"), "<?php while (true) { usleep(1000); }");
        sets.add("pool.boot-timeout=200ms");
        start("worker.php");

        assertThatThrownBy(() -> ended.get(30, TimeUnit.SECONDS))
                .cause()
                .hasMessageContaining("was not ready within pool.boot-timeout (200ms)");
    }

    @Test
    void aStopDuringTheBootStopsAtOnce() throws Exception {
        Files.writeString(
                root.resolve("worker.php"), "<?php touch('" + root + "/running'); while (true) { usleep(1000); }");
        start("worker.php");
        awaitFile(root.resolve("running"));

        supervisor.stop(false);

        ended.get(30, TimeUnit.SECONDS);
        assertThat(log.events("supervisor.started")).isEmpty();
    }

    private void start() {
        start(".");
    }

    /** Runs an instance on a thread of its own, as its main thread. */
    private void start(String app) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        CompletableFuture<Void> made = new CompletableFuture<>();
        CetaneConfig config = new ConfigLoader(Map.of(), root, 4711)
                .load(new ConfigLoader.Flags(app, null, sets, List.of(), null, null));
        ApplicationFinder.Found found =
                new ApplicationFinder(config.app(), Map.of("PATH", "/usr/bin:/bin"), root, CLIENT).find();
        Thread main = new Thread(
                () -> {
                    try (RunDirectory directory = RunDirectory.create(run, 4711)) {
                        supervisor = new Supervisor(config, found, directory.directory(), log);
                        made.complete(null);
                        supervisor.run();
                    } catch (RuntimeException e) {
                        made.complete(null);
                        result.completeExceptionally(e);
                    }
                    result.complete(null);
                },
                "main of the instance");
        main.start();
        made.join();
        ended = result;
    }

    private HttpResponse<String> get(String url) throws IOException, InterruptedException {
        return client.send(request(url), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).build();
    }

    private static void awaitFile(Path file) {
        while (!Files.exists(file)) {
            Thread.onSpinWait();
        }
    }
}
