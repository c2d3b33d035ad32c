package dev.cetane.worker;

import dev.cetane.protocol.MalformedCallException;
import java.nio.ByteBuffer;

/** Answers what workers ask the supervisor, PROTOCOL.md §9. Thread-safe: each worker's calls come on its own reader thread. */
public interface CallHandler {

    /**
     * One whole call. Answers it before it returns, or keeps the caller and answers later from another thread; must not block.
     *
     * @param call valid during the call only
     * @throws MalformedCallException when it fits no operation's layout: the worker is killed
     */
    void call(Caller caller, ByteBuffer call);

    /** The worker has ended. Maintenance thread, once. */
    void left(Caller caller);
}
