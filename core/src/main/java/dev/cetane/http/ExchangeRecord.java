package dev.cetane.http;

import dev.cetane.log.EventLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection's current exchange as metrics and logs see it: its id, its times, and how it ended, which is told exactly once. On the
 * connection's event loop.
 */
final class ExchangeRecord {
    private static final String SUPERVISOR = "supervisor";
    private static final String FILE = "file";
    private static final String APPLICATION = "application";

    private final FrontDoor door;
    private boolean open;
    private String id = "";
    private String what = "-";
    private String source = SUPERVISOR;
    private long startNanos;
    private long receivedNanos;

    ExchangeRecord(FrontDoor door) {
        this.door = door;
    }

    /** The first byte of a request has arrived. */
    void begin(long atNanos) {
        open = true;
        id = "";
        what = "-";
        source = SUPERVISOR;
        startNanos = atNanos;
        receivedNanos = atNanos;
    }

    /** Its head is known. */
    void head(RequestHead head) {
        String given = head.requestId();
        id = given != null ? given : RequestId.next();
        if (door.config().accessLog()) {
            what = head.method() + " " + head.target();
        }
    }

    /** Its last byte has arrived. */
    void received() {
        receivedNanos = door.ticker().nanos();
    }

    /** A file is the answer, and no worker was asked. */
    void fromFile() {
        source = FILE;
    }

    /** The answer is the application's. */
    void fromApplication() {
        source = APPLICATION;
    }

    /** Whether a request has begun to arrive and has not ended. */
    boolean open() {
        return open;
    }

    /** The id that the request has in logs; made if it has none, because its head is not known. */
    String id() {
        if (id.isEmpty()) {
            id = RequestId.next();
        }
        return id;
    }

    /**
     * The whole answer was taken by the operating system.
     *
     * @param job null when the application was not asked
     */
    void answered(int status, long bytes, @Nullable HttpJob job, Peer peer) {
        if (!open) {
            return;
        }
        open = false;
        long now = door.ticker().nanos();
        if (job == null) {
            door.listener().answered(status, now - startNanos, receivedNanos - startNanos, 0);
        } else {
            job.left(status, now);
            door.listener().answered(status, now - startNanos, job.receiveNanos(), job.transferNanos());
        }
        if (source.equals(FILE)) {
            door.listener().fileServed(status);
        }
        if (door.config().accessLog()) {
            door.log().log(
                    EventLog.Level.INFO,
                    "http.access",
                    id,
                    what,
                    "status",
                    status,
                    "bytes",
                    bytes,
                    "micros",
                    TimeUnit.NANOSECONDS.toMicros(now - startNanos),
                    "peer",
                    peer.remoteAddress(),
                    "source",
                    source);
        }
    }

    /**
     * The client has left before that.
     *
     * @param job null when the application was not asked
     */
    void abandoned(@Nullable HttpJob job) {
        if (open) {
            open = false;
            long now = door.ticker().nanos();
            leave(job, now);
            door.listener().abandoned(now - startNanos);
        }
    }

    /** The connection is cut in the middle of the answer. */
    void aborted(@Nullable HttpJob job) {
        if (open) {
            open = false;
            long now = door.ticker().nanos();
            leave(job, now);
            door.listener().aborted(now - startNanos);
        }
    }

    private void leave(@Nullable HttpJob job, long nowNanos) {
        if (job != null) {
            job.left(0, nowNanos);
        }
    }

    /** When its first byte came. */
    long startNanos() {
        return startNanos;
    }
}
