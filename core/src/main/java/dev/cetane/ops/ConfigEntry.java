package dev.cetane.ops;

import java.util.regex.Pattern;

/**
 * One key of the configuration as it is in force. Immutable.
 *
 * @param value its text; a secret is masked by whoever makes this
 * @param origin where it came from, for people
 */
public record ConfigEntry(String key, String value, String origin) {
    /** As PHP settings have them: {@code session.save_path = tcp://redis:6379?auth=secret}. */
    private static final Pattern CREDENTIALS =
            Pattern.compile("(auth|pass|passwd|password|pwd|secret|token|key)=|//[^/@\\s]*@", Pattern.CASE_INSENSITIVE);

    /** The value, or asterisks where it holds what looks like credentials. */
    String shown() {
        return CREDENTIALS.matcher(value).find() ? "***" : value;
    }
}
