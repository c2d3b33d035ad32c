package dev.cetane.http;

import dev.cetane.http.ResponseEncoder.InvalidResponseException;
import dev.cetane.log.EventLog;
import dev.cetane.protocol.RequestEncoder;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.WorkerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through a worker, and the hand-over of its answer: the worker's reader thread makes the bytes and puts them
 * into the outbox, the connection's event loop takes them out and writes them. The outbox and what goes with it is guarded by {@code
 * lock}; the methods of {@link Job} run on the threads that it names, {@link #deliver} and {@link #discard} on the event loop.
 *
 * <p>The reader thread waits in {@link #data} while more than {@code http.response-buffer-bytes} wait for the client. That wait ends
 * because the event loop either writes them or, after {@code http.write-timeout}, closes the connection.
 */
final class HttpJob implements Job {
    /** Larger frames are passed on in parts, so that a slow client's share of memory stays bounded. */
    private static final int MOST_PART_BYTES = 64 * 1024;

    /** How the answer stands. */
    enum Stage {
        /** More may come. */
        OPEN,
        /** All of it is in the outbox. */
        COMPLETE,
        /** Nothing of it was sent, and a failure is answered in its place. */
        FAILED,
        /** A part of it was sent and the rest will not come. */
        CUT,
        /** The client has left or the connection was cut; what still comes is thrown away. */
        DISCARDED
    }

    private final FrontDoor door;
    private final ExchangeHandler connection;
    private final ChannelHandlerContext context;
    private final RequestHead request;
    private final @Nullable RequestBody body;
    private final Peer peer;
    private final String id;

    // Of the reader thread.
    private final ResponseEncoder encoder;
    private boolean ignoring;

    private final Object lock = new Object();
    private final Deque<Object> outbox = new ArrayDeque<>(2);
    private Stage stage = Stage.OPEN;
    private boolean headSeen;
    private boolean handedOver;
    private long outboxBytes;
    private long unwrittenBytes;
    private int status;
    private boolean closes;
    private long headNanos;
    private @Nullable WorkerException failure;
    private @Nullable HttpFailure substitute;

    /** Writes whose outcome is not known yet; of the event loop. */
    private int pendingWrites;

    private long writtenBytes;

    HttpJob(
            FrontDoor door,
            ExchangeHandler connection,
            ChannelHandlerContext context,
            RequestHead request,
            @Nullable RequestBody body,
            Peer peer,
            String id) {
        this.door = door;
        this.connection = connection;
        this.context = context;
        this.request = request;
        this.body = body;
        this.peer = peer;
        this.id = id;
        this.encoder = new ResponseEncoder(request, door.date());
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
    public void encode(RequestEncoder out) {
        long bodyBytes = body != null ? body.length() : request.contentLength();
        door.variables().write(request, peer, id, bodyBytes, out::server);
        if (body != null) {
            Path file = body.path();
            if (file != null) {
                out.bodyFile(file);
            } else {
                out.body(body.bytes(), 0, (int) body.length());
            }
        }
    }

    @Override
    public void head(ResponseHead head) {
        if (ignoring) {
            return;
        }
        try {
            ByteBufAllocator allocator = context.alloc();
            if (head.interim()) {
                // 100 was the front door's to send, and an HTTP/1.0 client does not know interim answers.
                if (request.http11() && head.status() != 100) {
                    put(encoder.interim(allocator, head));
                    handOver();
                }
                return;
            }
            boolean keepAlive = request.keepAlive() && !door.connections().draining();
            ByteBuf bytes = encoder.head(allocator, head, keepAlive);
            synchronized (lock) {
                headSeen = true;
                status = head.status();
                closes = encoder.closes();
                headNanos = door.ticker().nanos();
            }
            put(bytes);
            // An answer of known length was made as a whole: its first bytes follow at once, and all goes in one write.
            if (head.bodyLength() == ResponseHead.UNKNOWN_LENGTH) {
                handOver();
            }
        } catch (InvalidResponseException e) {
            door.log().log(EventLog.Level.ERROR, "http.invalid-answer", id, describe() + ": " + e.getMessage());
            ignoring = true;
            fail(HttpFailure.WORKER_FAILED, null);
        }
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
        while (bytes.hasRemaining()) {
            int count = Math.min(bytes.remaining(), MOST_PART_BYTES);
            ByteBuffer part = bytes.slice(bytes.position(), count);
            bytes.position(bytes.position() + count);
            ByteBuf out = room(count + encoder.overhead());
            encoder.data(part, out);
            put(out);
            if (!encoder.complete()) {
                handOver();
            }
            if (!awaitRoom()) {
                ignoring = true;
                return;
            }
        }
    }

    @Override
    public void file(Path file, long offset, long length, boolean delete) {
        if (!ignoring && encoder.hasBody() && length > 0) {
            try {
                if (!encoder.take(length)) {
                    cut("the application sent more than the Content-Length that it promised");
                } else {
                    putFile(file, offset, length, delete);
                    return;
                }
            } catch (IOException e) {
                cut("the file " + file + " cannot be sent: " + e.getMessage());
            }
        }
        if (delete) {
            door.spool().delete(file);
        }
    }

    private void putFile(Path file, long offset, long length, boolean delete) throws IOException {
        FilePart part = FilePart.open(file, offset, length, delete ? door.spool() : null);
        ByteBuf before = room(encoder.overhead());
        encoder.beforePart(length, before);
        put(before);
        synchronized (lock) {
            if (stage != Stage.OPEN) {
                part.release();
                ignoring = true;
                return;
            }
            outbox.add(part);
        }
        if (encoder.overhead() > 0) {
            ByteBuf after = context.alloc().directBuffer(encoder.overhead() + 16);
            encoder.afterPart(after);
            put(after);
        }
        handOver();
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
            ByteBuf out = room(last.length);
            out.writeBytes(last);
            put(out);
        }
        become(Stage.COMPLETE);
        handOver();
    }

    @Override
    public void done(JobReport report) {
        discardBody();
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
                    "dispatch_us",
                    report.dispatchNanos() / 1000,
                    "first_byte_us",
                    report.firstByteNanos() / 1000,
                    "transfer_us",
                    report.transferNanos() / 1000,
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
        HttpFailure answer = HttpFailure.of(problem.kind());
        if (answer != null && !ignoring) {
            EventLog.Level level = switch (problem.kind()) {
                case APPLICATION -> EventLog.Level.ERROR;
                case UNDELIVERABLE -> EventLog.Level.WARN;
                // The pool logs these with the worker's fate, or, under overload, the metrics count them.
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
            fail(answer, problem);
        }
        discardBody();
    }

    private void discardBody() {
        if (body != null) {
            body.discard();
        }
    }

    /** Ends an answer that cannot be completed: by another one while that is possible, else by cutting the connection. */
    private void fail(HttpFailure answer, @Nullable WorkerException problem) {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                failure = problem;
                substitute = answer;
                stage = headSeen ? Stage.CUT : Stage.FAILED;
            }
        }
        handOver();
    }

    private void cut(String why) {
        door.log().log(
                EventLog.Level.ERROR, "http.answer-cut", id, describe() + ": " + why + "; the connection is cut");
        ignoring = true;
        become(Stage.CUT);
        handOver();
    }

    private void become(Stage next) {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                stage = next;
            }
        }
    }

    /** The last buffer of the outbox if it has room, taken out of it, or else a new one. Ends with {@link #put}. */
    private ByteBuf room(int bytes) {
        synchronized (lock) {
            if (outbox.peekLast() instanceof ByteBuf last && last.writableBytes() >= bytes) {
                outbox.removeLast();
                outboxBytes -= last.readableBytes();
                unwrittenBytes -= last.readableBytes();
                return last;
            }
        }
        return context.alloc().directBuffer(bytes);
    }

    private void put(ByteBuf bytes) {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                outbox.add(bytes);
                outboxBytes += bytes.readableBytes();
                unwrittenBytes += bytes.readableBytes();
                return;
            }
        }
        bytes.release();
    }

    /** Waits while the client is slower than the worker; false if nobody takes the answer any more. */
    private boolean awaitRoom() {
        synchronized (lock) {
            while (stage == Stage.OPEN && unwrittenBytes > door.config().responseBufferBytes()) {
                if (!handedOver && outboxBytes > 0) {
                    handOver();
                }
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    stage = Stage.CUT;
                    handOver();
                }
            }
            return stage == Stage.OPEN;
        }
    }

    /** Has the event loop take what is in the outbox. */
    private void handOver() {
        synchronized (lock) {
            if (handedOver) {
                return;
            }
            handedOver = true;
        }
        try {
            context.executor().execute(this::deliver);
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the connection with it.
            discard();
        }
    }

    /** Writes what has come, and ends the exchange when that was all. */
    private void deliver() {
        Object[] parts;
        long bytes;
        Stage now;
        synchronized (lock) {
            handedOver = false;
            now = stage;
            parts = outbox.toArray();
            outbox.clear();
            bytes = outboxBytes;
            outboxBytes = 0;
        }
        switch (now) {
            case OPEN, COMPLETE -> write(parts, bytes);
            case FAILED -> {
                release(parts);
                connection.answerFailure(this);
            }
            case CUT -> {
                release(parts);
                connection.cut();
            }
            case DISCARDED -> release(parts);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the last write tells how all of them went
    private void write(Object[] parts, long bytes) {
        if (parts.length == 0) {
            endIfWritten();
            return;
        }
        long total = bytes;
        for (Object part : parts) {
            if (part instanceof FilePart file) {
                total += file.count();
            }
        }
        for (int i = 0; i < parts.length - 1; i++) {
            context.write(parts[i], context.voidPromise());
        }
        pendingWrites++;
        long count = total;
        context.writeAndFlush(parts[parts.length - 1])
                .addListener(written -> written(bytes, count, written.isSuccess()));
        if (pendingWrites > 0) {
            connection.watchWrites();
        }
    }

    private void written(long bufferBytes, long bytes, boolean success) {
        pendingWrites--;
        if (!success) {
            connection.close();
            return;
        }
        writtenBytes += bytes;
        connection.wrote();
        synchronized (lock) {
            unwrittenBytes -= bufferBytes;
            lock.notifyAll();
        }
        endIfWritten();
    }

    private void endIfWritten() {
        boolean complete;
        synchronized (lock) {
            complete = stage == Stage.COMPLETE && outbox.isEmpty();
        }
        if (complete && pendingWrites == 0) {
            connection.finished(this);
        }
    }

    private static void release(Object[] parts) {
        for (Object part : parts) {
            ReferenceCountUtil.release(part);
        }
    }

    /** Nobody takes the answer any more: throws it away and frees the reader thread. */
    void discard() {
        Object[] parts;
        synchronized (lock) {
            stage = Stage.DISCARDED;
            parts = outbox.toArray();
            outbox.clear();
            lock.notifyAll();
        }
        release(parts);
    }

    RequestHead request() {
        return request;
    }

    /** Status of the application's answer, 0 while there is none. */
    int status() {
        synchronized (lock) {
            return status;
        }
    }

    /** Whether the answer's head tells the client that the connection ends. */
    boolean closes() {
        synchronized (lock) {
            return closes;
        }
    }

    /** When the final head came. */
    long headNanos() {
        synchronized (lock) {
            return headNanos;
        }
    }

    /** What is answered in place of the application. */
    HttpFailure substitute() {
        synchronized (lock) {
            return substitute == null ? HttpFailure.WORKER_FAILED : substitute;
        }
    }

    /** The application's own message, for debug mode. */
    @Nullable
    String publicDetail() {
        synchronized (lock) {
            return failure == null ? null : failure.publicDetail();
        }
    }

    /** Bytes of the answer that the operating system has taken. */
    long writtenBytes() {
        return writtenBytes;
    }
}
