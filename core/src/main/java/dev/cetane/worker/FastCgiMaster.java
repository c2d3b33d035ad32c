package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.log.FileReason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A {@code php-cgi} that listens on a Unix socket and keeps a number of children, which share its opcode cache; it forks a new one for each that
 * ends. Lives on the maintenance thread; {@link #isAlive} and {@link #lastOutput} are for any.
 *
 * <p>The children are not the supervisor's, so the kernel does not end them with it, and php-cgi leaves them behind when it is killed. A shell in
 * their process group waits for the end of a pipe that the supervisor holds open as long as both live, and then kills the group.
 */
final class FastCgiMaster {
    private static final String KEEPER = """
            exec 3<&0
            { trap '' TERM INT QUIT HUP; read -r _; kill -s KILL -- "-$$"; } <&3 >/dev/null 2>&1 &
            unset PWD
            exec "$@" </dev/null 3<&-
            """;

    private static final long OUTPUT_END_MILLIS = 200;
    private static final long END_SECONDS = 5;

    private final Generation generation;
    private final Path socket;
    private final EventLog log;
    private final OutputLines lines;
    private final Process process;
    private final Thread reader;
    private boolean stopping;

    /** How many workers it has. */
    int workers;

    /**
     * Starts it; the socket is there some milliseconds later.
     *
     * @param socket where it is to listen; at most 107 bytes
     */
    FastCgiMaster(
            Generation generation, Path socket, PoolConfig config, Ticker ticker, EventLog log, Maintenance maintenance)
            throws IOException {
        this.generation = generation;
        this.socket = socket;
        this.log = log;
        lines = new OutputLines(0, false, config, ticker, log);
        process = launch(config.workers());
        reader = new Thread(this::read, "cetane-php-cgi-output");
        reader.setDaemon(true);
        reader.start();
        watch(maintenance);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // its one action cannot fail
    private void watch(Maintenance maintenance) {
        process.onExit().thenRun(() -> maintenance.execute(this::ended));
    }

    private Process launch(int workers) throws IOException {
        ApplicationConfig application = generation.application();
        List<String> command = new ArrayList<>(application.processPrefix());
        command.addAll(List.of("/bin/sh", "-c", KEEPER, "sh", application.php().toString()));
        application.ini().forEach((name, value) -> command.addAll(List.of("-d", name + "=" + value)));
        command.addAll(List.of("-b", socket.toString()));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(generation.documentRoot().toFile())
                .redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(application.environment());
        // One for each worker, one for a worker that is to replace another, one while a killed child is being replaced.
        environment.put("PHP_FCGI_CHILDREN", Integer.toString(workers + 2));
        // The pool says when a worker has served its time.
        environment.put("PHP_FCGI_MAX_REQUESTS", "0");
        try {
            return builder.start();
        } catch (IOException e) {
            throw new IOException(application.php() + " cannot be started: " + e.getMessage() + "; see app.php", e);
        }
    }

    private void read() {
        byte[] buffer = new byte[8192];
        try (InputStream in = process.getInputStream()) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                lines.take(ByteBuffer.wrap(buffer, 0, read), null);
            }
        } catch (IOException e) {
            log.log(Level.DEBUG, "worker.output-ended", null, "php-cgi: " + e.getMessage());
        }
        lines.endLine(null);
    }

    Generation generation() {
        return generation;
    }

    Path socket() {
        return socket;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** How it has ended, -1 while it has not. */
    int exitCode() {
        return process.isAlive() ? WorkerProcess.Ending.UNKNOWN : process.exitValue();
    }

    /** The last lines that it, or one of its children past FastCGI, has printed; after its end, all of them. */
    String lastOutput() {
        if (!process.isAlive()) {
            try {
                reader.join(OUTPUT_END_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return lines.last();
    }

    /** Kills it and every child. */
    void stop() {
        stopping = true;
        process.destroyForcibly();
        killGroup();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                log.log(Level.ERROR, "php-cgi.stop-failed", null, "php-cgi (pid " + pid() + ") does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        deleteSocket();
    }

    private void ended() {
        killGroup();
        deleteSocket();
        if (!stopping) {
            log.log(
                    Level.ERROR,
                    "php-cgi.ended",
                    null,
                    "php-cgi (pid " + pid() + "), the parent of " + workers + " workers, ended: "
                            + new WorkerProcess.Ending(process.exitValue(), null, null, null, "").describe()
                            + "; its workers end with it, and a new one is started",
                    "pid",
                    pid());
        }
    }

    private void killGroup() {
        try {
            // Without setsid php-cgi makes a group of its own, under the same number.
            ProcessGroup.signal(pid(), "KILL");
        } catch (IOException e) {
            log.log(
                    Level.ERROR,
                    "worker.signal-failed",
                    null,
                    "php-cgi (pid " + pid() + "): its process group cannot be signalled: " + e.getMessage());
        }
    }

    private void deleteSocket() {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException e) {
            log.log(Level.WARN, "worker.socket-left", null, socket + " cannot be deleted: " + FileReason.of(e));
        }
    }
}
