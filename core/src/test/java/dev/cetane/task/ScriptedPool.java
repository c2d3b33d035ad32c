package dev.cetane.task;

import dev.cetane.protocol.Ready;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobPool;
import dev.cetane.worker.Timer;
import dev.cetane.worker.WorkerException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** A pool that keeps what it is given, and a clock that the test moves by hand. */
final class ScriptedPool implements JobPool {
    private record Later(long at, int order, Runnable task) {}

    final List<Job> submitted = new ArrayList<>();
    final List<Job> aborted = new ArrayList<>();
    final List<Job> offered = new ArrayList<>();
    final List<Integer> wanted = new ArrayList<>();

    /** What each job fails with at once; null: it is taken. */
    WorkerException refusal;

    /** The worker that takes what is offered, 0: none does. */
    int idleWorker;

    String capabilities = "tick";
    private final PriorityQueue<Later> timers =
            new PriorityQueue<>((a, b) -> a.at != b.at ? Long.compare(a.at, b.at) : Integer.compare(a.order, b.order));
    private long now;
    private int order;

    @Override
    public void submit(Job job) {
        submitted.add(job);
        if (refusal != null) {
            job.failed(refusal);
        }
    }

    @Override
    public void cancel(Job job) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Ready lastReady() {
        return new Ready(1, Map.of("capabilities", capabilities));
    }

    @Override
    public int offer(Job job, int workerId) {
        wanted.add(workerId);
        if (idleWorker != 0) {
            offered.add(job);
        }
        return idleWorker;
    }

    @Override
    public void abort(Job job, WorkerException failure) {
        aborted.add(job);
        job.failed(failure);
    }

    @Override
    public Timer timer() {
        return (task, delayNanos) -> timers.add(new Later(now + delayNanos, order++, task));
    }

    /** Moves the clock and runs what is due on the way. */
    void advance(long nanos) {
        long end = now + nanos;
        while (!timers.isEmpty() && timers.peek().at <= end) {
            Later next = timers.remove();
            now = next.at;
            next.task.run();
        }
        now = end;
    }
}
