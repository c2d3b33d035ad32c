package dev.cetane.worker;

import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One request, task or tick that a front door hands to the {@link WorkerPool}, and the sink for its answer.
 *
 * <p>The calls come in this order, never two at once: {@link #encode} (again if the first worker died before it took the request),
 * then from the worker's reader thread {@link #head} (interim ones, then one final), {@link #data} and {@link #file} any number of
 * times, {@link #end}, {@link #done}. {@link #failed} may come instead of any of them from {@code encode} to {@code end}, from the
 * reader thread, from {@code cetane-maintenance}, or from the thread that called {@link WorkerPool#submit}. Exactly one of
 * {@code done} and {@code failed} is called, exactly once, and nothing after it.
 */
public interface Job {

    /** The request's id, for log lines. */
    String id();

    /** Method and target, for log lines and messages; may hold any character, whoever logs it escapes it. */
    String describe();

    /** How long it may run, where that is not {@code pool.request-timeout}; null where it is. Asked once, by the submitting thread. */
    default @Nullable TimeLimit timeLimit() {
        return null;
    }

    /** Whether it counts as served: in the metrics, and toward {@code pool.max-requests}. */
    default boolean isCounted() {
        return true;
    }

    /** Told once, by the submitting thread before anything else: where the job's times are to be found. */
    default void submitted(JobTimes times) {}

    /**
     * Writes the request's part of {@code $_SERVER} and its body. Runs on the dispatching thread without the pool's lock; must be
     * quick and must not block. Throwing makes the job fail with {@link WorkerException.Kind#UNDELIVERABLE}.
     */
    void encode(RequestWriter out);

    /** What the frame that {@link #encode} wrote has no room for: the worker asks for it. Only a task has such a rest. */
    default @Nullable ByteBuffer rest() {
        return null;
    }

    /** An interim or the final head of the answer. */
    void head(ResponseHead head);

    /**
     * The next bytes of the body. The buffer is only valid during the call. May block while the client is slower than the worker:
     * that is the back-pressure; the front door bounds the wait. A failure that occurs meanwhile is told when this returns.
     */
    void data(ByteBuffer bytes);

    /** The next bytes of the body are this part of a file; {@code delete} says that the sink deletes it when it is done with it. */
    void file(Path file, long offset, long length, boolean delete);

    /** The answer is complete; its length has been checked against the head's. */
    void end();

    /** The worker is idle again, or gone, after the answer was complete. */
    void done(JobReport report);

    /**
     * The job has ended without a complete answer. After the final {@code head} the front door must abort the client's connection;
     * before it, it answers by {@link WorkerException#kind()}.
     */
    void failed(WorkerException failure);
}
