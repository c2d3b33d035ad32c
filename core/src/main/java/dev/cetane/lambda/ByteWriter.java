package dev.cetane.lambda;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/** Bytes that grow, and the ways to write JSON into them. Not thread-safe; the buffer may be used again after {@link #clear}. */
final class ByteWriter {
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    /** Characters of a text that JSON has to escape. */
    private static final boolean[] ESCAPED = new boolean[256];

    static {
        Arrays.fill(ESCAPED, 0, ' ', true);
        ESCAPED['"'] = true;
        ESCAPED['\\'] = true;
        ESCAPED[0x7F] = true;
    }

    /** What is kept for the next use. */
    private static final int KEPT_BYTES = 256 * 1024;

    private byte[] bytes = new byte[1024];
    private int length;

    void clear() {
        length = 0;
        if (bytes.length > KEPT_BYTES) {
            bytes = new byte[1024];
        }
    }

    int length() {
        return length;
    }

    byte[] array() {
        return bytes;
    }

    /** Makes sure that the array has room for so many bytes more. */
    void reserve(int count) {
        room(count);
    }

    /** Forgets all but the first bytes. */
    void truncate(int to) {
        length = to;
    }

    ByteWriter put(byte b) {
        room(1);
        bytes[length++] = b;
        return this;
    }

    ByteWriter put(byte[] from, int offset, int count) {
        room(count);
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
        return this;
    }

    ByteWriter put(ByteBuffer from) {
        int count = from.remaining();
        room(count);
        from.get(bytes, length, count);
        length += count;
        return this;
    }

    /** A text of one char per byte, as it is. */
    ByteWriter put(String latin1) {
        int count = latin1.length();
        room(count);
        for (int i = 0; i < count; i++) {
            bytes[length++] = (byte) latin1.charAt(i);
        }
        return this;
    }

    ByteWriter put(long number) {
        return put(Long.toString(number));
    }

    /** A JSON string of a text of one char per byte; what is no UTF-8 in it is taken for ISO-8859-1. */
    ByteWriter string(String latin1) {
        byte[] text = new byte[latin1.length()];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) latin1.charAt(i);
        }
        if (Utf8.isValid(text, 0, text.length)) {
            return string(text, 0, text.length);
        }
        return string(latin1.getBytes(StandardCharsets.UTF_8), 0, -1);
    }

    /** A JSON string of any text. */
    ByteWriter unicode(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return string(utf8, 0, utf8.length);
    }

    /** A JSON string of valid UTF-8; a negative count is all there is. */
    ByteWriter string(byte[] text, int offset, int count) {
        int end = count < 0 ? text.length : offset + count;
        room(end - offset + 2);
        bytes[length++] = '"';
        int run = offset;
        for (int i = offset; i < end; i++) {
            if (ESCAPED[text[i] & 0xFF]) {
                put(text, run, i - run);
                escape(text[i]);
                run = i + 1;
            }
        }
        put(text, run, end - run);
        return put((byte) '"');
    }

    private void escape(byte b) {
        room(6);
        bytes[length++] = '\\';
        switch (b) {
            case '"', '\\' -> bytes[length++] = b;
            case '\n' -> bytes[length++] = 'n';
            case '\r' -> bytes[length++] = 'r';
            case '\t' -> bytes[length++] = 't';
            default -> {
                bytes[length++] = 'u';
                bytes[length++] = '0';
                bytes[length++] = '0';
                bytes[length++] = HEX[(b >> 4) & 0xF];
                bytes[length++] = HEX[b & 0xF];
            }
        }
    }

    /** A JSON string with the bytes in base64. */
    ByteWriter base64(byte[] binary, int offset, int count) {
        put((byte) '"');
        ByteBuffer encoded = Base64.getEncoder().encode(ByteBuffer.wrap(binary, offset, count));
        return put(encoded).put((byte) '"');
    }

    private void room(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(length + count, 2 * bytes.length));
        }
    }
}
