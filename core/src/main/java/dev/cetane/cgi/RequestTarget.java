package dev.cetane.cgi;

/**
 * What a request asks for. Immutable; strings hold one char per byte (ISO-8859-1).
 *
 * @param target in origin form (or {@code *}) as the client wrote it, percent-encoding kept
 * @param query what stands after the target's first {@code ?}; empty when nothing does
 * @param path with percent-encoding undone; without NUL, dot segments and empty segments, as nginx matches it
 */
public record RequestTarget(String target, String query, String path) {

    /**
     * Reads a target in origin form.
     *
     * @throws MalformedTargetException when the path cannot be decoded, holds NUL, or leaves the root
     */
    public static RequestTarget of(String target) throws MalformedTargetException {
        int question = target.indexOf('?');
        return new RequestTarget(
                target,
                question < 0 ? "" : target.substring(question + 1),
                normalize(decode(question < 0 ? target : target.substring(0, question))));
    }

    /** Undoes percent-encoding; a path that cannot be decoded, or that holds NUL, is malformed. */
    private static String decode(String path) throws MalformedTargetException {
        if (path.indexOf('%') < 0) {
            return path;
        }
        StringBuilder decoded = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '%') {
                int high = i + 2 < path.length() ? Character.digit(path.charAt(i + 1), 16) : -1;
                int low = i + 2 < path.length() ? Character.digit(path.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw new MalformedTargetException(
                            "the path holds a % that is not followed by two hexadecimal digits");
                }
                c = (char) (high << 4 | low);
                if (c == 0) {
                    throw new MalformedTargetException("the path holds NUL");
                }
                i += 2;
            }
            decoded.append(c);
        }
        return decoded.toString();
    }

    /** Resolves dot segments and merges slashes; a path that leaves the root is malformed. */
    private static String normalize(String path) throws MalformedTargetException {
        if (!path.contains("//") && !path.contains("/.")) {
            return path;
        }
        StringBuilder normal = new StringBuilder(path.length());
        for (int start = 0; start < path.length(); ) {
            // At a slash; the segment behind it ends at the next one.
            int end = path.indexOf('/', start + 1);
            boolean last = end < 0;
            end = last ? path.length() : end;
            String segment = path.substring(start + 1, end);
            switch (segment) {
                case "", "." -> {}
                case ".." -> {
                    if (normal.length() == 0) {
                        throw new MalformedTargetException("the path leaves the root");
                    }
                    normal.setLength(normal.lastIndexOf("/"));
                }
                default -> normal.append('/').append(segment);
            }
            if (last && (segment.isEmpty() || segment.equals(".") || segment.equals(".."))) {
                normal.append('/');
            }
            start = end;
        }
        return normal.toString();
    }
}
