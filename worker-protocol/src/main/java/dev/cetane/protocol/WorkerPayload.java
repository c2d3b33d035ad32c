package dev.cetane.protocol;

import dev.cetane.protocol.ProtocolException.Violation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Takes the payload of one complete control frame apart, PROTOCOL.md §5; what does not fit its layout is a PAYLOAD violation. The
 * length is known to lie within the type's limits. Used again for each frame; belongs to its decoder's thread.
 */
final class WorkerPayload {

    private static final int HEAD_FIXED_BYTES = FrameType.HEAD.minPayload();
    private static final int FILE_FIXED_BYTES = 16;
    private static final int MEASUREMENT_FIXED_BYTES = FrameType.METRICS.minPayload();

    private final RecentStrings strings = new RecentStrings();
    private String[] headers = new String[32];
    private FrameType type = FrameType.LOG;
    private int flags;
    private long frameOffset;
    private byte[] bytes = {};
    private int start;
    private int end;

    /** The payload lies in {@code bytes} from start to end. */
    void open(FrameType type, int flags, long frameOffset, byte[] bytes, int start, int end) {
        this.type = type;
        this.flags = flags;
        this.frameOffset = frameOffset;
        this.bytes = bytes;
        this.start = start;
        this.end = end;
    }

    Ready ready() {
        Map<String, String> facts = Wire.readPairList(bytes, start + 2, end, strings);
        if (facts == null) {
            throw malformed("the facts are no pair list");
        }
        for (String name : new String[] {"pid", "boot-micros"}) {
            if (facts.containsKey(name) && !Ready.isDecimal(facts.get(name))) {
                throw malformed("the fact " + name + " is no decimal number");
            }
        }
        return new Ready(u16(0), facts);
    }

    ResponseHead head() {
        int status = u16(0);
        if (status < 100 || status > 999 || status == 101) {
            throw malformed("status " + status + " is not in 100 to 999 without 101");
        }
        int reasonLength = u16(2);
        if (reasonLength > end - start - HEAD_FIXED_BYTES) {
            throw malformed("a reason of " + reasonLength + " bytes in a payload of " + (end - start));
        }
        long bodyLength = i64(4);
        if (bodyLength != ResponseHead.UNKNOWN_LENGTH) {
            bodyLength = u63(4, "body length");
        }
        if (status < 200 && bodyLength != 0) {
            throw malformed("interim status " + status + " with a body length other than 0");
        }
        int lines = start + HEAD_FIXED_BYTES + reasonLength;
        String reason = strings.get(bytes, start + HEAD_FIXED_BYTES, lines);
        int count = splitHeaders(lines);
        return new ResponseHead(
                status, reason, bodyLength, Collections.unmodifiableList(Arrays.asList(Arrays.copyOf(headers, count))));
    }

    /** Puts names and values in turn into {@code headers} and returns how many. */
    private int splitHeaders(int lines) {
        int count = 0;
        int line = lines;
        while (line < end) {
            int lineEnd = Wire.indexOf(bytes, (byte) 0, line, end);
            if (lineEnd == line || lineEnd == end - 1) {
                throw malformed("an empty header line");
            }
            int colon = Wire.indexOf(bytes, (byte) ':', line, lineEnd);
            boolean named = colon < lineEnd;
            int value = named ? colon + 1 : line;
            if (named && value < lineEnd && bytes[value] == ' ') {
                value++;
            }
            if (count == headers.length) {
                headers = Arrays.copyOf(headers, 2 * count);
            }
            headers[count++] = strings.get(bytes, line, named ? colon : line);
            headers[count++] = strings.get(bytes, value, lineEnd);
            line = lineEnd + 1;
        }
        return count;
    }

