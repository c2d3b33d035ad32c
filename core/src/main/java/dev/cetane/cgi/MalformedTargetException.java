package dev.cetane.cgi;

/** What a request asks for cannot be understood; the message says why, in a clause that begins with "the". */
public final class MalformedTargetException extends Exception {
    private static final long serialVersionUID = 1;

    MalformedTargetException(String message) {
        super(message, null, false, false);
    }
}
