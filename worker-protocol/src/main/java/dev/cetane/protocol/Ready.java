package dev.cetane.protocol;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The READY frame, PROTOCOL.md §5.1. Immutable. Facts hold one char per byte (ISO-8859-1); a worker may leave out any of them,
 * then its accessor gives an empty text or -1.
 *
 * @param version the protocol version that the worker chose
 * @param facts facts about the process by name
 */
public record Ready(int version, Map<String, String> facts) {

    public Ready {
        facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
    }

    /** The known capabilities that are on. */
    public Set<Capability> capabilities() {
        return Capability.parse(text("capabilities"));
    }

    /** Process id as the worker sees it, -1 if it did not say. */
    public long pid() {
        return number("pid");
    }

    /** Version of PHP. */
    public String php() {
        return text("php");
    }

    /** Name of the SAPI, {@code cli} or {@code cgi-fcgi}. */
    public String sapi() {
        return text("sapi");
    }

    /** From the worker's start to READY, microseconds, -1 if it did not say. */
    public long bootMicros() {
        return number("boot-micros");
    }

    /** Name and version of the client library. */
    public String client() {
        return text("client");
    }

    private String text(String fact) {
        return facts.getOrDefault(fact, "");
    }

    private long number(String fact) {
        String text = text(fact);
        return isDecimal(text) ? Long.parseLong(text) : -1;
    }

    /** Whether the text is a decimal number that fits into a long. */
    static boolean isDecimal(String text) {
        if (text.isEmpty() || text.length() > 18) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }
}
