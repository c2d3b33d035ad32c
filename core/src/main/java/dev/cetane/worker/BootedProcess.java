package dev.cetane.worker;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A PHP process that was started before this JVM, by the script that then became it: a child of this process that Java did not start. Java
 * tells of its end, {@code /proc} of how it ended; nobody collects it before this process ends. Thread-safe.
 */
final class BootedProcess extends Process {
    private static final int UNKNOWN_EXIT = 127;

    /** Place of exit_code in {@code /proc/PID/stat}, counted from the field behind the name. */
    private static final int EXIT_CODE_FIELD = 49;

    private final long pid;
    private final Optional<ProcessHandle> handle;

    private BootedProcess(long pid) {
        this.pid = pid;
        handle = ProcessHandle.of(pid);
    }

    /** The process whose id is in that file. */
    static BootedProcess of(Path pidFile) throws IOException {
        String text = Files.readString(pidFile, StandardCharsets.ISO_8859_1).strip();
        try {
            return new BootedProcess(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new IOException(pidFile + " holds no process id", e);
        }
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public boolean isAlive() {
        return handle.isPresent() && handle.get().isAlive();
    }

    @Override
    public CompletableFuture<Process> onExit() {
        return handle.isEmpty()
                ? CompletableFuture.completedFuture(this)
                : handle.get().onExit().thenApply(ended -> this);
    }

    @Override
    public int waitFor() throws InterruptedException {
        try {
            onExit().get();
        } catch (ExecutionException e) {
            return UNKNOWN_EXIT;
        }
        return exitValue();
    }

    /** As {@link Process}: 128 + n for signal n. */
    @Override
    public int exitValue() {
        try {
            String text = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ", -1);
            int status = Integer.parseInt(fields[EXIT_CODE_FIELD]);
            int signal = status & 0x7F;
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal;
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return UNKNOWN_EXIT;
        }
    }

    @Override
    public void destroy() {
        handle.ifPresent(ProcessHandle::destroy);
    }

    @Override
    public Process destroyForcibly() {
        handle.ifPresent(ProcessHandle::destroyForcibly);
        return this;
    }

    @Override
    public OutputStream getOutputStream() {
        return OutputStream.nullOutputStream();
    }

    @Override
    public InputStream getInputStream() {
        return InputStream.nullInputStream();
    }

    @Override
    public InputStream getErrorStream() {
        return InputStream.nullInputStream();
    }
}
