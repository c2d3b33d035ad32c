package dev.cetane.worker;

/** Runs things later, on a pool's maintenance thread. Callable from any thread. */
public interface Timer {

    /** Runs the task once, {@code delayNanos} from now. There is no cancelling: a task checks whether it still has something to do. */
    void schedule(Runnable task, long delayNanos);
}
