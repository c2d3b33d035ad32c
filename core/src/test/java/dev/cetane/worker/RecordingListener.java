package dev.cetane.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps what a pool tells, and lets a test wait for it. Thread-safe. */
final class RecordingListener implements PoolListener {
    private final List<String> told = new ArrayList<>();
    private final List<WorkerEnd> ends = new CopyOnWriteArrayList<>();

    private synchronized void tell(String what) {
        told.add(what);
        notifyAll();
    }

    @Override
    public void started(int workerId) {
        tell("started " + workerId);
    }

    @Override
    public void booted(int workerId, long bootNanos) {
        tell("booted " + workerId);
    }

    @Override
    public void stopped(WorkerEnd end) {
        ends.add(end);
        tell("stopped " + end.workerId() + " " + end.reason());
    }

    @Override
    public void rejected(WorkerException.Kind kind) {
        tell("rejected " + kind);
    }

    @Override
    public void completed(JobReport report) {
        tell("completed");
    }

    @Override
    public void failed(WorkerException.Kind kind) {
        tell("failed " + kind);
    }

    /** How processes have ended, in order. */
    List<WorkerEnd> ends() {
        return ends;
    }

    synchronized List<String> told() {
        return List.copyOf(told);
    }

    synchronized long count(String what) {
        return told.stream().filter(what::equals).count();
    }

    synchronized void await(String what) {
        await(what, 1);
    }

    synchronized void await(String what, int times) {
        Await.until(this, () -> count(what) >= times, times + " times " + what + "; told so far: " + told);
    }
}
