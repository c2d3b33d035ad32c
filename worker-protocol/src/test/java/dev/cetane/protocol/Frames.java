package dev.cetane.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;

/** Frames and bytes that many tests need. */
final class Frames {

    private Frames() {}

    static ResponseHead head(int status, long length) {
        return new ResponseHead(status, "", length, List.of());
    }

    static ByteBuffer done(int request) {
        return WorkerFrameEncoder.done(request, new Done(0, 0, 0, 0, false));
    }

    static ByteBuffer last(int request) {
        return WorkerFrameEncoder.done(request, new Done(0, 0, 0, 0, true));
    }

    /** A bare header. */
    static ByteBuffer header(FrameType type, int flags, long length, int request) {
        ByteBuffer header = ByteBuffer.allocate(FrameType.HEADER_BYTES);
        Wire.putHeader(header, type, flags, (int) length, request);
        return header.flip();
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static byte[] join(List<ByteBuffer> frames) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (ByteBuffer frame : frames) {
            all.writeBytes(bytes(frame));
        }
        return all.toByteArray();
    }
}
