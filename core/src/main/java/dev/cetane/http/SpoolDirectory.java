package dev.cetane.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where one server keeps request bodies that are too large for a frame, and the threads that write them. Thread-safe.
 *
 * <p>Each server has a directory of its own, mode 0700, with a lock file that it holds while it lives. One whose lock is free was
 * left by a server that was killed, and is removed when the next one starts.
 */
final class SpoolDirectory implements AutoCloseable {
    private static final String PREFIX = "spool-";
    private static final String LOCK = "lock";
    private static final int THREADS = 2;
    private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path directory;
    private final FileChannel lockFile;
    private final AtomicLong files = new AtomicLong();
    private final ThreadPoolExecutor writers;

    private SpoolDirectory(Path directory, FileChannel lockFile) {
        this.directory = directory;
        this.lockFile = lockFile;
        AtomicInteger threads = new AtomicInteger();
        // The queue needs no bound: a file has one task at a time, and there is at most one file a connection.
        writers = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "cetane-spool-" + threads.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        writers.allowCoreThreadTimeOut(true);
    }

    /**
     * Makes a server's directory below {@code parent}, which is made when it is missing, and removes what dead servers have left.
     *
     * @throws IOException if the directory cannot be made or written to; the message names it
     */
    static SpoolDirectory open(Path parent) throws IOException {
        try {
            Files.createDirectories(parent);
            try (DirectoryStream<Path> left = Files.newDirectoryStream(parent, PREFIX + "*")) {
                for (Path candidate : left) {
                    removeIfDead(candidate);
                }
            }
            Path directory = Files.createTempDirectory(parent.toAbsolutePath(), PREFIX, DIRECTORY_MODE);
            FileChannel lockFile = FileChannel.open(
                    directory.resolve(LOCK),
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    FILE_MODE);
            lockFile.lock();
            return new SpoolDirectory(directory, lockFile);
        } catch (IOException e) {
            throw new IOException(
                    "request bodies cannot be spooled to " + parent + " (" + e.getMessage()
                            + "); make it writable or set http.spool-directory",
                    e);
        }
    }

    /** A new file for one body; nothing is written yet. */
    SpoolFile newFile(Runnable changed) {
        return new SpoolFile(this, directory.resolve("body-" + files.incrementAndGet()), changed);
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

    /** Ends the threads and removes the directory with all that is in it. */
    @Override
    public void close() {
        writers.shutdown();
        boolean interrupted = false;
        try {
            if (!writers.awaitTermination(5, TimeUnit.SECONDS)) {
                writers.shutdownNow();
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        try {
            lockFile.close();
            remove(directory);
        } catch (IOException e) {
            // The next server removes it.
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void removeIfDead(Path candidate) throws IOException {
        Path lock = candidate.resolve(LOCK);
        if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock held = channel.tryLock()) {
            if (held != null) {
                remove(candidate);
            }
        } catch (OverlappingFileLockException e) {
            // Held by another server in this process.
        }
    }

    private static void remove(Path directory) throws IOException {
        List<Path> entries;
        try (var listed = Files.list(directory)) {
            entries = listed.toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (Path entry : entries) {
            Files.deleteIfExists(entry);
        }
        Files.deleteIfExists(directory);
    }
}
