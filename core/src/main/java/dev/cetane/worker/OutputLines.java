package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Makes log lines of what a process prints: bounded in length and in number a second. Guarded by its own monitor. */
final class OutputLines {
    private static final int LAST_LINES = 10;
    private static final int LAST_LINE_CHARS = 500;

    private final int workerId;
    private final boolean cgi;
    private final Ticker ticker;
    private final EventLog log;
    private final int linesPerSecond;
    private final byte[] line;
    private int lineLength;
    private long cutBytes;
    private long secondSinceNanos;
    private int linesThisSecond;
    private long dropped;
    private final ArrayDeque<String> lastLines = new ArrayDeque<>();

    /**
     * @param workerId as it stands in the lines, 0 for what belongs to no single worker
     * @param cgi whether header fields that php-cgi prints at its end are left out
     */
    OutputLines(int workerId, boolean cgi, PoolConfig config, Ticker ticker, EventLog log) {
        this.workerId = workerId;
        this.cgi = cgi;
        this.ticker = ticker;
        this.log = log;
        linesPerSecond = config.outputLinesPerSecond();
        line = new byte[config.outputLineBytes()];
    }

    /** Takes all bytes; whole lines are logged. */
    synchronized void take(ByteBuffer bytes, @Nullable String requestId) {
        while (bytes.hasRemaining()) {
            byte b = bytes.get();
            if (b == '\n') {
                endLine(requestId);
            } else if (lineLength < line.length) {
                line[lineLength++] = b;
            } else {
                cutBytes++;
            }
        }
    }

    /** What has come of the last line is all of it. */
    synchronized void endLine(@Nullable String requestId) {
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

    /** Logs one line of the worker's, unless there were too many this second. */
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

    /** The last lines, joined, once nothing more comes. */
    synchronized String close(@Nullable String requestId) {
        endLine(requestId);
        reportDropped();
        return last();
    }

    /** The last lines, joined. */
    synchronized String last() {
        return String.join(" | ", lastLines);
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
}
