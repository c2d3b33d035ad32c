package dev.cetane.http;

import dev.cetane.log.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where one server keeps request bodies that are too large for a frame and uploaded files, and the threads that write them. Servers may
 * share the directory: files are named by the process, {@code body-PID-N}, and those of processes that are gone are removed.
 * Thread-safe.
 */
class SpoolDirectory implements AutoCloseable {
    private static final String BODY = "body-";
    private static final String UPLOAD = "upload-";
    private static final int THREADS = 2;
    private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** Process id of this server. */
    private static final String OWNER = owner();

    private final Path directory;
    private final AtomicLong files = new AtomicLong();
    private final ThreadPoolExecutor writers;

    SpoolDirectory(Path directory) {
        this.directory = directory;
        AtomicInteger threads = new AtomicInteger();
        // The queue needs no bound: a file has one task at a time, and PHP's own limit bounds the files of a request.
        writers = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "cetane-spool-" + threads.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        writers.allowCoreThreadTimeOut(true);
    }

    /**
     * Opens the directory, which is made with mode 0700 when it is missing, and removes what a server that was killed has left in it.
     *
     * @throws IOException if it cannot be made or written to; the message names it
     */
    static SpoolDirectory open(Path directory) throws IOException {
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory, DIRECTORY_MODE);
            }
            if (!Files.isWritable(directory)) {
                throw new IOException("it is not writable");
            }
            removeBodies(directory);
            return new SpoolDirectory(directory.toAbsolutePath());
        } catch (IOException e) {
            throw new IOException(
                    "request bodies cannot be spooled to " + directory + ": " + FileReason.of(e)
                            + "; make it writable, or set http.spool-directory to another place",
                    e);
        }
    }

    /** A new file for one body; nothing is written yet. */
    SpoolFile newBody(SpoolBacklog backlog, Runnable changed) {
        return newFile(BODY, backlog, changed);
    }

    /** A new file for one file that is uploaded; nothing is written yet. */
    SpoolFile newUpload(SpoolBacklog backlog, Runnable changed) {
        return newFile(UPLOAD, backlog, changed);
    }

    private SpoolFile newFile(String prefix, SpoolBacklog backlog, Runnable changed) {
        return new SpoolFile(this, directory.resolve(prefix + OWNER + "-" + files.incrementAndGet()), backlog, changed);
    }

    FileChannel create(Path file) throws IOException {
        return FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), FILE_MODE);
    }

    /** Runs slow work on a spool thread, or on the caller's when the spool is closed. */
    void execute(Runnable task) {
        try {
            writers.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }

    /** Deletes a file, later. */
    void delete(Path file) {
        execute(() -> deleteQuietly(file));
    }

    static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // The directory goes with the server; until then the file only takes room.
        }
    }

    /** Ends the threads and removes the bodies that are still there. */
    @Override
    public void close() {
        writers.shutdown();
        try {
            if (!writers.awaitTermination(5, TimeUnit.SECONDS)) {
                writers.shutdownNow();
            }
            removeBodies(directory);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // They are removed when the next server starts.
        }
    }

    private static void removeBodies(Path directory) throws IOException {
        try (DirectoryStream<Path> bodies = Files.newDirectoryStream(directory, "{" + BODY + "," + UPLOAD + "}*")) {
            for (Path body : bodies) {
                if (!isInUse(String.valueOf(body.getFileName()))) {
                    Files.deleteIfExists(body);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** Whether the process that a file is named by runs, and is not this one, which has just begun or is about to end. */
    private static boolean isInUse(String name) {
        String[] parts = name.split("-", -1);
        return parts.length == 3 && !parts[1].equals(OWNER) && Files.exists(Path.of("/proc", parts[1]));
    }

    private static String owner() {
        try {
            return String.valueOf(Files.readSymbolicLink(Path.of("/proc/self")).getFileName());
        } catch (IOException e) {
            throw new UncheckedIOException("/proc/self cannot be read: Cetane needs Linux with /proc mounted", e);
        }
    }
}
