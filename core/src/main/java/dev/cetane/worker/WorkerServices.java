package dev.cetane.worker;

import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Measurement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a pool's workers are for, and what the supervisor does for them. Immutable.
 *
 * @param calls answers their calls
 * @param role what they are given
 * @param taskWorkers how many workers run tasks, 0: none do
 * @param ids gives each worker its number, unique among all pools of the supervisor; called under a pool's lock
 * @param measurements takes what the application measures, on any thread that reads a worker's frames; must not throw. Null: nobody wants it, and
 *     workers do not send it
 */
public record WorkerServices(
        CallHandler calls,
        Role role,
        int taskWorkers,
        IntSupplier ids,
        @Nullable Consumer<List<Measurement>> measurements) {

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
        if (measurements != null) {
            offered.add(Capability.METRICS);
        }
        return offered;
    }
}
