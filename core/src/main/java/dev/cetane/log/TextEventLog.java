package dev.cetane.log;

import java.io.OutputStream;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** For people: {@code 2026-01-31T12:00:00.123Z WARN  worker.stopped: message [request id] name=value}. */
public final class TextEventLog implements EventLog {

    private final LineWriter writer;
    private final Level least;
    private final InstantSource clock;
    private final boolean colour;

    /** @param colour whether the level is coloured with ANSI sequences */
    public TextEventLog(OutputStream out, Level least, InstantSource clock, boolean colour) {
        this.writer = new LineWriter(out);
        this.least = least;
        this.clock = clock;
        this.colour = colour;
    }

    @Override
    public boolean enabled(Level level) {
        return level.compareTo(least) >= 0;
    }

    @Override
    public void log(Level level, String event, @Nullable String requestId, String message, Object... fields) {
        if (!enabled(level)) {
            return;
        }
        StringBuilder line = new StringBuilder(128 + message.length());
        LineWriter.appendTime(line, clock.instant());
        line.append(' ').append(colour ? paint(level) : "").append(pad(level)).append(colour ? "\u001b[0m " : " ");
        LineWriter.appendValue(line, event, false);
        line.append(": ");
        LineWriter.appendMessage(line, message, false);
        if (requestId != null) {
            line.append(" [");
            LineWriter.appendValue(line, requestId, false);
            line.append(']');
        }
        for (int i = 0; i < fields.length; i += 2) {
            line.append(' ');
            LineWriter.appendValue(line, String.valueOf(fields[i]), false);
            line.append('=');
            value(line, i + 1 < fields.length ? String.valueOf(fields[i + 1]) : "");
        }
        writer.write(line);
    }

    private static void value(StringBuilder line, String value) {
        boolean quoted =
                value.isEmpty() || value.indexOf(' ') >= 0 || value.indexOf('=') >= 0 || value.indexOf('"') >= 0;
        if (quoted) {
            line.append('"');
        }
        LineWriter.appendValue(line, value, quoted);
        if (quoted) {
            line.append('"');
        }
    }

    private static String pad(Level level) {
        return switch (level) {
            case DEBUG -> "DEBUG";
            case INFO -> "INFO ";
            case WARN -> "WARN ";
            case ERROR -> "ERROR";
        };
    }

    private static String paint(Level level) {
        return switch (level) {
            case DEBUG -> "\u001b[2m";
            case INFO -> "\u001b[32m";
            case WARN -> "\u001b[33m";
            case ERROR -> "\u001b[31m";
        };
    }
}
