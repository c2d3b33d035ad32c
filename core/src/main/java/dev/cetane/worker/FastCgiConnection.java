package dev.cetane.worker;

import dev.cetane.fastcgi.CgiHeadParser;
import dev.cetane.fastcgi.FastCgiException;
import dev.cetane.fastcgi.FastCgiRequestEncoder;
import dev.cetane.fastcgi.InvalidHeadException;
import dev.cetane.fastcgi.RecordDecoder;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.ResponseHead;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The connection to a child of {@code php-cgi}. A request is written by whatever thread has it, under {@code writing}: an idle connection takes
 * one whole, with a body that is in memory; a body in a file is sent by a {@link FastCgiBody}. Answers are read on {@code cetane-reader-N}, which gives
 * what arrives to the job's sink.
 *
 * <p>When the client has left, PHP goes on until it sends something that nobody waits for; then the connection is closed, which is how PHP learns of it.
 */
final class FastCgiConnection implements RecordDecoder.Handler {
    enum Phase {
        NEW,
        OPEN,
        /** Closed while PHP still has something to do or to read, which the pool has been told. */
        RELEASED,
        CLOSED
    }

    private final int workerId;
    private final Ticker ticker;
    private final EventLog log;
    private final WorkerProcess.Owner owner;
    private final LongPredicate whenFound;
    private final Runnable whenEnded;
    private final long bodyEndMillis;
    private final OutputLines lines;
    private final RecordDecoder decoder = new RecordDecoder(this);
    private volatile @Nullable SocketChannel channel;
    private volatile Phase phase = Phase.NEW;

    private final Object writing = new Object();

    // Guarded by writing.
    private final FastCgiRequestEncoder encoder;

    // Written by the sender before it writes, then the reader's.
    private volatile @Nullable Exchange current;
    private @Nullable FastCgiProbe probe;
    private CgiHeadParser head = new CgiHeadParser();
    private @Nullable FastCgiBody body;
    private boolean bodyless;
    private boolean headTaken;
    private boolean answered;

    /** The rest of the answer is of no use. */
    private boolean ignoring;

    private volatile boolean clientLeft;

    // Written by the reader.
    private volatile boolean reset;
    private volatile @Nullable String bootError;

    /**
     * @param whenFound gets the process id that the child says it has, and says whether that can be
     * @param whenEnded called by the reader when the connection has ended, and is to be hung up
     */
    FastCgiConnection(
            int workerId,
            Generation generation,
            PoolConfig config,
            Ticker ticker,
            EventLog log,
            WorkerProcess.Owner owner,
            LongPredicate whenFound,
            Runnable whenEnded) {
        this.workerId = workerId;
        this.ticker = ticker;
        this.log = log;
        this.owner = owner;
        this.whenFound = whenFound;
        this.whenEnded = whenEnded;
        bodyEndMillis = config.killGrace().toMillis() + 1;
        lines = new OutputLines(workerId, false, config, ticker, log);
        encoder = new FastCgiRequestEncoder(generation.fastCgiParameters(), generation.documentRootText());
        probe = new FastCgiProbe(generation);
    }

    /**
     * Connects and asks the child who it is. Maintenance thread; does not wait.
     *
     * @return false when nobody listens yet
     */
    boolean connect(Path socket) {
        SocketChannel opened = null;
        try {
            opened = SocketChannel.open(StandardProtocolFamily.UNIX);
            opened.configureBlocking(false);
            if (!opened.connect(UnixDomainSocketAddress.of(socket))) {
                opened.close();
                return false;
            }
            opened.configureBlocking(true);
        } catch (IOException e) {
            closeQuietly(opened);
            return false;
        }
        channel = opened;
        phase = Phase.OPEN;
        SocketChannel connected = opened;
        Thread thread = new Thread(() -> read(connected), "cetane-reader-" + workerId);
        thread.setDaemon(true);
        thread.start();
        return true;
    }

    // ---- to PHP ----

