package dev.cetane.ops;

import java.util.Map;

/**
 * What the metrics have counted since the start. Immutable.
 *
 * @param outcomes requests by what the client got
 * @param phases by name
 * @param failures by kind, without those that are 0, and likewise {@code rejections} and {@code restarts}
 * @param connections that are open
 */
record Totals(
        Map<String, Long> outcomes,
        Map<String, Passed> phases,
        Map<String, Long> failures,
        Map<String, Long> rejections,
        Map<String, Long> restarts,
        long connections) {

    /** How many requests have passed a phase, and how long it took them together. */
    record Passed(long count, double nanos) {
        static final Passed NOTHING = new Passed(0, 0);
    }

    long count(String phase) {
        return phases.getOrDefault(phase, Passed.NOTHING).count();
    }
}
