package dev.cetane.http;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What one request has given to the spool and the disk has not taken yet. Thread-safe. */
final class SpoolBacklog {
    /** Reading pauses while so much waits for the disk. */
    private static final int MOST_BYTES = 512 * 1024;

    /** The same in buffers: tiny chunks weigh more than their bytes. */
    private static final int MOST_BUFFERS = 256;

    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger buffers = new AtomicInteger();

    void add(int count) {
        bytes.addAndGet(count);
        buffers.incrementAndGet();
    }

    void remove(int count) {
        bytes.addAndGet(-count);
        buffers.decrementAndGet();
    }

    /** Whether the disk lags so far behind that nothing more should be read. */
    boolean saturated() {
        return bytes.get() > MOST_BYTES || buffers.get() > MOST_BUFFERS;
    }
}
