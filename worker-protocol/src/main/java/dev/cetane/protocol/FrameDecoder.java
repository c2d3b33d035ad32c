package dev.cetane.protocol;

import dev.cetane.protocol.ProtocolException.Violation;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Takes a worker's output apart, PROTOCOL.md §5, and checks it against the {@link Turn}. Belongs to the thread that reads the
 * stream; keeps at most one control frame's payload, never a body.
 *
 * <p>Whoever reads gives every read to {@link #decode}, compacts what it left over and reads on behind that. The buffer needs
 * {@value #BUFFER_BYTES} bytes. After a {@link ProtocolException} the decoder gives the same exception again.
 */
public final class FrameDecoder {

    /** Capacity at which every control frame fits into the buffer. */
    public static final int BUFFER_BYTES = 65_536;

    private final Turn turn;
    private final WorkerFrameHandler handler;
    private final WorkerPayload payload = new WorkerPayload();
    private byte[] scratch = new byte[1024];

    /** Bytes that were consumed: where the buffer's position stands in the worker's output. */
    private long consumed;

    /** What {@link #decode} left in the buffer last time. */
    private int leftOver;

    /** The frame whose header was read and whose payload is awaited, null between frames. */
    private @Nullable FrameType type;

    private int flags;
    private int request;
    private int remaining;
    private long frameOffset;

    private @Nullable ProtocolException violation;
    private @Nullable ByteBuffer viewed;
    private @Nullable ByteBuffer view;

    public FrameDecoder(Turn turn, WorkerFrameHandler handler) {
        this.turn = turn;
        this.handler = handler;
    }

    /**
     * Consumes all frames that are complete between the buffer's position and limit, and what is there of a DATA frame, and calls
     * the handler for each. An incomplete control frame stays in the buffer, which must begin with the same bytes next time.
     *
     * @throws ProtocolException when the worker broke the rules
     */
    public void decode(ByteBuffer in) {
        if (violation != null) {
            throw violation;
        }
        try {
            while (step(in)) {
                // Each step consumes a header, a control payload or a piece of DATA.
            }
        } catch (ProtocolException e) {
            violation = e;
            throw e;
        }
        leftOver = in.remaining();
    }

    /**
     * The stream has ended.
     *
     * @throws ProtocolException when that cuts a frame
     */
    public void endOfStream() {
        if (violation != null) {
            throw violation;
        }
        FrameType cut = type;
        if (cut != null) {
            violation = new ProtocolException(
                    Violation.CUT,
                    cut,
                    frameOffset,
                    "the stream ended " + (remaining - leftOver) + " bytes before the payload's end");
        } else if (leftOver > 0) {
            violation = new ProtocolException(
                    Violation.CUT,
                    null,
                    consumed,
                    "the stream ended after " + leftOver + " of a header's " + FrameType.HEADER_BYTES + " bytes");
        }
        if (violation != null) {
            throw violation;
        }
    }

    /** Goes one part further; false when more bytes are needed. */
    private boolean step(ByteBuffer in) {
        FrameType current = type;
        if (current == null) {
            return header(in);
        }
        if (current == FrameType.DATA) {
            return data(in);
        }
        if (in.remaining() < remaining) {
            if (in.capacity() < remaining) {
                throw new IllegalArgumentException("a buffer of " + in.capacity() + " bytes never holds a payload of "
                        + remaining + ", it needs " + BUFFER_BYTES);
            }
            return false;
        }
        if (current == FrameType.CALL) {
            call(in);
            return true;
        }
        int start = in.position();
        int length = remaining;
        byte[] bytes;
        int offset;
        if (in.hasArray()) {
            bytes = in.array();
            offset = in.arrayOffset() + start;
        } else {
            if (scratch.length < length) {
                scratch = new byte[Math.max(length, 2 * scratch.length)];
            }
            bytes = scratch;
            offset = 0;
            in.get(start, scratch, 0, length);
        }
        in.position(start + length);
        consumed += length;
        type = null;
        payload.open(current, flags, frameOffset, bytes, offset, offset + length);
        payload(current);
        return true;
    }

    private void call(ByteBuffer in) {
        ByteBuffer whole = view(in);
        int start = in.position();
        whole.limit(start + remaining).position(start);
        in.position(start + remaining);
        consumed += remaining;
        type = null;
        try {
            handler.call(request, whole, (flags & FrameType.MORE) != 0);
        } catch (MalformedCallException e) {
            throw new ProtocolException(Violation.PAYLOAD, FrameType.CALL, frameOffset, String.valueOf(e.getMessage()));
        }
    }

    private boolean header(ByteBuffer in) {
        int start = in.position();
        int available = in.remaining();
        // Judges what is there of a header, so that garbage is noticed even when the worker stops after its first byte.
        if (available >= 1 && (in.get(start) & 0xFF) != FrameType.MAGIC) {
            throw new ProtocolException(
                    Violation.MAGIC,
                    null,
                    consumed,
                    String.format(
                            Locale.ROOT, "a frame begins with 0x%02X, not 0x%02X", in.get(start), FrameType.MAGIC));
        }
        FrameType arriving = available >= 2 ? arriving(in.get(start + 1) & 0xFF) : null;
        if (arriving == null || available < 4) {
            return false;
        }
        int arrivingFlags = in.getShort(start + 2) & 0xFFFF;
        if ((arrivingFlags & ~arriving.flags()) != 0) {
            throw new ProtocolException(
                    Violation.FLAGS,
                    arriving,
                    consumed,
                    String.format(
                            Locale.ROOT, "flags are 0x%04X, allowed are 0x%04X", arrivingFlags, arriving.flags()));
        }
        if (available < 8) {
            return false;
        }
        long length = Integer.toUnsignedLong(in.getInt(start + 4));
        if (length < arriving.minPayload() || length > arriving.maxPayload()) {
            throw new ProtocolException(
                    Violation.LENGTH,
                    arriving,
                    consumed,
                    "the payload has " + length + " bytes, allowed are " + arriving.minPayload() + " to "
                            + arriving.maxPayload());
        }
        if (available < FrameType.HEADER_BYTES) {
            return false;
        }
        int number = in.getInt(start + 8);
        turn.admit(arriving, arrivingFlags, number, length, consumed);
        in.position(start + FrameType.HEADER_BYTES);
        frameOffset = consumed;
        consumed += FrameType.HEADER_BYTES;
        flags = arrivingFlags;
        request = number;
        remaining = (int) length;
        if (arriving == FrameType.END) {
            handler.end(number);
        } else {
            type = arriving;
        }
        return true;
    }

    private FrameType arriving(int code) {
        FrameType arriving = FrameType.of(code);
        if (arriving == null) {
            throw new ProtocolException(
                    Violation.TYPE, null, consumed, String.format(Locale.ROOT, "0x%02X is no type of a frame", code));
        }
        if (arriving.reserved() || !turn.agreed(arriving.capability())) {
            throw new ProtocolException(
                    Violation.TYPE,
                    arriving,
                    consumed,
                    "the type needs the capability " + arriving.capability() + ", which was not agreed on");
        }
        if (arriving.direction() != FrameType.Direction.FROM_WORKER) {
            throw new ProtocolException(Violation.DIRECTION, arriving, consumed, "only the supervisor sends this type");
        }
        return arriving;
    }

    private boolean data(ByteBuffer in) {
        int available = Math.min(in.remaining(), remaining);
        if (available == 0) {
            return false;
        }
        ByteBuffer piece = view(in);
        int start = in.position();
        piece.limit(start + available).position(start);
        in.position(start + available);
        consumed += available;
        remaining -= available;
        if (remaining == 0) {
            type = null;
        }
        handler.data(request, piece);
        return true;
    }

    /** A second view of the buffer, for the handler to move about in; a reader always brings the same buffer. */
    @SuppressWarnings("ReferenceEquality")
    private ByteBuffer view(ByteBuffer in) {
        ByteBuffer known = view;
        if (viewed == in && known != null) {
            return known;
        }
        ByteBuffer fresh = in.duplicate();
        viewed = in;
        view = fresh;
        return fresh;
    }

    private void payload(FrameType frame) {
        switch (frame) {
            case READY -> {
                Ready ready = payload.ready();
                turn.ready(ready, frameOffset);
                handler.ready(ready);
            }
            case HEAD -> {
                ResponseHead head = payload.head();
                turn.head(head);
                handler.head(request, head);
            }
            case FILE -> {
                FileRange range = payload.file();
                turn.file(range, frameOffset);
                handler.file(request, range);
            }
            case DONE -> {
                Done done = payload.done();
                turn.done(done);
                handler.done(request, done);
            }
            case METRICS -> handler.metrics(request, payload.measurements());
            case ERROR -> {
                ErrorReport report = payload.error();
                turn.error(report.kind(), request, frameOffset);
                handler.error(request, report);
            }
            case LOG -> handler.log(request, payload.severity(), payload.message());
            default -> throw new AssertionError(frame);
        }
    }
}
