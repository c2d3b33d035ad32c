package dev.cetane.worker;

/**
 * The times of one job while it is on its way. To be asked from the final head, or the failure, on: within the job's methods, or by
 * whoever has learnt from one of them, through a lock or a volatile, that it was called.
 */
public interface JobTimes {

    /** When it came to the pool, as {@link Ticker#nanos}. */
    long submittedNanos();

    /** When its answer was complete, or its failure was told; 0 before. */
    long concludedNanos();

    /** What it has cost until then; what comes later is 0. Makes a new object. */
    JobReport report();
}
