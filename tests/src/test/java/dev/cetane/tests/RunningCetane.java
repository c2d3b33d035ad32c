package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A real {@code cetane serve}, in a process and directories of its own, on ports that the system gave. Its end is checked: the exit
 * code, that no process and no file of it remains, that nothing leaked, no thread died and no PHP process by a segmentation fault. Used by one test's threads.
 */
final class RunningCetane implements AutoCloseable {
    static final Path LAUNCHER = Path.of(System.getProperty("cetane.home"), "bin", "cetane")
            .toAbsolutePath()
            .normalize();
    static final Path TESTS =
            Path.of(System.getProperty("cetane.tests")).toAbsolutePath().normalize();
    /** Longer than anything here takes on a busy machine. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Part of the request line of the one script that crashes PHP; nothing else may. */
    private static final String CRASHES_ON_PURPOSE = "GET /segfault.php";

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Pattern STARTED = Pattern.compile(" on (.*?)(?:; health and metrics on (\\S+))?$");
    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    private final Process process;
    private final Path directory;
    private final ServerLog log;
    private boolean killed;

    private RunningCetane(Process process, Path directory) {
        this.process = process;
        this.directory = directory;
        this.log = new ServerLog(process.getInputStream());
    }

    /** How an instance is to be started. */
    static class Starter {
        private final List<String> arguments = new ArrayList<>();
        private final List<String> listen = new ArrayList<>();
        private final Map<String, String> settings = new LinkedHashMap<>();
        private final Map<String, String> environment = new LinkedHashMap<>();

        Starter(Path application) {
            arguments.add(application.toString());
        }

        Starter set(String key, Object value) {
            settings.put(key, value.toString());
            return this;
        }

        Starter workers(int count) {
            return set("pool.workers", count);
        }

        Starter environment(String name, String value) {
            environment.put(name, value);
            return this;
        }

        /** Instead of a port on 127.0.0.1 that the system gives. */
        Starter listen(String... addresses) {
            listen.addAll(List.of(addresses));
            return this;
        }

        /** Starts the process and does not wait. */
        RunningCetane launch() {
            try {
                Path directory = Files.createTempDirectory("cetane-e2e-");
                List<String> command = new ArrayList<>(List.of(LAUNCHER.toString(), "serve"));
                command.addAll(arguments);
                for (String address : listen.isEmpty() ? List.of("127.0.0.1:0") : listen) {
                    command.addAll(List.of("--listen", address));
                }
                Map<String, String> all = new LinkedHashMap<>();
                all.put("ops.listen", "127.0.0.1:0");
                all.put("pool.workers", "2");
                all.put("log.format", "json");
                all.put("run-directory", directory.resolve("run").toString());
                all.put("http.spool-directory", directory.resolve("spool").toString());
                all.putAll(settings);
                all.forEach((key, value) -> command.addAll(List.of("--set", key + "=" + value)));
                // A program that was started to ignore a signal, as everything under nohup, goes on ignoring it.
                command.addAll(0, List.of("env", "--default-signal"));
                ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
                builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_"));
                builder.environment()
                        .put(
                                "CETANE_JAVA_OPTIONS",
                                "-ea -Dio.netty.leakDetectionLevel=paranoid -XX:TieredStopAtLevel=1");
                builder.environment().putAll(environment);
                Process process = builder.start();
                process.getOutputStream().close();
                return new RunningCetane(process, directory);
            } catch (IOException e) {
                throw new AssertionError("the instance could not be started", e);
            }
        }

        /** Starts and waits until requests are served. */
        RunningCetane start() {
            RunningCetane started = launch();
            try {
                started.awaitStarted();
                return started;
            } catch (AssertionError e) {
                started.process.destroyForcibly();
                throw e;
            }
        }
    }

    /** Waits until the commands find it, which they do while the application boots. */
    void awaitControl() {
        Path socket = runDirectory().resolve(Long.toString(process.pid())).resolve("control.sock");
        await("the control socket is there").atMost(PATIENCE).until(() -> Files.exists(socket));
    }

    void awaitStarted() {
        log.fromStart().await("supervisor.started");
    }

    ServerLog log() {
        return log;
    }

