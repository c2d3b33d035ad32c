package dev.cetane.protocol;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What both sides may agree on beyond the basic frames, PROTOCOL.md §6. */
public enum Capability {
    /** FILE frames: the supervisor sends parts of files as the answer's body. */
    FILE,
    /** The FORM flag of REQUEST: the supervisor reads multipart forms, by the limits that READY names. */
    FORM,
    /** EVENT frames: the worker takes events that are no HTTP requests. */
    EVENT,
    /** TASK frames: the worker runs tasks of other workers. */
    TASK,
    /** TICK frames: the worker wants to be woken once a second. */
    TICK,
    /** CALL and REPLY frames: the worker asks the supervisor for something. May be used from HELLO on, before READY agrees. */
    CALL,
    /** CHECKPOINT and RESTORED frames: the worker is told that it becomes part of a snapshot, and that it was restored from one. */
    SNAPSHOT,
    /** METRICS frames: the worker tells what its application has measured. */
    METRICS,
    /** Reserved. */
    PING;

    private final String wireName = name().toLowerCase(Locale.ROOT);

    /** The name in HELLO and READY. */
    public String wireName() {
        return wireName;
    }

    /** The capability of that name, null when this version does not know it. */
    public static @Nullable Capability of(String wireName) {
        for (Capability capability : values()) {
            if (capability.wireName.equals(wireName)) {
                return capability;
            }
        }
        return null;
    }

    /** The known ones in a space-separated list; unknown names are left out. */
    public static Set<Capability> parse(String list) {
        EnumSet<Capability> known = EnumSet.noneOf(Capability.class);
        for (String name : list.split(" ", -1)) {
            Capability capability = of(name);
            if (capability != null) {
                known.add(capability);
            }
        }
        return Collections.unmodifiableSet(known);
    }

    /** The space-separated list, in the order of this enum. */
    public static String format(Set<Capability> capabilities) {
        StringBuilder list = new StringBuilder();
        for (Capability capability : values()) {
            if (capabilities.contains(capability)) {
                list.append(list.isEmpty() ? "" : " ").append(capability.wireName);
            }
        }
        return list.toString();
    }
}
