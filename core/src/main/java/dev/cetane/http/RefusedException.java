package dev.cetane.http;

/** A request is not taken; {@link #failure()} is the answer, the message says why and is for the log. */
final class RefusedException extends Exception {

    private static final long serialVersionUID = 1;

    private final HttpFailure failure;

    RefusedException(HttpFailure failure, String message) {
        // Stackless: whoever sends nonsense must not make the server walk its stack.
        super(message, null, false, false);
        this.failure = failure;
    }

    HttpFailure failure() {
        return failure;
    }
}
