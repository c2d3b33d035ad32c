package dev.cetane.worker;

/** The most there was at once since the start. Guarded by the pool's lock. */
final class Peaks {
    private int queued;
    private int busy;

    void queued(int now) {
        queued = Math.max(queued, now);
    }

    /** A worker has become busy. They are counted only where more than ever may be: all that are not idle. */
    void busy(Staff staff) {
        if (staff.size() - staff.idleCount() > busy) {
            busy = Math.max(busy, staff.busyCount());
        }
    }

    int mostQueued() {
        return queued;
    }

    int mostBusy() {
        return busy;
    }
}
