package dev.cetane.fastcgi;

/** The head of an answer is none; the message says why. The records that carry it are in order. */
public final class InvalidHeadException extends Exception {
    private static final long serialVersionUID = 1;

    InvalidHeadException(String message) {
        super(message, null, false, false);
    }
}
