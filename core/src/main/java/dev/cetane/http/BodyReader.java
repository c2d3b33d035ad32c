package dev.cetane.http;

import dev.cetane.log.EventLog;
import dev.cetane.log.FileReason;
import dev.cetane.multipart.Delimiter;
import dev.cetane.multipart.FormLimits;
import dev.cetane.protocol.FrameType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Receives the bodies of one connection's requests, one after the other: decides whether a body is read as a form, and how much of it stays
 * in memory, holds the client back while the disk lags behind, and keeps the body until the application takes it. On the connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of Netty: a failed write ends in channelInactive
final class BodyReader {
    /** How often a form that came before the first worker was ready looks again. */
    private static final long RULES_LOOK_MILLIS = 20;

    private static final ByteBuf CONTINUE = Unpooled.unreleasableBuffer(Unpooled.directBuffer(25)
            .writeBytes("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII))
            .asReadOnly());

    /** How the request's body stands. */
    private enum Stage {
        /** There is no request, or it has been told that its body is there. */
        NONE,
        /** Comes from the client. */
        READING,
        /** The last byte has come, the disk does not have it yet. */
        STORING
    }

    private final FrontDoor door;
    private final ExchangeHandler connection;
    private final ExchangeRecord exchange;
    private final RequestDecoder decoder;
    private final Deadline deadline;
    private final ChannelHandlerContext context;

    private Stage stage = Stage.NONE;
    private @Nullable RequestHead request;
    private @Nullable RequestBody body;

    /** The longest body by PHP's own limit, for forms; 0: none. */
    private long postMaxBytes;

    BodyReader(
            FrontDoor door,
            ExchangeHandler connection,
            ExchangeRecord exchange,
            RequestDecoder decoder,
            Deadline deadline,
            ChannelHandlerContext context) {
        this.door = door;
        this.connection = connection;
        this.exchange = exchange;
        this.decoder = decoder;
        this.deadline = deadline;
        this.context = context;
    }

    /** The head has come: what follows is its body, if it has one. */
    void begin(RequestHead head) throws RefusedException {
        discard();
        postMaxBytes = 0;
        checkLength(head.contentLength());
        request = head;
        stage = Stage.READING;
        if (!head.hasBody()) {
            return;
        }
        if (head.isForm() && !door.forms().known()) {
            decoder.shut();
            deadline.clear();
            awaitFormRules(head);
        } else {
            prepare(head);
        }
    }

    private void prepare(RequestHead head) throws RefusedException {
        // A body that would not fit into the frame beside its head goes to a file.
        int room = FrameType.REQUEST.maxPayload() - head.encodedBytes();
        int inline = Math.max(Math.min(door.config().inlineBodyBytes(), room), 0);
        FormLimits limits = head.isForm() ? door.forms().limits() : null;
        Delimiter delimiter = limits == null ? null : Delimiter.of(head.contentType());
        if (limits != null && limits.postMaxBytes() > 0) {
            postMaxBytes = limits.postMaxBytes();
            checkLength(head.contentLength());
        }
        body = limits == null || delimiter == null
                ? new WholeBody(door.spool(), inline, head.contentLength(), this::notifyChanged)
                : new FormBody(door.spool(), inline, delimiter, limits, this::notifyChanged);
        if (head.expectsContinue()) {
            context.writeAndFlush(CONTINUE.duplicate(), context.voidPromise());
        }
    }

    /** The limits for a form are those of the workers' PHP; while the first worker boots, what follows the head is not read. */
    private void awaitFormRules(RequestHead head) {
        context.executor()
                .schedule(
                        () -> {
                            if (request != head || stage != Stage.READING) {
                                return;
                            }
                            if (!door.forms().known()) {
                                awaitFormRules(head);
                                return;
                            }
                            try {
                                prepare(head);
                                resume();
                            } catch (RefusedException e) {
                                connection.refuse(e.failure(), e.getMessage());
                            }
                        },
                        RULES_LOOK_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /**
     * Takes a piece of the body.
     *
     * @return whether it is the last one; {@link #isComplete} tells whether the disk has it too
     */
    boolean read(HttpContent content) throws RefusedException {
        Throwable problem = content.decoderResult().cause();
        if (problem != null) {
            throw RefusedException.of(problem);
        }
        if (body != null && content.content().isReadable()) {
            checkLength(body.length() + content.content().readableBytes());
            body.append(content.content().retain());
        }
        if (content instanceof LastHttpContent) {
            decoder.shut();
            deadline.clear();
            stage = Stage.STORING;
            if (body != null) {
                body.finish();
                remark(body.remark());
            }
            return true;
        }
        if (body != null && body.saturated()) {
            decoder.shut();
            deadline.clear();
        }
        return false;
    }

    /** Whether the whole body is there and has not been told of before. */
    boolean isComplete() {
        if (stage == Stage.STORING && (body == null || body.complete())) {
            stage = Stage.NONE;
            return true;
        }
        return false;
    }

    /** The body, which is the caller's from now on; null when the request had none. */
    @Nullable
    RequestBody take() {
        RequestBody taken = body;
        body = null;
        return taken;
    }

    /** The body is of no use, if there is one. */
    void discard() {
        stage = Stage.NONE;
        request = null;
        if (body != null) {
            body.discard();
            body = null;
        }
    }

    private void remark(@Nullable String what) {
        if (what != null) {
            door.log().log(
                    EventLog.Level.WARN,
                    "http.form-cut",
                    exchange.id(),
                    "a form was taken in part, by the limits of php.ini: " + what);
        }
    }

    private void notifyChanged() {
        try {
            context.executor().execute(this::changed);
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the connection with it.
        }
    }

    /** The spool has written something, or failed to. */
    private void changed() {
        RequestBody stored = body;
        if (stored == null || stage == Stage.NONE) {
            return;
        }
        IOException failure = stored.failure();
        if (failure != null) {
            door.log().log(
                    EventLog.Level.ERROR,
                    "http.spool-failed",
                    exchange.id(),
                    "a request's body of " + stored.length() + " bytes so far could not be written to "
                            + door.config().spoolDirectory() + ": " + FileReason.of(failure)
                            + "; make room there, or set http.spool-directory to another place");
            connection.refuse(HttpFailure.STORAGE_FAILED, "the body could not be stored");
        } else if (stage == Stage.READING) {
            if (decoder.isShut() && !stored.saturated()) {
                resume();
            }
        } else if (isComplete()) {
            connection.submit();
        }
    }

    private void resume() {
        deadline.in(door.config().bodyTimeout().toNanos());
        decoder.open(context);
    }

    private void checkLength(long length) throws RefusedException {
        long mostBytes = door.config().maxBodyBytes();
        if (mostBytes > 0 && length > mostBytes) {
            throw tooLarge(length, "http.max-body", mostBytes);
        }
        if (postMaxBytes > 0 && length > postMaxBytes) {
            throw tooLarge(length, "post_max_size of php.ini", postMaxBytes);
        }
    }

    private static RefusedException tooLarge(long length, String setting, long most) {
        return new RefusedException(
                HttpFailure.BODY_TOO_LARGE, "a body of " + length + " bytes or more, " + setting + " is " + most);
    }
}
