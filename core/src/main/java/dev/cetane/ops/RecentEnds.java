package dev.cetane.ops;

import dev.cetane.worker.WorkerEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last workers that ended and were not meant to, newest first. Guarded by this. */
final class RecentEnds {
    private static final int MOST = 20;

    /** One of them, and when it was. */
    record Entry(long epochMillis, WorkerEnd end) {}

    private final Deque<Entry> entries = new ArrayDeque<>();
    private long version;

    synchronized void add(long epochMillis, WorkerEnd end) {
        if (end.planned()) {
            return;
        }
        entries.addFirst(new Entry(epochMillis, end));
        if (entries.size() > MOST) {
            entries.removeLast();
        }
        version++;
    }

    synchronized List<Entry> list() {
        return List.copyOf(new ArrayList<>(entries));
    }

    /** Another number whenever the list has changed. */
    synchronized long version() {
        return version;
    }
}
