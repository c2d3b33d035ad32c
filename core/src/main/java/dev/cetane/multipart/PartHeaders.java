package dev.cetane.multipart;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The header lines of one part, and what PHP takes from them: name and file name from the first {@code Content-Disposition}, and the
 * first {@code Content-Type}. Texts hold one char per byte. Used again for the next part after {@link #clear}.
 */
final class PartHeaders {
    /** More than any client sends; PHP has no limit of its own. */
    static final int MAX_BYTES = 64 * 1024;

    private int bytes;

    /** The header that a line without a colon would go on with; the value is null before the first one. */
    private String key = "";

    private @Nullable StringBuilder value;

    private @Nullable String disposition;
    private @Nullable String type;
    private @Nullable String name;
    private @Nullable String fileName;

    void clear() {
        bytes = 0;
        key = "";
        value = null;
        disposition = null;
        type = null;
        name = null;
        fileName = null;
    }

    /** Adds a line without its end. Only what stands before a NUL counts. */
    void add(byte[] line, int length) throws PartHeadersTooLargeException {
        bytes += length;
        if (bytes > MAX_BYTES) {
            throw new PartHeadersTooLargeException();
        }
        int end = 0;
        int colon = -1;
        while (end < length && line[end] != 0) {
            if (line[end] == ':' && colon < 0) {
                colon = end;
            }
            end++;
        }
        if (colon < 0 || isSpace((char) (line[0] & 0xFF))) {
            if (value != null) {
                value.append(new String(line, 0, end, StandardCharsets.ISO_8859_1));
            }
            return;
        }
        flush();
        key = new String(line, 0, colon, StandardCharsets.ISO_8859_1);
        int start = colon + 1;
        while (start < end && isSpace((char) (line[start] & 0xFF))) {
            start++;
        }
        value = new StringBuilder(new String(line, start, end - start, StandardCharsets.ISO_8859_1));
    }

    /** No line follows. */
    void complete() {
        flush();
        if (disposition != null) {
            readDisposition(disposition);
        }
    }

    /** Whether there is a {@code Content-Disposition}; without one PHP does not look at the part. */
    boolean hasDisposition() {
        return disposition != null;
    }

    /** The variable's name, null when there is none. */
    @Nullable
    String name() {
        return name;
    }

    /** The file's name as the client says it, empty for a file field without a file, null for a text field. */
    @Nullable
    String fileName() {
        return fileName;
    }

    /** The {@code Content-Type} without parameters, empty when there is none. */
    String type() {
        if (type == null) {
            return "";
        }
        int semicolon = type.indexOf(';');
        return semicolon < 0 ? type : type.substring(0, semicolon);
    }

    private void flush() {
        if (value == null) {
            return;
        }
        if (disposition == null && key.equalsIgnoreCase("Content-Disposition")) {
            disposition = value.toString();
        } else if (type == null && key.equalsIgnoreCase("Content-Type")) {
            type = value.toString();
        }
        value = null;
    }

    private void readDisposition(String text) {
        int at = 0;
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
        while (at < text.length()) {
            int end = wordEnd(text, at, ';');
            readParameter(text.substring(at, end));
            at = end;
            while (at < text.length() && text.charAt(at) == ';') {
                at++;
            }
            while (at < text.length() && isSpace(text.charAt(at))) {
                at++;
            }
        }
    }

    private void readParameter(String parameter) {
        int end = wordEnd(parameter, 0, '=');
        String parameterName = parameter.substring(0, end);
        boolean isName = parameterName.equalsIgnoreCase("name");
        if (end == parameter.length() || (!isName && !parameterName.equalsIgnoreCase("filename"))) {
            return;
        }
        while (end < parameter.length() && parameter.charAt(end) == '=') {
            end++;
        }
        String parameterValue = value(parameter, end);
        if (isName) {
            name = parameterValue;
        } else {
            fileName = parameterValue;
        }
    }

    /** Where the text up to a stop char ends. Within quotes of either kind there is no stop; an open quote reaches to the end. */
    private static int wordEnd(String text, int from, char stop) {
        int at = from;
        while (at < text.length() && text.charAt(at) != stop) {
            char quote = text.charAt(at++);
            if (quote == '"' || quote == '\'') {
                while (at < text.length() && text.charAt(at) != quote) {
                    boolean escaped = text.charAt(at) == '\\' && at + 1 < text.length() && text.charAt(at + 1) == quote;
                    at += escaped ? 2 : 1;
                }
                at = Math.min(at + 1, text.length());
            }
        }
        return at;
    }

    /** A value in or without quotes, its escapes undone: a backslash escapes itself and the quote, nothing else. */
    private static String value(String text, int from) {
        int at = from;
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
        char quote = 0;
        if (at < text.length() && (text.charAt(at) == '"' || text.charAt(at) == '\'')) {
            quote = text.charAt(at++);
        }
        StringBuilder value = new StringBuilder(text.length() - at);
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (quote == 0 ? isSpace(c) : c == quote) {
                break;
            }
            if (c == '\\' && at + 1 < text.length()) {
                char next = text.charAt(at + 1);
                if (next == '\\' || (quote != 0 && next == quote)) {
                    c = next;
                    at++;
                }
            }
            value.append(c);
        }
        return value.toString();
    }

    /** White space as C's isspace has it in the POSIX locale. */
    static boolean isSpace(char c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
}
