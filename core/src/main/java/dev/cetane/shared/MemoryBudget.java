package dev.cetane.shared;

import java.util.concurrent.atomic.AtomicLong;

/** The bytes that all tables together may take. Thread-safe. */
final class MemoryBudget {
    private final long limit;
    private final AtomicLong used = new AtomicLong();

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Takes the bytes if they are there; a negative number gives back. */
    boolean take(long bytes) {
        if (used.addAndGet(bytes) <= limit || bytes <= 0) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    void give(long bytes) {
        used.addAndGet(-bytes);
    }

    long used() {
        return used.get();
    }

    long limit() {
        return limit;
    }
}
