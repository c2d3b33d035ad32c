package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns what a worker prints into log lines, bounded in length and rate, each with the id of the request that ran when it was printed.
 * Guarded by its own monitor, never waits for output: the reader thread takes what is there when a request is done, before the next one
 * can begin, and the maintenance thread looks now and then while a request runs.
 */
final class WorkerOutput {
    private static final int BUFFER_BYTES = 8192;
    private static final int MOST_BYTES_AT_ONCE = 512 * 1024;
    private static final int LAST_LINES = 10;
    private static final int LAST_LINE_CHARS = 500;

    private final int workerId;
    private final boolean cgi;
    private final Ticker ticker;
    private final EventLog log;
    private final int linesPerSecond;
    private final FileInputStream in;

    /** Changes only after everything that was printed during the request has been taken. */
    private volatile @Nullable String requestId;

    // Guarded by this.
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final byte[] line;
    private int lineLength;
    private long cutBytes;
    private long secondSinceNanos;
    private int linesThisSecond;
    private long dropped;
    private final ArrayDeque<String> lastLines = new ArrayDeque<>();

    WorkerOutput(int workerId, ApplicationKind kind, Path fifo, PoolConfig config, Ticker ticker, EventLog log)
            throws IOException {
        this.workerId = workerId;
        this.ticker = ticker;
        this.log = log;
        cgi = kind.isCgi();
        linesPerSecond = config.outputLinesPerSecond();
        line = new byte[config.outputLineBytes()];
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
                    split(read);
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

    private void split(int length) {
        for (int i = 0; i < length; i++) {
            byte b = buffer[i];
            if (b == '\n') {
                endLine();
            } else if (lineLength < line.length) {
                line[lineLength++] = b;
            } else {
                cutBytes++;
            }
        }
    }

    private void endLine() {
        int length = lineLength;
        long cut = cutBytes;
        lineLength = 0;
        cutBytes = 0;
        boolean carriageReturn = length > 0 && line[length - 1] == '\r';
        if (length == 0 || (cgi && carriageReturn && isCgiHeader(length - 1))) {
            return;
        }
        String text = new String(line, 0, carriageReturn ? length - 1 : length, StandardCharsets.UTF_8);
        remember(text);
        log(Level.INFO, "worker.output", requestId, text, cut);
    }

    /** Logs one line of the worker's, unless there were too many this second; LOG frames count as lines. */
    synchronized void log(Level level, String event, @Nullable String id, String text, long cut) {
        if (!admitted()) {
            dropped++;
            return;
        }
        reportDropped();
        if (cut > 0) {
            log.log(level, event, id, text, "worker", workerId, "cut_bytes", cut);
        } else {
            log.log(level, event, id, text, "worker", workerId);
        }
    }

    /** php-cgi prints the headers it has kept when it ends; they belong to no answer. */
    private boolean isCgiHeader(int length) {
        for (int i = 0; i < length; i++) {
            byte b = line[i];
            if (b == ':') {
                return i > 0;
            }
            boolean token = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '-';
            if (!token) {
                return false;
            }
        }
        return length == 0;
    }

    private boolean admitted() {
        long now = ticker.nanos();
        if (now - secondSinceNanos >= TimeUnit.SECONDS.toNanos(1)) {
            secondSinceNanos = now;
            linesThisSecond = 0;
        }
        return linesThisSecond++ < linesPerSecond;
    }

    private void reportDropped() {
        if (dropped > 0) {
            log.log(
                    Level.WARN,
                    "worker.output-dropped",
                    null,
                    "worker " + workerId + " wrote " + dropped + " lines more than the limit of " + linesPerSecond
                            + " a second; they were dropped",
                    "worker",
                    workerId,
                    "lines",
                    dropped);
            dropped = 0;
        }
    }

    private void remember(String text) {
        if (lastLines.size() == LAST_LINES) {
            lastLines.removeFirst();
        }
        lastLines.addLast(text.length() > LAST_LINE_CHARS ? text.substring(0, LAST_LINE_CHARS) : text);
    }

    /** Takes what is left after the process has ended, closes the pipe and returns the last lines, joined. */
    synchronized String close() {
        take();
        endLine();
        reportDropped();
        try {
            in.close();
        } catch (IOException e) {
            log.log(Level.WARN, "worker.close-failed", null, "worker " + workerId + ": " + e.getMessage());
        }
        return String.join(" | ", lastLines);
    }
}
