package dev.cetane.protocol;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Paths as the bytes that the operating system knows. Java turns them into text with the locale's charset, which loses bytes when
 * the two disagree, as under the C locale; the file URI of a path keeps them.
 */
public final class BytePath {

    private BytePath() {}

    /** The path's bytes, one char each (ISO-8859-1). A path that is not ASCII is made absolute. */
    public static String toText(Path path) {
        String text = path.toString();
        if (isAscii(text)) {
            return text;
        }
        String encoded = path.toAbsolutePath().toUri().getRawPath();
        StringBuilder bytes = new StringBuilder(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%') {
                c = (char) Integer.parseInt(encoded.substring(i + 1, i + 3), 16);
                i += 2;
            }
            bytes.append(c);
        }
        // The URI of a directory ends with a slash.
        int end = bytes.length();
        if (end > 1 && bytes.charAt(end - 1) == '/') {
            bytes.setLength(end - 1);
        }
        return bytes.toString();
    }

    /**
     * The path of these bytes.
     *
     * @param text absolute path, one char per byte
     * @throws IllegalArgumentException when it is not absolute or contains NUL
     */
    public static Path of(String text) {
        if (!text.startsWith("/") || text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("not an absolute path without NUL, " + text.length() + " bytes");
        }
        if (isAscii(text)) {
            return Path.of(text);
        }
        StringBuilder uri = new StringBuilder("file://");
        for (byte b : text.getBytes(StandardCharsets.ISO_8859_1)) {
            if (b == '/' || (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z')) {
                uri.append((char) b);
            } else {
                uri.append(String.format(Locale.ROOT, "%%%02X", b & 0xFF));
            }
        }
        return Path.of(URI.create(uri.toString()));
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7F) {
                return false;
            }
        }
        return true;
    }
}
