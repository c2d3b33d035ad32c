package dev.cetane.http;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Counts what it hears, for tests. Guarded by itself. */
final class CountingListener implements HttpListener {
    /** What was counted so far. */
    record Counts(
            int opened,
            int closed,
            int refused,
            List<Integer> answered,
            int abandoned,
            int aborted,
            List<Integer> files) {}

    private int opened;
    private int closed;
    private int refused;
    private final List<Integer> answered = new ArrayList<>();
    private final List<Integer> files = new ArrayList<>();
    private final List<RequestReport> ended = new ArrayList<>();
    private int abandoned;
    private int aborted;

    synchronized Counts now() {
        return new Counts(opened, closed, refused, List.copyOf(answered), abandoned, aborted, List.copyOf(files));
    }

    /** Waits until the counts are so. */
    synchronized Counts await(Predicate<Counts> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!wanted.test(now())) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("not what was waited for: " + now());
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return now();
    }

    @Override
    public synchronized void connectionOpened() {
        opened++;
        notifyAll();
    }

    @Override
    public synchronized void connectionClosed() {
        closed++;
        notifyAll();
    }

    @Override
    public synchronized void connectionRefused() {
        refused++;
        notifyAll();
    }

    @Override
    public synchronized void answered(int status, long durationNanos, long receiveNanos, long transferNanos) {
        if (durationNanos < 0 || receiveNanos < 0 || receiveNanos > durationNanos || transferNanos > durationNanos) {
            throw new AssertionError("times: " + durationNanos + ", " + receiveNanos + ", " + transferNanos);
        }
        answered.add(status);
        notifyAll();
    }

    @Override
    public synchronized void ended(RequestReport report) {
        ended.add(report);
        notifyAll();
    }

    /** The next request that has ended on both sides; waits for it. */
    synchronized RequestReport takeEnded() throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (ended.isEmpty()) {
            long left = until - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("no request has ended");
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return ended.remove(0);
    }

    @Override
    public synchronized void fileServed(int status) {
        files.add(status);
        notifyAll();
    }

    @Override
    public synchronized void abandoned(long durationNanos) {
        abandoned++;
        notifyAll();
    }

    @Override
    public synchronized void aborted(long durationNanos) {
        aborted++;
        notifyAll();
    }
}
