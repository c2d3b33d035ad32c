package dev.cetane.lambda;

/** Whether bytes are text. */
final class Utf8 {
    private Utf8() {}

    /** Whether the bytes are well-formed UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
    static boolean isValid(byte[] bytes, int offset, int count) {
        int end = offset + count;
        int i = offset;
        while (i < end) {
            int b = bytes[i++];
            if (b >= 0) {
                continue;
            }
            int more;
            int low = 0x80;
            int high = 0xBF;
            int lead = b & 0xFF;
            if (lead >= 0xC2 && lead <= 0xDF) {
                more = 1;
            } else if (lead >= 0xE0 && lead <= 0xEF) {
                more = 2;
                low = lead == 0xE0 ? 0xA0 : low;
                high = lead == 0xED ? 0x9F : high;
            } else if (lead >= 0xF0 && lead <= 0xF4) {
                more = 3;
                low = lead == 0xF0 ? 0x90 : low;
                high = lead == 0xF4 ? 0x8F : high;
            } else {
                return false;
            }
            if (end - i < more) {
                return false;
            }
            for (int j = 0; j < more; j++) {
                int next = bytes[i++] & 0xFF;
                if (next < low || next > high) {
                    return false;
                }
                low = 0x80;
                high = 0xBF;
            }
        }
        return true;
    }
}
