package dev.cetane.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Gives the same String again for the same bytes: a worker sends the same field names and many of the same values with every
 * answer. Fixed size, a newcomer takes its slot over. Not thread-safe.
 */
final class RecentStrings {

    private static final int SLOTS = 256;
    private static final int LONGEST = 64;

    private final @Nullable String[] slots = new @Nullable String[SLOTS];

    /** The bytes as ISO-8859-1. */
    String get(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length == 0) {
            return "";
        }
        if (length > LONGEST) {
            return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
        }
        int hash = length + 7 * bytes[from] + 31 * bytes[from + (length >> 1)] + 127 * bytes[to - 1];
        int slot = (hash ^ hash >>> 8) & (SLOTS - 1);
        String recent = slots[slot];
        if (recent != null && matches(recent, bytes, from, length)) {
            return recent;
        }
        String fresh = new String(bytes, from, length, StandardCharsets.ISO_8859_1);
        slots[slot] = fresh;
        return fresh;
    }

    private static boolean matches(String text, byte[] bytes, int from, int length) {
        if (text.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) != (bytes[from + i] & 0xFF)) {
                return false;
            }
        }
        return true;
    }
}
