package dev.cetane.ops;

import dev.cetane.worker.JobReport;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What each worker's last request cost. Told and asked on any thread; keeping one is a store into an array. Two workers whose ids are a
 * multiple of the array's length apart share a place, and the older one's is forgotten.
 */
final class LastReports {

    /** More than there are workers in almost any pool; a power of two. */
    private static final int PLACES = 1_024;

    private final AtomicReferenceArray<@Nullable JobReport> reports = new AtomicReferenceArray<>(PLACES);
    private volatile long mostMemory;

    void keep(JobReport report) {
        reports.setRelease(report.workerId() & (PLACES - 1), report);
        if (report.peakMemoryBytes() > mostMemory) {
            mostMemory = report.peakMemoryBytes();
        }
    }

    /** Of the last request that this worker has served; null when it is not known. */
    @Nullable
    JobReport of(int workerId) {
        JobReport report = reports.getAcquire(workerId & (PLACES - 1));
        return report == null || report.workerId() != workerId ? null : report;
    }

    /** The most memory that PHP has reported for a request, in bytes; a smaller one may win a race and stand until the next. */
    long mostMemoryBytes() {
        return mostMemory;
    }
}
