package dev.cetane;

/** A command cannot do what it was asked to. The message is for the person who asked and ends in what to do. */
final class CommandException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The command has failed, or could not start. */
    static final int FAILED = 1;
    /** The command line or the configuration is wrong. */
    static final int WRONG_USE = 2;
    /** No instance runs. */
    static final int NOT_RUNNING = 3;

    private final int exitCode;

    CommandException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    CommandException(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
