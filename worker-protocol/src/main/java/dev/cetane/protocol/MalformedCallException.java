package dev.cetane.protocol;

/** The bytes of a CALL fit no operation's layout, PROTOCOL.md §9: a violation of the protocol. The message says what does not fit. */
public final class MalformedCallException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public MalformedCallException(String message) {
        super(message);
    }
}
