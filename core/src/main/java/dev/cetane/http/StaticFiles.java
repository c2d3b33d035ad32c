package dev.cetane.http;

import dev.cetane.files.DocumentRoot;
import dev.cetane.files.FileReply;
import dev.cetane.files.FileRequest;
import dev.cetane.files.StaticFilesConfig;
import dev.cetane.files.StaticRoot;
import dev.cetane.log.EventLog;
import dev.cetane.worker.Ticker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Answers requests for files of the document root without PHP. {@link #take} runs on event loops; looking for a file, opening it and reading a
 * small one runs on {@code cetane-files-N}, because each of those can wait for a disk. Each connection has one request at most in their queue.
 *
 * <p>What an event loop still does itself is sendfile, which the kernel serves from its cache unless the file was not read for long.
 */
final class StaticFiles implements AutoCloseable {
    private static final int THREADS = 2;

    /** Up to this length a file goes into memory and out in one write with its head; sendfile would cost more. */
    private static final int READ_BYTES = 16 * 1024;

    /** How often a file that changes while it is looked at is tried again. */
    private static final int TRIES = 3;

    private final StaticFilesConfig config;
    private final DocumentRoot root;
    private final EventLog log;
    private final Ticker ticker;
    private final HttpDate date;
    private final Connections connections;
    private final ThreadPoolExecutor threads;

    StaticFiles(
            StaticFilesConfig config,
            Supplier<StaticRoot> where,
            EventLog log,
            Ticker ticker,
            HttpDate date,
            Connections connections) {
        this.config = config;
        this.root = new DocumentRoot(where, config, ticker);
        this.log = log;
        this.ticker = ticker;
        this.date = date;
        this.connections = connections;
        this.threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                1,
                TimeUnit.MINUTES,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory("cetane-files", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Takes the request if it may be one for a file, which costs no disk access; the connection gets it back when there is none. On its event loop.
     *
     * @return false if it is the application's
     */
    boolean take(RequestHead head, ExchangeHandler connection, ChannelHandlerContext context) {
        if (!(head.method().equals("GET") || head.isHead()) || head.hasBody() || !root.mayHold(head.path())) {
            return false;
        }
        try {
            String id = connection.exchangeId();
            threads.execute(() -> find(head, id, connection, context));
        } catch (RejectedExecutionException e) {
            // The server closes, and the connection with it.
        }
        return true;
    }

    private void find(RequestHead head, String id, ExchangeHandler connection, ChannelHandlerContext context) {
        StaticAnswer answer = answer(head, id, context.alloc());
        try {
            context.executor().execute(() -> found(answer, head, connection, context));
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the connection with it.
            answer.release();
        }
    }

    /** On the event loop. */
    private void found(
            StaticAnswer answer, RequestHead head, ExchangeHandler connection, ChannelHandlerContext context) {
        if (!connection.awaits(head)) {
            answer.release();
        } else if (answer == StaticAnswer.NONE) {
            connection.dispatch(head);
        } else if (answer == StaticAnswer.FAILED) {
            connection.answerFailure(HttpFailure.BUSY, head, null);
        } else {
            boolean close = !head.keepAlive() || connections.draining();
            ByteBuf bytes = answer.encode(context.alloc(), close, !head.http11(), date.line());
            connection.answerFile(bytes, answer, close);
        }
    }

    private StaticAnswer answer(RequestHead head, String id, ByteBufAllocator allocator) {
        FileRequest request = new FileRequest(
                head.path(),
                head.isHead(),
                head.field("HTTP_IF_MATCH"),
                head.field("HTTP_IF_UNMODIFIED_SINCE"),
                head.field("HTTP_IF_NONE_MATCH"),
                head.field("HTTP_IF_MODIFIED_SINCE"),
                head.field("HTTP_IF_RANGE"),
                head.field("HTTP_RANGE"),
                head.field("HTTP_ACCEPT_ENCODING"));
        try {
            for (int i = 0; i < TRIES; i++) {
                FileReply reply = FileReply.to(request, root, config, ticker.now());
                if (reply == null) {
                    return StaticAnswer.NONE;
                }
                try {
                    return load(reply, allocator);
                } catch (NoSuchFileException | EOFException e) {
                    // It was replaced or cut since it was found; what is there now is the answer.
                }
            }
            return StaticAnswer.NONE;
        } catch (AccessDeniedException e) {
            log(id, head, "may not be read by the user of this server, and counts as missing");
            return StaticAnswer.NONE;
        } catch (IOException | RuntimeException e) {
            log(id, head, "cannot be sent: " + e);
            return StaticAnswer.FAILED;
        }
    }

    private static StaticAnswer load(FileReply reply, ByteBufAllocator allocator) throws IOException {
        if (reply.length() == 0) {
            return new StaticAnswer(reply, null, null);
        }
        FileChannel channel = reply.file().open();
        if (reply.length() > READ_BYTES) {
            return new StaticAnswer(
                    reply, null, FilePart.of(channel, reply.file().path(), reply.offset(), reply.length()));
        }
        try (channel) {
            return new StaticAnswer(reply, read(channel, reply, allocator), null);
        }
    }

    private static ByteBuf read(FileChannel channel, FileReply reply, ByteBufAllocator allocator) throws IOException {
        int length = (int) reply.length();
        ByteBuf bytes = allocator.directBuffer(length);
        try {
            while (bytes.readableBytes() < length) {
                long position = reply.offset() + bytes.readableBytes();
                if (bytes.writeBytes(channel, position, length - bytes.readableBytes()) < 0) {
                    throw new EOFException("the file was cut while it was read");
                }
            }
            return bytes.retain();
        } finally {
            bytes.release();
        }
    }

    private void log(String id, RequestHead head, String what) {
        log.log(EventLog.Level.WARN, "http.file-failed", id, "the file for " + head.target() + " " + what);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
