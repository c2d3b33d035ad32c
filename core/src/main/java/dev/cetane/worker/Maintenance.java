package dev.cetane.worker;

/**
 * The one thread that spawns, kills and times. Everything given to it runs in turn, so what only it touches needs no lock. Tests drive
 * their own by hand. Callable from any thread.
 */
interface Maintenance extends AutoCloseable {

    /** Runs the task soon. */
    void execute(Runnable task);

    /** Runs the task once, {@code delayNanos} from now. There is no cancelling: a task checks whether it still has something to do. */
    void schedule(Runnable task, long delayNanos);

    /** Ends the thread; tasks not yet run are dropped. */
    @Override
    void close();
}
