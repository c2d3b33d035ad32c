package dev.cetane.ops;

import java.util.regex.Pattern;

/**
 * One key of the configuration as it is in force. Immutable.
 *
 * @param value its text; a secret is masked by whoever makes this
 * @param origin where it came from, for people
 */
public record ConfigEntry(String key, String value, String origin) {
    /** As PHP settings have them: {@code session.save_path = tcp://redis:6379?auth[pass]=secret}. */
    private static final Pattern CREDENTIALS = Pattern.compile(
            "(auth|pass|passwd|password|pwd|pw|secret|token|key)(\\[[^]=]*]|%5B[^=]*)?\\s*=|//[^@\\s]*@|\\b(Bearer|Basic) ",
            Pattern.CASE_INSENSITIVE);

    /** Keys whose whole value is one: {@code mysqli.default_pw}, {@code newrelic.license}. */
    private static final Pattern SECRET_KEY = Pattern.compile(
            "(.*[._-])?(auth|credentials?|key|licen[cs]e|pass|passwd|password|passphrase|pwd?|secret|token)",
            Pattern.CASE_INSENSITIVE);

    /** The value, or asterisks where it is, or holds, what looks like credentials. */
    String shown() {
        boolean secret = SECRET_KEY.matcher(key).matches() && !value.isEmpty();
        return secret || CREDENTIALS.matcher(value).find() ? "***" : value;
    }
}
