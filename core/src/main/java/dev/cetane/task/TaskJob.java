package dev.cetane.task;

import dev.cetane.protocol.RequestEncoder;
import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** One task: what is run, as the application has serialised it, and what has come of it. Called by one thread at a time, see {@link Job}. */
final class TaskJob implements Job {
    /** Most bytes of a task's result. */
    static final int MAX_RESULT_BYTES = 8 << 20;

    private static final int OK = 200;

    /** How a task ended, by its code on the wire. */
    enum Outcome {
        /** It gave a result. */
        RESULT(0),
        /** It threw an exception. */
        EXCEPTION(1),
        /** Its time was over before it had ended, or begun. */
        UNFINISHED(2),
        /** It was not run, or its worker has not survived it. */
        FAILED(3);

        final byte code;

        Outcome(int code) {
            this.code = (byte) code;
        }
    }

    /** Hears once what has come of the task; on a reader thread, the maintenance thread, or within submit. */
    interface Sink {
        void ended(Outcome outcome, byte[] bytes);
    }

    private final String id;
    private final String description;
    private final byte[] task;
    private final TimeLimit limit;
    private final Sink sink;
    private final ByteArrayOutputStream result = new ByteArrayOutputStream(64);
    private int status;
    private boolean tooLong;
    private boolean ended;
    private volatile @Nullable String refusal;

    TaskJob(String id, String description, byte[] task, TimeLimit limit, Sink sink) {
        this.id = id;
        this.description = description;
        this.task = task;
        this.limit = limit;
        this.sink = sink;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String describe() {
        return description;
    }

    @Override
    public TimeLimit timeLimit() {
        return limit;
    }

    @Override
    public void encode(RequestWriter out) {
        int piece = Math.min(task.length, RequestEncoder.TASK_BYTES);
        out.task(ByteBuffer.wrap(task, 0, piece), piece < task.length);
    }

    @Override
    public @Nullable ByteBuffer rest() {
        int left = task.length - RequestEncoder.TASK_BYTES;
        return left <= 0 ? null : ByteBuffer.wrap(task, RequestEncoder.TASK_BYTES, left);
    }

    @Override
    public void head(ResponseHead head) {
        status = head.status();
    }

    @Override
    public void data(ByteBuffer bytes) {
        if (result.size() + bytes.remaining() > MAX_RESULT_BYTES) {
            tooLong = true;
            return;
        }
        byte[] piece = new byte[bytes.remaining()];
        bytes.get(piece);
        result.writeBytes(piece);
    }

    @Override
    public void file(Path file, long offset, long length, boolean delete) {
        // A file is no result; the worker's own client never sends one for a task.
        tooLong = true;
    }

    @Override
    public void end() {
        if (tooLong) {
            end(
                    Outcome.FAILED,
                    (description + " has a result of more than " + MAX_RESULT_BYTES
                                    + " bytes; put it where the one who wants it can read it")
                            .getBytes(StandardCharsets.UTF_8));
        } else {
            end(status == OK ? Outcome.RESULT : Outcome.EXCEPTION, result.toByteArray());
        }
    }

    @Override
    public void done(JobReport report) {
        // The result was taken at the end of the answer: what the worker does afterwards is its own business.
    }

    @Override
    public void failed(WorkerException failure) {
        String message = String.valueOf(failure.getMessage());
        switch (failure.kind()) {
            case OVERLOADED, DRAINING, UNDELIVERABLE -> refusal = message;
            default -> {}
        }
        end(Outcome.FAILED, message.getBytes(StandardCharsets.UTF_8));
    }

    /** Why no worker has taken it, null as long as that has not happened. Any thread. */
    @Nullable
    String refusal() {
        return refusal;
    }

    private void end(Outcome outcome, byte[] bytes) {
        if (!ended) {
            ended = true;
            sink.ended(outcome, bytes);
        }
    }
}
