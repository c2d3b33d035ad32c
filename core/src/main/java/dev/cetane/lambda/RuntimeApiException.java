package dev.cetane.lambda;

import java.io.IOException;

/** The Runtime API cannot be understood, or has said that this environment is to end: the process exits, and Lambda starts afresh. */
final class RuntimeApiException extends IOException {
    private static final long serialVersionUID = 1;

    RuntimeApiException(String message) {
        super(message);
    }
}
