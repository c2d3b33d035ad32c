package dev.cetane.trace;

import dev.cetane.worker.JobReport;
import org.jspecify.annotations.Nullable;

/**
 * One request that has ended, as its spans tell of it. Immutable. Texts hold one char per byte and are cut where they are long, so that a queue
 * of them is bounded. Times are in nanoseconds.
 *
 * @param requestId id of the request in the log
 * @param path as the client wrote it, without the query
 * @param version of HTTP, as in {@code 1.1}
 * @param scheme {@code http} or {@code https}, as the client sees it
 * @param host host with an optional port that the client asked for; may be empty
 * @param clientAddress IP address of the client, as far as proxies are trusted
 * @param peerAddress IP address that has connected
 * @param userAgent empty when the client named none
 * @param status what the client got, 0 when it left before it had the whole answer or was cut off
 * @param outcome who has answered (application, file, supervisor), or abandoned or aborted where nobody did completely
 * @param failure why the application has given no answer, null when it has or was not asked
 * @param startEpochNanos when its first byte came, since 1970-01-01T00:00Z
 * @param receiveNanos from then until it was given to the application
 * @param totalNanos from its first byte until the client had the answer or left
 * @param job what it cost the pool; null when the pool was not asked
 */
public record RequestSpan(
        TraceContext trace,
        String requestId,
        String method,
        String path,
        String version,
        String scheme,
        String host,
        String clientAddress,
        String peerAddress,
        String userAgent,
        int status,
        String outcome,
        @Nullable String failure,
        long startEpochNanos,
        long receiveNanos,
        long totalNanos,
        @Nullable JobReport job) {

    /** Longest text of a request that is kept. */
    private static final int MOST_CHARS = 512;

    /** Stands at the end of a text that was cut. */
    static final String CUT = "…";

    /** The text itself, or its beginning as a copy. */
    public static String cut(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS) + CUT;
    }

    /** How many spans it is: its own, the wait for a worker, and PHP's work where a worker has taken it. */
    int spans() {
        return job == null ? 1 : job.workerId() == 0 ? 2 : 3;
    }
}
