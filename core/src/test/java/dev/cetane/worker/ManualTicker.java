package dev.cetane.worker;

import java.time.Duration;
import java.time.Instant;

/** A clock that a test moves by hand. */
final class ManualTicker implements Ticker {
    private long nanos = 1_000_000_000_000L;

    void advance(Duration by) {
        nanos += by.toNanos();
    }

    void advanceTo(long toNanos) {
        nanos = Math.max(nanos, toNanos);
    }

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public Instant now() {
        return Instant.ofEpochSecond(1_700_000_000L, nanos);
    }
}
