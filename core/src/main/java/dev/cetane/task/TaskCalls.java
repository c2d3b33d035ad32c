package dev.cetane.task;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.worker.Caller;
import dev.cetane.worker.JobPool;
import dev.cetane.worker.TimeLimit;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Takes the calls on tasks apart, PROTOCOL.md §9.3, and gives the tasks to the pool that runs them. Thread-safe. */
public final class TaskCalls {
    /** Operations from here to {@link #LAST} are for tasks. */
    public static final int FIRST = 0x20;

    public static final int LAST = 0x2F;

    /** Most tasks of one call, as Swoole has it. */
    static final int MAX_TASKS = 1_024;

    private static final int RUN = 0x20;
    private static final int DISPATCH = 0x21;
    private static final byte DONE = 0;
    private static final byte REFUSED = 5;

    private final @Nullable JobPool pool;
    private final TimeLimit limit;
    private final AtomicLong groups = new AtomicLong();

    /**
     * Calls on tasks are refused where there is no pool.
     *
     * @param pool the one that runs tasks
     * @param timeout longest time that one may run, zero: no limit
     */
    public TaskCalls(@Nullable JobPool pool, Duration timeout) {
        this.pool = pool;
        limit = new TimeLimit(timeout, "pool.task-timeout");
    }

    /**
     * Takes one call, whose first byte is one of the operations for tasks.
     *
     * @throws MalformedCallException when it does not fit its layout
     */
    public void call(Caller caller, ByteBuffer call) {
        int operation = call.get();
        try {
            switch (operation) {
                case RUN -> run(caller, Integer.toUnsignedLong(call.getInt()), tasks(call));
                case DISPATCH -> dispatch(caller, tasks(call));
                default -> throw new MalformedCallException("there is no operation " + operation + " on tasks");
            }
        } catch (BufferUnderflowException e) {
            throw new MalformedCallException("a call on tasks ends before its last field");
        }
    }

    private static List<byte[]> tasks(ByteBuffer in) {
        List<byte[]> tasks = new ArrayList<>();
        while (in.hasRemaining()) {
            int length = in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new MalformedCallException(
                        "a task has " + Integer.toUnsignedString(length) + " bytes, " + in.remaining() + " are left");
            }
            byte[] task = new byte[length];
            in.get(task);
            tasks.add(task);
        }
        return tasks;
    }

    private void run(Caller caller, long waitMillis, List<byte[]> tasks) {
        JobPool runner = pool;
        String refusal = refusal(tasks);
        if (runner == null || refusal != null) {
            reply(caller, refusal);
        } else if (caller.runsTasks()) {
            // All task workers could wait for tasks that then nobody runs.
            reply(caller, "a task cannot wait for other tasks");
        } else {
            new TaskGroup(caller, runner, limit, "task-" + groups.incrementAndGet(), tasks)
                    .start(TimeUnit.MILLISECONDS.toNanos(waitMillis));
        }
    }

    private void dispatch(Caller caller, List<byte[]> tasks) {
        JobPool runner = pool;
        String refusal = refusal(tasks);
        if (runner == null || refusal != null) {
            reply(caller, refusal);
            return;
        }
        String id = "task-" + groups.incrementAndGet();
        int number = 0;
        List<String> refused = new ArrayList<>();
        for (byte[] task : tasks) {
            number++;
            TaskJob job = new TaskJob(
                    id + "." + number,
                    "task " + number + " of " + tasks.size() + ", dispatched by worker " + caller.workerId(),
                    task,
                    limit,
                    // What fails later is in the log, as its worker is.
                    (outcome, bytes) -> {});
            runner.submit(job);
            String why = job.refusal();
            if (why != null) {
                refused.add(why);
            }
        }
        reply(
                caller,
                refused.isEmpty()
                        ? null
                        : refused.size() + " of " + tasks.size() + " tasks were not taken: " + refused.get(0));
    }

    private @Nullable String refusal(List<byte[]> tasks) {
        if (pool == null) {
            return "there are no task workers; set pool.task-workers";
        }
        if (tasks.isEmpty() || tasks.size() > MAX_TASKS) {
            return "a call has 1 to " + MAX_TASKS + " tasks, not " + tasks.size();
        }
        return null;
    }

    private static void reply(Caller caller, @Nullable String refusal) {
        if (refusal == null) {
            caller.begin().put(DONE);
        } else {
            caller.begin().put(REFUSED).put(refusal.getBytes(StandardCharsets.UTF_8));
        }
        caller.reply();
    }
}
