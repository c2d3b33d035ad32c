package dev.cetane.http;

import dev.cetane.worker.Ticker;
import java.time.Instant;

/** A clock that a test moves by hand. Not thread-safe. */
final class ManualTicker implements Ticker {
    private long nanos = 1_000_000_000L;

    void advance(long byNanos) {
        nanos += byNanos;
    }

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public Instant now() {
        return Instant.ofEpochSecond(1_000_000_000L).plusNanos(nanos);
    }
}
