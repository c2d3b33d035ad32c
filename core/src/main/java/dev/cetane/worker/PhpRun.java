package dev.cetane.worker;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One run of a PHP command to its end: on the calling thread, with what it prints (both outputs) in memory.
 *
 * @param code its exit code; 128 and the signal's number where one has ended it
 * @param output what it has printed, at most {@link #MAX_OUTPUT_BYTES}; what is more is thrown away
 */
public record PhpRun(int code, String output) {
    /** Enough to name every file of a large application. */
    public static final int MAX_OUTPUT_BYTES = 16 << 20;

    /**
     * Runs it.
     *
     * @param input what it reads from its standard input
     * @param environment all of its variables
     * @throws IOException when it cannot be started, or is killed because it takes longer than {@code timeout}
     */
    public static PhpRun of(
            List<String> command, Path directory, Map<String, String> environment, Path input, Duration timeout)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectInput(input.toFile())
                .redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> read(process));
            String output = said.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return new PhpRun(process.waitFor(), output);
        } catch (TimeoutException e) {
            throw new IOException("it has not ended within " + timeout.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException("its output cannot be read: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while it ran", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String read(Process process) {
        try {
            byte[] output = process.getInputStream().readNBytes(MAX_OUTPUT_BYTES);
            // Read on, so that it does not wait for a reader.
            process.getInputStream().transferTo(OutputStream.nullOutputStream());
            return new String(output, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
