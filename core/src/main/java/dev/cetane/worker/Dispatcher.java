package dev.cetane.worker;

import dev.cetane.protocol.Ready;
import org.jspecify.annotations.Nullable;

/** What a front door needs of the {@link WorkerPool}; tests of a front door script their own. Callable from any thread. */
public interface Dispatcher {

    /**
     * Gives the job to an idle worker on the calling thread, or queues it, or calls {@link Job#failed} before it returns. Does not
     * block: it takes one short lock and writes one frame that fits into an idle pipe.
     */
    void submit(Job job);

    /**
     * The client has left. A queued job is dropped and fails with {@link WorkerException.Kind#CANCELLED}; a running one goes on (its
     * worker gets a CANCEL frame) and ends as usual, its output is the sink's to discard. A job that has ended is ignored.
     */
    void cancel(Job job);

    /** What the worker that became ready last has said of itself and its PHP; null as long as none was ready. */
    @Nullable
    Ready lastReady();
}
