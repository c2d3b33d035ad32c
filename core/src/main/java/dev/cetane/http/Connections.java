package dev.cetane.http;

import dev.cetane.log.EventLog;
import dev.cetane.worker.Ticker;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The open connections of one server and whether it drains. Thread-safe: shared by the event loops and whoever stops the server. */
final class Connections {
    private final int most;
    private final AtomicInteger open = new AtomicInteger();
    private final Set<ExchangeHandler> handlers = ConcurrentHashMap.newKeySet();
    private final AtomicLong lastWarningNanos = new AtomicLong();
    private volatile boolean draining;

    Connections(int most) {
        this.most = most;
    }

    /** Counts a connection that was accepted; false if there are too many, then it does not count. */
    boolean add(ExchangeHandler handler) {
        if (open.incrementAndGet() > most) {
            open.decrementAndGet();
            return false;
        }
        handlers.add(handler);
        if (draining) {
            handler.drain();
        }
        return true;
    }

    /** Says in the log that connections are refused, once a second at most. */
    void warnOfRefusals(EventLog log, Ticker ticker) {
        long now = ticker.nanos();
        long last = lastWarningNanos.get();
        if ((last == 0 || now - last > TimeUnit.SECONDS.toNanos(1)) && lastWarningNanos.compareAndSet(last, now)) {
            log.log(
                    EventLog.Level.WARN,
                    "http.connections-refused",
                    null,
                    most
                            + " connections are open, more are closed at once; raise http.max-connections, or look for clients that do not close");
        }
    }

    void remove(ExchangeHandler handler) {
        if (handlers.remove(handler) && open.decrementAndGet() == 0) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    int open() {
        return open.get();
    }

    /** Whether connections end with the exchange that runs on them. */
    boolean draining() {
        return draining;
    }

    /** Closes what is idle, and the rest after its exchange. */
    void drain() {
        draining = true;
        handlers.forEach(ExchangeHandler::drain);
    }

    /** Closes everything, answered or not. */
    void close() {
        draining = true;
        handlers.forEach(ExchangeHandler::close);
    }

    /** Waits until no connection is open; false if there still are some after that time. */
    synchronized boolean awaitNone(long nanos, Ticker ticker) throws InterruptedException {
        long deadline = ticker.nanos() + nanos;
        while (open.get() > 0) {
            long left = deadline - ticker.nanos();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }
}
