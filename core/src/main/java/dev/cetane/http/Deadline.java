package dev.cetane.http;

import dev.cetane.worker.Ticker;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A deadline that is moved far more often than it passes: moving it later costs a field, the timer behind it finds out when it
 * fires. On one event loop.
 */
final class Deadline {
    private final EventExecutor loop;
    private final Ticker ticker;
    private final Runnable passed;
    private boolean set;
    private long atNanos;
    private @Nullable ScheduledFuture<?> timer;
    private long timerAtNanos;

    Deadline(EventExecutor loop, Ticker ticker, Runnable passed) {
        this.loop = loop;
        this.ticker = ticker;
        this.passed = passed;
    }

    /** Sets or moves it. */
    void in(long nanos) {
        long now = ticker.nanos();
        set = true;
        atNanos = now + nanos;
        if (timer != null && timerAtNanos - atNanos > 0) {
            timer.cancel(false);
            timer = null;
        }
        if (timer == null) {
            schedule(nanos);
        }
    }

    void clear() {
        set = false;
    }

    /** Clears it for good. */
    void close() {
        set = false;
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private void schedule(long nanos) {
        timerAtNanos = ticker.nanos() + nanos;
        timer = loop.schedule(this::fire, nanos, TimeUnit.NANOSECONDS);
    }

    private void fire() {
        timer = null;
        if (set) {
            long left = atNanos - ticker.nanos();
            if (left > 0) {
                schedule(left);
            } else {
                set = false;
                passed.run();
            }
        }
    }
}
