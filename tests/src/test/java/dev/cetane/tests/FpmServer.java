package dev.cetane.tests;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.TerminalFailureException;

/**
 * nginx in front of a php-fpm with one child, in processes and a directory of their own. The child keeps nothing between requests, as
 * php-fpm does. Used by one test's threads.
 */
final class FpmServer implements AutoCloseable {
    private final Path directory;
    private final InetSocketAddress address;
    private final List<Process> processes = new ArrayList<>();

    private FpmServer(Path directory, InetSocketAddress address) {
        this.directory = directory;
        this.address = address;
    }

    /**
     * Starts both and waits until they serve.
     *
     * @param application directory that holds {@code nginx.conf}, {@code php-fpm.conf} and {@code public}
     * @param ini settings of PHP beside those of Debian's {@code php.ini}
     * @param trusted networks whose {@code X-Forwarded-For} nginx believes, with commas between
     */
    static FpmServer start(Path application, Map<String, String> ini, Map<String, String> environment, String trusted)
            throws IOException {
        Path directory = Files.createTempDirectory("cetane-fpm-");
        FpmServer server =
                new FpmServer(directory, new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort()));
        try {
            server.launch(application, ini, environment, trusted);
            server.awaitServing();
            return server;
        } catch (IOException | AssertionError e) {
            server.close();
            throw e;
        }
    }

    private void launch(Path application, Map<String, String> ini, Map<String, String> environment, String trusted)
            throws IOException {
        StringBuilder proxies = new StringBuilder();
        for (String network : trusted.split(",", -1)) {
            proxies.append("set_real_ip_from ").append(network).append(";\n");
        }
        boolean root = "root".equals(System.getProperty("user.name"));
        StringBuilder pool = new StringBuilder(configuration(application, "php-fpm.conf"));
        if (root) {
            pool.append("user = root\ngroup = root\n");
        }
        environment.forEach((name, value) ->
                pool.append("env[").append(name).append("] = ").append(value).append('\n'));
        Path fpm = Files.writeString(
                directory.resolve("php-fpm.conf"), pool.toString().replace("{user}", ""));
        Path nginx = Files.writeString(
                directory.resolve("nginx.conf"),
                configuration(application, "nginx.conf")
                        .replace("{trusted}", proxies)
                        .replace("{user}", root ? "user root;" : ""));
        List<String> command = new ArrayList<>(List.of("php-fpm8.2", "-F", "-y", fpm.toString()));
        if (root) {
            command.add("-R");
        }
        ini.forEach((name, value) -> command.addAll(List.of("-d", name + "=" + value)));
        run(command, "fpm.out");
        run(List.of("nginx", "-c", nginx.toString(), "-p", directory.toString()), "nginx.out");
    }

    private String configuration(Path application, String name) throws IOException {
        return Files.readString(application.resolve(name))
                .replace("{directory}", directory.toString())
                .replace("{port}", Integer.toString(address.getPort()))
                .replace("{public}", application.resolve("public").toString());
    }

    private void run(List<String> command, String output) throws IOException {
        processes.add(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(output).toFile())
                .start());
    }

    private void awaitServing() {
        AtomicReference<String> last = new AtomicReference<>("");
        try {
            Awaitility.await()
                    .atMost(RunningCetane.PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(20))
                    .failFast("one of them has ended", () -> !processes.stream().allMatch(Process::isAlive))
                    .until(() -> serves(last));
        } catch (ConditionTimeoutException | TerminalFailureException e) {
            throw new AssertionError("nginx and php-fpm do not serve: " + last + "\n" + printed(), e);
        }
    }

    private boolean serves(AtomicReference<String> last) {
        try (RawClient client = new RawClient(address)) {
            RawClient.Answer answer = client.get("/").answer();
            last.set(answer.status() + " " + answer.body());
            return answer.status() == 200;
        } catch (IOException e) {
            last.set(e.toString());
            return false;
        }
    }

    InetSocketAddress address() {
        return address;
    }

    /** What both have printed and logged. */
    String printed() {
        StringBuilder text = new StringBuilder();
        for (String name : List.of("fpm.out", "fpm.log", "nginx.out", "nginx.log")) {
            try {
                text.append(Files.readString(directory.resolve(name), StandardCharsets.ISO_8859_1));
            } catch (IOException e) {
                text.append(name).append(": ").append(e).append('\n');
            }
        }
        return text.toString();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() throws IOException {
        processes.forEach(Process::destroy);
        for (Process process : processes) {
            try {
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                process.destroyForcibly();
            }
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
