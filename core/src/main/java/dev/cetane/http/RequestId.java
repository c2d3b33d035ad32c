package dev.cetane.http;

import java.util.concurrent.ThreadLocalRandom;

/** Ids that tell requests apart in logs: the client's own where it is fit for a log line, else a random one. Stateless. */
final class RequestId {
    private static final int MAX_LENGTH = 128;

    private RequestId() {}

    /** A new id of 16 hexadecimal digits. Unique enough for a log, and not a secret. */
    static String next() {
        long bits = ThreadLocalRandom.current().nextLong();
        StringBuilder id = new StringBuilder(16);
        for (int shift = 60; shift >= 0; shift -= 4) {
            id.append(Character.forDigit((int) (bits >>> shift) & 0xF, 16));
        }
        return id.toString();
    }

    /** Whether an {@code X-Request-Id} can be taken over: at most 128 letters, digits and {@code - . _ ~ : = @ / +}. */
    static boolean isFit(String id) {
        if (id.isEmpty() || id.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            boolean letterOrDigit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letterOrDigit && "-._~:=@/+".indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }
}
