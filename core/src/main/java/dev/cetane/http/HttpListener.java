package dev.cetane.http;

/**
 * Hears what happens on the HTTP side, for metrics. Called on event loops, on a request's path: implementations must be quick,
 * thread-safe and must not throw. Every request ends in exactly one of {@link #answered}, {@link #abandoned} and {@link #aborted}.
 * All times are in nanoseconds.
 */
public interface HttpListener {

    /** Hears nothing. */
    HttpListener NONE = new HttpListener() {
        @Override
        public void connectionOpened() {}

        @Override
        public void connectionClosed() {}

        @Override
        public void connectionRefused() {}

        @Override
        public void answered(int status, long durationNanos, long receiveNanos, long transferNanos) {}

        @Override
        public void fileServed(int status) {}

        @Override
        public void ended(RequestReport report) {}

        @Override
        public void abandoned(long durationNanos) {}

        @Override
        public void aborted(long durationNanos) {}
    };

    /** A connection was accepted and counts as open. */
    void connectionOpened();

    /** A connection that counted as open is closed. */
    void connectionClosed();

    /** A connection was closed at once because {@code http.max-connections} were open; it never counted as open. */
    void connectionRefused();

    /**
     * A request that was given to the application has ended on both sides: the client has its answer or has left, and the worker is
     * done with it. Called on the thread that was last. The report is the request itself and keeps it in memory: take out of it what is
     * to be kept.
     */
    void ended(RequestReport report);

    /**
     * The last byte of an answer was taken by the operating system: an application's answer, or one of the front door's own (400 to
     * 507).
     *
     * @param status status code
     * @param durationNanos from the request's first byte to the answer's last one
     * @param receiveNanos from the request's first byte until it was given to the application: it has arrived, is stored where it is
     *     long, and no file was the answer; for one that was not given to it, to its last byte
     * @param transferNanos from the end of the application's answer, or its failure, until the last byte was taken; 0 where the
     *     application was not asked
     */
    void answered(int status, long durationNanos, long receiveNanos, long transferNanos);

    /** The answer just told of was a file's, made without the application: status 200, 206, 304, 412 or 416. */
    void fileServed(int status);

    /** The client has left before it had a complete answer. */
    void abandoned(long durationNanos);

    /**
     * The connection was cut in the middle of an answer: the worker failed after the head, or the client took nothing for
     * {@code http.write-timeout}.
     */
    void aborted(long durationNanos);
}
