package dev.cetane.protocol;

import org.jspecify.annotations.Nullable;

/** The worker broke the rules, PROTOCOL.md §8; nothing that it sends afterwards may be believed. */
public final class ProtocolException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The classes of PROTOCOL.md §8. */
    public enum Violation {
        /** A frame does not begin with the magic byte. */
        MAGIC,
        /** An unknown or reserved type, or one whose capability was not agreed on. */
        TYPE,
        /** A type that only the other side sends. */
        DIRECTION,
        /** A flag that is not named for the type. */
        FLAGS,
        /** A payload length outside the type's limits. */
        LENGTH,
        /** A frame that is not allowed at this point of the conversation. */
        TURN,
        /** A frame for another request than the one that runs. */
        REQUEST_NUMBER,
        /** A payload that does not fit its layout. */
        PAYLOAD,
        /** READY chose a version or a capability that HELLO did not offer. */
        NEGOTIATION,
        /** DATA and FILE carry more or fewer bytes than HEAD promised. */
        BODY_LENGTH,
        /** The stream ended inside a frame. */
        CUT
    }

    private final Violation violation;
    private final @Nullable FrameType frame;
    private final long offset;

    ProtocolException(Violation violation, @Nullable FrameType frame, long offset, String message) {
        super("Protocol violation " + violation + (frame == null ? "" : " in " + frame) + " at byte " + offset
                + " of the worker's output: " + message);
        this.violation = violation;
        this.frame = frame;
        this.offset = offset;
    }

    public Violation violation() {
        return violation;
    }

    /** The type of the offending frame, null when it is not known. */
    public @Nullable FrameType frame() {
        return frame;
    }

    /** How many bytes the worker had sent before the offending frame. */
    public long offset() {
        return offset;
    }
}
