package dev.cetane.protocol;

/** What is to be sent does not fit into one frame. Nothing was written. */
public final class FrameTooLargeException extends RuntimeException {

    private static final long serialVersionUID = 1;

    FrameTooLargeException(FrameType type, long payload) {
        // Stackless: clients can provoke it at will with large headers.
        super(
                type + " frame needs " + payload + " payload bytes or more, the limit is " + type.maxPayload(),
                null,
                false,
                false);
    }
}
