package dev.cetane.bench;

import dev.cetane.protocol.Done;
import dev.cetane.protocol.ErrorReport;
import dev.cetane.protocol.FileRange;
import dev.cetane.protocol.Measurement;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.protocol.WorkerFrameHandler;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps what it is told in fields, so that none of it is optimised away. */
public final class Sink implements WorkerFrameHandler {

    @Nullable
    Object last;

    long bytes;

    @Override
    public void ready(Ready ready) {
        last = ready;
    }

    @Override
    public void head(int request, ResponseHead head) {
        last = head;
    }

    @Override
    public void data(int request, ByteBuffer piece) {
        bytes += piece.remaining();
    }

    @Override
    public void file(int request, FileRange range) {
        last = range;
    }

    @Override
    public void end(int request) {
        bytes++;
    }

    @Override
    public void metrics(int request, List<Measurement> measurements) {
        last = measurements;
    }

    @Override
    public void done(int request, Done done) {
        last = done;
    }

    @Override
    public void error(int request, ErrorReport report) {
        last = report;
    }

    @Override
    public void call(int request, ByteBuffer payload, boolean more) {}

    @Override
    public void log(int request, int severity, String message) {
        last = message;
    }
}
