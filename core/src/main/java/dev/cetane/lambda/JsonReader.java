package dev.cetane.lambda;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over JSON text in UTF-8 that makes no tree: values are read, or passed over and found again by where they are. Text is
 * given as the bytes that PHP gets, one char per byte. Not thread-safe.
 *
 * <p>A library's parser would have to be loaded at each cold start, and would copy large texts more than once.
 */
final class JsonReader {
    private static final int MAX_DEPTH = 512;

    private final byte[] bytes;
    private final int end;
    private int at;

    JsonReader(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    /** Where a value is: from its first byte to behind its last. */
    @SuppressWarnings("ArrayRecordComponent") // never compared; a copy of an event costs more than all else
    record Span(byte[] bytes, int from, int to) {
        JsonReader reader() {
            return new JsonReader(bytes, from, to);
        }

        /** The JSON text as it stands there, one char per byte. */
        String raw() {
            return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
        }

        boolean isObject() {
            return bytes[from] == '{';
        }

        boolean isArray() {
            return bytes[from] == '[';
        }

        boolean isString() {
            return bytes[from] == '"';
        }

        boolean isNull() {
            return bytes[from] == 'n';
        }

        boolean isTrue() {
            return bytes[from] == 't';
        }
    }

    /** The span of the whole text, which must be one value; checks its syntax. */
    Span whole() throws MalformedEventException {
        Span value = span();
        if (peek() != 0) {
            throw malformed("something follows the value");
        }
        return value;
    }

    /** Enters an object. */
    void beginObject() throws MalformedEventException {
        expect('{');
    }

    /** The name of the next member, the cursor before its value; null at the object's end. */
    @Nullable
    String nextName() throws MalformedEventException {
        int c = peek();
        if (c == ',') {
            at++;
            c = peek();
        }
        if (c == '}') {
            at++;
            return null;
        }
        if (c != '"') {
            throw malformed("a name is missing");
        }
        String name = string();
        expect(':');
        return name;
    }

    /** Enters an array. */
    void beginArray() throws MalformedEventException {
        expect('[');
    }

    /** Whether another element follows, the cursor before it. */
    boolean nextElement() throws MalformedEventException {
        int c = peek();
        if (c == ',') {
            at++;
            c = peek();
        }
        if (c == ']') {
            at++;
            return false;
        }
        return true;
    }

    /** A string, number or boolean as text; null for null. Objects and arrays are malformed here. */
    @Nullable
    String text() throws MalformedEventException {
        int c = peek();
        if (c == '"') {
            return string();
        }
        if (c == '{' || c == '[') {
            throw malformed("a text was expected");
        }
        Span value = span();
        return value.isNull() ? null : value.raw();
    }

    /** Whether the next value is an array. */
    boolean atArray() throws MalformedEventException {
        return peek() == '[';
    }

    /** Passes over the next value; checks its syntax. */
    Span span() throws MalformedEventException {
        peek();
        int from = at;
        skip(0);
        return new Span(bytes, from, at);
    }

    /** The bytes of a string, with escapes undone. */
    static byte[] bytes(Span string) throws MalformedEventException {
        byte[] in = string.bytes();
        int from = string.from() + 1;
        int to = string.to() - 1;
        int backslash = indexOf(in, from, to);
        if (backslash < 0) {
            return Arrays.copyOfRange(in, from, to);
        }
        // An escape never has fewer bytes than what it stands for.
        byte[] out = new byte[to - from];
        int length = backslash - from;
        System.arraycopy(in, from, out, 0, length);
        int i = backslash;
        while (i < to) {
            byte b = in[i++];
            if (b != '\\') {
                out[length++] = b;
                continue;
            }
            byte escaped = in[i++];
            switch (escaped) {
                case 'n' -> out[length++] = '\n';
                case 't' -> out[length++] = '\t';
                case 'r' -> out[length++] = '\r';
                case 'b' -> out[length++] = '\b';
                case 'f' -> out[length++] = '\f';
                case 'u' -> {
                    int c = unit(in, i, to);
                    i += 4;
                    if (Character.isHighSurrogate((char) c)
                            && i + 6 <= to
                            && in[i] == '\\'
                            && in[i + 1] == 'u'
                            && Character.isLowSurrogate((char) unit(in, i + 2, to))) {
                        c = Character.toCodePoint((char) c, (char) unit(in, i + 2, to));
                        i += 6;
                    }
                    length = putUtf8(c, out, length);
                }
                default -> out[length++] = escaped;
            }
        }
        return Arrays.copyOf(out, length);
    }

    /** A string without escapes as it stands there, else null: for text that need not be copied. */
    static @Nullable ByteBuffer plain(Span string) {
        int from = string.from() + 1;
        int to = string.to() - 1;
        return indexOf(string.bytes(), from, to) < 0 ? ByteBuffer.wrap(string.bytes(), from, to - from) : null;
    }

    private static int indexOf(byte[] in, int from, int to) {
        for (int i = from; i < to; i++) {
            if (in[i] == '\\') {
                return i;
            }
        }
        return -1;
    }

    private static int unit(byte[] in, int from, int to) throws MalformedEventException {
        int c = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = i < to ? Character.digit(in[i], 16) : -1;
            if (digit < 0) {
                throw new MalformedEventException(
                        "the event is not JSON: \\u without four hexadecimal digits at byte " + i);
            }
            c = (c << 4) | digit;
        }
        return c;
    }

