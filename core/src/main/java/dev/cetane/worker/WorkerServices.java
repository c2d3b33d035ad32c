package dev.cetane.worker;

import dev.cetane.protocol.Capability;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * What a pool's workers are for, and what the supervisor does for them. Immutable.
 *
 * @param calls answers their calls
 * @param role what they are given
 * @param taskWorkers how many workers run tasks, 0: none do
 * @param ids gives each worker its number, unique among all pools of the supervisor; called under a pool's lock
 */
public record WorkerServices(CallHandler calls, Role role, int taskWorkers, IntSupplier ids) {

    /** What a pool's workers are given. {@link #key()} is the name in HELLO. */
    public enum Role {
        /** Requests, and ticks where there are no task workers. */
        REQUEST("request"),
        /** Tasks of other workers, and ticks. */
        TASK("task");

        private final String key;

        Role(String key) {
            this.key = key;
        }

        public String key() {
            return key;
        }
    }

    /** What HELLO offers. */
    Set<Capability> capabilities() {
        EnumSet<Capability> offered = EnumSet.of(Capability.FILE, Capability.FORM, Capability.CALL);
        if (role == Role.TASK) {
            offered.add(Capability.TASK);
        } else {
            offered.add(Capability.EVENT);
            offered.add(Capability.SNAPSHOT);
        }
        if (role == Role.TASK || taskWorkers == 0) {
            offered.add(Capability.TICK);
        }
        return offered;
    }
}
