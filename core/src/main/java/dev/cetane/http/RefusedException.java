package dev.cetane.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;

/** A request is not taken; {@link #failure()} is the answer, the message says why and is for the log. */
final class RefusedException extends Exception {

    private static final long serialVersionUID = 1;

    private final HttpFailure failure;

    RefusedException(HttpFailure failure, String message) {
        // Stackless: whoever sends nonsense must not make the server walk its stack.
        super(message, null, false, false);
        this.failure = failure;
    }

    /** What a message that could not be decoded is refused with. */
    static RefusedException of(Throwable decoding) {
        if (decoding instanceof TooLongHttpLineException) {
            return new RefusedException(
                    HttpFailure.TARGET_TOO_LONG, "the request line is longer than http.max-uri allows");
        }
        if (decoding instanceof TooLongHttpHeaderException) {
            return new RefusedException(
                    HttpFailure.FIELDS_TOO_LARGE, "the header fields are longer than http.max-header");
        }
        String why = String.valueOf(decoding.getMessage());
        if (decoding instanceof RequestDecoder.UnsupportedVersionException version && version.wellFormed()) {
            return new RefusedException(HttpFailure.VERSION_NOT_SUPPORTED, why);
        }
        return new RefusedException(HttpFailure.BAD_REQUEST, why);
    }

    HttpFailure failure() {
        return failure;
    }
}
