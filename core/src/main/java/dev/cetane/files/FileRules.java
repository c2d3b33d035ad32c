package dev.cetane.files;

import java.util.List;

/**
 * Which names of a document root are never served as files, whatever is there: what PHP would run, what starts with a dot (but for
 * {@code .well-known}), what a configured pattern denies, and names that no client needs (control characters, backslashes). A request for such a
 * path goes to the application, as one for a file that does not exist. Immutable, callable from any thread.
 */
final class FileRules {
    /** Where RFC 8615 has clients look; the one name with a dot that is meant for them. */
    private static final String WELL_KNOWN = ".well-known";

    private static final int MOST_SEGMENT_BYTES = 255;

    private final List<Glob> denied;

    /** @param denied patterns for the last name of a path, in any case */
    FileRules(List<String> denied) {
        this.denied = denied.stream().map(Glob::ignoringCase).toList();
    }

    /**
     * Whether the path may be that of a file to serve.
     *
     * @param path decoded and normalized, one char a byte, with a slash in front: {@code /css/app.css}
     */
    boolean allow(String path) {
        int length = path.length();
        if (length < 2 || path.charAt(0) != '/') {
            return false;
        }
        for (int start = 1; start <= length; ) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? length : slash;
            if (!allowSegment(path, start, end)) {
                return false;
            }
            if (slash < 0) {
                return !isDenied(path.substring(start));
            }
            start = end + 1;
        }
        return false;
    }

    /** An empty one too is refused: what ends with a slash is a directory. */
    private static boolean allowSegment(String path, int start, int end) {
        if (end == start || end - start > MOST_SEGMENT_BYTES) {
            return false;
        }
        if (path.charAt(start) == '.'
                && (end - start != WELL_KNOWN.length() || !path.startsWith(WELL_KNOWN, start) || start != 1)) {
            return false;
        }
        for (int i = start; i < end; i++) {
            char c = path.charAt(i);
            if (c < ' ' || c == 0x7F || c == '\\') {
                return false;
            }
            if (c == '.' && isRunByPhp(path, i + 1, end)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether an extension, of any that the name has ({@code a.php.bak} has two), is one that web servers give to PHP: {@code php}, {@code php7},
     * {@code phps}, {@code phpt}, {@code phtml}, {@code phar}, {@code pht}.
     */
    private static boolean isRunByPhp(String path, int start, int segmentEnd) {
        int end = start;
        while (end < segmentEnd && path.charAt(end) != '.') {
            end++;
        }
        int length = end - start;
        if (length < 3 || !path.regionMatches(true, start, "ph", 0, 2)) {
            return false;
        }
        return (path.regionMatches(true, start, "php", 0, 3) && length <= 4)
                || (length == 3 && path.regionMatches(true, start, "pht", 0, 3))
                || (length == 5 && path.regionMatches(true, start, "phtml", 0, 5))
                || (length == 4 && path.regionMatches(true, start, "phar", 0, 4));
    }

    private boolean isDenied(String name) {
        for (Glob pattern : denied) {
            if (pattern.matches(name)) {
                return true;
            }
        }
        return false;
    }
}
