package dev.cetane.task;

import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.JobPool;
import java.util.concurrent.TimeUnit;

/**
 * Wakes one worker once a second, always the same as long as it lives, if its client wants to be woken. Lives on the maintenance thread, but for
 * the end of a tick, which comes on a reader thread.
 *
 * <p>A tick goes to a worker that is idle, and to the one that was idle longest when a worker has to be chosen, so that it keeps out of the way of
 * requests: it delays one only where all other workers are busy, for as long as the tick runs. It is tried again and again while its worker is
 * busy. After ten seconds without one it waits in line like everybody else. There is never more than one: what a long tick makes late is left out.
 */
public final class Ticks {
    static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    static final int PATIENCE_PERIODS = 10;

    private final JobPool pool;
    private volatile boolean running;
    private volatile boolean stopped;
    private boolean due;
    private int duePeriods;
    private int pinned;

    /** Ticks for the workers of this pool, from {@link #start} on. */
    public Ticks(JobPool pool) {
        this.pool = pool;
    }

    public void start() {
        pool.timer().schedule(this::period, PERIOD_NANOS);
    }

    /** No tick begins any more. Any thread. */
    public void stop() {
        stopped = true;
    }

    private void period() {
        if (stopped) {
            return;
        }
        pool.timer().schedule(this::period, PERIOD_NANOS);
        duePeriods = due ? duePeriods + 1 : 0;
        if (!running && wanted() && !due) {
            due = true;
            attempt();
        }
    }

    private boolean wanted() {
        Ready ready = pool.lastReady();
        return ready != null && ready.capabilities().contains(Capability.TICK);
    }

    private void attempt() {
        if (stopped) {
            return;
        }
        running = true;
        TickJob tick = new TickJob(() -> running = false);
        int worker = pool.offer(tick, pinned);
        if (worker != 0) {
            pinned = worker;
            due = false;
        } else if (duePeriods >= PATIENCE_PERIODS) {
            due = false;
            pool.submit(tick);
        } else {
            running = false;
            pool.timer().schedule(this::attempt, RETRY_NANOS);
        }
    }
}
