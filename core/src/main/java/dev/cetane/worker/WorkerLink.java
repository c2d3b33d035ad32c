package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.log.FileReason;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.ControlFrames;
import dev.cetane.protocol.Done;
import dev.cetane.protocol.ErrorReport;
import dev.cetane.protocol.FileRange;
import dev.cetane.protocol.FrameDecoder;
import dev.cetane.protocol.FrameType;
import dev.cetane.protocol.Hello;
import dev.cetane.protocol.Measurement;
import dev.cetane.protocol.ProtocolException;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.RequestEncoder;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.protocol.Turn;
import dev.cetane.protocol.WorkerFrameHandler;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A worker's two FIFOs. Writes happen on whatever thread has something to say, one at a time under {@code writing}; no write can block,
 * because an idle pipe holds a whole request and the small frames that may follow it. Reads happen on {@code cetane-reader-N}, which
 * gives what arrives to the job's sink.
 *
 * <p>Opening a FIFO waits for its other end. So each is first opened for both directions, which waits for nothing, and those handles are
 * closed when the worker has opened its ends, or its process has ended: only then do the pipes report that the other side is gone.
 */
final class WorkerLink implements WorkerFrameHandler, CallLine.Pipe {
    /** CANCEL and STOP, which may come behind a request. */
    private static final int SMALL_FRAMES_BYTES = 2 * FrameType.HEADER_BYTES;

    /** Of the 16 pages of a pipe, pipe(7), one is left for CANCEL and STOP. */
    private static final int MOST_PAGES = 15;

    private static final int PAGE_BYTES = 4096;
    private static final int MOST_PAGES_IN_DOUBT = 8;
    private static final String UNREAD = "Protocol violation: DONE was sent before the request was read";

    private static final long U32_MAX = 0xFFFF_FFFFL;

    /** More bytes than any pipe holds: a worker that has asked for something has read its request. */
    private static final int REQUEST_READ = 1 << 30;

    private final int workerId;
    private final Ticker ticker;
    private final EventLog log;
    private final WorkerOutput output;
    private final WorkerProcess.Owner owner;
    private final Runnable whenConnected;
    private final Runnable whenEnded;
    private final long requestTimeoutMillis;
    private final Turn turn;
    private final CallLine calls;
    private final @Nullable Consumer<List<Measurement>> measurements;
    private final FileChannel reader;

    /** The writing end again: asked how much the worker has left unread, never read from. */
    private final FileInputStream unread;

    private final Object writing = new Object();

    // Guarded by writing.
    private final FileChannel writer;
    private @Nullable RequestEncoder encoder = new RequestEncoder();
    private int bytesAfterRequest;

    /** Pages of the worker's pipe that may hold what it has not read, as far as is known without asking; asked after the first answer. */
    private int pagesInDoubt = MOST_PAGES_IN_DOUBT;

    private boolean closed;
    private @Nullable Closeable heldIn;
    private @Nullable Closeable heldOut;

    /** The running exchange: set by the sender before it writes, cleared by the reader at DONE. */
    private volatile @Nullable Exchange current;

    // Written by the reader, watched by the maintenance thread.
    private volatile long progress;
    private volatile boolean ended;
    private volatile @Nullable String bootError;

    private volatile WorkerProcess.@Nullable Fatal fatal;

