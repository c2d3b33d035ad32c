package dev.cetane.protocol;

import java.nio.ByteBuffer;

/**
 * Writes REPLY frames, PROTOCOL.md §4.7, into one buffer that belongs to a worker and is used again for each of its calls. Used by one
 * thread at a time, the one that has the reply: {@link #begin}, the payload, {@link #finish}.
 */
public final class ReplyEncoder {

    /** How many bytes of a reply one frame holds. */
    public static final int MAX_BYTES = FrameType.REPLY.maxPayload();

    private final ByteBuffer frame = ByteBuffer.allocateDirect(FrameType.HEADER_BYTES + MAX_BYTES);

    /** Starts a reply; one that was given up half-way is forgotten. Returns the buffer that takes its {@link #MAX_BYTES} bytes at most. */
    public ByteBuffer begin() {
        return frame.clear().position(FrameType.HEADER_BYTES);
    }

    /**
     * The whole frame from position to limit, to be written before the next {@link #begin}.
     *
     * @param request the number of the CALL
     * @param more whether the worker has to ask for the rest
     */
    public ByteBuffer finish(int request, boolean more) {
        int end = frame.position();
        if (end == FrameType.HEADER_BYTES) {
            throw new IllegalStateException("a REPLY has at least one byte");
        }
        frame.position(0);
        Wire.putHeader(frame, FrameType.REPLY, more ? FrameType.MORE : 0, end - FrameType.HEADER_BYTES, request);
        return frame.position(end).flip();
    }
}
