package dev.cetane.log;

import java.io.OutputStream;
import java.time.InstantSource;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * For machines: one JSON object a line with {@code time}, {@code level}, {@code event}, {@code message}, {@code request}, {@code fields}; on
 * AWS Lambda {@code time} and {@code request} have the names {@code timestamp} and {@code requestId}, and levels are in capitals.
 */
public final class JsonEventLog implements EventLog {

    private final LineWriter writer;
    private final Level least;
    private final InstantSource clock;
    private final boolean lambda;

    public JsonEventLog(OutputStream out, Level least, InstantSource clock) {
        this(out, least, clock, false);
    }

    private JsonEventLog(OutputStream out, Level least, InstantSource clock, boolean lambda) {
        this.writer = new LineWriter(out);
        this.least = least;
        this.clock = clock;
        this.lambda = lambda;
    }

    /** With the names that AWS Lambda's own lines have, by which CloudWatch finds level, time and invocation. */
    public static JsonEventLog forLambda(OutputStream out, Level least, InstantSource clock) {
        return new JsonEventLog(out, least, clock, true);
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
        StringBuilder line = new StringBuilder(160 + message.length());
        line.append(lambda ? "{\"timestamp\":\"" : "{\"time\":\"");
        LineWriter.appendTime(line, clock.instant());
        line.append("\",\"level\":\"")
                .append(lambda ? level.name() : level.name().toLowerCase(Locale.ROOT))
                .append("\",\"event\":\"");
        LineWriter.appendValue(line, event, true);
        line.append("\",\"message\":\"");
        LineWriter.appendMessage(line, message, true);
        line.append('"');
        if (requestId != null) {
            line.append(lambda ? ",\"requestId\":\"" : ",\"request\":\"");
            LineWriter.appendValue(line, requestId, true);
            line.append('"');
        }
        if (fields.length > 0) {
            line.append(",\"fields\":{");
            for (int i = 0; i < fields.length; i += 2) {
                line.append(i == 0 ? "\"" : ",\"");
                LineWriter.appendValue(line, String.valueOf(fields[i]), true);
                line.append("\":");
                value(line, i + 1 < fields.length ? fields[i + 1] : null);
            }
            line.append('}');
        }
        writer.write(line.append('}'));
    }

    private static void value(StringBuilder line, @Nullable Object value) {
        boolean bare = value == null
                || value instanceof Boolean
                || value instanceof Integer
                || value instanceof Long
                || (value instanceof Double number && Double.isFinite(number));
        if (bare) {
            line.append(value);
        } else {
            line.append('"');
            LineWriter.appendValue(line, String.valueOf(value), true);
            line.append('"');
        }
    }
}
