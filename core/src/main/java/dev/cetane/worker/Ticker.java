package dev.cetane.worker;

import java.time.Instant;

/** The only reader of clocks, so that tests move time by hand. Thread-safe. */
public interface Ticker {

    /** Monotonic time in nanoseconds; only differences mean something. */
    long nanos();

    /** Wall-clock time. */
    Instant now();

    /** The machine's clocks. */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}
