package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Takes a worker's frames from its {@link FrameDecoder}, on the thread that reads the stream. Each call comes after the
 * {@link Turn} has changed: within {@link #done} the next request may be begun. What a method throws leaves
 * {@link FrameDecoder#decode}, which must not be called again then.
 */
public interface WorkerFrameHandler {

    /** The worker is up and its application booted. */
    void ready(Ready ready);

    /** An interim or the final head. */
    void head(int request, ResponseHead head);

    /**
     * The next bytes of the body, at least one: a DATA frame arrives in as many pieces as the reads gave. The buffer is valid
     * during the call only.
     */
    void data(int request, ByteBuffer bytes);

    /** The next bytes of the body are this part of a file. */
    void file(int request, FileRange range);

    /** The answer is complete and has the promised length. */
    void end(int request);

    /** What the application has measured while the request ran: DONE comes next, or more of it. */
    void metrics(int request, List<Measurement> measurements);

    /** The worker is idle again, or is about to exit. */
    void done(int request, Done done);

    /** The request, or the boot, has failed. The number is 0 for {@code BOOT} and whatever the worker says for {@code PROTOCOL}. */
    void error(int request, ErrorReport report);

    /**
     * The worker asks for something, PROTOCOL.md §9, or for the rest of a TASK or REPLY. Its turn ends with a call that is whole: nothing
     * but ERROR(PROTOCOL) may arrive until {@link Turn#replied}.
     *
     * @param request 0 before READY
     * @param payload at least one byte; valid during the call only
     * @param more whether the next CALL goes on with this one
     * @throws MalformedCallException when the bytes are no call, which is a violation
     */
    void call(int request, ByteBuffer payload, boolean more);

    /**
     * One log message.
     *
     * @param request 0 when it belongs to none
     * @param severity 0 emergency to 7 debug, RFC 5424
     * @param message may hold any character, line ends too
     */
    void log(int request, int severity, String message);
}
