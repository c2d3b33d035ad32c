package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code php artisan octane:start} and its like, with the real command, the real server and the real signals. */
@Timeout(180)
final class OctaneCommandTest {
    private static final Path ARTISAN = RunningCetane.TESTS.resolve("apps/octane/artisan");
    private static final Pattern LOCAL = Pattern.compile("Local: (http://\\S+)");

    @TempDir
    private Path directory;

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void nothingRemains() {
        started.forEach(Process::destroyForcibly);
        await("no process of the server remains")
                .atMost(RunningCetane.PATIENCE)
                .until(() -> Processes.mentioning(directory.toString()), List::isEmpty);
    }

    @Test
    void octanes_commands_start_ask_reload_and_stop_the_server() throws IOException {
        Process artisan = start("local", "octane:start", "--server=cetane", "--port=0", "--workers=1");
        URI server = awaitServer();
        assertThat(get(server, "/environment")).contains("\"env\":\"local\"").contains("\"octane\":\"1\"");
        awaitConsole("200    GET /environment ");
        assertThat(get(server, "/stdout")).isEqualTo("clean");
        awaitConsole("{\"type\":\"request\",\"noise\":true}");

        assertThat(run("octane:status", "--server=cetane").out()).contains("Octane server is running.");
        assertThat(run("cetane:status").out()).contains("generation   1");
        assertThat(run("octane:reload", "--server=cetane").code()).isZero();
        assertThat(run("cetane:status").out()).contains("generation   2");
        Command.Run second = run("octane:start", "--server=cetane", "--port=0");
        assertThat(second.code()).isEqualTo(1);
        assertThat(second.out()).contains("runs already");

        assertThat(run("octane:stop", "--server=cetane").code()).isZero();
        assertThat(exitCode(artisan)).isZero();
        assertThat(run("octane:status", "--server=cetane").code()).isEqualTo(1);
        assertThat(directory.resolve("state.json")).doesNotExist();
    }

    @Test
    void a_signal_lets_the_running_request_finish() throws IOException {
        Process artisan = start("production", "cetane:start", "--port=0", "--workers=1");
        URI server = awaitServer();
        try (RawClient client = connect(server)) {
            client.get("/slow?ms=1500");
            await("the request runs")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> run("cetane:status").out().contains("1 busy"));
            artisan.destroy();
            assertThat(client.answer().body()).isEqualTo("done");
        }
        assertThat(exitCode(artisan)).isZero();
        assertThat(console()).doesNotContain("GET /slow");
    }

    @Test
    void without_pcntl_the_server_ends_with_the_command() throws IOException {
        Process artisan = start(
                "production",
                "-d",
                "disable_functions=pcntl_signal,pcntl_async_signals,posix_kill",
                "octane:start",
                "--server=cetane",
                "--port=0");
        URI server = awaitServer();
        assertThat(get(server, "/hello")).isEqualTo("Hello, world!");
        artisan.destroyForcibly();
        exitCode(artisan);
        // What remains is looked for after each test.
    }

    @Test
    void an_application_that_cannot_boot_is_told_once_and_in_full() throws IOException {
        Process artisan = start("broken", "octane:start", "--server=cetane", "--port=0");
        assertThat(exitCode(artisan)).isEqualTo(1);
        assertThat(console())
                .containsOnlyOnce("LogicException: a provider does not like it here")
                .contains("#0 ", "HarnessServiceProvider");
    }

    private Process start(String environment, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("env", "--default-signal", "php"));
        int options = words[0].equals("-d") ? 2 : 0;
        command.addAll(List.of(words).subList(0, options));
        command.addAll(List.of(ARTISAN.toString(), "--no-ansi"));
        command.addAll(List.of(words).subList(options, words.length));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("console").toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_"));
        builder.environment().putAll(environment());
        // Broken for the workers, which the command itself must survive to tell of it.
        builder.environment().put("APP_ENV", environment.equals("broken") ? "production" : environment);
        if (environment.equals("broken")) {
            builder.environment().put("HARNESS_BROKEN", "web");
        }
        Process process = builder.start();
        process.getOutputStream().close();
        started.add(process);
        return process;
    }

    private Command.Run run(String... words) {
        List<String> command = new ArrayList<>(List.of("php", ARTISAN.toString(), "--no-ansi"));
        command.addAll(List.of(words));
        Command artisan = Command.of(command.toArray(String[]::new));
        environment().forEach(artisan::environment);
        return artisan.run();
    }

    private Map<String, String> environment() {
        return Map.of(
                "CETANE_COMMAND", RunningCetane.LAUNCHER.toString(),
                "CETANE_STATE_FILE", directory.resolve("state.json").toString(),
                "CETANE_RUN_DIRECTORY", directory.resolve("run").toString(),
                "CETANE_HTTP_SPOOL_DIRECTORY", directory.resolve("spool").toString(),
                "CETANE_OPS_LISTEN", "off",
                "CETANE_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1",
                "DEMO_STORAGE", directory.resolve("storage").toString());
    }

    private String console() {
        try {
            return Files.readString(directory.resolve("console"), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitConsole(String text) {
        await("the console shows " + text)
                .atMost(RunningCetane.PATIENCE)
                .until(() -> console().contains(text));
    }

    private URI awaitServer() {
        awaitConsole("Press Ctrl+C");
        Matcher local = LOCAL.matcher(console());
        assertThat(local.find()).as(console()).isTrue();
        return URI.create(local.group(1));
    }

    private static RawClient connect(URI server) throws IOException {
        return new RawClient(new InetSocketAddress(server.getHost(), server.getPort()));
    }

    private static String get(URI server, String target) throws IOException {
        try (RawClient client = connect(server)) {
            return client.get(target).answer().body();
        }
    }

    private int exitCode(Process process) {
        try {
            boolean ended = process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(ended).as(console()).isTrue();
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
