package dev.cetane.log;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * An output of lines that nobody waits for: each write is one line and goes into a queue, from which the daemon thread {@code cetane-log} writes.
 * Lines that find the queue full, because whoever reads them has stopped or is slower than they come, are dropped and counted. Thread-safe; {@code
 * lock} guards the queue and is never held for a write.
 */
public final class QueuedOutput extends OutputStream {
    /** Bytes that wait at most, {@link #BYTES_OF_A_LINE} for each line included. */
    static final int MOST_BYTES = 4 << 20;
    /** What a line takes beside its text. */
    private static final int BYTES_OF_A_LINE = 32;
    /** Lines that wait are written together up to so many bytes, which a pipe takes as it is. */
    private static final int WRITE_BYTES = 64 * 1024;

    private final OutputStream out;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    private final Condition written = lock.newCondition();
    private final Queue<byte[]> lines = new ArrayDeque<>();
    private int bytes;
    private long dropped;
    private boolean writing;

    public QueuedOutput(OutputStream out) {
        this.out = out;
    }

    /**
     * Starts the thread.
     *
     * @param listener told on that thread, once there is room again, how many lines were dropped; what it writes here comes behind those that waited
     */
    public void start(LongConsumer listener) {
        Thread thread = new Thread(() -> run(listener), "cetane-log");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void write(int single) {
        write(new byte[] {(byte) single}, 0, 1);
    }

    /** Takes a line; never waits for the output. */
    @Override
    public void write(byte[] line, int from, int length) {
        byte[] copy = Arrays.copyOfRange(line, from, from + length);
        lock.lock();
        try {
            if (bytes + length + BYTES_OF_A_LINE > MOST_BYTES) {
                dropped++;
                return;
            }
            bytes += length + BYTES_OF_A_LINE;
            lines.add(copy);
            if (!writing) {
                more.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all is written that was logged before; for the end of the process.
     *
     * @return whether it is; if not, {@code most} has passed, or this thread was interrupted
     */
    public boolean awaitWritten(Duration most) {
        long left = most.toNanos();
        lock.lock();
        try {
            while (!lines.isEmpty() || writing) {
                if (left <= 0) {
                    return false;
                }
                left = written.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    // ---- cetane-log ----

    private void run(LongConsumer listener) {
        byte[] buffer = new byte[WRITE_BYTES];
        try {
            while (true) {
                writeWaiting(buffer);
                long lost = takeDropped();
                if (lost > 0) {
                    listener.accept(lost);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void writeWaiting(byte[] buffer) throws InterruptedException {
        byte[] next;
        int length;
        lock.lock();
        try {
            while (lines.isEmpty()) {
                more.await();
            }
            next = lines.remove();
            length = next.length;
            bytes -= length + BYTES_OF_A_LINE;
            for (byte[] line = lines.peek();
                    line != null && length + line.length <= buffer.length;
                    line = lines.peek()) {
                if (next != buffer) {
                    System.arraycopy(next, 0, buffer, 0, length);
                    next = buffer;
                }
                System.arraycopy(line, 0, buffer, length, line.length);
                length += line.length;
                bytes -= line.length + BYTES_OF_A_LINE;
                lines.remove();
            }
            writing = true;
        } finally {
            lock.unlock();
        }
        try {
            out.write(next, 0, length);
            out.flush();
        } catch (IOException e) {
            // Nobody reads the log any more, and there is nowhere else to say so.
        } finally {
            lock.lock();
            try {
                writing = false;
                written.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private long takeDropped() {
        lock.lock();
        try {
            long count = dropped;
            if (count == 0 || bytes > MOST_BYTES / 2) {
                return 0;
            }
            dropped = 0;
            return count;
        } finally {
            lock.unlock();
        }
    }
}
