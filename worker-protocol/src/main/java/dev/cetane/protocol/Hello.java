package dev.cetane.protocol;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The HELLO frame, PROTOCOL.md §4.1. Immutable. Each char of names and values is sent as one byte (ISO-8859-1), see
 * {@link BytePath} for paths; the order is kept.
 *
 * @param lowestVersion lowest protocol version the supervisor speaks, 1 to 65 535
 * @param highestVersion highest one
 * @param settings what the worker is to run, the names of PROTOCOL.md §4.1
 * @param server the part of {@code $_SERVER} that is the same for all requests
 */
public record Hello(int lowestVersion, int highestVersion, Map<String, String> settings, Map<String, String> server) {

    /** The setting that lists the {@link Capability capabilities} on offer. */
    public static final String CAPABILITIES = "capabilities";

    /** The only version so far. */
    public static final int VERSION = 1;

    public Hello {
        if (lowestVersion < 1 || highestVersion > 0xFFFF || lowestVersion > highestVersion) {
            throw new IllegalArgumentException(
                    "versions " + lowestVersion + " to " + highestVersion + " are no range within 1 to 65535");
        }
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
        server = Collections.unmodifiableMap(new LinkedHashMap<>(server));
    }

    /** A HELLO of the version that this codec speaks. */
    public static Hello current(Map<String, String> settings, Map<String, String> server) {
        return new Hello(VERSION, VERSION, settings, server);
    }

    /** The known capabilities on offer. */
    public Set<Capability> capabilities() {
        return Capability.parse(settings.getOrDefault(CAPABILITIES, ""));
    }
}
