package dev.cetane.files;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A pattern for paths or names: {@code *} stands for any characters but a slash, {@code **} for any characters, {@code **}{@code /} also for nothing,
 * {@code ?} for one character that is no slash, {@code {a,b}} for one of the words. Everything else stands for itself. Immutable, callable from any
 * thread.
 */
public final class Glob {
    private final String text;
    private final Pattern pattern;

    private Glob(String text, int flags) {
        this.text = text;
        try {
            this.pattern = Pattern.compile(expression(text), flags);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("holds " + text + ", whose braces do not match", e);
        }
    }

    /**
     * The pattern that the text is.
     *
     * @throws IllegalArgumentException if braces do not match; the message is for people
     */
    public static Glob of(String text) {
        return new Glob(text, Pattern.DOTALL);
    }

    /** One for which the case of ASCII letters does not count. */
    static Glob ignoringCase(String text) {
        return new Glob(text, Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    }

    /** Whether it stands for the whole text. */
    public boolean matches(CharSequence candidate) {
        return pattern.matcher(candidate).matches();
    }

    private static String expression(String glob) {
        StringBuilder out = new StringBuilder(glob.length() + 32);
        boolean inBraces = false;
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            switch (c) {
                case '*' -> {
                    if (!glob.startsWith("**", i)) {
                        out.append("[^/]*");
                    } else if (glob.startsWith("**/", i) && (i == 0 || glob.charAt(i - 1) == '/')) {
                        out.append("(?:.*/)?");
                        i += 2;
                    } else {
                        out.append(".*");
                        i++;
                    }
                }
                case '?' -> out.append("[^/]");
                case '{' -> {
                    inBraces = true;
                    out.append("(?:");
                }
                case '}' -> {
                    inBraces = false;
                    out.append(')');
                }
                case ',' -> out.append(inBraces ? "|" : ",");
                default -> {
                    if ("\\.[]()^$+|-&".indexOf(c) >= 0) {
                        out.append('\\');
                    }
                    out.append(c);
                }
            }
        }
        return out.toString();
    }

    @Override
    public String toString() {
        return text;
    }
}
