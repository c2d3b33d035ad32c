package dev.cetane.worker;

import java.nio.ByteBuffer;

/**
 * A worker that has asked the supervisor for something and waits for the reply: exactly one of {@link #reply()} and
 * {@link #reply(ByteBuffer)} is called for each call, once, by one thread at a time, now or later. A reply to a worker that is gone is
 * dropped.
 */
public interface Caller {

    /** The worker's number. */
    int workerId();

    /** Whether it runs the tasks of other workers. */
    boolean runsTasks();

    /** Gives the request that runs this limit, which begins now; false when none runs. By the thread that has the call. */
    boolean restartLimit(TimeLimit limit);

    /** The buffer for a reply that fits into one frame; valid until the reply is sent. */
    ByteBuffer begin();

    /** Sends what was put into {@link #begin}'s buffer, at least one byte. */
    void reply();

    /** Sends the remaining bytes of the buffer, at least one and any number of them; the buffer is the caller's from here on. */
    void reply(ByteBuffer whole);
}
