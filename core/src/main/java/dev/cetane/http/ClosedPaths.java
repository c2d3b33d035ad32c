package dev.cetane.http;

import java.util.List;

/**
 * Paths that no client may reach, though the application would answer: it is told 404, whatever the method. Immutable, callable from any thread.
 *
 * <p>Frameworks differ in what they take for the same path: in leading and doubled slashes, in a front controller's name before it, in how often
 * they undo percent-encoding. So every path is closed that ends with a closed one, in any case and after any number of decodings.
 */
final class ClosedPaths {
    private static final int MOST_DECODINGS = 4;

    private final List<String> paths;

    /** @param paths without slashes at their ends */
    ClosedPaths(List<String> paths) {
        this.paths = List.copyOf(paths);
    }

    /** @param path decoded and normalized, as {@link RequestHead#path} gives it */
    boolean contain(String path) {
        if (paths.isEmpty()) {
            return false;
        }
        String text = path;
        for (int i = 0; i < MOST_DECODINGS && text.indexOf('%') >= 0; i++) {
            text = decode(text);
        }
        int end = text.length();
        while (end > 0 && isSlash(text.charAt(end - 1))) {
            end--;
        }
        for (String closed : paths) {
            if (endsWith(text, end, closed)) {
                return true;
            }
        }
        return false;
    }

    private static boolean endsWith(String text, int end, String closed) {
        int start = end - closed.length();
        if (start < 1 || !isSlash(text.charAt(start - 1))) {
            return false;
        }
        for (int i = 0; i < closed.length(); i++) {
            char c = text.charAt(start + i);
            char expected = closed.charAt(i);
            if (expected == '/' ? !isSlash(c) : Character.toLowerCase(c) != expected) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSlash(char c) {
        return c == '/' || c == '\\';
    }

    /** Leaves alone what is no encoding. */
    private static String decode(String text) {
        StringBuilder decoded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int high = c == '%' && i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
            int low = high < 0 ? -1 : Character.digit(text.charAt(i + 2), 16);
            if (low < 0) {
                decoded.append(c);
            } else {
                decoded.append((char) (high << 4 | low));
                i += 2;
            }
        }
        return decoded.toString();
    }
}
