package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Says where PHP is in each request that has run longer than {@code pool.slow-request}, once. Lives on the pool's maintenance thread, which looks
 * four times in that time; {@link #stop} may be called by any.
 */
public final class SlowRequestWatch {
    private static final int LOOKS = 4;
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerPool pool;
    private final long slowNanos;
    private final EventLog log;
    private final PoolListener listener;

    /** By worker, the request that was reported last; some of workers that are gone. */
    private final Map<Integer, String> reported = new HashMap<>();

    private volatile boolean stopped;

    /**
     * A watch that has not begun.
     *
     * @param slow above zero
     * @param listener is told of each slow request
     */
    public SlowRequestWatch(WorkerPool pool, Duration slow, EventLog log, PoolListener listener) {
        this.pool = pool;
        this.slowNanos = slow.toNanos();
        this.log = log;
        this.listener = listener;
    }

    public void start() {
        pool.timer().schedule(this::look, Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, slowNanos / LOOKS)));
    }

    /** Nothing is looked at any more. */
    public void stop() {
        stopped = true;
    }

    private void look() {
        if (stopped) {
            return;
        }
        List<WorkerSnapshot> workers = pool.snapshot().workers();
        if (reported.size() > 2 * workers.size()) {
            reported.keySet().retainAll(workers.stream().map(WorkerSnapshot::id).toList());
        }
        for (WorkerSnapshot worker : workers) {
            String id = worker.requestId();
            if (id != null
                    && worker.state() == WorkerState.BUSY
                    && worker.stateNanos() >= slowNanos
                    && !Objects.equals(reported.put(worker.id(), id), id)) {
                report(worker, id);
            }
        }
        start();
    }

    private void report(WorkerSnapshot worker, String requestId) {
        String stack = PhpStack.describe(worker.pid());
        listener.slow(requestId, stack);
        log.log(
                Level.WARN,
                "request.slow",
                requestId,
                worker.request() + " runs for " + TimeUnit.NANOSECONDS.toMillis(worker.stateNanos())
                        + " ms, longer than pool.slow-request; PHP is in\n" + stack,
                "worker",
                worker.id(),
                "pid",
                worker.pid());
    }
}
