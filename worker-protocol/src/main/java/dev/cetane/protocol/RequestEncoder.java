package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes one REQUEST frame, PROTOCOL.md §4.2, into a buffer of the worker's own. Used by one thread at a time, the one that
 * dispatches.
 */
public final class RequestEncoder {

    /** Adds one {@code $_SERVER} entry; each char is written as one byte (ISO-8859-1). */
    public void server(String name, String value) {
        throw new UnsupportedOperationException(name + value);
    }

    /** The body itself; at most once, and not together with {@link #bodyFile}. */
    public void body(byte[] bytes) {
        throw new UnsupportedOperationException(String.valueOf(bytes.length));
    }

    /** The body is in this file. */
    public void bodyFile(Path file) {
        throw new UnsupportedOperationException(new String(file.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    ByteBuffer frame() {
        throw new UnsupportedOperationException();
    }
}