    private static int putUtf8(int c, byte[] out, int at) {
        int length = at;
        if (c < 0x80) {
            out[length++] = (byte) c;
        } else if (c < 0x800) {
            out[length++] = (byte) (0xC0 | (c >> 6));
            out[length++] = (byte) (0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            // Half a pair stands for no character.
            int whole = Character.isSurrogate((char) c) ? 0xFFFD : c;
            out[length++] = (byte) (0xE0 | (whole >> 12));
            out[length++] = (byte) (0x80 | ((whole >> 6) & 0x3F));
            out[length++] = (byte) (0x80 | (whole & 0x3F));
        } else {
            out[length++] = (byte) (0xF0 | (c >> 18));
            out[length++] = (byte) (0x80 | ((c >> 12) & 0x3F));
            out[length++] = (byte) (0x80 | ((c >> 6) & 0x3F));
            out[length++] = (byte) (0x80 | (c & 0x3F));
        }
        return length;
    }

    private String string() throws MalformedEventException {
        int from = at;
        skipString();
        boolean escaped = indexOf(bytes, from + 1, at - 1) >= 0;
        return escaped
                ? new String(bytes(new Span(bytes, from, at)), StandardCharsets.ISO_8859_1)
                : new String(bytes, from + 1, at - from - 2, StandardCharsets.ISO_8859_1);
    }

    private void skip(int depth) throws MalformedEventException {
        if (depth > MAX_DEPTH) {
            throw malformed("more than " + MAX_DEPTH + " levels");
        }
        int c = peek();
        switch (c) {
            case '"' -> skipString();
            case '{' -> skipObject(depth);
            case '[' -> skipArray(depth);
            case 't' -> skipWord("true");
            case 'f' -> skipWord("false");
            case 'n' -> skipWord("null");
            default -> skipNumber(c);
        }
    }

    private void skipObject(int depth) throws MalformedEventException {
        at++;
        if (peek() == '}') {
            at++;
            return;
        }
        while (true) {
            if (peek() != '"') {
                throw malformed("a name is missing");
            }
            skipString();
            expect(':');
            skip(depth + 1);
            int c = peek();
            at++;
            if (c == '}') {
                return;
            }
            if (c != ',' || peek() == '}') {
                at--;
                throw malformed("a comma or a closing brace is missing");
            }
        }
    }

    private void skipArray(int depth) throws MalformedEventException {
        at++;
        if (peek() == ']') {
            at++;
            return;
        }
        while (true) {
            skip(depth + 1);
            int c = peek();
            at++;
            if (c == ']') {
                return;
            }
            if (c != ',') {
                at--;
                throw malformed("a comma or a closing bracket is missing");
            }
        }
    }

    private void skipString() throws MalformedEventException {
        byte[] in = bytes;
        int i = at + 1;
        while (i < end) {
            byte b = in[i++];
            if (b == '"') {
                at = i;
                return;
            }
            if (b == '\\') {
                if (i < end && in[i] == 'u') {
                    unit(in, i + 1, end);
                    i += 4;
                } else if (i < end && "\"\\/bfnrt".indexOf(in[i]) < 0) {
                    at = i;
                    throw malformed("an unknown escape");
                }
                i++;
            } else if (b >= 0 && b < ' ') {
                at = i - 1;
                throw malformed("a control character in a text");
            }
        }
        at = end;
        throw malformed("a text does not end");
    }

    private void skipWord(String word) throws MalformedEventException {
        for (int i = 0; i < word.length(); i++) {
            if (at + i >= end || bytes[at + i] != word.charAt(i)) {
                throw malformed("an unknown word");
            }
        }
        at += word.length();
    }

    private void skipNumber(int first) throws MalformedEventException {
        if (first != '-' && (first < '0' || first > '9')) {
            throw malformed("a value is missing");
        }
        while (at < end && "+-.eE0123456789".indexOf(bytes[at]) >= 0) {
            at++;
        }
    }

    /** The next byte that is no white space, 0 at the end. */
    private int peek() {
        while (at < end) {
            byte b = bytes[at];
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                return b & 0xFF;
            }
            at++;
        }
        return 0;
    }

    private void expect(char wanted) throws MalformedEventException {
        if (peek() != wanted) {
            throw malformed("'" + wanted + "' is missing");
        }
        at++;
    }

    private MalformedEventException malformed(String what) {
        return new MalformedEventException("the event is not the JSON that was expected: " + what + " at byte " + at);
    }
}
