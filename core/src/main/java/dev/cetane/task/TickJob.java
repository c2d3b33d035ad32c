package dev.cetane.task;

import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.WorkerException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** One tick. What it answers is of no interest; that it has ended is. */
final class TickJob implements Job {
    private final Runnable whenEnded;

    TickJob(Runnable whenEnded) {
        this.whenEnded = whenEnded;
    }

    @Override
    public String id() {
        return "tick";
    }

    @Override
    public String describe() {
        return "tick";
    }

    @Override
    public boolean isCounted() {
        return false;
    }

    @Override
    public void encode(RequestWriter out) {
        out.tick();
    }

    @Override
    public void head(ResponseHead head) {}

    @Override
    public void data(ByteBuffer bytes) {}

    @Override
    public void file(Path file, long offset, long length, boolean delete) {}

    @Override
    public void end() {}

    @Override
    public void done(JobReport report) {
        whenEnded.run();
    }

    @Override
    public void failed(WorkerException failure) {
        whenEnded.run();
    }
}
