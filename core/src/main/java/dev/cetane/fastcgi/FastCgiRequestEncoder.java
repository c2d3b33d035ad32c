package dev.cetane.fastcgi;

import dev.cetane.protocol.RequestWriter;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests as FastCGI records into one buffer that is used again for each of them: BEGIN_REQUEST, PARAMS, and STDIN with a body that
 * is in memory. A body in a file is left to the caller, {@link #bodyFile}. Used by one thread at a time, the one that dispatches: {@link #begin},
 * {@link #server} for each parameter, at most one body, {@link #finish}. A request that was given up half-way is forgotten by the next
 * {@code begin}.
 *
 * <p>A request without a body has no STDIN record, not even the empty one that would end it: {@code php-cgi} reads none when there is no
 * {@code CONTENT_LENGTH}, and so a connection on which it has left something unread is one on which it has not seen the whole request.
 */
public final class FastCgiRequestEncoder implements RequestWriter {
    /** Parameters that come with every request, names and values. */
    private final byte[] constants;

    private final String documentRoot;
    private ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
    private int paramsStart;
    private boolean paramsOpen;
    private boolean bodyWritten;
    private boolean hasBody;
    private @Nullable Path file;

    /**
     * @param constants parameters that come with every request, one char a byte
     * @param documentRoot absolute, one char a byte: {@code SCRIPT_FILENAME} is made of it and {@code SCRIPT_NAME}
     */
    public FastCgiRequestEncoder(Map<String, String> constants, String documentRoot) {
        this.documentRoot = documentRoot.equals("/") ? "" : documentRoot;
        constants.forEach((name, value) -> put(name, value, ""));
        this.constants = new byte[buffer.position()];
        buffer.flip().get(this.constants);
    }

    /** Starts a request that leaves the connection open. */
    public void begin() {
        buffer.clear();
        file = null;
        hasBody = false;
        FastCgi.putHeader(buffer, FastCgi.BEGIN_REQUEST, 8);
        buffer.putShort((short) FastCgi.ROLE_RESPONDER).put((byte) FastCgi.KEEP_CONNECTION);
        buffer.put(new byte[5]);
        buffer.position(buffer.position() + FastCgi.HEADER_BYTES);
        paramsStart = buffer.position();
        room(constants.length);
        buffer.put(constants);
        paramsOpen = true;
        bodyWritten = false;
    }

    @Override
    public void server(String name, String value) {
        if (!paramsOpen) {
            throw new IllegalStateException("server(" + name + ") outside begin and body");
        }
        if (name.isEmpty() || name.indexOf(0) >= 0 || value.indexOf(0) >= 0) {
            throw new IllegalArgumentException("parameter '" + name.replace('\0', '?') + "' with a value of "
                    + value.length() + " chars: the name is empty, or there is a NUL");
        }
        put(name, value, "");
        if (name.equals("SCRIPT_NAME")) {
            put("SCRIPT_FILENAME", documentRoot, value);
        }
        int length = buffer.position() - paramsStart;
        if (length > FastCgi.MOST_CONTENT_BYTES) {
            throw new IllegalArgumentException(
                    "the parameters have " + length + " bytes or more, at most " + FastCgi.MOST_CONTENT_BYTES + " fit");
        }
    }

    @Override
    public void body(byte[] bytes, int offset, int length) {
        body(ByteBuffer.wrap(bytes, offset, length));
    }

    @Override
    public void body(ByteBuffer bytes) {
        closeParams();
        if (bytes.remaining() > FastCgi.MOST_CONTENT_BYTES) {
            throw new IllegalArgumentException("a body in memory of " + bytes.remaining() + " bytes, at most "
                    + FastCgi.MOST_CONTENT_BYTES + " fit");
        }
        if (bytes.hasRemaining()) {
            hasBody = true;
            room(2 * FastCgi.HEADER_BYTES + bytes.remaining());
            FastCgi.putHeader(buffer, FastCgi.STDIN, bytes.remaining());
            buffer.put(bytes);
            FastCgi.putHeader(buffer, FastCgi.STDIN, 0);
        }
    }

    @Override
    public void bodyFile(Path path) {
        closeParams();
        file = path;
    }

    @Override
    public void form(ByteBuffer fields, ByteBuffer files) {
        throw new IllegalStateException("PHP reads the forms of a FastCGI request itself");
    }

    @Override
    public void formFiles(String fields, String files) {
        throw new IllegalStateException("PHP reads the forms of a FastCGI request itself");
    }

    /** The records from position to limit, to be written before the next {@link #begin}; STDIN follows if there is a {@link #bodyFile}. */
    public ByteBuffer finish() {
        if (!bodyWritten) {
            closeParams();
        }
        bodyWritten = false;
        return buffer.flip();
    }

    /** Whether STDIN is among the records. */
    public boolean hasBody() {
        return hasBody;
    }

    /** Where the body is that the caller sends after {@link #finish}, null when there is none. */
    public @Nullable Path bodyFile() {
        return file;
    }

    private void closeParams() {
        if (!paramsOpen) {
            throw new IllegalStateException("no request has begun, or its body was already written");
        }
        paramsOpen = false;
        bodyWritten = true;
        int end = buffer.position();
        buffer.position(paramsStart - FastCgi.HEADER_BYTES);
        FastCgi.putHeader(buffer, FastCgi.PARAMS, end - paramsStart);
        buffer.position(end);
        room(FastCgi.HEADER_BYTES);
        FastCgi.putHeader(buffer, FastCgi.PARAMS, 0);
    }

    private void put(String name, String value, String valueEnd) {
        int valueBytes = value.length() + valueEnd.length();
        room(8 + name.length() + valueBytes);
        putLength(name.length());
        putLength(valueBytes);
        putText(name);
        putText(value);
        putText(valueEnd);
    }

    private void putLength(int length) {
        if (length < 0x80) {
            buffer.put((byte) length);
        } else {
            buffer.putInt(length | 0x8000_0000);
        }
    }

    private void putText(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0xFF) {
                throw new IllegalArgumentException("a parameter has a char above 255 in its name or value");
            }
            buffer.put((byte) c);
        }
    }

    private void room(int bytes) {
        if (buffer.remaining() < bytes) {
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(2 * buffer.capacity(), buffer.position() + bytes));
            buffer = larger.put(buffer.flip());
        }
    }
}
