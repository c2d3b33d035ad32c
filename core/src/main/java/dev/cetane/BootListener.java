package dev.cetane;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.WorkerEnd;
import dev.cetane.worker.WorkerException;
import java.util.concurrent.atomic.AtomicLong;

/** Keeps the time of the first boot. Any thread. */
record BootListener(AtomicLong bootNanos) implements PoolListener {
    @Override
    public void started(int workerId) {}

    @Override
    public void booted(int workerId, long nanos) {
        bootNanos.compareAndSet(0, nanos);
    }

    @Override
    public void stopped(WorkerEnd end) {}

    @Override
    public void rejected(WorkerException.Kind kind) {}

    @Override
    public void completed(JobReport report) {}

    @Override
    public void failed(WorkerException.Kind kind) {}
}
