package dev.cetane.http;

import dev.cetane.cgi.Script;
import dev.cetane.http.ResponseEncoder.InvalidResponseException;
import dev.cetane.log.EventLog;
import dev.cetane.log.FileReason;
import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.JobTimes;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through a worker. The methods of {@link Job} run on the threads that it names, one at a time, and own the
 * fields; what the event loop reads of them the {@link Outbox} has published.
 */
final class HttpJob implements Job, RequestReport {
    private static final VarHandle ENDED_SIDES;

    static {
        try {
            ENDED_SIDES = MethodHandles.lookup().findVarHandle(HttpJob.class, "endedSides", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Larger pieces of a body are passed on in parts, so that what a slow client holds up stays bounded. */
    private static final int MOST_PART_BYTES = 64 * 1024;

    private final FrontDoor door;
    private final ChannelHandlerContext context;
    private final RequestHead request;
    private final @Nullable RequestBody body;
    private final @Nullable Script script;
    private final Peer peer;
    private final String id;
    private final @Nullable TracedRequest traced;
    private final long startNanos;
    private final ResponseEncoder encoder;
    private final Outbox outbox;

    /** Set once the rest of the answer is of no use. */
    private boolean ignoring;

    private int status;
    private @Nullable JobTimes times;
    private @Nullable JobReport report;
    private WorkerException.@Nullable Kind failure;

    // Of the event loop, and once both sides have ended anybody's.
    private int clientStatus;
    private String outcome = "";
    private long leftNanos;

    /** Of the client's and the worker's; the second one tells the listener. */
    @SuppressWarnings("unused") // by ENDED_SIDES
    private volatile int endedSides;

    private HttpFailure substitute = HttpFailure.WORKER_FAILED;
    private @Nullable String publicDetail;

    /**
     * @param script the one to run where the path says which, else null
     * @param traced its part in a trace, or null
     * @param startNanos when the request's first byte came
     */
    HttpJob(
            FrontDoor door,
            ExchangeHandler connection,
            ChannelHandlerContext context,
            RequestHead request,
            @Nullable RequestBody body,
            @Nullable Script script,
            Peer peer,
            String id,
            @Nullable TracedRequest traced,
            long startNanos) {
        this.door = door;
        this.context = context;
        this.request = request;
        this.body = body;
        this.script = script;
        this.peer = peer;
        this.id = id;
        this.traced = traced;
        this.startNanos = startNanos;
        this.encoder = new ResponseEncoder(request, door.date());
        this.outbox = new Outbox(connection, this, context, door.config().responseBufferBytes());
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String describe() {
        return request.method() + " " + request.target();
    }

    @Override
    public void submitted(JobTimes poolsTimes) {
        times = poolsTimes;
    }

    @Override
    public @Nullable TimeLimit timeLimit() {
        return door.config().routeTimeouts().limit(request);
    }

    @Override
    public void encode(RequestWriter out) {
        long bodyBytes = body != null ? body.length() : request.contentLength();
        door.variables().write(request, script, peer, id, bodyBytes, out::server);
        if (body != null) {
            body.encode(out);
        }
    }

    @Override
    public void head(ResponseHead head) {
        if (ignoring) {
            return;
        }
        try {
            if (head.interim()) {
                // 100 was the front door's to send, and an HTTP/1.0 client does not know interim answers.
                if (request.http11() && head.status() != 100) {
                    outbox.put(encoder.interim(context.alloc(), head), false);
                    outbox.handOver();
                }
                return;
            }
            boolean keepAlive = request.keepAlive() && !door.connections().draining();
            ByteBuf bytes = encoder.head(context.alloc(), head, keepAlive, timing());
            status = head.status();
            outbox.begun();
            outbox.put(bytes, encoder.complete());
            // An answer of known length was made as a whole: its first bytes follow at once, and all goes in one write.
            if (head.bodyLength() == ResponseHead.UNKNOWN_LENGTH) {
                outbox.handOver();
            }
        } catch (InvalidResponseException e) {
            door.log().log(
                    EventLog.Level.ERROR,
                    "request.invalid-answer",
                    id,
                    "the answer to " + describe() + " cannot be sent: " + e.getMessage());
            ignoring = true;
            outbox.fail();
        }
    }

    /** Value of {@code Server-Timing}: the trace and the phases, as far as they are for this client; null for neither. */
    private @Nullable String timing() {
        String trace = traced == null ? null : traced.answer();
        if (times == null || !door.config().serverTiming().wants(peer)) {
            return trace;
        }
        String phases = ServerTiming.of(receiveNanos(), times.report());
        return trace == null ? phases : trace + ", " + phases;
    }

    @Override
    public void data(ByteBuffer bytes) {
        if (ignoring || !encoder.hasBody() || !bytes.hasRemaining()) {
            return;
        }
        if (!encoder.take(bytes.remaining())) {
            cut("the application sent more than the Content-Length that it promised");
            return;
        }
        while (bytes.hasRemaining() && !ignoring) {
            int count = Math.min(bytes.remaining(), MOST_PART_BYTES);
            ByteBuffer part = bytes.slice(bytes.position(), count);
            bytes.position(bytes.position() + count);
            ByteBuf out = outbox.room(count + encoder.overhead());
            encoder.data(part, out);
            outbox.put(out, encoder.complete());
            // After the last promised byte the end follows at once, and goes in the same write.
            if (bytes.hasRemaining() || !encoder.complete()) {
                outbox.handOver();
            }
            ignoring = !outbox.awaitRoom();
        }
    }

    @Override
    public void file(Path file, long offset, long length, boolean delete) {
        if (!ignoring && encoder.hasBody() && length > 0) {
            if (!encoder.take(length)) {
                cut("the application sent more than the Content-Length that it promised");
            } else {
                try {
                    send(FilePart.open(file, offset, length, delete ? door.spool() : null), length);
                    return;
                } catch (IOException e) {
                    cut("the file " + file + " cannot be sent: " + FileReason.of(e));
                }
            }
        }
        if (delete) {
            door.spool().delete(file);
        }
    }

    private void send(FilePart file, long length) {
        if (encoder.overhead() > 0) {
            ByteBuf before = outbox.room(encoder.overhead());
            encoder.beforePart(length, before);
            outbox.put(before, false);
        }
        outbox.put(file, encoder.complete());
        if (encoder.overhead() > 0) {
            ByteBuf after = context.alloc().directBuffer(2 * encoder.overhead());
            encoder.afterPart(after);
            outbox.put(after, false);
        }
        if (!encoder.complete()) {
            outbox.handOver();
        }
    }

    @Override
    public void end() {
        if (ignoring) {
            return;
        }
        if (!encoder.endsWhole()) {
            cut("the application sent less than the Content-Length that it promised");
            return;
        }
        byte[] last = encoder.end();
        if (last.length > 0) {
            outbox.put(outbox.room(last.length).writeBytes(last), true);
        }
        outbox.complete();
    }

    @Override
    public void done(JobReport given) {
        report = given;
        discardBody();
        logPhases(given);
        sideEnded();
    }

    private void logPhases(JobReport report) {
        if (door.log().enabled(EventLog.Level.DEBUG)) {
            door.log().log(
                    EventLog.Level.DEBUG,
                    "http.phases",
                    id,
                    describe(),
                    "worker",
                    report.workerId(),
                    "queue_us",
                    report.queueNanos() / 1000,
                    "boot_us",
                    report.bootNanos() / 1000,
                    "dispatch_us",
                    report.dispatchNanos() / 1000,
                    "first_byte_us",
                    report.firstByteNanos() / 1000,
                    "to_end_us",
                    report.toEndNanos() / 1000,
                    "terminate_us",
                    report.terminateNanos() / 1000,
                    "handler_us",
                    report.handlerMicros(),
                    "cpu_us",
                    report.cpuMicros());
        }
    }

    @Override
    public void failed(WorkerException problem) {
        report = times == null ? null : times.report();
        failure = problem.kind();
        HttpFailure answer = HttpFailure.of(problem.kind());
        if (answer != null && !ignoring) {
            logFailure(problem);
            substitute = answer;
            publicDetail = problem.publicDetail();
            outbox.fail();
        }
        discardBody();
        sideEnded();
    }

    /**
     * The client has the whole answer, or is gone. On the event loop, once.
     *
     * @param withStatus what it got, 0 when it left first
     * @param how as {@link dev.cetane.trace.RequestSpan#outcome}
     */
    void left(int withStatus, long nowNanos, String how) {
        clientStatus = withStatus;
        outcome = how;
        leftNanos = nowNanos;
        sideEnded();
    }

    private void sideEnded() {
        if ((int) ENDED_SIDES.getAndAdd(this, 1) == 1) {
            door.listener().ended(this);
            if (traced != null) {
                traced.ended(clientStatus, outcome, failureLabel(), receiveNanos(), totalNanos(), report);
            }
        }
    }

    /** Null also for a request that nobody waited for any more. */
    private @Nullable String failureLabel() {
        return failure == null || failure == WorkerException.Kind.CANCELLED
                ? null
                : failure.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public int status() {
        return clientStatus;
    }

    @Override
    public long startNanos() {
        return startNanos;
    }

    @Override
    public long receiveNanos() {
        return times == null ? 0 : times.submittedNanos() - startNanos;
    }

    @Override
    public @Nullable JobReport job() {
        return report;
    }

    @Override
    public long transferNanos() {
        long concluded = times == null ? 0 : times.concludedNanos();
        return concluded == 0 ? 0 : Math.max(0, leftNanos - concluded);
    }

    @Override
    public long totalNanos() {
        return leftNanos - startNanos;
    }

    private void logFailure(WorkerException problem) {
        EventLog.Level level = switch (problem.kind()) {
            case UNDELIVERABLE -> EventLog.Level.WARN;
            // The pool has logged these, some with the worker's fate, or, under overload, the metrics count them.
            default -> EventLog.Level.DEBUG;
        };
        if (door.log().enabled(level)) {
            door.log().log(
                    level,
                    "request.failed",
                    id,
                    String.valueOf(problem.getMessage()),
                    "kind",
                    problem.kind().name(),
                    "request",
                    describe());
        }
    }

    private void cut(String why) {
        door.log().log(
                EventLog.Level.ERROR, "request.answer-cut", id, "the answer to " + describe() + " was cut: " + why);
        ignoring = true;
        outbox.cut();
    }

    private void discardBody() {
        if (body != null) {
            body.discard();
        }
    }

    /** Nobody takes the answer any more. On the event loop. */
    void discard() {
        outbox.discard();
    }

    RequestHead request() {
        return request;
    }

    /** Status of the application's answer, 0 while there is none. */
    int applicationStatus() {
        return status;
    }

    /** Whether the answer's head tells the client that the connection ends. */
    boolean closes() {
        return encoder.closes();
    }

    /** Whether a client can tell an answer that is cut from a whole one without the connection being reset. */
    boolean showsItsEnd() {
        return encoder.showsItsEnd();
    }

    /** What is answered in place of the application. */
    HttpFailure substitute() {
        return substitute;
    }

    /** The application's own message, for debug mode. */
    @Nullable
    String publicDetail() {
        return publicDetail;
    }

    /** Bytes of the answer that the operating system has taken. On the event loop. */
    long writtenBytes() {
        return outbox.writtenBytes();
    }
}
