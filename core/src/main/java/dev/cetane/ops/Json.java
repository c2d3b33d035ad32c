package dev.cetane.ops;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes JSON into a {@link StringBuilder}. */
final class Json {
    private Json() {}

    /** {@code "name":value}, with a comma in front unless it is the first of its object. */
    static void field(StringBuilder json, String name, @Nullable Object value) {
        name(json, name);
        boolean bare = value == null || value instanceof Number || value instanceof Boolean;
        if (bare) {
            json.append(value);
        } else {
            quote(json, String.valueOf(value));
        }
    }

    /** {@code "name":}, for a value that is written next. */
    static StringBuilder name(StringBuilder json, String name) {
        comma(json);
        quote(json, name);
        return json.append(':');
    }

    /** A comma, unless what follows is the first of its object or array. */
    static void comma(StringBuilder json) {
        char last = json.charAt(json.length() - 1);
        if (last != '{' && last != '[') {
            json.append(',');
        }
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2);
        quote(json, text);
        return json.toString();
    }

    private static void quote(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c == 0x7f || (Character.isSurrogate(c) && !isPair(text, i))) {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }

    private static boolean isPair(String text, int i) {
        char c = text.charAt(i);
        return Character.isHighSurrogate(c)
                ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
                : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
    }
}
