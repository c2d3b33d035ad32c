package dev.cetane.worker;

import java.time.Instant;

/** The only reader of clocks, so that tests move time by hand. Thread-safe. */
public interface Ticker {

    /** Monotonic time in nanoseconds; only differences mean something. */
    long nanos();

    /** Wall-clock time. */
    Instant now();

    /** Wall-clock time as seconds since 1970-01-01T00:00Z, to the microsecond or so. */
    default double epochSeconds() {
        Instant now = now();
        return now.getEpochSecond() + now.getNano() / 1e9;
    }

    /** The machine's clocks. */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}
