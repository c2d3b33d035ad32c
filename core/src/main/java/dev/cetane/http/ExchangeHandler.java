package dev.cetane.http;

import dev.cetane.cgi.Script;
import dev.cetane.log.EventLog;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Serves one connection: one exchange after the other, so answers come in the order of the requests whatever a client pipelines. On
 * the connection's event loop; foreign entries are {@link #drain} and {@link #close}, which hop to it.
 *
 * <p>A request is received completely before it is submitted, so a slow client costs no worker.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of Netty: a failed write or close ends in channelInactive
final class ExchangeHandler extends ChannelInboundHandlerAdapter {
    /** How long a client may take to close its side after the last answer. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    /** How long a connection stays idle in a drain: a request that is on its way is still served. */
    private static final Duration IDLE_IN_DRAIN = Duration.ofMillis(20);

    /** What the connection is doing. */
    private enum Phase {
        /** Waits for a request's head, or reads it. */
        HEAD,
        /** Reads a body. */
        BODY,
        /** The exchange is with the dispatcher, or an answer of the front door's own is being written. */
        ANSWER,
        /** Throws input away until the client closes. */
        LINGER,
        CLOSED
    }

    private final FrontDoor door;
    private final RequestDecoder decoder;

    @SuppressWarnings("NullAway.Init") // set when the handler is added, before any other call
    private ChannelHandlerContext context;

    @SuppressWarnings("NullAway.Init")
    private Deadline deadline;

    @SuppressWarnings("NullAway.Init")
    private BodyReader bodies;

    private @Nullable Peer peer;
    private Phase phase = Phase.HEAD;

    // The exchange that runs.
    private final ExchangeRecord exchange;
    private @Nullable RequestHead request;
    private @Nullable HttpJob job;

    /** The one in whose place a failure is answered. */
    private @Nullable HttpJob failedJob;

    private boolean writesWatched;
    private long writeProgress;

    ExchangeHandler(FrontDoor door, RequestDecoder decoder) {
        this.door = door;
        this.decoder = decoder;
        this.exchange = new ExchangeRecord(door);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        deadline = new Deadline(ctx.executor(), door.ticker(), this::deadlinePassed);
        bodies = new BodyReader(door, this, exchange, decoder, deadline, ctx);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (!door.connections().add(this)) {
            phase = Phase.CLOSED;
            door.listener().connectionRefused();
            door.connections().warnOfRefusals(door.log(), door.ticker());
            ctx.close();
            return;
        }
        door.listener().connectionOpened();
        deadline.in(door.config().idleTimeout().toNanos());
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        deadline.close();
        if (phase == Phase.CLOSED) {
            return;
        }
        phase = Phase.CLOSED;
        door.connections().remove(this);
        door.listener().connectionClosed();
        exchange.abandoned(asked());
        giveUp();
        bodies.discard();
    }

