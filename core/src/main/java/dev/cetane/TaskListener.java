package dev.cetane;

import dev.cetane.ops.Metrics;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.WorkerEnd;
import dev.cetane.worker.WorkerException;

/** Tells the metrics what happens to the workers that run tasks; tasks are no requests and are counted apart. */
record TaskListener(Metrics metrics) implements PoolListener {

    @Override
    public void started(int workerId) {
        metrics.started(workerId);
    }

    @Override
    public void booted(int workerId, long bootNanos) {
        metrics.booted(workerId, bootNanos);
    }

    @Override
    public void stopped(WorkerEnd end) {
        metrics.stopped(end);
    }

    @Override
    public void rejected(WorkerException.Kind kind) {
        metrics.taskFailed(kind);
    }

    @Override
    public void completed(JobReport report) {
        metrics.taskCompleted(report);
    }

    @Override
    public void failed(WorkerException.Kind kind) {
        metrics.taskFailed(kind);
    }
}
