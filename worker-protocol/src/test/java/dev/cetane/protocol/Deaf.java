package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.util.List;

/** Does nothing with what it is told. */
class Deaf implements WorkerFrameHandler {

    @Override
    public void ready(Ready ready) {}

    @Override
    public void head(int request, ResponseHead head) {}

    @Override
    public void data(int request, ByteBuffer bytes) {}

    @Override
    public void file(int request, FileRange range) {}

    @Override
    public void end(int request) {}

    @Override
    public void metrics(int request, List<Measurement> measurements) {}

    @Override
    public void done(int request, Done done) {}

    @Override
    public void error(int request, ErrorReport report) {}

    @Override
    public void call(int request, ByteBuffer payload, boolean more) {}

    @Override
    public void log(int request, int severity, String message) {}
}
