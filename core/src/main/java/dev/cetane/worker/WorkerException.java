package dev.cetane.worker;

import org.jspecify.annotations.Nullable;

/** Why a job, or the start of the pool, failed. The message names who, what, the numbers and the next step, and is for the log. */
public final class WorkerException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** How the front door answers; one table there maps each to a status. */
    public enum Kind {
        /** The queue is full: 503 with Retry-After. */
        OVERLOADED,
        /** The job waited longer than {@code pool.queue-timeout}: 503 with Retry-After. */
        QUEUE_TIMEOUT,
        /** The pool is draining or stopped: 503. */
        DRAINING,
        /** The request ran longer than {@code pool.request-timeout}: 504. */
        TIMED_OUT,
        /** The worker's process died or left without an answer: 502. */
        CRASHED,
        /** The worker broke the protocol: 502. */
        PROTOCOL,
        /** The application failed with an exception or a fatal error: 500; {@link #publicDetail()} in debug mode. */
        APPLICATION,
        /** The request could not be written as one frame: 431. */
        UNDELIVERABLE,
        /** The client has left; nothing is answered. */
        CANCELLED,
        /** A worker cannot be started: the pool's start fails. */
        BOOT_FAILED
    }

    private final Kind kind;
    private final @Nullable String publicDetail;

    public WorkerException(Kind kind, String message) {
        this(kind, message, null, null);
    }

    public WorkerException(Kind kind, String message, @Nullable String publicDetail, @Nullable Throwable cause) {
        // Stackless: these are outcomes of a request, made in numbers under overload; the message says all there is.
        super(message, cause, false, false);
        this.kind = kind;
        this.publicDetail = publicDetail;
    }

    public Kind kind() {
        return kind;
    }

    /** The application's own message, for the client in debug mode only. */
    public @Nullable String publicDetail() {
        return publicDetail;
    }
}
