package dev.cetane.task;

import dev.cetane.worker.Caller;
import dev.cetane.worker.JobPool;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that one worker waits for. Guarded by its own monitor, within which nothing is submitted, aborted or sent.
 *
 * <p>Capacity: bounded by the call that brought the tasks and by {@link TaskJob#MAX_RESULT_BYTES} for each result. Waiters: the worker waits until
 * the last task has ended or the time is over, whichever comes first; then it has its reply, once, and tasks that still wait are dropped while
 * those that run are ended with their workers.
 */
final class TaskGroup {
    private static final byte[] NOTHING = {};

    private final Caller caller;
    private final JobPool pool;
    private final List<TaskJob> jobs = new ArrayList<>();

    // Guarded by this.
    private final TaskJob.@Nullable Outcome[] outcomes;
    private final byte[][] results;
    private int running;
    private boolean replied;

    TaskGroup(Caller caller, JobPool pool, TimeLimit limit, String id, List<byte[]> tasks) {
        this.caller = caller;
        this.pool = pool;
        int count = tasks.size();
        outcomes = new TaskJob.@Nullable Outcome[count];
        results = new byte[count][];
        running = count;
        for (int i = 0; i < count; i++) {
            int index = i;
            jobs.add(new TaskJob(
                    id + "." + (i + 1),
                    "task " + (i + 1) + " of " + count + " of worker " + caller.workerId(),
                    tasks.get(i),
                    limit,
                    (outcome, bytes) -> ended(index, outcome, bytes)));
        }
    }

    /** Starts all; the time runs from here. */
    void start(long waitNanos) {
        pool.timer().schedule(this::timeOver, waitNanos);
        jobs.forEach(pool::submit);
    }

    private void ended(int index, TaskJob.Outcome outcome, byte[] bytes) {
        synchronized (this) {
            if (replied) {
                return;
            }
            outcomes[index] = outcome;
            results[index] = bytes;
            running--;
            if (running > 0) {
                return;
            }
            replied = true;
        }
        reply();
    }

    private void timeOver() {
        List<TaskJob> late = new ArrayList<>();
        synchronized (this) {
            if (replied) {
                return;
            }
            replied = true;
            for (int i = 0; i < outcomes.length; i++) {
                if (outcomes[i] == null) {
                    outcomes[i] = TaskJob.Outcome.UNFINISHED;
                    results[i] = NOTHING;
                    late.add(jobs.get(i));
                }
            }
        }
        reply();
        for (TaskJob job : late) {
            pool.abort(
                    job,
                    new WorkerException(
                            WorkerException.Kind.TIMED_OUT,
                            job.describe() + " had not ended when the time was over that its caller waits"));
        }
    }

    /** Nobody writes to the results any more. */
    private void reply() {
        int length = 1;
        for (byte[] result : results) {
            length += 1 + Integer.BYTES + result.length;
        }
        ByteBuffer reply = ByteBuffer.allocate(length).put((byte) 0);
        for (int i = 0; i < results.length; i++) {
            TaskJob.Outcome outcome = outcomes[i];
            reply.put((outcome == null ? TaskJob.Outcome.UNFINISHED : outcome).code);
            reply.putInt(results[i].length).put(results[i]);
        }
        caller.reply(reply.flip());
    }
}
