package dev.cetane.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A real pool of real PHP processes that run {@code worker.php} of the test resources. Closing it checks that nothing is left. */
final class PhpPool implements AutoCloseable {
    static final List<String> PREFIX = List.of("/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/setsid");

    final RecordingLog log = new RecordingLog();
    final RecordingListener listener = new RecordingListener();
    final Path directory;
    final WorkerPool pool;

    private PhpPool(Settings settings) {
        try {
            directory = Files.createTempDirectory("cetane-pool");
            Files.createFile(directory.resolve("autoload.php"));
            Files.createDirectory(directory.resolve("run"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ApplicationConfig application = new ApplicationConfig(
                ApplicationKind.WORKER,
                settings.script,
                "",
                "",
                settings.php,
                Map.of("display_errors", "stderr", "opcache.enable_cli", "1"),
                Map.of("PATH", "/usr/bin:/bin"),
                false,
                directory,
                PREFIX);
        pool = new WorkerPool(
                settings.toConfig(), application, directory.resolve("run"), Ticker.system(), log, listener);
    }

    /** What a test changes of the defaults. */
    static final class Settings {
        Path script = resource("worker.php");
        Path php = Path.of("/usr/bin/php");
        int workers = 1;
        int queueSize = 128;
        Duration queueTimeout = Duration.ofSeconds(10);
        Duration bootTimeout = Duration.ofSeconds(10);
        Duration requestTimeout = Duration.ofSeconds(10);
        Duration stopGrace = Duration.ofSeconds(5);
        Duration killGrace = Duration.ofMillis(300);
        int maxRequests;
        Duration maxLifetime = Duration.ZERO;
        long maxMemoryBytes;
        Duration backoffInitial = Duration.ofMillis(50);
        int outputLinesPerSecond = 1000;

        PoolConfig toConfig() {
            return new PoolConfig(
                    workers,
                    queueSize,
                    queueTimeout,
                    bootTimeout,
                    requestTimeout,
                    stopGrace,
                    killGrace,
                    maxRequests,
                    maxLifetime,
                    maxMemoryBytes,
                    0,
                    backoffInitial,
                    Duration.ofSeconds(1),
                    8192,
                    outputLinesPerSecond);
        }
    }

    static Path resource(String name) {
        try {
            return Path.of(PhpPool.class.getResource(name).toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    static PhpPool started(Consumer<Settings> change) {
        PhpPool pool = notStarted(change);
        pool.pool.start();
        return pool;
    }

    static PhpPool notStarted(Consumer<Settings> change) {
        Settings settings = new Settings();
        change.accept(settings);
        return new PhpPool(settings);
    }

    RecordingJob submit(String path) {
        return submit(new RecordingJob(path));
    }

    RecordingJob submit(RecordingJob job) {
        pool.submit(job);
        return job;
    }

    RecordingJob get(String path) {
        return submit(path).await();
    }

    /** Processes that were started with a FIFO of this pool in their environment and are still there, zombies too. */
    List<Long> processes() {
        String mark = "CETANE_IN=" + directory;
        return ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> {
                    try {
                        return Files.readString(
                                        Path.of("/proc/" + pid + "/environ"),
                                        java.nio.charset.StandardCharsets.ISO_8859_1)
                                .contains(mark);
                    } catch (IOException gone) {
                        return false;
                    }
                })
                .toList();
    }

    @Override
    public void close() {
        pool.close();
        List<Long> left = processes();
        if (!left.isEmpty()) {
            throw new AssertionError("left behind: " + left);
        }
        long zombies = ProcessHandle.current()
                .children()
                .filter(child -> child.info().command().isEmpty() && child.isAlive())
                .count();
        if (zombies > 0) {
            throw new AssertionError(zombies + " zombies");
        }
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> all = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : all) {
                if (file.toString().contains("/run/")) {
                    throw new AssertionError("FIFO left behind: " + file);
                }
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
