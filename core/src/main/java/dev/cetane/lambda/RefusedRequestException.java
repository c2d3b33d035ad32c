package dev.cetane.lambda;

/** A request that is answered without PHP; the message is for the log. */
final class RefusedRequestException extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;

    RefusedRequestException(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }
}
