package dev.cetane.worker;

/**
 * The one thread that spawns, kills and times. Everything given to it runs in turn, so what only it touches needs no lock. Tests drive
 * their own by hand. Callable from any thread.
 */
interface Maintenance extends Timer, AutoCloseable {

    /** Runs the task soon. */
    void execute(Runnable task);

    /** Ends the thread; tasks not yet run are dropped. */
    @Override
    void close();
}
