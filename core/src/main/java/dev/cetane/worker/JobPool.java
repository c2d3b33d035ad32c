package dev.cetane.worker;

/** What those who run tasks and ticks need of the {@link WorkerPool}; their tests script their own. Callable from any thread. */
public interface JobPool extends Dispatcher {

    /**
     * Gives the job to a worker that is idle now; a job for which there is none is left alone.
     *
     * @param workerId the worker that is to have it; when that one has gone, the one that was idle longest
     * @return the worker that has it, 0 when none does
     */
    int offer(Job job, int workerId);

    /** Ends a job at once, whether it waits or runs: it fails with this, and the worker that runs it is killed and replaced. */
    void abort(Job job, WorkerException failure);

    /** Runs things later on the pool's maintenance thread. */
    Timer timer();
}