    /** Nobody waits for the application any more. */
    private void giveUp() {
        if (job != null) {
            HttpJob running = job;
            job = null;
            running.discard();
            door.dispatcher().cancel(running);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (phase == Phase.HEAD && message instanceof HttpRequest head) {
                readHead(head);
            } else if (phase == Phase.BODY && message instanceof HttpContent content) {
                readContent(content);
            }
        } catch (RefusedException e) {
            refuse(e.failure(), e.getMessage());
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (phase == Phase.HEAD && decoder.headPending() && !exchange.open()) {
            // The clock of the head runs from its first byte.
            exchange.begin(decoder.headStartNanos());
            deadline.in(door.config().headerTimeout().toNanos());
        } else if (phase == Phase.BODY && !decoder.isShut()) {
            deadline.in(door.config().bodyTimeout().toNanos());
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!(cause instanceof IOException)) {
            door.log().log(
                    EventLog.Level.ERROR,
                    "http.unexpected",
                    exchange.open() ? exchange.id() : null,
                    "a connection is closed after an error that should not occur: " + cause);
        }
        ctx.close();
    }

    private void readHead(HttpRequest message) throws RefusedException {
        exchange.begin(decoder.headStartNanos());
        Throwable problem = message.decoderResult().cause();
        if (problem instanceof PrematureChannelClosureException) {
            return;
        }
        if (problem != null) {
            throw RefusedException.of(problem);
        }
        RequestHead head = RequestHead.of(message, door.config().maxUriBytes());
        request = head;
        exchange.head(head, peer());
        if (door.closed().contain(head.path())) {
            throw new RefusedException(HttpFailure.NOT_FOUND, "the path is closed to clients");
        }
        bodies.begin(head);
        phase = Phase.BODY;
    }

    private void readContent(HttpContent content) throws RefusedException {
        if (bodies.read(content)) {
            exchange.received();
            phase = Phase.ANSWER;
            if (bodies.isComplete()) {
                submit();
            }
        }
    }

    /** The request is there with its whole body. */
    void submit() {
        RequestHead head = request;
        if (head == null) {
            throw new IllegalStateException("an exchange without a head");
        }
        if (head.target().equals("*")) {
            answerOptions(head);
        } else if (door.files() == null || !door.files().take(head, this, context)) {
            dispatch(head);
        }
    }

    /** Whether the request still waits for its answer. */
    boolean awaits(RequestHead head) {
        return request == head && phase == Phase.ANSWER;
    }

    /** The id of the exchange that runs. */
    String exchangeId() {
        return exchange.id();
    }

    /** Gives the request to the application. */
    void dispatch(RequestHead head) {
        ScriptFinder scripts = door.scripts();
        if (scripts == null) {
            dispatch(head, null);
        } else {
            scripts.take(head, this, context);
        }
    }

    /** Gives the request to the application, to run this script where that depends on the path. */
    void dispatch(RequestHead head, @Nullable Script script) {
        job = new HttpJob(
                door,
                this,
                context,
                head,
                bodies.take(),
                script,
                peer(),
                exchange.id(),
                exchange.traced(),
                exchange.startNanos());
        door.dispatcher().submit(job);
    }

    /** The job that the running exchange was given to the application as; null when it was not. */
    private @Nullable HttpJob asked() {
        return job != null ? job : failedJob;
    }

    /** The answer of the job was taken by the operating system. */
    void finished(HttpJob ended) {
        if (ended != job) {
            return;
        }
        job = null;
        exchange.fromApplication();
        exchange.answered(ended.applicationStatus(), ended.writtenBytes(), ended, peer());
        proceed(ended.closes());
    }

    /** The job has failed before a byte of its answer was sent. */
    void answerFailure(HttpJob failed) {
        if (failed != job) {
            return;
        }
        job = null;
        failedJob = failed;
        answerFailure(failed.substitute(), failed.request(), door.debug() ? failed.publicDetail() : null);
    }

    /** Answers a request that was received completely with a failure. */
    void answerFailure(HttpFailure failure, RequestHead head, @Nullable String detail) {
        boolean close = !head.keepAlive() || door.connections().draining();
        answer(
                failure.encode(
                        context.alloc(),
                        exchange.id(),
                        detail,
                        exchange.timing(),
                        head.isHead(),
                        close,
                        !head.http11(),
                        door.date().line()),
                failure.status(),
                close);
    }

    /**
     * The answer of the job cannot be completed, and what there is of it was taken by the operating system. The client gets that, unless it would take it for
     * the whole.
     */
    void cutOff(HttpJob incomplete) {
        if (incomplete != job) {
            return;
        }
        if (incomplete.showsItsEnd()) {
            exchange.aborted(job);
            giveUp();
            linger();
        } else {
            cut();
        }
    }

    /** The client must not take what it has for the whole answer. */
    private void cut() {
        exchange.aborted(asked());
        // A reset: the end of the connection is how an HTTP/1.0 client recognises the end of an answer.
        context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        context.close();
    }

    /** Bytes wait for the client. */
    void watchWrites() {
        if (phase == Phase.ANSWER && !writesWatched) {
            writesWatched = true;
            writeProgress = progress();
            deadline.in(door.config().writeTimeout().toNanos());
        }
    }

    /** The client has taken something, or all that waited. */
    void wrote() {
        if (writesWatched) {
            writesWatched = false;
            deadline.clear();
            if (bytesWait()) {
                watchWrites();
            }
        }
    }

    /** Ends the connection once nothing runs on it. Callable from any thread. */
    void drain() {
        context.executor().execute(() -> {
            if (phase == Phase.HEAD && !exchange.open()) {
                deadline.in(IDLE_IN_DRAIN.toNanos());
            }
        });
    }

    /** Ends the connection. Callable from any thread. */
    void close() {
        context.close();
    }

    private void answerOptions(RequestHead head) {
        boolean close = !head.keepAlive() || door.connections().draining();
        ByteBuf out = context.alloc().directBuffer(256);
        ByteBufUtil.writeAscii(out, "HTTP/1.1 204 No Content\r\nAllow: " + HttpFailure.ALLOWED_METHODS + "\r\n");
        if (close) {
            ByteBufUtil.writeAscii(out, "Connection: close\r\n");
        } else if (!head.http11()) {
            ByteBufUtil.writeAscii(out, "Connection: keep-alive\r\n");
        }
        String timing = exchange.timing();
        if (timing != null) {
            ByteBufUtil.writeAscii(out, "Server-Timing: " + timing + "\r\n");
        }
        out.writeBytes(door.date().line());
        ByteBufUtil.writeAscii(out, "\r\n");
        answer(out, 204, close);
    }

    /** A file is the answer; its head, and a short body with it, is in {@code bytes}. */
    void answerFile(ByteBuf bytes, StaticAnswer answer, boolean close) {
        exchange.fromFile();
        FilePart file = answer.file();
        if (file == null) {
            answer(bytes, answer.status(), close);
            return;
        }
        long count = bytes.readableBytes() + file.count();
        context.write(bytes, context.voidPromise());
        answer(file, count, answer.status(), close);
    }

    /** Writes an answer of the front door's own, which is complete in the buffer. */
    void answer(ByteBuf bytes, int status, boolean close) {
        answer(bytes, bytes.readableBytes(), status, close);
    }

    /** Writes an answer of the front door's own to a request that was received completely. */
    private void answer(Object last, long count, int status, boolean close) {
        bodies.discard();
        context.writeAndFlush(last).addListener(written -> {
            if (!written.isSuccess()) {
                if (last instanceof FilePart file && file.cutOff()) {
                    door.log().log(
                            EventLog.Level.ERROR,
                            "request.answer-cut",
                            exchange.id(),
                            "an answer was cut: " + file.path() + " became shorter while it was sent");
                    cut();
                } else {
                    context.close();
                }
            } else if (phase == Phase.ANSWER) {
                wrote();
                exchange.answered(status, count, asked(), peer());
                proceed(close);
            }
        });
        if (exchange.open()) {
            watchWrites();
        }
    }

    /** Answers a request that is not, or cannot be, received completely, and closes the connection when the client has read it. */
    void refuse(HttpFailure failure, @Nullable String why) {
        if (door.log().enabled(EventLog.Level.DEBUG)) {
            door.log().log(
                    EventLog.Level.DEBUG, "http.refused", exchange.id(), "answered " + failure.status() + ": " + why);
        }
        boolean headOnly = request != null && request.isHead();
        bodies.discard();
        phase = Phase.LINGER;
        ByteBuf bytes = failure.encode(
                context.alloc(),
                exchange.id(),
                door.debug() ? why : null,
                exchange.timing(),
                headOnly,
                true,
                false,
                door.date().line());
        int count = bytes.readableBytes();
        deadline.in(LINGER.toNanos());
        context.writeAndFlush(bytes).addListener(written -> {
            if (!written.isSuccess()) {
                context.close();
                return;
            }
            exchange.answered(failure.status(), count, null, peer());
            linger();
        });
        decoder.open(context);
    }

    /**
     * Everything is answered: throws input away until the client closes too. To close at once would reset the connection if input was
     * unread, and a reset can destroy the answer before the client has read it.
     */
    private void linger() {
        phase = Phase.LINGER;
        deadline.in(LINGER.toNanos());
        if (context.channel() instanceof DuplexChannel duplex) {
            duplex.shutdownOutput();
            decoder.open(context);
        } else {
            context.close();
        }
    }

    private Peer peer() {
        if (peer == null) {
            peer = Peer.of(context.channel().remoteAddress(), context.channel().localAddress(), door.proxies());
        }
        return peer;
    }

    /** The exchange is over: takes the next request or ends the connection. */
    private void proceed(boolean close) {
        request = null;
        failedJob = null;
        if (close || door.connections().draining()) {
            linger();
            return;
        }
        phase = Phase.HEAD;
        deadline.in(door.config().idleTimeout().toNanos());
        decoder.open(context);
    }

    private void deadlinePassed() {
        switch (phase) {
            case HEAD -> {
                if (exchange.open()) {
                    refuse(HttpFailure.REQUEST_TIMEOUT, "the head did not arrive within http.header-timeout");
                } else {
                    context.close();
                }
            }
            case BODY -> refuse(HttpFailure.REQUEST_TIMEOUT, "no byte of the body arrived within http.body-timeout");
            case ANSWER -> {
                writesWatched = false;
                if (progress() != writeProgress) {
                    watchWrites();
                } else if (bytesWait()) {
                    cut();
                }
            }
            case LINGER -> context.close();
            case CLOSED -> {}
        }
    }

    /** A number that changes whenever the client takes a byte. */
    private long progress() {
        ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.currentProgress() * 31 + buffer.totalPendingWriteBytes();
    }

    private boolean bytesWait() {
        ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
        return buffer != null && !buffer.isEmpty();
    }
}
