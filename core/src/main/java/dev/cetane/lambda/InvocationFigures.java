package dev.cetane.lambda;

import dev.cetane.worker.JobReport;
import org.jspecify.annotations.Nullable;

/**
 * How long each phase of one invocation took, nanoseconds, 0 for what did not take place. Filled in by the loop's thread, and by the
 * thread that brings the answer while the loop's waits for it.
 */
final class InvocationFigures {
    /** From the first byte of the event to its last. */
    long fetchNanos;

    /** From there to the moment the pool has it: reading the event, storing its body. */
    long convertNanos;

    /** Making the JSON of the answer. */
    long encodeNanos;

    /** From the first byte of the answer that leaves to the API's word on it. */
    long sendNanos;

    /** What the pool says of the rest; null when the worker did not answer. */
    @Nullable
    JobReport report;

    /** The error's type, or the status of an answer that tells of a failure; empty when all went well. */
    String failure = "";

    /** When the answer began to leave. */
    long sentAtNanos;
}
