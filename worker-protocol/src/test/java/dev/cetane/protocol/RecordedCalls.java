package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes down what a decoder calls. Pieces of DATA that follow each other are put together, as their borders mean nothing. */
final class RecordedCalls implements WorkerFrameHandler {

    /** One call; the content is the decoded record, or the body's bytes as ISO-8859-1. */
    record Call(FrameType type, int request, Object content) {}

    record Asked(String payload, boolean more) {}

    record LogMessage(int severity, String message) {}

    private final List<Call> calls = new ArrayList<>();
    private final StringBuilder body = new StringBuilder();
    private int bodyRequest;
    private int pieces;

    List<Call> calls() {
        List<Call> all = new ArrayList<>(calls);
        if (!body.isEmpty()) {
            all.add(new Call(FrameType.DATA, bodyRequest, body.toString()));
        }
        return all;
    }

    /** How many pieces of DATA came. */
    int pieces() {
        return pieces;
    }

    void clear() {
        calls.clear();
        body.setLength(0);
    }

    @Override
    public void ready(Ready ready) {
        add(FrameType.READY, 0, ready);
    }

    @Override
    public void head(int request, ResponseHead head) {
        add(FrameType.HEAD, request, head);
    }

    @Override
    public void data(int request, ByteBuffer bytes) {
        pieces++;
        if (!bytes.hasRemaining()) {
            throw new AssertionError("an empty piece of DATA");
        }
        if (!body.isEmpty() && bodyRequest != request) {
            flush();
        }
        bodyRequest = request;
        body.append(StandardCharsets.ISO_8859_1.decode(bytes));
    }

    @Override
    public void file(int request, FileRange range) {
        add(FrameType.FILE, request, range);
    }

    @Override
    public void end(int request) {
        add(FrameType.END, request, "");
    }

    @Override
    public void metrics(int request, List<Measurement> measurements) {
        add(FrameType.METRICS, request, measurements);
    }

    @Override
    public void done(int request, Done done) {
        add(FrameType.DONE, request, done);
    }

    @Override
    public void error(int request, ErrorReport report) {
        add(FrameType.ERROR, request, report);
    }

    @Override
    public void call(int request, ByteBuffer payload, boolean more) {
        add(
                FrameType.CALL,
                request,
                new Asked(StandardCharsets.ISO_8859_1.decode(payload).toString(), more));
    }

    @Override
    public void log(int request, int severity, String message) {
        add(FrameType.LOG, request, new LogMessage(severity, message));
    }

    private void add(FrameType type, int request, Object content) {
        flush();
        calls.add(new Call(type, request, content));
    }

    private void flush() {
        if (!body.isEmpty()) {
            calls.add(new Call(FrameType.DATA, bodyRequest, body.toString()));
            body.setLength(0);
        }
    }
}
