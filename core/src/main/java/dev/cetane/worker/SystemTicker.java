package dev.cetane.worker;

import java.time.Instant;

/** {@link Ticker} over the machine's clocks. Thread-safe. */
enum SystemTicker implements Ticker {
    INSTANCE;

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public Instant now() {
        return Instant.now();
    }
}
