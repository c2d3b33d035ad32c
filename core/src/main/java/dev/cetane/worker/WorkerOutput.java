package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Takes what a worker prints, each line with the id of the request that ran when it was printed. Guarded by its own monitor, never
 * waits for output: the reader thread takes what is there when a request is done, before the next one can begin, and the maintenance
 * thread looks now and then while a request runs.
 */
final class WorkerOutput {
    private static final int BUFFER_BYTES = 8192;
    private static final int MOST_BYTES_AT_ONCE = 512 * 1024;

    private final int workerId;
    private final EventLog log;
    private final OutputLines lines;
    private final FileInputStream in;

    /** Changes only after everything that was printed during the request has been taken. */
    private volatile @Nullable String requestId;

    // Guarded by this.
    private final byte[] buffer = new byte[BUFFER_BYTES];

    WorkerOutput(int workerId, ApplicationKind kind, Path fifo, PoolConfig config, Ticker ticker, EventLog log)
            throws IOException {
        this.workerId = workerId;
        this.log = log;
        lines = new OutputLines(workerId, kind.isCgi(), config, ticker, log);
        // A FIFO opens at once for both directions, and then for one, since the other is there.
        FileChannel both = FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            in = new FileInputStream(fifo.toFile());
        } finally {
            both.close();
        }
    }

    /** What is printed from now on belongs to this request. Dispatching thread. */
    void serving(String id) {
        requestId = id;
    }

    /** The request is done, and what was printed so far belongs to it. Costs one system call when nothing was. Reader thread. */
    void served() {
        take();
        requestId = null;
    }

    /**
     * Takes what is there, up to a bound. Any thread.
     *
     * @return whether anything was there
     */
    boolean take() {
        try {
            if (in.available() == 0) {
                return false;
            }
            synchronized (this) {
                int taken = 0;
                int available = in.available();
                while (available > 0 && taken < MOST_BYTES_AT_ONCE) {
                    int read = in.read(buffer, 0, Math.min(available, buffer.length));
                    if (read < 0) {
                        break;
                    }
                    lines.take(ByteBuffer.wrap(buffer, 0, read), requestId);
                    taken += read;
                    available = in.available();
                }
                return taken > 0;
            }
        } catch (IOException e) {
            log.log(Level.DEBUG, "worker.output-ended", null, "worker " + workerId + ": " + e.getMessage());
            return false;
        }
    }

    /** Logs what a LOG frame carries; it counts as a line. */
    void log(Level level, String event, @Nullable String id, String text, long cut) {
        lines.log(level, event, id, text, cut);
    }

    /** Takes what is left after the process has ended, closes the pipe and returns the last lines, joined. */
    synchronized String close() {
        take();
        String last = lines.close(requestId);
        try {
            in.close();
        } catch (IOException e) {
            log.log(Level.WARN, "worker.close-failed", null, "worker " + workerId + ": " + e.getMessage());
        }
        return last;
    }
}