    /** Dispatching thread; the worker is idle. */
    void send(Exchange exchange) throws IOException, WorkerProcess.UndeliverableException {
        synchronized (writing) {
            SocketChannel open = channel;
            if (phase != Phase.OPEN || open == null) {
                throw new IOException("the worker is gone");
            }
            ByteBuffer records = encode(exchange);
            Path file = encoder.bodyFile();
            head = new CgiHeadParser();
            headTaken = false;
            answered = false;
            ignoring = false;
            clientLeft = exchange.isCancelled();
            bodyless = file == null && !encoder.hasBody();
            FastCgiBody sender = file == null ? null : new FastCgiBody(workerId, file, open, log);
            body = sender;
            exchange.numbered(1);
            decoder.begin();
            current = exchange;
            // The answer may arrive before the write returns: from here on the request counts as sent.
            exchange.sent(ticker.nanos());
            try {
                write(records, open);
            } catch (IOException e) {
                current = null;
                throw e;
            }
            exchange.sent(ticker.nanos());
            if (sender != null) {
                sender.start();
            }
        }
    }

    private ByteBuffer encode(Exchange exchange) throws WorkerProcess.UndeliverableException {
        try {
            encoder.begin();
            exchange.job.encode(encoder);
            return encoder.finish();
        } catch (RuntimeException e) {
            throw new WorkerProcess.UndeliverableException(PoolJournal.message(e), e);
        }
    }

    /** Any thread. */
    void cancel(Exchange exchange) {
        synchronized (writing) {
            exchange.cancelled();
            if (current == exchange) {
                clientLeft = true;
            }
        }
    }

    private static void write(ByteBuffer records, SocketChannel channel) throws IOException {
        while (records.hasRemaining()) {
            channel.write(records);
        }
    }

    // ---- from PHP ----

