package dev.cetane.log;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/** Puts whole lines out, each with one write. Thread-safe; the lock {@code this} is held for the write alone. */
final class LineWriter {

    /** Characters of a message that are kept; the rest is counted. */
    private static final int MAX_MESSAGE = 65_536;
    /** The same for the value of a field. */
    private static final int MAX_VALUE = 4_096;

    private final OutputStream out;

    LineWriter(OutputStream out) {
        this.out = out;
    }

    void write(StringBuilder line) {
        byte[] bytes = line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            try {
                out.write(bytes);
                out.flush();
            } catch (IOException e) {
                // Nobody reads the log any more, and there is nowhere else to say so.
                return;
            }
        }
    }

    static void appendMessage(StringBuilder line, String message, boolean json) {
        append(line, message, MAX_MESSAGE, json);
    }

    static void appendValue(StringBuilder line, String value, boolean json) {
        append(line, value, MAX_VALUE, json);
    }

    /** Appends with everything escaped that could end a line, move a terminal's cursor or is no character at all. */
    private static void append(StringBuilder line, String text, int limit, boolean json) {
        int end = Math.min(text.length(), limit);
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c < 0x7f) {
                if (json && (c == '\\' || c == '"')) {
                    line.append('\\');
                }
                line.append(c);
            } else if (c == '\n') {
                line.append("\\n");
            } else if (c == '\t') {
                line.append("\\t");
            } else if (c == '\r') {
                line.append("\\r");
            } else if (Character.isHighSurrogate(c) && i + 1 < end && Character.isLowSurrogate(text.charAt(i + 1))) {
                line.append(c).append(text.charAt(++i));
            } else if (Character.isSurrogate(c)) {
                line.append('\ufffd');
            } else if (isHidden(c)) {
                appendCode(line, c);
            } else {
                line.append(c);
            }
        }
        if (end < text.length()) {
            line.append("… (").append(text.length() - end).append(" more)");
        }
    }

    /** Controls, line and paragraph separators, and the marks that turn the direction of writing. */
    private static boolean isHidden(char c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }

    private static void appendCode(StringBuilder line, char c) {
        line.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            line.append(Character.forDigit((c >> shift) & 0xf, 16));
        }
    }

    /** Appends as in {@code 2026-01-31T12:00:00.123Z}. */
    static void appendTime(StringBuilder line, Instant time) {
        LocalDateTime utc = LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC);
        line.append(utc.getYear()).append('-');
        twoDigits(line, utc.getMonthValue()).append('-');
        twoDigits(line, utc.getDayOfMonth()).append('T');
        twoDigits(line, utc.getHour()).append(':');
        twoDigits(line, utc.getMinute()).append(':');
        twoDigits(line, utc.getSecond()).append('.');
        int millis = utc.getNano() / 1_000_000;
        line.append((char) ('0' + millis / 100));
        twoDigits(line, millis % 100).append('Z');
    }

    private static StringBuilder twoDigits(StringBuilder line, int number) {
        return line.append((char) ('0' + number / 10)).append((char) ('0' + number % 10));
    }
}
