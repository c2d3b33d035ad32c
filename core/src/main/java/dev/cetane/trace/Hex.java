package dev.cetane.trace;

import java.nio.charset.StandardCharsets;

/** Numbers as lower-case hexadecimal digits of fixed length. Stateless. */
final class Hex {
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Hex() {}

    /** 32 digits. */
    static String trace(long high, long low) {
        byte[] out = new byte[32];
        put(high, 16, out, 0);
        put(low, 16, out, 16);
        return new String(out, StandardCharsets.ISO_8859_1);
    }

    /** 16 digits. */
    static String span(long id) {
        byte[] out = new byte[16];
        put(id, 16, out, 0);
        return new String(out, StandardCharsets.ISO_8859_1);
    }

    /** Writes the lower so many digits. */
    static void put(long number, int digits, byte[] out, int at) {
        long rest = number;
        for (int i = at + digits - 1; i >= at; i--) {
            out[i] = DIGITS[(int) rest & 0xF];
            rest >>>= 4;
        }
    }
}
