package dev.cetane.trace;

/** What becomes of a span that was to be exported. */
public enum SpanFate {
    /** The collector has taken it. */
    SENT,
    /** More requests waited than {@code tracing.queue-size}. */
    DROPPED,
    /** The collector did not want it. */
    REFUSED,
    /** The collector could not be reached, or was busy, for too long. */
    LOST
}