    /** Opens both FIFOs and writes HELLO. */
    WorkerLink(
            int workerId,
            Path in,
            Path out,
            Hello hello,
            WorkerServices services,
            Duration requestTimeout,
            Ticker ticker,
            EventLog log,
            WorkerOutput output,
            WorkerProcess.Owner owner,
            Runnable whenConnected,
            Runnable whenEnded)
            throws IOException {
        this.workerId = workerId;
        this.ticker = ticker;
        this.log = log;
        this.output = output;
        this.owner = owner;
        this.whenConnected = whenConnected;
        this.whenEnded = whenEnded;
        requestTimeoutMillis = requestTimeout.toMillis();
        turn = new Turn(hello);
        calls = new CallLine(workerId, services, this);
        measurements = services.measurements();
        heldIn = FileChannel.open(in, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileOutputStream writing = new FileOutputStream(in.toFile());
        writer = writing.getChannel();
        unread = new FileInputStream(writing.getFD());
        heldOut = FileChannel.open(out, StandardOpenOption.READ, StandardOpenOption.WRITE);
        reader = FileChannel.open(out, StandardOpenOption.READ);
        write(ControlFrames.hello(hello));
    }

    void start() {
        Thread thread = new Thread(this::read, "cetane-reader-" + workerId);
        thread.setDaemon(true);
        thread.start();
    }

    // ---- to the worker ----

    /** Dispatching thread; the worker is idle. */
    void send(Exchange exchange) throws IOException, WorkerProcess.UndeliverableException {
        if (!sendIfRoom(exchange)) {
            owner.violated(UNREAD);
            throw new IOException(UNREAD);
        }
    }

    private boolean sendIfRoom(Exchange exchange) throws IOException, WorkerProcess.UndeliverableException {
        synchronized (writing) {
            RequestEncoder into = encoder;
            if (closed || into == null) {
                throw new IOException("the worker is gone");
            }
            int number = turn.nextRequest();
            ByteBuffer frame = encode(exchange, number, into);
            if (pagesInDoubt + pages(frame) > MOST_PAGES && !hasReadAll()) {
                return false;
            }
            exchange.numbered(number);
            calls.keep(exchange.job.rest());
            turn.begin(number);
            output.serving(exchange.job.id());
            current = exchange;
            // The answer may arrive before the write returns: from here on the request counts as sent.
            exchange.sent(ticker.nanos());
            bytesAfterRequest = 0;
            pagesInDoubt += pages(frame);
            try {
                write(frame);
            } catch (IOException e) {
                current = null;
                throw e;
            }
            exchange.sent(ticker.nanos());
            if (exchange.isCancelled()) {
                writeQuietly(ControlFrames.cancel(number));
            }
            return true;
        }
    }

    private ByteBuffer encode(Exchange exchange, int number, RequestEncoder encoder)
            throws WorkerProcess.UndeliverableException {
        try {
            encoder.begin(number, exchange.submittedAtSeconds(), timeoutMillis(exchange));
            exchange.job.encode(encoder);
            return encoder.finish();
        } catch (RuntimeException e) {
            throw new WorkerProcess.UndeliverableException(PoolJournal.message(e), e);
        }
    }

    /** The field has 32 bits: a limit that is longer is none for the worker, which need not enforce it. */
    private long timeoutMillis(Exchange exchange) {
        TimeLimit own = exchange.limit();
        long millis = own == null ? requestTimeoutMillis : own.time().toMillis();
        return millis > U32_MAX ? 0 : millis;
    }

    /** Any thread. */
    void cancel(Exchange exchange) {
        synchronized (writing) {
            exchange.cancelled();
            if (!closed && current == exchange) {
                writeQuietly(ControlFrames.cancel(exchange.requestNumber()));
            }
        }
    }

    /** Writes a REPLY. The thread that has it: the reader, or whoever completes what the worker waits for. */
    @Override
    public void reply(ByteBuffer frame) {
        synchronized (writing) {
            if (closed) {
                return;
            }
            int pages = pages(frame);
            // A worker that asks again has read what it was told before.
            if (pagesInDoubt + pages <= MOST_PAGES || hasReadAll()) {
                bytesAfterRequest = REQUEST_READ;
                turn.replied();
                writeQuietly(frame);
                return;
            }
        }
        owner.violated("Protocol violation: CALL was sent before the last REPLY was read");
    }

    @Override
    public boolean restartLimit(TimeLimit limit) {
        Exchange running = current;
        if (running == null) {
            return false;
        }
        running.restartLimit(limit, ticker.nanos());
        owner.limited(running);
        return true;
    }

    /** Any thread. */
    void stop() {
        synchronized (writing) {
            if (!closed) {
                writeQuietly(ControlFrames.stop());
            }
        }
    }

    /** For frames that a worker that is gone need not get: its exit says the rest. */
    private void writeQuietly(ByteBuffer frame) {
        try {
            bytesAfterRequest += frame.remaining();
            pagesInDoubt += pages(frame);
            write(frame);
        } catch (IOException gone) {
            log.log(
                    Level.DEBUG,
                    "worker.write-failed",
                    null,
                    "worker " + workerId + " reads no more: " + gone.getMessage());
        }
    }

    private void write(ByteBuffer frame) throws IOException {
        while (frame.hasRemaining()) {
            writer.write(frame);
        }
    }

    // ---- from the worker ----

    private void read() {
        FrameDecoder decoder = new FrameDecoder(turn, this);
        ByteBuffer buffer = ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES);
        try {
            while (reader.read(buffer) >= 0) {
                if (progress == 0) {
                    release();
                    whenConnected.run();
                }
                buffer.flip();
                decoder.decode(buffer);
                buffer.compact();
                long read = progress + 1;
                progress = read;
            }
        } catch (ProtocolException e) {
            owner.violated(PoolJournal.message(e));
        } catch (IOException e) {
            // Closed from outside, after the process has ended.
            log.log(Level.DEBUG, "worker.read-ended", null, "worker " + workerId + ": " + e);
        } catch (RuntimeException | Error e) {
            owner.violated("its answer could not be taken: " + e);
        } finally {
            ended = true;
            whenEnded.run();
        }
    }

