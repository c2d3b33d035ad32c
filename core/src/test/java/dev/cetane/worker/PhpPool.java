package dev.cetane.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A real pool of real PHP processes that run one of the workers in {@code tests/php}, {@code by-path.php} unless told otherwise. Closing it checks that nothing is left. */
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
                settings.toConfig(),
                application,
                settings.services,
                directory.resolve("run"),
                Ticker.system(),
                log,
                listener);
    }

    /** Replies with what it was asked. */
    static final class Echo implements CallHandler {
        @Override
        public void call(Caller caller, ByteBuffer call) {
            caller.reply(ByteBuffer.allocate(call.remaining()).put(call).flip());
        }

        @Override
        public void left(Caller caller) {}
    }

    /** What a test changes of the defaults. */
    static final class Settings {
        Path script = script("by-path");
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
        WorkerServices services = new WorkerServices(
                new Echo(), WorkerServices.Role.REQUEST, 0, new AtomicInteger()::incrementAndGet, null);

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
                    outputLinesPerSecond,
                    Duration.ofHours(1));
        }
    }

    /** One of the misbehaving workers. */
    static Path script(String name) {
        return Path.of("../tests/php").toAbsolutePath().normalize().resolve(name + ".php");
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
                        return Files.readString(Path.of("/proc/" + pid + "/environ"), StandardCharsets.ISO_8859_1)
                                .contains(mark);
                    } catch (IOException gone) {
                        return false;
                    }
                })
                .toList();
    }

    /** Waits for a process that has been killed to be gone. */
    static void awaitEnd(long pid) {
        ProcessHandle.of(pid).ifPresent(process -> {
            try {
                process.onExit().get(5, TimeUnit.SECONDS);
            } catch (ExecutionException | InterruptedException | TimeoutException e) {
                throw new AssertionError("process " + pid + " was left behind", e);
            }
        });
    }

    @Override
    public void close() {
        pool.close();
        processes().forEach(PhpPool::awaitEnd);
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
