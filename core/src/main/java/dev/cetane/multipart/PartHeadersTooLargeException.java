package dev.cetane.multipart;

/** The header lines of one part of a form are longer than is read. */
public final class PartHeadersTooLargeException extends Exception {
    private static final long serialVersionUID = 1;

    PartHeadersTooLargeException() {
        super("the header lines of one part of the form have more than " + PartHeaders.MAX_BYTES + " bytes");
    }
}
