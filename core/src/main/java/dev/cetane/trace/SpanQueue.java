package dev.cetane.trace;

import dev.cetane.worker.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Requests whose spans wait to be sent. Guarded by its monitor, which {@link #offer}, on a request's path, holds for an append. The exporter's thread
 * takes them in batches.
 */
final class SpanQueue {
    /** Most requests of a batch. */
    static final int BATCH = 512;

    private final int most;
    private final Ticker ticker;
    private final ArrayDeque<RequestSpan> waiting = new ArrayDeque<>();
    private boolean stopping;

    SpanQueue(int most, Ticker ticker) {
        this.most = most;
        this.ticker = ticker;
    }

    /** False when there are too many already. Wakes the exporter for the first one and for a whole batch only. */
    synchronized boolean offer(RequestSpan span) {
        int count = waiting.size();
        if (count >= most) {
            return false;
        }
        waiting.add(span);
        if (count == 0 || count + 1 == BATCH) {
            notifyAll();
        }
        return true;
    }

    /** A batch as soon as it is full, else what there is after that time, maybe nothing. At a stop what is left, without waiting. */
    synchronized List<RequestSpan> take(long forNanos) throws InterruptedException {
        await(forNanos, BATCH);
        int count = Math.min(BATCH, waiting.size());
        List<RequestSpan> batch = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            batch.add(waiting.remove());
        }
        return batch;
    }

    /** Waits that long, unless there is a stop. */
    synchronized void pause(long forNanos) throws InterruptedException {
        await(forNanos, Integer.MAX_VALUE);
    }

    /** Nothing waits for more any longer. */
    synchronized void stop() {
        stopping = true;
        notifyAll();
    }

    /** Nobody takes what is left; how many spans that were. */
    synchronized long abandon() {
        long spans = waiting.stream().mapToLong(RequestSpan::spans).sum();
        waiting.clear();
        return spans;
    }

    synchronized boolean stopping() {
        return stopping;
    }

    private void await(long forNanos, int count) throws InterruptedException {
        long deadline = ticker.nanos() + forNanos;
        for (long left = forNanos; left > 0 && !stopping && waiting.size() < count; left = deadline - ticker.nanos()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
