package dev.cetane.worker;

import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A request for one path that keeps what it is answered, and notices when it is answered wrongly. Thread-safe. */
final class RecordingJob implements Job {
    private static final AtomicInteger LAST = new AtomicInteger();

    private static final int MOST_KEPT = 8 << 20;

    private final String id = "r" + LAST.incrementAndGet();
    private final String path;

    // Guarded by this.
    private final List<String> calls = new ArrayList<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private ResponseHead head;
    private JobReport report;
    private WorkerException failure;
    private Consumer<ByteBuffer> whenData = bytes -> {};
    private RuntimeException encodeFailure;
    private TimeLimit limit;
    private boolean counted = true;

    RecordingJob(String path) {
        this.path = path;
    }

    RecordingJob limitedTo(Duration time, String origin) {
        limit = new TimeLimit(time, origin);
        return this;
    }

    RecordingJob uncounted() {
        counted = false;
        return this;
    }

    @Override
    public boolean isCounted() {
        return counted;
    }

    RecordingJob whenData(Consumer<ByteBuffer> action) {
        whenData = action;
        return this;
    }

    RecordingJob failingToEncode(RuntimeException e) {
        encodeFailure = e;
        return this;
    }

    @Override
    public TimeLimit timeLimit() {
        return limit;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String describe() {
        return "GET " + path;
    }

    @Override
    public void encode(RequestWriter out) {
        if (encodeFailure != null) {
            throw encodeFailure;
        }
        out.server("REQUEST_METHOD", "GET");
        out.server("REQUEST_URI", path);
        out.server("HTTP_X_ID", id);
    }

    @Override
    public synchronized void head(ResponseHead answer) {
        called("head");
        head = answer;
        notifyAll();
    }

    @Override
    public void data(ByteBuffer bytes) {
        synchronized (this) {
            called("data");
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(bytes.position(), copy);
            if (body.size() < MOST_KEPT) {
                body.writeBytes(copy);
            }
            notifyAll();
        }
        whenData.accept(bytes);
    }

    @Override
    public synchronized void file(Path file, long offset, long length, boolean delete) {
        called("file");
    }

    @Override
    public synchronized void end() {
        called("end");
        notifyAll();
    }

    @Override
    public synchronized void done(JobReport what) {
        if (!calls.contains("end")) {
            throw new AssertionError(id + " is done without an end: " + calls);
        }
        called("done");
        report = what;
        notifyAll();
    }

    @Override
    public synchronized void failed(WorkerException why) {
        called("failed");
        failure = why;
        notifyAll();
    }

    private void called(String what) {
        if (report != null || failure != null) {
            throw new AssertionError(id + " has ended and is called again: " + calls + ", " + what);
        }
        calls.add(what);
    }

    /** Waits until it has ended. */
    synchronized RecordingJob await() {
        Await.until(this, this::ended, id + ", " + path + ", to end; calls so far: " + calls);
        return this;
    }

    /** Waits until this call has come. */
    synchronized RecordingJob awaitCall(String what) {
        Await.until(this, () -> calls.contains(what), what + " of " + path);
        return this;
    }

    synchronized boolean ended() {
        return report != null || failure != null;
    }

    synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    synchronized ResponseHead head() {
        return head;
    }

    synchronized String body() {
        return body.toString(StandardCharsets.ISO_8859_1);
    }

    synchronized int bodyLength() {
        return body.size();
    }

    synchronized JobReport report() {
        return report;
    }

    synchronized WorkerException failure() {
        return failure;
    }

    synchronized WorkerException.Kind failureKind() {
        return failure == null ? null : failure.kind();
    }
}