    private void read(SocketChannel from) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(RecordDecoder.BUFFER_BYTES);
        try {
            ask(from);
            while (from.read(buffer) >= 0) {
                buffer.flip();
                decoder.decode(buffer);
                buffer.compact();
            }
        } catch (FastCgiException e) {
            owner.violated("Protocol violation: " + PoolJournal.message(e));
        } catch (AbandonedException | ClosedChannelException e) {
            log.log(Level.DEBUG, "worker.read-ended", null, "worker " + workerId + " is read no more: " + e);
        } catch (IOException e) {
            // Something that was sent has not been read.
            reset = true;
        } catch (RuntimeException | Error e) {
            owner.violated("its answer could not be taken: " + e);
        } finally {
            whenEnded.run();
        }
    }

    private void ask(SocketChannel of) throws IOException {
        synchronized (writing) {
            FastCgiProbe question = probe;
            if (question != null) {
                decoder.begin();
                write(question.request(encoder), of);
            }
        }
    }

    @Override
    public void stdout(ByteBuffer bytes) throws FastCgiException {
        FastCgiProbe question = probe;
        if (question != null) {
            takeProbe(question, bytes);
            return;
        }
        Exchange exchange = exchange();
        answered = true;
        if (clientLeft && decoder.restOfAnswer() < 0) {
            abandon(exchange);
        }
        if (!headTaken && !ignoring) {
            takeHead(exchange, bytes);
        }
        if (headTaken && !ignoring && bytes.hasRemaining()) {
            try {
                exchange.data(bytes, ticker);
            } catch (RuntimeException e) {
                sinkFailed(exchange, e);
            }
        }
    }

    private void takeProbe(FastCgiProbe question, ByteBuffer bytes) throws FastCgiException {
        try {
            question.take(bytes);
        } catch (InvalidHeadException e) {
            bootError = question.failure();
            hangUp();
        }
    }

    private void takeHead(Exchange exchange, ByteBuffer bytes) {
        try {
            if (!head.take(bytes)) {
                return;
            }
            headTaken = true;
            long rest = decoder.restOfAnswer();
            exchange.head(head.head(rest < 0 ? ResponseHead.UNKNOWN_LENGTH : bytes.remaining() + rest), ticker.nanos());
        } catch (InvalidHeadException e) {
            ignoring = true;
            String message = "the answer to " + exchange.job.describe() + " cannot be sent: " + e.getMessage();
            log.log(Level.ERROR, "request.invalid-answer", exchange.job.id(), message, "worker", workerId);
            exchange.conclude(new WorkerException(WorkerException.Kind.PROTOCOL, message), ticker.nanos());
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
    }

    @Override
    public void stderr(ByteBuffer bytes) {
        Exchange exchange = current;
        lines.take(bytes, exchange == null ? null : exchange.job.id());
    }

    @Override
    public void end() throws FastCgiException {
        FastCgiProbe question = probe;
        if (question != null) {
            probe = null;
            booted(question);
            return;
        }
        Exchange exchange = exchange();
        lines.endLine(exchange.job.id());
        if (!headTaken && !ignoring) {
            throw new FastCgiException("the request ended before the head of its answer");
        }
        long now = ticker.nanos();
        try {
            exchange.end(now);
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
        FastCgiBody sender = body;
        boolean read = sender == null || sender.sent(bodyEndMillis);
        current = null;
        owner.finished(exchange, !read);
        try {
            exchange.done(0, 0, 0, now);
        } catch (RuntimeException e) {
            sinkFailed(exchange, e);
        }
        if (!read) {
            // What is left of the body would be taken for the next request.
            phase = Phase.RELEASED;
            hangUp();
        }
    }

    private void booted(FastCgiProbe question) {
        lines.endLine(null);
        Ready ready = question.ready();
        if (ready == null) {
            bootError = question.failure();
            hangUp();
        } else if (!whenFound.test(ready.pid())) {
            bootError =
                    "process " + ready.pid() + " is no child of php-cgi, though it says that it serves the connection";
            hangUp();
        } else {
            owner.ready(ready);
        }
    }

    /** PHP learns from the closed connection that the client has left, as from any web server. */
    private void abandon(Exchange exchange) {
        current = null;
        phase = Phase.RELEASED;
        exchange.conclude(PoolJournal.abandoned(exchange), ticker.nanos());
        owner.finished(exchange, true);
        throw new AbandonedException();
    }

    /** The decoder admits no record of a request when none runs. */
    private Exchange exchange() {
        Exchange running = current;
        if (running == null) {
            throw new IllegalStateException("no request runs");
        }
        return running;
    }

    private void sinkFailed(Exchange exchange, RuntimeException e) {
        String message = "the answer of worker " + workerId + " could not be taken: " + e;
        log.log(Level.ERROR, "request.sink-failed", exchange.job.id(), message, "worker", workerId);
        ignoring = true;
        exchange.conclude(new WorkerException(WorkerException.Kind.CRASHED, message, null, e), ticker.nanos());
    }

    // ---- the end ----

    Phase phase() {
        return phase;
    }

    /** Whether a request runs. */
    boolean busy() {
        return current != null;
    }

    @Nullable
    String bootError() {
        return bootError;
    }

    /** The last lines that PHP has reported. */
    String lastOutput() {
        return lines.last();
    }

    /** Closes the connection; the reader notices. Any thread. */
    void hangUp() {
        if (phase == Phase.OPEN) {
            phase = Phase.CLOSED;
        }
        closeQuietly(channel);
    }

    /**
     * After the child has ended.
     *
     * @return the exchange whose request it has not read to its end, and so cannot have acted on; null when there is none. Of a request with a body
     *     nobody knows, because that is read at any time
     */
    @Nullable
    Exchange close() {
        synchronized (writing) {
            hangUp();
            lines.close(null);
            Exchange running = current;
            return reset && bodyless && !answered ? running : null;
        }
    }

    private static void closeQuietly(@Nullable SocketChannel open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // Nothing is lost: what matters is that nobody uses it any more.
                return;
            }
        }
    }

    /** Leaves the reader's loop. */
    private static final class AbandonedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        AbandonedException() {
            super("its client has left", null, false, false);
        }
    }
}
