package dev.cetane.log;

import java.io.OutputStream;
import java.time.InstantSource;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** For machines: one JSON object a line with {@code time}, {@code level}, {@code event}, {@code message}, {@code request}, {@code fields}. */
public final class JsonEventLog implements EventLog {

    private final LineWriter writer;
    private final Level least;
    private final InstantSource clock;

    public JsonEventLog(OutputStream out, Level least, InstantSource clock) {
        this.writer = new LineWriter(out);
        this.least = least;
        this.clock = clock;
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
        line.append("{\"time\":\"");
        LineWriter.appendTime(line, clock.instant());
        line.append("\",\"level\":\"")
                .append(level.name().toLowerCase(Locale.ROOT))
                .append("\",\"event\":\"");
        LineWriter.appendValue(line, event, true);
        line.append("\",\"message\":\"");
        LineWriter.appendMessage(line, message, true);
        line.append('"');
        if (requestId != null) {
            line.append(",\"request\":\"");
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
