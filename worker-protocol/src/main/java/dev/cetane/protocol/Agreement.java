package dev.cetane.protocol;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The version and the capabilities that HELLO and READY have settled, PROTOCOL.md §6. Immutable.
 *
 * @param version the version that both sides speak
 * @param capabilities what both sides can do
 */
public record Agreement(int version, Set<Capability> capabilities) {

    public Agreement {
        EnumSet<Capability> copy = EnumSet.noneOf(Capability.class);
        copy.addAll(capabilities);
        capabilities = Collections.unmodifiableSet(copy);
    }

    public boolean has(Capability capability) {
        return capabilities.contains(capability);
    }

    /**
     * The worker's choice: its highest version within the range on offer and what it can do of the capabilities on offer.
     *
     * @throws IllegalArgumentException when it speaks none of the versions on offer
     */
    public static Agreement choose(Hello offer, int lowestVersion, int highestVersion, Set<Capability> able) {
        int version = Math.min(offer.highestVersion(), highestVersion);
        if (version < offer.lowestVersion() || version < lowestVersion) {
            throw new IllegalArgumentException("the supervisor speaks versions " + offer.lowestVersion() + " to "
                    + offer.highestVersion() + ", this worker " + lowestVersion + " to " + highestVersion);
        }
        EnumSet<Capability> both = EnumSet.noneOf(Capability.class);
        both.addAll(offer.capabilities());
        both.retainAll(able);
        return new Agreement(version, both);
    }
}
