package dev.cetane.http;

import dev.cetane.worker.JobReport;
import org.jspecify.annotations.Nullable;

/**
 * What became of one request that was given to the application, and where its time went. The phases follow each other without a gap:
 * {@code receiveNanos}, those of {@link #job} from queue to end, {@code transferNanos}; where the client has had its answer they add up
 * to {@code totalNanos}. May be asked by any thread once it was {@linkplain HttpListener#ended told of}; never changes then.
 */
public interface RequestReport {

    /** The request's id. */
    String id();

    /** Method and target, as the client wrote them. */
    String describe();

    /** The status that the client got; 0 when it left before it had the whole answer, or was cut off. */
    int status();

    /** When its first byte came, as {@link dev.cetane.worker.Ticker#nanos}. */
    long startNanos();

    /** From its first byte until it was given to the application. */
    long receiveNanos();

    /** What it cost the pool. Null when it failed there before a worker had it, or was done with it. */
    @Nullable
    JobReport job();

    /** From the end of the application's answer, or its failure, until the client had all of it or left. */
    long transferNanos();

    /** From its first byte until the client had the whole answer, or left. */
    long totalNanos();
}