    FileRange file() {
        long offset = u63(0, "offset");
        long length = u63(8, "length");
        if (offset + length < 0) {
            throw malformed("offset " + offset + " + length " + length + " is above 2^63 - 1");
        }
        Path path;
        try {
            path = BytePath.of(strings.get(bytes, start + FILE_FIXED_BYTES, end));
        } catch (IllegalArgumentException e) {
            throw malformed(String.valueOf(e.getMessage()));
        }
        return new FileRange(path, offset, length, (flags & FrameType.DELETE) != 0);
    }

    Done done() {
        return new Done(u32(0), u32(4), u32(8), u63(12, "peak memory"), (flags & FrameType.LAST) != 0);
    }

    List<Measurement> measurements() {
        List<Measurement> all = new ArrayList<>();
        int at = 0;
        while (at < end - start) {
            if (end - start - at < MEASUREMENT_FIXED_BYTES) {
                throw malformed("the measurement at byte " + at + " is cut");
            }
            int code = bytes[start + at] & 0xFF;
            Measurement.Kind kind = Measurement.Kind.of(code);
            if (kind == null) {
                throw malformed("kind " + code + " of a measurement is not in 0 to 3");
            }
            int bounds = bytes[start + at + 1] & 0xFF;
            int values = u16(at + 2);
            int textBytes = u16(at + 4);
            at += MEASUREMENT_FIXED_BYTES;
            boolean histogram = kind == Measurement.Kind.HISTOGRAM;
            if (histogram ? values == 0 : bounds != 0 || values != 1) {
                throw malformed(
                        "a measurement of kind " + code + " with " + bounds + " bounds and " + values + " values");
            }
            if (8 * (bounds + values) + textBytes > end - start - at) {
                throw malformed("a measurement that is longer than the payload");
            }
            List<Double> boundsRead = doubles(at, bounds);
            at += 8 * bounds;
            List<Double> valuesRead = doubles(at, values);
            at += 8 * values;
            List<String> texts = texts(start + at, start + at + textBytes);
            at += textBytes;
            if (texts.size() % 2 == 0) {
                throw malformed("a label without a value");
            }
            all.add(new Measurement(kind, texts, boundsRead, valuesRead));
        }
        return all;
    }

    private List<Double> doubles(int at, int count) {
        if (count == 0) {
            return List.of();
        }
        List<Double> read = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            read.add(Double.longBitsToDouble(i64(at + 8 * i)));
        }
        return read;
    }

    private List<String> texts(int from, int to) {
        List<String> texts = new ArrayList<>();
        int text = from;
        while (true) {
            int textEnd = Wire.indexOf(bytes, (byte) 0, text, to);
            texts.add(new String(bytes, text, textEnd - text, StandardCharsets.UTF_8));
            if (textEnd == to) {
                return texts;
            }
            text = textEnd + 1;
        }
    }

    ErrorReport error() {
        int code = bytes[start] & 0xFF;
        ErrorReport.Kind kind = ErrorReport.Kind.of(code);
        if (kind == null) {
            throw malformed("kind " + code + " is not in 1 to 4");
        }
        return new ErrorReport(kind, message());
    }

    /** Of a LOG. */
    int severity() {
        int severity = bytes[start] & 0xFF;
        if (severity > 7) {
            throw malformed("severity " + severity + " is not in 0 to 7");
        }
        return severity;
    }

    /** Of a LOG or an ERROR: what follows the first byte. */
    String message() {
        return new String(bytes, start + 1, end - start - 1, StandardCharsets.UTF_8);
    }

    private ProtocolException malformed(String what) {
        return new ProtocolException(Violation.PAYLOAD, type, frameOffset, what);
    }

    private long u63(int at, String what) {
        long value = i64(at);
        if (value < 0) {
            throw malformed(what + " " + Long.toUnsignedString(value) + " is above 2^63 - 1");
        }
        return value;
    }

    private int u16(int at) {
        return (bytes[start + at] & 0xFF) << 8 | (bytes[start + at + 1] & 0xFF);
    }

    private long u32(int at) {
        return (long) u16(at) << 16 | u16(at + 2);
    }

    private long i64(int at) {
        return u32(at) << 32 | u32(at + 4);
    }
}
