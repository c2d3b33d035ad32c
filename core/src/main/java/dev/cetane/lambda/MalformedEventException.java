package dev.cetane.lambda;

/** An event that is no JSON, or does not look like what it claims to be; the message says where and why. */
final class MalformedEventException extends Exception {
    private static final long serialVersionUID = 1;

    MalformedEventException(String message) {
        super(message, null, false, false);
    }
}
