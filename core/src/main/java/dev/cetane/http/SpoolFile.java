package dev.cetane.http;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * One file in the spool: a request body, or a part of one. {@link #append} and {@link #finish} come from the connection's event loop,
 * {@link #discard} from any thread, the writing is done by a spool thread; the fields that they share are guarded by {@code lock}.
 *
 * <p>Buffers change hands here: who appends one gives it away, and the spool thread releases it.
 */
final class SpoolFile {
    private final SpoolDirectory directory;
    private final Path path;
    private final SpoolBacklog backlog;
    private final Runnable changed;

    private final Object lock = new Object();
    private final Deque<ByteBuf> waiting = new ArrayDeque<>();
    private boolean taskRuns;
    private boolean finished;
    private boolean stored;
    private boolean discarded;
    private @Nullable IOException failure;

    /** Only touched by the task, of which one runs at a time. */
    private @Nullable FileChannel channel;

    /**
     * @param backlog counts what waits for the disk; shared by the files of one request
     * @param changed called by a spool thread when there may be room again, the file be stored, or have failed
     */
    SpoolFile(SpoolDirectory directory, Path path, SpoolBacklog backlog, Runnable changed) {
        this.directory = directory;
        this.path = path;
        this.backlog = backlog;
        this.changed = changed;
    }

    Path path() {
        return path;
    }

    /** Takes the buffer over. */
    void append(ByteBuf bytes) {
        synchronized (lock) {
            if (!discarded && failure == null) {
                waiting.add(bytes);
                backlog.add(bytes.readableBytes());
                runTask();
                return;
            }
        }
        bytes.release();
    }

    /** Nothing more is appended. */
    void finish() {
        synchronized (lock) {
            finished = true;
            runTask();
        }
    }

    /** Whether every byte is in the file. */
    boolean stored() {
        synchronized (lock) {
            return stored;
        }
    }

    /** Why the body could not be stored, or null. */
    @Nullable
    IOException failure() {
        synchronized (lock) {
            return failure;
        }
    }

    /** Deletes the file, whatever has become of it; more than once is once. */
    void discard() {
        synchronized (lock) {
            if (!discarded) {
                discarded = true;
                releaseWaiting();
                runTask();
            }
        }
    }

    /** With the lock held. */
    private void runTask() {
        if (!taskRuns) {
            taskRuns = true;
            directory.execute(this::work);
        }
    }

    /** One turn on a spool thread: writes what waits, and lets other files have theirs before it goes on. */
    private void work() {
        ByteBuf[] batch;
        synchronized (lock) {
            batch = waiting.toArray(new ByteBuf[0]);
            waiting.clear();
        }
        IOException problem = null;
        for (ByteBuf buffer : batch) {
            int bytes = buffer.readableBytes();
            try {
                if (problem == null && !isDiscarded()) {
                    write(buffer);
                }
            } catch (IOException e) {
                problem = e;
            } finally {
                buffer.release();
                backlog.remove(bytes);
            }
        }
        boolean ends;
        synchronized (lock) {
            if (problem != null && failure == null) {
                failure = problem;
                releaseWaiting();
            }
            ends = waiting.isEmpty() && (finished || discarded || failure != null);
            if (!ends) {
                taskRuns = false;
                if (!waiting.isEmpty()) {
                    runTask();
                }
            }
        }
        if (ends) {
            end();
        }
        changed.run();
    }

    /** Closes the file, and deletes it if it is of no use; still the only task. */
    private void end() {
        IOException problem = create();
        problem = problem == null ? close() : problem;
        boolean useless;
        synchronized (lock) {
            if (problem != null && failure == null) {
                failure = problem;
            }
            useless = discarded || failure != null;
        }
        if (useless) {
            SpoolDirectory.deleteQuietly(path);
        }
        synchronized (lock) {
            stored = finished && !useless;
            taskRuns = false;
            if (discarded && !useless) {
                runTask();
            }
        }
    }

    private boolean isDiscarded() {
        synchronized (lock) {
            return discarded;
        }
    }

    /** Makes the file of which nothing was written: an empty one. */
    private @Nullable IOException create() {
        boolean wanted;
        synchronized (lock) {
            wanted = channel == null && !stored && !discarded && failure == null;
        }
        try {
            if (wanted) {
                channel = directory.create(path);
            }
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    private void write(ByteBuf bytes) throws IOException {
        if (channel == null) {
            channel = directory.create(path);
        }
        for (ByteBuffer part : bytes.nioBuffers()) {
            while (part.hasRemaining()) {
                channel.write(part);
            }
        }
    }

    private @Nullable IOException close() {
        FileChannel open = channel;
        channel = null;
        try {
            if (open != null) {
                open.close();
            }
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    /** With the lock held. */
    private void releaseWaiting() {
        for (ByteBuf bytes : waiting) {
            backlog.remove(bytes.readableBytes());
            bytes.release();
        }
        waiting.clear();
    }
}
