package dev.cetane.ops;

import java.util.concurrent.CompletableFuture;

/** Does what an operator asks for over the control socket. Callable from the ops event loop; nothing blocks. */
public interface Operator {

    /**
     * Replaces all workers.
     *
     * @return completes with the number of the new generation, or fails with a message for the operator while the old one goes on
     */
    CompletableFuture<Integer> reload();

    /** Replaces one worker once it is idle; false when there is none of that id. */
    boolean recycle(int workerId);

    /**
     * Ends the instance.
     *
     * @param now false lets running requests finish
     */
    void stop(boolean now);
}
