package dev.cetane.protocol;

import dev.cetane.protocol.ProtocolException.Violation;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
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

    private static final int HEAD_FIXED_BYTES = 12;
    private static final int FILE_FIXED_BYTES = 16;

    private final Turn turn;
    private final WorkerFrameHandler handler;
    private final RecentStrings strings = new RecentStrings();
    private byte[] scratch = new byte[1024];
    private String[] headerScratch = new String[32];

    /** Bytes that were consumed: where the buffer's position stands in the worker's output. */
    private long consumed;

    /** What {@link #decode} left in the buffer last time. */
    private int leftOver;

    /** The frame whose header was read and whose payload is awaited, null between frames. */
    private @Nullable FrameType type;

    /** The frame whose payload is being taken apart. */
    private @Nullable FrameType taken;

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
        taken = current;
        payload(current, bytes, offset, offset + length);
        return true;
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

    private void payload(FrameType frame, byte[] bytes, int offset, int end) {
        switch (frame) {
            case READY -> {
                Ready ready = ready(bytes, offset, end);
                turn.ready(ready, frameOffset);
                handler.ready(ready);
            }
            case HEAD -> {
                ResponseHead head = head(bytes, offset, end);
                turn.head(head);
                handler.head(request, head);
            }
            case FILE -> {
                FileRange range = file(bytes, offset, end);
                turn.file(range, frameOffset);
                handler.file(request, range);
            }
            case DONE -> {
                Done done = new Done(
                        u32(bytes, offset),
                        u32(bytes, offset + 4),
                        u32(bytes, offset + 8),
                        u63(bytes, offset + 12, "peak memory"),
                        (flags & FrameType.LAST) != 0);
                turn.done(done);
                handler.done(request, done);
            }
            case ERROR -> {
                ErrorReport.Kind kind = ErrorReport.Kind.of(bytes[offset] & 0xFF);
                if (kind == null) {
                    throw malformed("kind " + (bytes[offset] & 0xFF) + " is not in 1 to 4");
                }
                turn.error(kind, request, frameOffset);
                handler.error(request, new ErrorReport(kind, utf8(bytes, offset + 1, end)));
            }
            case LOG -> {
                int severity = bytes[offset] & 0xFF;
                if (severity > 7) {
                    throw malformed("severity " + severity + " is not in 0 to 7");
                }
                handler.log(request, severity, utf8(bytes, offset + 1, end));
            }
            default -> throw new AssertionError(frame);
        }
    }

    private Ready ready(byte[] bytes, int offset, int end) {
        Map<String, String> facts = Wire.readPairList(bytes, offset + 2, end, strings);
        if (facts == null) {
            throw malformed("the facts are no pair list");
        }
        for (String name : new String[] {"pid", "boot-micros"}) {
            if (facts.containsKey(name) && !Ready.isDecimal(facts.get(name))) {
                throw malformed("the fact " + name + " is no decimal number");
            }
        }
        return new Ready(u16(bytes, offset), facts);
    }

    private ResponseHead head(byte[] bytes, int offset, int end) {
        int status = u16(bytes, offset);
        if (status < 100 || status > 999 || status == 101) {
            throw malformed("status " + status + " is not in 100 to 999 without 101");
        }
        int reasonLength = u16(bytes, offset + 2);
        if (reasonLength > end - offset - HEAD_FIXED_BYTES) {
            throw malformed("a reason of " + reasonLength + " bytes in a payload of " + (end - offset));
        }
        long bodyLength = i64(bytes, offset + 4);
        if (bodyLength != ResponseHead.UNKNOWN_LENGTH) {
            bodyLength = u63(bytes, offset + 4, "body length");
        }
        if (status < 200 && bodyLength != 0) {
            throw malformed("interim status " + status + " with a body length other than 0");
        }
        int lines = offset + HEAD_FIXED_BYTES + reasonLength;
        String reason = strings.get(bytes, offset + HEAD_FIXED_BYTES, lines);
        int count = 0;
        int line = lines;
        while (line < end) {
            int lineEnd = Wire.indexOf(bytes, (byte) 0, line, end);
            if (lineEnd == line || lineEnd == end - 1) {
                throw malformed("an empty header line");
            }
            int colon = Wire.indexOf(bytes, (byte) ':', line, lineEnd);
            int nameEnd = colon == lineEnd ? line : colon;
            int value = colon == lineEnd ? line : colon + 1;
            if (value > line && value < lineEnd && bytes[value] == ' ') {
                value++;
            }
            if (count == headerScratch.length) {
                headerScratch = Arrays.copyOf(headerScratch, 2 * count);
            }
            headerScratch[count++] = strings.get(bytes, line, nameEnd);
            headerScratch[count++] = strings.get(bytes, value, lineEnd);
            line = lineEnd + 1;
        }
        String[] headers = Arrays.copyOf(headerScratch, count);
        return new ResponseHead(status, reason, bodyLength, Collections.unmodifiableList(Arrays.asList(headers)));
    }

    private FileRange file(byte[] bytes, int offset, int end) {
        long first = u63(bytes, offset, "offset");
        long length = u63(bytes, offset + 8, "length");
        if (first + length < 0) {
            throw malformed("offset " + first + " + length " + length + " is above 2^63 - 1");
        }
        Path path;
        try {
            path = BytePath.of(strings.get(bytes, offset + FILE_FIXED_BYTES, end));
        } catch (IllegalArgumentException e) {
            throw malformed(e.getMessage());
        }
        return new FileRange(path, first, length, (flags & FrameType.DELETE) != 0);
    }

    private ProtocolException malformed(@Nullable String what) {
        return new ProtocolException(Violation.PAYLOAD, taken, frameOffset, String.valueOf(what));
    }

    private long u63(byte[] bytes, int offset, String what) {
        long value = i64(bytes, offset);
        if (value < 0) {
            throw malformed(what + " " + Long.toUnsignedString(value) + " is above 2^63 - 1");
        }
        return value;
    }

    private static int u16(byte[] bytes, int offset) {
        return (bytes[offset] & 0xFF) << 8 | (bytes[offset + 1] & 0xFF);
    }

    private static long u32(byte[] bytes, int offset) {
        return (long) u16(bytes, offset) << 16 | u16(bytes, offset + 2);
    }

    private static long i64(byte[] bytes, int offset) {
        return u32(bytes, offset) << 32 | u32(bytes, offset + 4);
    }

    private static String utf8(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
}
