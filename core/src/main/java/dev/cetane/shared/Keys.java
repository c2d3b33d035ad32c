package dev.cetane.shared;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Keys and names as texts of one char per byte: the JDK keeps such a text in one byte a char and remembers its hash. */
final class Keys {

    private Keys() {}

    /** Takes the next bytes of the buffer. */
    static String take(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    static byte[] toBytes(String key) {
        return key.getBytes(StandardCharsets.ISO_8859_1);
    }
}
