package dev.cetane.http;

import dev.cetane.worker.JobReport;
import java.util.Locale;

/** Whom the answer's head tells where the time until it went ({@code http.server-timing}), in a field that browsers show. */
public enum ServerTiming {
    OFF,
    /** Trusted proxies. */
    TRUSTED,
    ON;

    /** Whether it is for this client. */
    boolean wants(Peer peer) {
        return this == ON || (this == TRUSTED && peer.trusted());
    }

    /** The value of {@code Server-Timing}: milliseconds, with microseconds behind the point. */
    static String of(long receiveNanos, JobReport job) {
        StringBuilder value = new StringBuilder(128);
        add(value, "receive", receiveNanos);
        add(value, "queue", job.queueNanos());
        if (job.bootNanos() > 0) {
            add(value, "boot", job.bootNanos());
        }
        add(value, "dispatch", job.dispatchNanos());
        add(value, "php", job.firstByteNanos());
        return value.toString();
    }

    private static void add(StringBuilder value, String phase, long nanos) {
        if (!value.isEmpty()) {
            value.append(", ");
        }
        value.append(phase).append(String.format(Locale.ROOT, ";dur=%.3f", nanos / 1e6));
    }
}
