package dev.cetane.fastcgi;

/** The other side has sent what it may not. The message says what; nothing that follows on the connection can be understood. */
public final class FastCgiException extends Exception {
    private static final long serialVersionUID = 1;

    public FastCgiException(String message) {
        super(message, null, false, false);
    }
}
