package dev.cetane.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;

/**
 * The hand-over of one answer: the worker's reader thread puts bytes in, the connection's event loop takes them out and writes them.
 * What both touch is guarded by {@code lock}, which publishes too whatever the reader thread wrote before it {@linkplain #handOver
 * handed over}.
 *
 * <p>The reader thread waits in {@link #awaitRoom} while too much waits for the client. That ends because the event loop either writes
 * it or, after {@code http.write-timeout}, closes the connection.
 */
final class Outbox {
    /** How the answer stands. */
    private enum Stage {
        /** More may come. */
        OPEN,
        /** All of it is here or written. */
        COMPLETE,
        /** Nothing of it was sent, and a failure is answered in its place. */
        FAILED,
        /** It has begun, and the rest will not come: what waits is still written, for it was flushed, and then the connection is cut. */
        CUT,
        /** The client has left; what still comes is thrown away. */
        DISCARDED
    }

    private final ExchangeHandler connection;
    private final HttpJob job;
    private final ChannelHandlerContext context;
    private final int mostUnwrittenBytes;

    private final Object lock = new Object();
    private final Deque<Object> parts = new ArrayDeque<>(2);
    private Stage stage = Stage.OPEN;
    private boolean begun;
    private boolean handedOver;
    /** Of the part that was put last. */
    private boolean lastPartEndsAnswer;

    private long waitingBytes;
    private long unwrittenBytes;

    // Of the event loop.
    private int pendingWrites;
    private long writtenBytes;

    /** @param mostUnwrittenBytes bytes that may wait for the client before the reader thread has to; parts of files do not count */
    Outbox(ExchangeHandler connection, HttpJob job, ChannelHandlerContext context, int mostUnwrittenBytes) {
        this.connection = connection;
        this.job = job;
        this.context = context;
        this.mostUnwrittenBytes = mostUnwrittenBytes;
    }

    // ---- reader thread ----

    /** A buffer with room for so many bytes: the last one that waits, taken out, or a new one. {@link #put} gives it back. */
    ByteBuf room(int bytes) {
        synchronized (lock) {
            if (parts.peekLast() instanceof ByteBuf last && last.writableBytes() >= bytes) {
                parts.removeLast();
                waitingBytes -= last.readableBytes();
                unwrittenBytes -= last.readableBytes();
                return last;
            }
        }
        return context.alloc().directBuffer(bytes);
    }

    /**
     * Takes the bytes over; they are not sent before {@link #handOver}.
     *
     * @param endsAnswer whether a client with all bytes so far takes the answer for whole: if it is cut before its end, the last of them are not sent
     */
    void put(ByteBuf bytes, boolean endsAnswer) {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                lastPartEndsAnswer = endsAnswer;
                parts.add(bytes);
                waitingBytes += bytes.readableBytes();
                unwrittenBytes += bytes.readableBytes();
                return;
            }
        }
        bytes.release();
    }

    /** Takes the part of a file over, likewise. */
    void put(FilePart file, boolean endsAnswer) {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                lastPartEndsAnswer = endsAnswer;
                parts.add(file);
                return;
            }
        }
        file.release();
    }

    /** The final head is here: from now on a failure cannot be answered any more. */
    void begun() {
        synchronized (lock) {
            begun = true;
        }
    }

    /** Waits while the client is slower than the worker; false if nobody takes the answer any more. */
    boolean awaitRoom() {
        synchronized (lock) {
            while (stage == Stage.OPEN && unwrittenBytes > mostUnwrittenBytes) {
                handOver();
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    cut();
                }
            }
            return stage == Stage.OPEN;
        }
    }

    /** The answer is whole. */
    void complete() {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                stage = Stage.COMPLETE;
            }
        }
        handOver();
    }

    /** The answer cannot be completed: cuts the connection when the client has what waits. */
    void cut() {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                stage = Stage.CUT;
            }
        }
        handOver();
    }

    /** The answer cannot be made: has another one sent while that is possible, else cuts the connection. Callable from any thread. */
    void fail() {
        synchronized (lock) {
            if (stage == Stage.OPEN) {
                stage = begun ? Stage.CUT : Stage.FAILED;
            }
        }
        handOver();
    }

    /** Has the event loop take what waits. */
    void handOver() {
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

    // ---- event loop ----

    private void deliver() {
        Object[] taken;
        long bytes;
        Stage now;
        synchronized (lock) {
            handedOver = false;
            now = stage;
            if (now == Stage.CUT && lastPartEndsAnswer && !parts.isEmpty()) {
                ReferenceCountUtil.release(parts.removeLast());
            }
            taken = parts.toArray();
            parts.clear();
            bytes = waitingBytes;
            waitingBytes = 0;
        }
        switch (now) {
            case OPEN, COMPLETE, CUT -> write(taken, bytes);
            case FAILED -> {
                // Interim heads at most; they go before whatever answer.
                write(taken, bytes);
                connection.answerFailure(job);
            }
            case DISCARDED -> release(taken);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the last write tells how all of them went
    private void write(Object[] taken, long bytes) {
        if (taken.length == 0) {
            endIfWritten();
            return;
        }
        long inFiles = 0;
        for (Object part : taken) {
            if (part instanceof FilePart file) {
                inFiles += file.count();
            }
        }
        for (int i = 0; i < taken.length - 1; i++) {
            context.write(taken[i], context.voidPromise());
        }
        pendingWrites++;
        long total = bytes + inFiles;
        context.writeAndFlush(taken[taken.length - 1])
                .addListener(written -> written(bytes, total, written.isSuccess()));
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
        Stage now;
        synchronized (lock) {
            now = parts.isEmpty() ? stage : Stage.OPEN;
        }
        if (pendingWrites > 0) {
            return;
        }
        if (now == Stage.COMPLETE) {
            connection.finished(job);
        } else if (now == Stage.CUT) {
            connection.cutOff(job);
        }
    }

    /** Nobody takes the answer any more: throws it away and frees the reader thread. Callable from any thread. */
    void discard() {
        Object[] taken;
        synchronized (lock) {
            stage = Stage.DISCARDED;
            taken = parts.toArray();
            parts.clear();
            lock.notifyAll();
        }
        release(taken);
    }

    /** Bytes of the answer that the operating system has taken. */
    long writtenBytes() {
        return writtenBytes;
    }

    private static void release(Object[] taken) {
        for (Object part : taken) {
            ReferenceCountUtil.release(part);
        }
    }
}
