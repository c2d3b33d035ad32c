package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Writes REQUEST frames, PROTOCOL.md §4.2, into one buffer that belongs to a worker and is used again for each of its requests.
 * Used by one thread at a time, the one that dispatches: {@link #begin}, {@link #server} for each entry, at most one of
 * {@link #body} and {@link #bodyFile}, {@link #finish}. A request that was given up half-way is forgotten by the next
 * {@code begin}.
 *
 * <p>Names and values are two separate lists on the wire, so each has an array of its own until both lengths are known.
 */
public final class RequestEncoder {

    private static final int MAX_PAYLOAD = FrameType.REQUEST.maxPayload();
    private static final int FIXED_BYTES = FrameType.REQUEST.minPayload();
    private static final long MAX_TIMEOUT_MILLIS = 0xFFFF_FFFFL;

    private final ByteBuffer frame = ByteBuffer.allocateDirect(FrameType.HEADER_BYTES + MAX_PAYLOAD);
    private byte[] names = new byte[1024];
    private byte[] values = new byte[2048];
    private int namesLength;
    private int valuesLength;
    private boolean listsOpen;
    private boolean bodyWritten;

    /**
     * Starts a request.
     *
     * @param request number of the request, unsigned and not 0, see {@link Turn#nextRequest}
     * @param receivedAtSeconds since 1970-01-01T00:00Z
     * @param timeoutMillis what is left of the time limit, 0: none; more than 2^32 - 1 is sent as that
     */
    public void begin(int request, double receivedAtSeconds, long timeoutMillis) {
        if (request == 0 || timeoutMillis < 0) {
            throw new IllegalArgumentException("request number " + request + ", time-out " + timeoutMillis
                    + " ms: 0 and negative are not allowed");
        }
        namesLength = 0;
        valuesLength = 0;
        listsOpen = true;
        bodyWritten = false;
        frame.clear();
        Wire.putHeader(frame, FrameType.REQUEST, 0, 0, request);
        frame.putDouble(receivedAtSeconds).putInt((int) Math.min(timeoutMillis, MAX_TIMEOUT_MILLIS));
    }

    /**
     * Adds one {@code $_SERVER} entry; each char is written as one byte (ISO-8859-1). That no name comes twice is the caller's
     * duty.
     *
     * @throws FrameTooLargeException when the frame is full
     * @throws IllegalArgumentException when the name is empty, or a char is NUL or above 255
     */
    public void server(String name, String value) {
        if (!listsOpen) {
            throw new IllegalStateException("server(" + name + ") outside begin and body");
        }
        if (name.isEmpty()) {
            throw new IllegalArgumentException("empty name in $_SERVER");
        }
        int separator = namesLength == 0 ? 0 : 1;
        long needed = (long) FIXED_BYTES + namesLength + valuesLength + 2L * separator + name.length() + value.length();
        if (needed > MAX_PAYLOAD) {
            throw new FrameTooLargeException(FrameType.REQUEST, needed);
        }
        names = room(names, namesLength + separator + name.length());
        values = room(values, valuesLength + separator + value.length());
        if (separator == 1) {
            names[namesLength] = 0;
            values[valuesLength] = 0;
        }
        int namesEnd = Wire.putText(names, namesLength + separator, name);
        valuesLength = Wire.putText(values, valuesLength + separator, value);
        namesLength = namesEnd;
    }

    /** How many bytes the body may still have. */
    public int available() {
        return MAX_PAYLOAD - FIXED_BYTES - namesLength - valuesLength;
    }

    /**
     * The body itself; copied, so the array may be used again at once.
     *
     * @throws FrameTooLargeException when it does not fit behind the entries
     */
    public void body(byte[] bytes, int offset, int length) {
        closeLists(length);
        frame.put(bytes, offset, length);
    }

    /** The body itself, the remaining bytes of the buffer; copied, the buffer's position moves to its limit. */
    public void body(ByteBuffer bytes) {
        closeLists(bytes.remaining());
        frame.put(bytes);
    }

    /** The body is in this file, which the supervisor deletes after DONE. The path is made absolute. */
    public void bodyFile(Path file) {
        String path = BytePath.toText(file.toAbsolutePath());
        closeLists(path.length());
        frame.putShort(2, (short) FrameType.BODY_IN_FILE);
        for (int i = 0; i < path.length(); i++) {
            frame.put((byte) path.charAt(i));
        }
    }

    /** The whole frame from position to limit, to be written before the next {@link #begin}. */
    public ByteBuffer finish() {
        if (!bodyWritten) {
            closeLists(0);
        }
        frame.putInt(4, frame.position() - FrameType.HEADER_BYTES);
        bodyWritten = false;
        return frame.flip();
    }

    private void closeLists(int bodyLength) {
        if (!listsOpen) {
            throw new IllegalStateException("no request has begun, or its body was already written");
        }
        if (bodyLength > available()) {
            throw new FrameTooLargeException(
                    FrameType.REQUEST, (long) FIXED_BYTES + namesLength + valuesLength + bodyLength);
        }
        listsOpen = false;
        bodyWritten = true;
        frame.putInt(namesLength).putInt(valuesLength).putInt(bodyLength);
        frame.put(names, 0, namesLength).put(values, 0, valuesLength);
    }

    private static byte[] room(byte[] array, int needed) {
        return needed <= array.length
                ? array
                : Arrays.copyOf(array, Math.min(MAX_PAYLOAD, Math.max(needed, 2 * array.length)));
    }
}
