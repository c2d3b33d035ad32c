package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns what a worker prints into log lines, bounded in length and rate, each with the id of the request that ran when it was read.
 * Lives on {@code cetane-output-N}; the reader thread calls {@link #catchUp}, the dispatching thread {@link #serving}, the maintenance
 * thread the rest.
 */
final class WorkerOutput {
    private static final int BUFFER_BYTES = 16 * 1024;
    private static final int LAST_LINES = 10;
    private static final int LAST_LINE_CHARS = 500;
    private static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final int workerId;
    private final boolean cgi;
    private final Ticker ticker;
    private final EventLog log;
    private final Runnable whenEnded;
    private final int linesPerSecond;
    private final FileInputStream in;
    private final FileChannel channel;

    private volatile @Nullable String requestId;

    // Guarded by this.
    private @Nullable Closeable held;
    private boolean reading;
    private boolean ended;
    private final ArrayDeque<String> lastLines = new ArrayDeque<>();

    // cetane-output-N only.
    private final byte[] line;
    private int lineLength;
    private long cutBytes;
    private long secondSinceNanos;
    private int linesThisSecond;
    private long dropped;

    WorkerOutput(
            int workerId,
            ApplicationKind kind,
            Path fifo,
            PoolConfig config,
            Ticker ticker,
            EventLog log,
            Runnable whenEnded)
            throws IOException {
        this.workerId = workerId;
        this.ticker = ticker;
        this.log = log;
        this.whenEnded = whenEnded;
        cgi = kind == ApplicationKind.FRONT_CONTROLLER;
        linesPerSecond = config.outputLinesPerSecond();
        line = new byte[config.outputLineBytes()];
        // Held until the process has its own end, so that neither this nor its opening waits.
        held = FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE);
        in = new FileInputStream(fifo.toFile());
        channel = in.getChannel();
    }

    /** The process has its end of the pipe. */
    void start() {
        release();
        Thread thread = new Thread(this::read, "cetane-output-" + workerId);
        thread.setDaemon(true);
        thread.start();
    }

    /** Lines read from now on belong to this request. */
    void serving(String id) {
        requestId = id;
    }

    /**
     * The request is done: waits, a few milliseconds at most, until what was printed during it is read, so that no line of it is taken
     * for the next request's. Returns at once when nothing was printed. Reader thread.
     */
    void catchUp() {
        try {
            if (in.available() > 0) {
                awaitRead();
            }
        } catch (IOException e) {
            // Closed: nobody prints any more.
            log.log(Level.DEBUG, "worker.output-ended", null, "worker " + workerId + ": " + e.getMessage());
        }
        requestId = null;
    }

    private synchronized void awaitRead() throws IOException {
        long deadline = ticker.nanos() + CATCH_UP_NANOS;
        long left = CATCH_UP_NANOS;
        while (!ended && left > 0 && (reading || in.available() > 0)) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            left = deadline - ticker.nanos();
        }
    }

    // ---- cetane-output-N ----

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        try {
            while (channel.read(buffer) >= 0) {
                setReading(true);
                take(buffer.flip());
                buffer.clear();
                setReading(false);
            }
        } catch (IOException e) {
            log.log(Level.DEBUG, "worker.output-ended", null, "worker " + workerId + ": " + e.getMessage());
        } finally {
            endLine();
            reportDropped();
            setEnded();
            whenEnded.run();
        }
    }

    private synchronized void setReading(boolean now) {
        reading = now;
        if (!now) {
            notifyAll();
        }
    }

    private synchronized void setEnded() {
        ended = true;
        notifyAll();
    }

    private void take(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            byte b = bytes.get();
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
        if (!admitted()) {
            dropped++;
            return;
        }
        reportDropped();
        if (cut > 0) {
            log.log(Level.INFO, "worker.output", requestId, text, "worker", workerId, "cut_bytes", cut);
        } else {
            log.log(Level.INFO, "worker.output", requestId, text, "worker", workerId);
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
                    "worker " + workerId + " printed " + dropped + " lines more than the limit of " + linesPerSecond
                            + " a second; they were dropped",
                    "worker",
                    workerId,
                    "lines",
                    dropped);
            dropped = 0;
        }
    }

    private synchronized void remember(String text) {
        if (lastLines.size() == LAST_LINES) {
            lastLines.removeFirst();
        }
        lastLines.addLast(text.length() > LAST_LINE_CHARS ? text.substring(0, LAST_LINE_CHARS) : text);
    }

    // ---- maintenance thread ----

    /** The process is gone: the pipe ends when nobody else holds it. */
    void processEnded() {
        release();
    }

    private synchronized void release() {
        if (held != null) {
            try {
                held.close();
            } catch (IOException e) {
                log.log(Level.WARN, "worker.close-failed", null, "worker " + workerId + ": " + e.getMessage());
            }
            held = null;
        }
    }

    synchronized boolean ended() {
        return ended;
    }

    /** Closes the pipe and returns the last lines, joined. */
    String close() {
        release();
        try {
            // Closing the channel, not the stream, wakes the thread that reads.
            channel.close();
        } catch (IOException e) {
            log.log(Level.WARN, "worker.close-failed", null, "worker " + workerId + ": " + e.getMessage());
        }
        synchronized (this) {
            return String.join(" | ", lastLines);
        }
    }
}
