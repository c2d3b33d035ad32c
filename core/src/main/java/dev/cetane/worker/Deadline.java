package dev.cetane.worker;

/**
 * The timer for what may take too long. Jobs come in the order of their deadlines, so one timer at a time watches all of them, and a job
 * costs none. Guarded by the pool's lock but for {@link #schedule}.
 */
final class Deadline {
    /** Nothing is to be scheduled. */
    static final long NONE = -1;

    private final Maintenance maintenance;
    private final Runnable check;
    private boolean armed;
    private long atNanos;

    Deadline(Maintenance maintenance, Runnable check) {
        this.maintenance = maintenance;
        this.check = check;
    }

    /**
     * Makes sure that the check runs once this limit is over.
     *
     * @param limitNanos 0: there is no limit
     * @return the delay to be given to {@link #schedule} without the lock, or {@link #NONE}
     */
    long arm(long limitNanos, long nowNanos) {
        if (limitNanos == 0 || (armed && atNanos - (nowNanos + limitNanos) <= 0)) {
            return NONE;
        }
        armed = true;
        atNanos = nowNanos + limitNanos;
        return limitNanos;
    }

    void schedule(long delayNanos) {
        if (delayNanos != NONE) {
            maintenance.schedule(check, delayNanos);
        }
    }

    /** The check runs. */
    void fired(long nowNanos) {
        if (armed && atNanos - nowNanos <= 0) {
            armed = false;
        }
    }
}
