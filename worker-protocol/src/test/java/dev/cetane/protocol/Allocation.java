package dev.cetane.protocol;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts what the calling thread allocates. */
final class Allocation {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /** Bytes allocated by the action, with the counter's own few. */
    static long ofThisThread(Runnable action) {
        long id = Thread.currentThread().getId();
        long before = THREADS.getThreadAllocatedBytes(id);
        action.run();
        return THREADS.getThreadAllocatedBytes(id) - before;
    }
}