    /** The log from now on. */
    ServerLog.Tail logFromHere() {
        return log.fromHere();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    // ---- requests ----

    /** The addresses that take requests, in the order of {@code --listen}. */
    List<String> urls() {
        return List.of(started().group(1).split(", ", -1));
    }

    InetSocketAddress address() {
        URI uri = URI.create(urls().get(0));
        return new InetSocketAddress(uri.getHost(), uri.getPort());
    }

    HttpRequest.Builder request(String target) {
        return HttpRequest.newBuilder(URI.create(urls().get(0) + target)).timeout(PATIENCE);
    }

    /** @param fields names and values of header fields, in turn */
    HttpResponse<String> get(String target, String... fields) {
        HttpRequest.Builder request = request(target);
        if (fields.length > 0) {
            request.headers(fields);
        }
        return send(request);
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return HTTP.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new AssertionError("no answer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Where health, metrics and the dashboard are. */
    String opsUrl() {
        return started().group(2);
    }

    HttpResponse<String> ops(String target, String... fields) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(opsUrl() + target)).timeout(PATIENCE);
        if (fields.length > 0) {
            request.headers(fields);
        }
        return send(request);
    }

    RawClient connect() throws IOException {
        return new RawClient(address());
    }

    static JsonNode json(HttpResponse<String> response) {
        return json(response.body());
    }

    static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new AssertionError("no JSON: " + text, e);
        }
    }

    private Matcher started() {
        Matcher matcher =
                STARTED.matcher(log.fromStart().await("supervisor.started").message());
        assertThat(matcher.find()).isTrue();
        return matcher;
    }

    // ---- its state ----

    Path runDirectory() {
        return directory.resolve("run");
    }

    /** What the control socket answers, as JSON where it is that. */
    JsonNode control(String target) {
        String answer = controlAnswer("GET", target);
        return json(answer.substring(answer.indexOf("\r\n\r\n") + 4));
    }

    String controlAnswer(String method, String target) {
        Path socket = runDirectory().resolve(Long.toString(process.pid())).resolve("control.sock");
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(StandardCharsets.US_ASCII.encode(method + " " + target + " HTTP/1.0\r\n\r\n"));
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer buffer = ByteBuffer.allocate(8192);
            while (channel.read(buffer) >= 0) {
                answer.write(buffer.array(), 0, buffer.position());
                buffer.clear();
            }
            return answer.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError("the control socket does not answer: " + e + log.shown(), e);
        }
    }

    /** A command for this instance. */
    Command command(String... arguments) {
        String[] all = Arrays.copyOf(arguments, arguments.length + 2);
        all[arguments.length] = "--run-directory";
        all[arguments.length + 1] = runDirectory().toString();
        return Command.cetane(all);
    }

    JsonNode status() {
        return control("/status?json");
    }

    List<JsonNode> workers() {
        List<JsonNode> workers = new ArrayList<>();
        control("/workers?json").forEach(workers::add);
        return workers;
    }

    /** Of those that serve requests. */
    List<Long> workerPids() {
        return workers().stream()
                .filter(worker -> worker.path("role").asText().equals("request"))
                .map(worker -> worker.path("pid").asLong())
                .toList();
    }

    void awaitStatus(String what, Predicate<JsonNode> wanted) {
        await(what).atMost(PATIENCE).until(this::status, wanted);
    }

    void awaitWorkers(String what, Predicate<List<JsonNode>> wanted) {
        await(what).atMost(PATIENCE).until(this::workers, wanted);
    }

    /** Waits until a worker works on the request with that target. */
    JsonNode awaitRunning(String target) {
        awaitWorkers(
                "a worker runs " + target, workers -> running(workers, target).size() == 1);
        return running(workers(), target).get(0);
    }

    private static List<JsonNode> running(List<JsonNode> workers, String target) {
        return workers.stream()
                .filter(worker -> worker.path("request").asText().endsWith(" " + target))
                .toList();
    }

    /** The processes of this instance but for the supervisor and its launcher: those that were started with its run directory in the environment or in an argument. */
    List<Long> processes() {
        return Processes.mentioning(runDirectory().toString()).stream()
                .filter(pid -> pid != process.pid())
                .toList();
    }

    // ---- its end ----

    void signal(String name) {
        Processes.signal(process.pid(), name);
    }

    /** SIGKILL: nothing of it can run any more. */
    void kill() {
        killed = true;
        process.destroyForcibly();
        awaitExit();
    }

    int awaitExit() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the instance has not ended:" + log.shown());
            }
            log.awaitEnd();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        return process.exitValue();
    }

    void awaitNoProcess() {
        await("no process remains").atMost(PATIENCE).until(this::processes, List::isEmpty);
    }

    /** Stops it unless it has ended, and checks what it leaves behind. */
    @Override
    public void close() {
        try {
            if (process.isAlive()) {
                process.destroy();
                assertThat(awaitExit()).as("exit code").isZero();
            }
            // What it has killed on its way out the kernel still takes apart.
            awaitNoProcess();
            if (!killed) {
                assertThat(files()).as("files that remain").isEmpty();
            }
            for (ServerLog.Line line : log.fromStart().all()) {
                assertThat(line.text()).doesNotContain("LEAK:");
                assertThat(line.event()).as(line.text()).isNotIn("thread.died", "http.unexpected");
                if (!line.message().contains(CRASHES_ON_PURPOSE)) {
                    assertThat(line.text()).doesNotContain("signal 11 (SEGV)");
                }
            }
        } finally {
            process.destroyForcibly();
            Processes.killAll(processes());
            delete(directory);
        }
    }

    private List<Path> files() {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> !Files.isDirectory(file))
                    .filter(file -> !file.getFileName().toString().equals(".lock"))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new AssertionError(directory + " could not be removed", e);
        }
    }
}
