package dev.cetane.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Encodes a worker's frames, PROTOCOL.md §5: for workers written in Java, as those that test a supervisor. Checks limits, not
 * turns, and allocates each frame. Stateless.
 */
public final class WorkerFrameEncoder {

    private WorkerFrameEncoder() {}

    public static ByteBuffer ready(Ready ready) {
        byte[] facts = Wire.pairList(ready.facts());
        ByteBuffer out = Wire.frame(FrameType.READY, 0, 2L + facts.length, 0);
        return out.putShort((short) ready.version()).put(facts).flip();
    }

    public static ByteBuffer head(int request, ResponseHead head) {
        List<String> headers = head.headers();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < headers.size(); i += 2) {
            lines.append(i == 0 ? "" : "\0").append(headers.get(i)).append(": ").append(headers.get(i + 1));
        }
        byte[] reason = head.reason().getBytes(StandardCharsets.ISO_8859_1);
        byte[] text = lines.toString().getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer out = Wire.frame(FrameType.HEAD, 0, 12L + reason.length + text.length, request);
        out.putShort((short) head.status()).putShort((short) reason.length).putLong(head.bodyLength());
        return out.put(reason).put(text).flip();
    }

    /** One DATA frame; 1 to 16 777 216 bytes. */
    public static ByteBuffer data(int request, byte[] bytes) {
        if (bytes.length == 0) {
            throw new IllegalArgumentException("DATA carries at least one byte");
        }
        return Wire.frame(FrameType.DATA, 0, bytes.length, request).put(bytes).flip();
    }

    public static ByteBuffer file(int request, FileRange range) {
        byte[] path = BytePath.toText(range.path()).getBytes(StandardCharsets.ISO_8859_1);
        int flags = range.delete() ? FrameType.DELETE : 0;
        ByteBuffer out = Wire.frame(FrameType.FILE, flags, 16L + path.length, request);
        return out.putLong(range.offset()).putLong(range.length()).put(path).flip();
    }

    public static ByteBuffer end(int request) {
        return Wire.frame(FrameType.END, 0, 0, request).flip();
    }

    /** DONE; values above their field's range are written as its largest. */
    public static ByteBuffer done(int request, Done done) {
        ByteBuffer out = Wire.frame(FrameType.DONE, done.last() ? FrameType.LAST : 0, 20, request);
        out.putInt(micros(done.handlerMicros())).putInt(micros(done.terminateMicros()));
        return out.putInt(micros(done.cpuMicros()))
                .putLong(done.peakMemoryBytes())
                .flip();
    }

    /** METRICS. */
    public static ByteBuffer metrics(int request, List<Measurement> measurements) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        for (Measurement measured : measurements) {
            byte[] texts = String.join("\0", measured.texts()).getBytes(StandardCharsets.UTF_8);
            List<Double> bounds = measured.bounds();
            List<Double> values = measured.values();
            ByteBuffer one = ByteBuffer.allocate(6 + 8 * (bounds.size() + values.size()) + texts.length);
            one.put((byte) measured.kind().code()).put((byte) bounds.size());
            one.putShort((short) values.size()).putShort((short) texts.length);
            bounds.forEach(one::putDouble);
            values.forEach(one::putDouble);
            payload.writeBytes(one.put(texts).array());
        }
        return Wire.frame(FrameType.METRICS, 0, payload.size(), request)
                .put(payload.toByteArray())
                .flip();
    }

    /** ERROR; a message too long is cut. */
    public static ByteBuffer error(int request, ErrorReport report) {
        return message(FrameType.ERROR, request, report.kind().code(), report.message());
    }

    /** One CALL frame; 1 to 65 524 bytes. */
    public static ByteBuffer call(int request, byte[] bytes, boolean more) {
        if (bytes.length == 0) {
            throw new IllegalArgumentException("CALL carries at least one byte");
        }
        return Wire.frame(FrameType.CALL, more ? FrameType.MORE : 0, bytes.length, request)
                .put(bytes)
                .flip();
    }

    /** LOG; a message too long is cut. */
    public static ByteBuffer log(int request, int severity, String message) {
        return message(FrameType.LOG, request, severity, message);
    }

    private static ByteBuffer message(FrameType type, int request, int first, String message) {
        byte[] text = message.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, type.maxPayload() - 1);
        // Not within a character: 10xxxxxx continues one.
        while (length < text.length && (text[length] & 0xC0) == 0x80) {
            length--;
        }
        return Wire.frame(type, 0, 1L + length, request)
                .put((byte) first)
                .put(text, 0, length)
                .flip();
    }

    private static int micros(long value) {
        return (int) Math.min(value, 0xFFFF_FFFFL);
    }
}
