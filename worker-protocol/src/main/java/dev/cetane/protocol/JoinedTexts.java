package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.util.Arrays;

/**
 * One of a pair list's two lists while it grows: texts joined by NUL. It is kept in chars and made bytes at once, for which the JDK
 * has fast paths; char by char costs twice the time. Not thread-safe.
 */
final class JoinedTexts {

    private char[] chars = new char[1024];
    private CharBuffer view = CharBuffer.wrap(chars);
    private int length;
    private int count;

    void clear() {
        length = 0;
        count = 0;
    }

    /** Bytes, separators included. */
    int length() {
        return length;
    }

    int count() {
        return count;
    }

    /** Adds a text without NUL. The caller bounds the length. */
    void add(String text) {
        int start = count == 0 ? 0 : length + 1;
        int end = start + text.length();
        if (end > chars.length) {
            chars = Arrays.copyOf(chars, Math.max(end, 2 * chars.length));
            view = CharBuffer.wrap(chars);
        }
        if (count > 0) {
            chars[length] = 0;
        }
        text.getChars(0, text.length(), chars, start);
        length = end;
        count++;
    }

    /**
     * Appends the bytes, one for each char.
     *
     * @return -1, or the index of the text that has a char above 255
     */
    int encode(CharsetEncoder latin1, ByteBuffer out) {
        view.clear().limit(length);
        CoderResult result = latin1.reset().encode(view, out, true);
        if (!result.isError()) {
            return -1;
        }
        int index = 0;
        for (int i = view.position() - 1; i >= 0; i--) {
            index += chars[i] == 0 ? 1 : 0;
        }
        return index;
    }
}
