package dev.cetane.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits on a monitor that is notified at each change. */
final class Await {
    private static final long SECONDS = 20;

    private Await() {}

    /** The caller holds the monitor. */
    static void until(Object monitor, BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.getAsBoolean()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("waited " + SECONDS + " s in vain for " + what);
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(monitor, left);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