    @Override
    public void ready(Ready ready) {
        synchronized (writing) {
            RequestEncoder requests = encoder;
            if (requests != null) {
                requests.allowForms(ready.capabilities().contains(Capability.FORM));
                requests.allowTasks(
                        ready.capabilities().contains(Capability.TASK),
                        ready.capabilities().contains(Capability.TICK));
                requests.allowEvents(ready.capabilities().contains(Capability.EVENT));
                requests.allowSnapshots(ready.capabilities().contains(Capability.SNAPSHOT));
            }
        }
        owner.ready(ready);
    }

    @Override
    public void head(int request, ResponseHead head) {
        Exchange exchange = exchange();
        try {
            exchange.head(head, ticker.nanos());
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void data(int request, ByteBuffer bytes) {
        Exchange exchange = exchange();
        try {
            exchange.data(bytes, ticker);
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void file(int request, FileRange range) {
        Exchange exchange = exchange();
        try {
            if (!exchange.file(range, ticker.nanos()) && range.delete()) {
                Files.deleteIfExists(range.path());
            }
        } catch (IOException e) {
            log.log(
                    Level.WARN,
                    "request.file-left",
                    exchange.job.id(),
                    range.path() + " cannot be deleted: " + FileReason.of(e));
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void end(int request) {
        Exchange exchange = exchange();
        try {
            exchange.end(ticker.nanos());
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void metrics(int request, List<Measurement> measured) {
        Consumer<List<Measurement>> taker = measurements;
        if (taker != null) {
            taker.accept(measured);
        }
    }

    @Override
    public void done(int request, Done done) {
        Exchange exchange = exchange();
        long now = ticker.nanos();
        boolean unread;
        synchronized (writing) {
            unread = pagesInDoubt > MOST_PAGES_IN_DOUBT && !hasReadAll();
        }
        if (unread) {
            owner.violated(UNREAD);
            return;
        }
        output.served();
        current = null;
        owner.finished(exchange, done.last());
        try {
            exchange.done(done.handlerMicros(), done.cpuMicros(), done.peakMemoryBytes(), now);
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void error(int request, ErrorReport report) {
        switch (report.kind()) {
            case BOOT -> bootError = report.message();
            case PROTOCOL ->
                owner.violated("The worker says that the supervisor broke the protocol: " + report.message());
            case EXCEPTION, FATAL -> {
                Exchange exchange = exchange();
                if (report.kind() == ErrorReport.Kind.FATAL) {
                    fatal = new WorkerProcess.Fatal(report.message(), exchange.job.describe(), exchange.job.id());
                }
                String what = report.kind() == ErrorReport.Kind.FATAL ? "a fatal error: " : "an uncaught exception: ";
                log.log(
                        Level.ERROR,
                        "request.failed",
                        exchange.job.id(),
                        exchange.job.describe() + " ended with " + what + report.message(),
                        "worker",
                        workerId);
                exchange.conclude(
                        new WorkerException(
                                WorkerException.Kind.APPLICATION,
                                exchange.job.describe() + " ended with " + what + report.message(),
                                report.message(),
                                null),
                        ticker.nanos());
            }
        }
    }

    @Override
    public void call(int request, ByteBuffer payload, boolean more) {
        calls.take(request, payload, more);
    }

    @Override
    public void log(int request, int severity, String message) {
        Exchange exchange = request == 0 ? null : current;
        Level level =
                severity <= 3 ? Level.ERROR : severity == 4 ? Level.WARN : severity == 7 ? Level.DEBUG : Level.INFO;
        output.log(level, "worker.log", exchange == null ? null : exchange.job.id(), message, 0);
    }

    /** The turn admits no frame of a request when none runs. */
    private Exchange exchange() {
        Exchange running = current;
        if (running == null) {
            throw new IllegalStateException("no request runs");
        }
        return running;
    }

    private void sinkFailed(Exchange exchange, RuntimeException e) {
        log.log(
                Level.ERROR,
                "request.sink-failed",
                exchange.job.id(),
                "the answer could not be taken: " + e,
                "worker",
                workerId);
        exchange.conclude(
                new WorkerException(
                        WorkerException.Kind.CRASHED,
                        "the answer of worker " + workerId + " could not be taken: " + e,
                        null,
                        e),
                ticker.nanos());
    }

    // ---- the end; maintenance thread ----

    /** How many reads have brought something. */
    long progress() {
        return progress;
    }

    /** Whether a request runs. */
    boolean busy() {
        return current != null;
    }

    /** Whether the reader is giving something to a sink, which may take as long as the client does. */
    boolean inSink() {
        Exchange running = current;
        return running != null && running.inSink();
    }

    /** Whether the reader has come to the end of the pipe. */
    boolean ended() {
        return ended;
    }

    @Nullable
    String bootError() {
        return bootError;
    }

    /** The fatal error that the worker told of, if it did. */
    WorkerProcess.@Nullable Fatal fatal() {
        return fatal;
    }

    /** The process is gone: from now on the pipes end when nobody else holds them. */
    void processEnded() {
        release();
    }

    private void release() {
        synchronized (writing) {
            close(heldIn);
            close(heldOut);
            heldIn = null;
            heldOut = null;
        }
    }

    /**
     * Closes the pipes, after the process has ended.
     *
     * @return the exchange whose request the worker has not read to its end, and so cannot have acted on; null when there is none
     */
    @Nullable
    Exchange close() {
        Exchange untaken = null;
        boolean first;
        synchronized (writing) {
            Exchange running = current;
            if (!closed && running != null && unreadBytes() > bytesAfterRequest) {
                untaken = running;
                current = null;
            }
            first = !closed;
            closed = true;
            // Timers keep workers that have ended for a while; their buffers need not be kept.
            encoder = null;
            release();
            close(writer);
            close(reader);
        }
        if (first) {
            calls.end();
        }
        return untaken;
    }

    /**
     * Whether the worker has read what was written, as it must have before it answers: a request that does not fit into the pipe would
     * leave whoever writes it stuck. To ask takes the pipe's lock when the worker is about to read, so it is not done for each request.
     */
    private boolean hasReadAll() {
        int unread = unreadBytes();
        pagesInDoubt = unread == 0 ? 0 : 1;
        return unread <= SMALL_FRAMES_BYTES;
    }

    /** What a frame takes of the pipe at most. */
    private static int pages(ByteBuffer frame) {
        return (frame.remaining() + PAGE_BYTES - 1) / PAGE_BYTES;
    }

    /** What the worker has left in its pipe so far; after its end that is still there, for as long as the writing end is open. */
    private int unreadBytes() {
        try {
            return unread.available();
        } catch (IOException e) {
            return 0;
        }
    }

    private void close(@Nullable Closeable channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                log.log(Level.WARN, "worker.close-failed", null, "worker " + workerId + ": " + e.getMessage());
            }
        }
    }
}
