package dev.cetane.lambda;

/** Parts of a URL as a client would have sent them, of text with one char per byte. */
final class UrlText {
    private UrlText() {}

    /** A path as a client would have sent it: what may not stand in one is percent-encoded, all else is left. */
    static String path(String path) {
        String rooted = path.startsWith("/") ? path : "/" + path;
        return legal(rooted, true);
    }

    /** A query likewise, or a part of one. */
    static String query(String query) {
        return legal(query, false);
    }

    private static String legal(String text, boolean path) {
        StringBuilder legal = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean bare = c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>' && !(path && c == '?');
            if (path && c == '%') {
                bare = i + 2 < text.length()
                        && Character.digit(text.charAt(i + 1), 16) >= 0
                        && Character.digit(text.charAt(i + 2), 16) >= 0;
            }
            if (legal == null && !bare) {
                legal = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (legal != null) {
                escape(legal, c, bare);
            }
        }
        return legal == null ? text : legal.toString();
    }

    /** Everything percent-encoded but letters, digits, {@code -._~} and what is named. */
    static String percent(String text, String bare) {
        StringBuilder encoded = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean unreserved = (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || "-._~".indexOf(c) >= 0;
            escape(encoded, c, unreserved || bare.indexOf(c) >= 0);
        }
        return encoded.toString();
    }

    private static void escape(StringBuilder into, char c, boolean bare) {
        if (bare) {
            into.append(c);
        } else {
            into.append('%')
                    .append(Character.toUpperCase(Character.forDigit((c >> 4) & 0xF, 16)))
                    .append(Character.toUpperCase(Character.forDigit(c & 0xF, 16)));
        }
    }
}
