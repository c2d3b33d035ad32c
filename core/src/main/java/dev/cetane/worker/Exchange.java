package dev.cetane.worker;

import dev.cetane.protocol.FileRange;
import dev.cetane.protocol.ResponseHead;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One job on its way through the pool: its times, and the claim on its sink.
 *
 * <p>The reader thread calls the sink while other threads may conclude the exchange (a time-out, a drain, the end of the process). The
 * {@code sink} field makes sure that no two of them are inside the job at once and that it ends once: it is null while the sink is
 * free, {@link #IN_USE} while the reader is inside, {@link #CLOSED} in the end. Who concludes while the reader is inside leaves the
 * failure there, and the reader delivers it on its way out; so nobody but the reader ever waits for a slow client.
 */
final class Exchange implements JobTimes {
    private static final Object IN_USE = new Object();
    private static final Object CLOSED = new Object();
    private static final VarHandle SINK;

    static {
        try {
            SINK = MethodHandles.lookup().findVarHandle(Exchange.class, "sink", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Job job;
    private final PoolListener listener;
    private final long submittedNanos;
    private final double submittedAtSeconds;

    /** What the job may take in place of the pool's limit; null: that. */
    private final @Nullable TimeLimit limit;

    /** The limit that has taken its place; written by the reader thread. */
    private volatile @Nullable Restarted restarted;

    /**
     * A limit that began anew.
     *
     * @param fromNanos when, less the time in the sink until then where that counts
     */
    private record Restarted(TimeLimit limit, long fromNanos) {}

    // Guarded by the pool's lock.
    private int workerId;
    private int attempts;
    private long assignedNanos;
    private long bootNanos;

    // Guarded by the lock of the link that sends it; read by others only after sentNanos.
    private boolean cancelled;
    private int requestNumber;

    // Written by the sending and then by the reader thread. Volatile where the time-out check reads them.
    private volatile long sentNanos;
    private volatile long endNanos;
    private volatile long sinkSinceNanos;
    private volatile long sinkNanos;
    private long headNanos;

    /** When the failure was told; written by whoever delivers it. */
    private long failedNanos;

    @SuppressWarnings("unused") // by SINK
    private volatile @Nullable Object sink;

    Exchange(Job job, PoolListener listener, Ticker ticker) {
        this.job = job;
        this.listener = listener;
        submittedNanos = ticker.nanos();
        submittedAtSeconds = ticker.epochSeconds();
        limit = job.timeLimit();
        job.submitted(this);
    }

    /** Whose limit it runs under where that is not the pool's. */
    @Nullable
    TimeLimit limit() {
        Restarted anew = restarted;
        return anew == null ? limit : anew.limit;
    }

    /** How long it may run, 0 for ever. */
    long limitNanos(long poolsLimitNanos) {
        TimeLimit now = limit();
        return now == null ? poolsLimitNanos : now.time().toNanos();
    }

    // ---- under the pool's lock ----

    void assigned(int toWorkerId, long nowNanos) {
        workerId = toWorkerId;
        assignedNanos = nowNanos;
        attempts++;
        bootNanos = 0;
    }

    /** The worker that it is assigned to has just booted, which it began then. */
    void awaitedBoot(long bootedSinceNanos) {
        bootNanos = assignedNanos - Math.max(bootedSinceNanos, submittedNanos);
    }

    /** How many workers it was given to. */
    int attempts() {
        return attempts;
    }

    @Override
    public long submittedNanos() {
        return submittedNanos;
    }

    @Override
    public long concludedNanos() {
        return failedNanos != 0 ? failedNanos : endNanos;
    }

    @Override
    public JobReport report() {
        return report(0, 0, 0, 0);
    }

    /**
     * What is left of the time that the worker may take, for the answer and then again for what it does after it. Time spent inside the
     * sink, waiting for a slow client, is not the worker's.
     */
    long remainingNanos(long limitNanos, long nowNanos) {
        long end = endNanos;
        Restarted anew = restarted;
        if (end != 0) {
            return (anew != null && anew.fromNanos - end > 0 ? anew.fromNanos : end) + limitNanos - nowNanos;
        }
        long since = sinkSinceNanos;
        long inSink = sinkNanos + (since == 0 ? 0 : nowNanos - since);
        return (anew == null ? assignedNanos : anew.fromNanos) + limitNanos + inSink - nowNanos;
    }

    // ---- sending thread, under the link's lock ----

    double submittedAtSeconds() {
        return submittedAtSeconds;
    }

    void numbered(int number) {
        requestNumber = number;
    }

    int requestNumber() {
        return requestNumber;
    }

    void sent(long nowNanos) {
        sentNanos = nowNanos;
    }

    /** Whether the frame was written; to be asked by others only once the link is closed. */
    boolean isSent() {
        return sentNanos != 0;
    }

    /** The worker that had it never read it. */
    void unsent() {
        sentNanos = 0;
    }

    void cancelled() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }

    // ---- reader thread ----

    /** Whether the answer is complete. */
    boolean ended() {
        return endNanos != 0;
    }

    /** The application wants another limit, which begins now. */
    void restartLimit(TimeLimit anew, long nowNanos) {
        restarted = new Restarted(anew, ended() ? nowNanos : nowNanos - sinkNanos);
    }

    void head(ResponseHead head, long nowNanos) {
        if (enter()) {
            if (!head.interim()) {
                headNanos = nowNanos;
            }
            try {
                job.head(head);
            } finally {
                leave(nowNanos);
            }
        }
    }

    void data(ByteBuffer bytes, Ticker ticker) {
        if (enter()) {
            long since = ticker.nanos();
            sinkSinceNanos = since;
            long now = since;
            try {
                job.data(bytes);
            } finally {
                now = ticker.nanos();
                long total = sinkNanos + (now - since);
                sinkNanos = total;
                sinkSinceNanos = 0;
                leave(now);
            }
        }
    }

    /** Returns whether the job took the file; else its deletion is the caller's. */
    boolean file(FileRange range, long nowNanos) {
        if (!enter()) {
            return false;
        }
        try {
            job.file(range.path(), range.offset(), range.length(), range.delete());
        } finally {
            leave(nowNanos);
        }
        return true;
    }

    void end(long nowNanos) {
        if (enter()) {
            endNanos = nowNanos;
            try {
                job.end();
            } finally {
                leave(nowNanos);
            }
        }
    }

    /** DONE has arrived. */
    void done(long handlerMicros, long cpuMicros, long peakMemoryBytes, long nowNanos) {
        if (SINK.compareAndSet(this, null, CLOSED)) {
            complete(report(handlerMicros, cpuMicros, peakMemoryBytes, nowNanos - endNanos));
        }
    }

    private boolean enter() {
        return SINK.compareAndSet(this, null, IN_USE);
    }

    private void leave(long nowNanos) {
        if (!SINK.compareAndSet(this, IN_USE, null)) {
            WorkerException failure = (WorkerException) SINK.getAndSet(this, CLOSED);
            deliver(failure, nowNanos);
        }
    }

    /** Whether the reader is inside the sink, perhaps waiting for a slow client. Any thread. */
    boolean inSink() {
        Object now = sink;
        return now != null && now != CLOSED;
    }

    // ---- any thread ----

    /**
     * Nothing more will come of the worker: completes the job if its answer was complete, fails it otherwise. If the reader is inside
     * the sink it is told when it comes out. Does nothing if the exchange was concluded before.
     */
    void conclude(WorkerException failure, long nowNanos) {
        while (true) {
            Object now = sink;
            if (now == null) {
                if (SINK.compareAndSet(this, null, CLOSED)) {
                    deliver(failure, nowNanos);
                    return;
                }
            } else if (now != IN_USE || SINK.compareAndSet(this, IN_USE, failure)) {
                return;
            }
        }
    }

    /** The job was never given to a worker, or taken back from one that did not read it. */
    void reject(WorkerException failure, long nowNanos) {
        if (SINK.compareAndSet(this, null, CLOSED)) {
            failedNanos = nowNanos;
            job.failed(failure);
            if (job.isCounted()) {
                listener.rejected(failure.kind());
            }
        }
    }

    private void deliver(WorkerException failure, long nowNanos) {
        if (ended()) {
            complete(report(0, 0, 0, nowNanos - endNanos));
        } else {
            failedNanos = nowNanos;
            job.failed(failure);
            if (job.isCounted()) {
                listener.failed(failure.kind());
            }
        }
    }

    private void complete(JobReport report) {
        job.done(report);
        if (job.isCounted()) {
            listener.completed(report);
        }
    }

    /** What has not been reached ends where the exchange did. */
    private JobReport report(long handlerMicros, long cpuMicros, long peakMemoryBytes, long terminateNanos) {
        long concluded = concludedNanos();
        long head = headNanos != 0 ? headNanos : concluded;
        long end = concluded != 0 ? concluded : head;
        // A fast answer may overtake the return of the write.
        long sent = sentNanos != 0 ? Math.min(sentNanos, head) : head;
        long assigned = attempts != 0 ? assignedNanos : sent;
        return new JobReport(
                workerId,
                assigned - submittedNanos - bootNanos,
                bootNanos,
                sent - assigned,
                head - sent,
                end - head,
                terminateNanos,
                handlerMicros,
                cpuMicros,
                peakMemoryBytes);
    }
}
