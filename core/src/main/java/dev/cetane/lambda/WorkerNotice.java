package dev.cetane.lambda;

import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.WorkerException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Something that a worker is to do or to know, of whose answer only the status is of interest, or that it fails. */
final class WorkerNotice implements Job {
    private final String what;
    private final Consumer<RequestWriter> writer;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile int status;

    /** @param writer writes it, on the dispatching thread */
    WorkerNotice(String what, Consumer<RequestWriter> writer) {
        this.what = what;
        this.writer = writer;
    }

    /** Completes when the worker is idle again; fails with a {@link WorkerException}. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Of the answer's head, 0 when there was none. */
    int status() {
        return status;
    }

    @Override
    public String id() {
        return what;
    }

    @Override
    public String describe() {
        return what;
    }

    @Override
    public void encode(RequestWriter out) {
        writer.accept(out);
    }

    @Override
    public void head(ResponseHead head) {
        status = head.status();
    }

    @Override
    public void data(ByteBuffer bytes) {}

    @Override
    public void file(Path file, long offset, long length, boolean delete) {}

    @Override
    public void end() {}

    @Override
    public void done(JobReport report) {
        ended.complete(null);
    }

    @Override
    public void failed(WorkerException failure) {
        ended.completeExceptionally(failure);
    }
}
