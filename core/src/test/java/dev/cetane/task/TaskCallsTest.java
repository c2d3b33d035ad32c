package dev.cetane.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.RecordingCaller;
import dev.cetane.worker.WorkerException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class TaskCallsTest {
    private final ScriptedPool pool = new ScriptedPool();
    private final TaskCalls calls = new TaskCalls(pool, Duration.ofSeconds(60));
    private final RecordingCaller caller = new RecordingCaller(3, false);

    @Test
    void results_come_back_in_the_order_of_the_tasks_once_the_last_is_there() {
        run(1_000, "a", "b", "c");
        answer(2, 200, "third");
        answer(0, 200, "first");
        assertThat(caller.reply).as("one is missing").isNull();
        answer(1, 500, "exception");
        assertThat(outcomes()).containsExactly("0 first", "1 exception", "0 third");
    }

    @Test
    void a_task_without_result_is_no_failure() {
        run(1_000, "a");
        answer(0, 200, "");
        assertThat(outcomes()).containsExactly("0 ");
    }

    @Test
    void a_worker_that_dies_costs_its_own_task_only() {
        run(1_000, "a", "b");
        pool.submitted.get(0).failed(new WorkerException(WorkerException.Kind.CRASHED, "worker 9 died"));
        answer(1, 200, "fine");
        assertThat(outcomes()).containsExactly("3 worker 9 died", "0 fine");
    }

    @Test
    void what_has_not_ended_when_the_time_is_over_is_aborted_after_the_reply() {
        run(500, "a", "b", "c");
        answer(1, 200, "in time");
        pool.advance(TimeUnit.MILLISECONDS.toNanos(499));
        assertThat(caller.reply).isNull();
        pool.advance(TimeUnit.MILLISECONDS.toNanos(1));
        assertThat(outcomes()).containsExactly("2 ", "0 in time", "2 ");
        assertThat(pool.aborted).containsExactly(pool.submitted.get(0), pool.submitted.get(2));
        assertThat(caller.replies).isEqualTo(1);
    }

    @Test
    void nothing_is_aborted_when_all_have_ended_before() {
        run(500, "a");
        answer(0, 200, "in time");
        pool.advance(TimeUnit.SECONDS.toNanos(1));
        assertThat(pool.aborted).isEmpty();
        assertThat(caller.replies).isEqualTo(1);
    }

    @Test
    void a_full_queue_is_told_for_each_task_that_finds_no_place() {
        pool.refusal = new WorkerException(WorkerException.Kind.OVERLOADED, "the queue is full");
        run(500, "a", "b");
        assertThat(outcomes()).containsExactly("3 the queue is full", "3 the queue is full");
    }

    @Test
    void a_result_that_is_too_long_is_told_and_not_kept() {
        run(500, "a");
        Job job = pool.submitted.get(0);
        job.head(new ResponseHead(200, "", ResponseHead.UNKNOWN_LENGTH, List.of()));
        job.data(ByteBuffer.allocate(TaskJob.MAX_RESULT_BYTES));
        job.data(ByteBuffer.allocate(1));
        job.end();
        assertThat(outcomes().get(0)).startsWith("3 ").contains("more than " + TaskJob.MAX_RESULT_BYTES);
    }

    @Test
    void a_task_does_not_wait_for_tasks() {
        RecordingCaller task = new RecordingCaller(7, true);
        calls.call(task, call(0x20, 500, "a"));
        assertThat(text(task)).contains("cannot wait");
        assertThat(pool.submitted).isEmpty();
    }

    @Test
    void without_a_pool_tasks_are_refused() {
        new TaskCalls(null, Duration.ZERO).call(caller, call(0x20, 500, "a"));
        assertThat(text(caller)).contains("pool.task-workers");
    }

    @Test
    void there_are_as_many_tasks_as_swoole_allows_and_no_more() {
        run(500, copies(1_024));
        assertThat(pool.submitted).hasSize(1_024);
        run(500, copies(1_025));
        assertThat(text(caller)).contains("1 to 1024 tasks, not 1025");
        run(500);
        assertThat(text(caller)).contains("not 0");
    }

    @Test
    void dispatching_waits_for_nothing() {
        calls.call(caller, call(0x21, -1, "a", "b"));
        assertThat(caller.reply).containsExactly(0);
        assertThat(pool.submitted).hasSize(2);
        answer(0, 200, "");
        assertThat(caller.replies).isEqualTo(1);
    }

    @Test
    void dispatching_into_a_full_queue_is_refused() {
        pool.refusal = new WorkerException(WorkerException.Kind.OVERLOADED, "the queue is full");
        calls.call(caller, call(0x21, -1, "a", "b"));
        assertThat(text(caller)).contains("2 of 2 tasks were not taken", "the queue is full");
    }

    @Test
    void what_is_no_call_on_tasks_is_malformed() {
        for (byte[] garbage : List.of(
                new byte[] {0x22}, new byte[] {0x20, 0, 0}, new byte[] {0x20, 0, 0, 0, 0, 0, 0, 0, 9, 1}, new byte[] {
                    0x21, -1, -1, -1, -1
                })) {
            assertThatThrownBy(() -> calls.call(caller, ByteBuffer.wrap(garbage)))
                    .isInstanceOf(MalformedCallException.class);
        }
    }

    private static String[] copies(int count) {
        return Collections.nCopies(count, "x").toArray(String[]::new);
    }

    private void run(int waitMillis, String... tasks) {
        calls.call(caller, call(0x20, waitMillis, tasks));
    }

    private static ByteBuffer call(int operation, int waitMillis, String... tasks) {
        ByteBuffer call = ByteBuffer.allocate(16_384).put((byte) operation);
        if (operation == 0x20) {
            call.putInt(waitMillis);
        }
        for (String task : tasks) {
            call.putInt(task.length()).put(task.getBytes(StandardCharsets.ISO_8859_1));
        }
        return call.flip();
    }

    private void answer(int task, int status, String body) {
        Job job = pool.submitted.get(task);
        job.head(new ResponseHead(status, "", body.length(), List.of()));
        if (!body.isEmpty()) {
            job.data(ByteBuffer.wrap(body.getBytes(StandardCharsets.ISO_8859_1)));
        }
        job.end();
    }

    private List<String> outcomes() {
        ByteBuffer reply = ByteBuffer.wrap(caller.reply);
        assertThat(reply.get()).isZero();
        List<String> outcomes = new ArrayList<>();
        while (reply.hasRemaining()) {
            int outcome = reply.get();
            byte[] bytes = new byte[reply.getInt()];
            reply.get(bytes);
            outcomes.add(outcome + " " + new String(bytes, StandardCharsets.UTF_8));
        }
        return outcomes;
    }

    private static String text(RecordingCaller to) {
        assertThat(to.reply[0]).isEqualTo((byte) 5);
        return new String(to.reply, 1, to.reply.length - 1, StandardCharsets.UTF_8);
    }
}
