package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Bytes that no worker should send: whatever they are, the decoder asks for more or throws a {@link ProtocolException}, and
 * allocates no more than it may for what has arrived.
 */
final class FrameDecoderFuzzTest {

    /**
     * The most that one stream of up to 64 KiB may cost: a head of 32 768 one-byte lines, each with a String of 24 bytes, an
     * array of 24 and two references in arrays that grow, besides the buffers of the decoder.
     */
    private static final long MOST_BYTES = 4 << 20;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES);
    private int violations;
    private int unfinished;

    @Test
    void random_bytes_end_in_a_violation_or_in_waiting_for_more() {
        SplittableRandom random = new SplittableRandom(20_240_101);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(1, 400)];
            random.nextBytes(bytes);
            if (random.nextInt(4) > 0) {
                bytes[0] = (byte) FrameType.MAGIC;
            }
            hear(i % 5, bytes, random.nextInt(1, 400));
        }
        assertThat(violations).isGreaterThan(15_000);
    }

    @Test
    void random_payloads_in_right_headers_end_in_a_violation_or_in_waiting_for_more() {
        SplittableRandom random = new SplittableRandom(20_240_102);
        FrameType[] types = FrameType.values();
        for (int i = 0; i < 20_000; i++) {
            FrameType type = types[random.nextInt(types.length)];
            int room = Math.min(type.maxPayload() - type.minPayload(), random.nextInt(600));
            int length = type.minPayload() + random.nextInt(room + 1);
            ByteBuffer frame = ByteBuffer.allocate(FrameType.HEADER_BYTES + length);
            Wire.putHeader(frame, type, random.nextInt(8) == 0 ? 1 : 0, length, random.nextInt(2));
            byte[] payload = new byte[length];
            for (int b = 0; b < length; b++) {
                // Small numbers and text get further than noise.
                payload[b] = (byte) (random.nextBoolean() ? random.nextInt(4) : random.nextInt(256));
            }
            frame.put(payload);
            hear(i % 5, frame.array(), random.nextInt(1, 700));
        }
        assertThat(violations).isGreaterThan(5_000);
        assertThat(unfinished).isGreaterThan(300);
    }

    @Test
    void mutated_answers_end_in_a_violation_or_in_waiting_for_more() {
        SplittableRandom random = new SplittableRandom(20_240_103);
        byte[] answer = Frames.join(List.of(
                WorkerFrameEncoder.log(1, 6, "hello"),
                WorkerFrameEncoder.head(1, new ResponseHead(103, "", 0, List.of("Link", "</a>"))),
                WorkerFrameEncoder.head(
                        1, new ResponseHead(200, "OK", 5, List.of("Content-Type", "text/plain", "X-A", ""))),
                WorkerFrameEncoder.data(1, new byte[3]),
                WorkerFrameEncoder.file(1, new FileRange(BytePath.of("/f"), 1, 2, false)),
                WorkerFrameEncoder.end(1),
                WorkerFrameEncoder.metrics(
                        1,
                        List.of(
                                new Measurement(
                                        Measurement.Kind.HISTOGRAM,
                                        List.of("latency", "route", "/"),
                                        List.of(1.0, 2.0),
                                        List.of(0.5, 1.5)),
                                new Measurement(Measurement.Kind.COUNTER, List.of("orders"), List.of(), List.of(1.0)))),
                Frames.done(1)));
        for (int i = 0; i < 50_000; i++) {
            hear(2, mutate(answer, random), random.nextInt(1, 300));
        }
        assertThat(violations).isGreaterThan(20_000);
        assertThat(unfinished).isGreaterThan(1_000);
    }

    @Test
    void heads_of_as_many_lines_as_fit_cost_a_bounded_amount() {
        byte[] lines = new byte[65_512];
        SplittableRandom random = new SplittableRandom(20_240_104);
        for (int i = 0; i < lines.length; i++) {
            lines[i] = (byte) (i % 2 == 0 ? random.nextInt(1, 256) : 0);
        }
        lines[lines.length - 1] = 'x';
        ByteBuffer frame = ByteBuffer.allocate(65_536);
        Wire.putHeader(frame, FrameType.HEAD, 0, 65_524, 1);
        frame.putShort((short) 200).putShort((short) 0).putLong(0).put(lines);
        hear(2, frame.array(), 65_536);
        assertThat(violations).isZero();
    }

    @Test
    void facts_as_many_as_fit_cost_a_bounded_amount() {
        // Each pair takes three bytes of name, no value and two separators; two separators are missing at the end.
        int pairs = (65_524 - 10 + 2) / 5;
        int namesLength = 4 * pairs - 1;
        int valuesLength = pairs - 1;
        ByteBuffer frame = ByteBuffer.allocate(FrameType.HEADER_BYTES + 10 + namesLength + valuesLength);
        Wire.putHeader(frame, FrameType.READY, 0, 10 + namesLength + valuesLength, 0);
        frame.putShort((short) 1).putInt(namesLength).putInt(valuesLength);
        for (int i = 0; i < pairs; i++) {
            frame.put((byte) 'a').put((byte) (1 + i % 255)).put((byte) (1 + i / 255));
            if (i < pairs - 1) {
                frame.put((byte) 0);
            }
        }
        hear(0, frame.array(), 65_536);
        assertThat(violations).isZero();
    }

    @Test
    void measurements_as_many_as_fit_cost_a_bounded_amount() {
        // The shortest there are: six bytes, one value and no name.
        int count = 65_524 / 14;
        ByteBuffer frame = ByteBuffer.allocate(FrameType.HEADER_BYTES + 14 * count);
        Wire.putHeader(frame, FrameType.METRICS, 0, 14 * count, 1);
        for (int i = 0; i < count; i++) {
            frame.put((byte) 1)
                    .put((byte) 0)
                    .putShort((short) 1)
                    .putShort((short) 0)
                    .putDouble(i);
        }
        hear(4, frame.array(), 65_536);
        assertThat(violations).isZero();
    }

    @Test
    void a_length_of_4_GiB_allocates_nothing() {
        for (FrameType type : FrameType.values()) {
            byte[] header = Frames.bytes(Frames.header(type, 0, 0xFFFF_FFFFL, 1));
            long allocated = hear(3, header, 12);
            assertThat(allocated).as(type.name()).isLessThan(100_000);
        }
        assertThat(violations).isEqualTo(FrameType.values().length);
    }

    private static byte[] mutate(byte[] right, SplittableRandom random) {
        byte[] bytes = right.clone();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt(256);
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> {
                    // A byte is lost.
                    byte[] shorter = new byte[bytes.length - 1];
                    System.arraycopy(bytes, 0, shorter, 0, at);
                    System.arraycopy(bytes, at + 1, shorter, at, shorter.length - at);
                    bytes = shorter;
                }
                default -> {
                    // A part comes twice.
                    int length = random.nextInt(Math.min(40, bytes.length - at)) + 1;
                    byte[] longer = new byte[bytes.length + length];
                    System.arraycopy(bytes, 0, longer, 0, at + length);
                    System.arraycopy(bytes, at, longer, at + length, bytes.length - at);
                    bytes = longer;
                }
            }
        }
        return bytes;
    }

    /** Feeds a fresh decoder, led to one of five places, and returns what that allocated. */
    private long hear(int place, byte[] bytes, int pieceBytes) {
        Turn turn = new Turn(Listener.OFFER);
        FrameDecoder decoder = new FrameDecoder(turn, new Deaf());
        if (place > 0) {
            decoder.decode(WorkerFrameEncoder.ready(new Ready(1, Map.of("capabilities", "file metrics"))));
        }
        if (place > 1) {
            turn.begin(1);
        }
        if (place > 2) {
            decoder.decode(WorkerFrameEncoder.head(1, Frames.head(200, ResponseHead.UNKNOWN_LENGTH)));
        }
        if (place > 3) {
            decoder.decode(WorkerFrameEncoder.end(1));
        }
        long allocated = Allocation.ofThisThread(() -> feed(decoder, bytes, pieceBytes));
        assertThat(allocated).isLessThan(MOST_BYTES);
        return allocated;
    }

    private void feed(FrameDecoder decoder, byte[] bytes, int pieceBytes) {
        buffer.clear();
        try {
            for (int at = 0; at < bytes.length; ) {
                int piece = Math.min(Math.min(pieceBytes, bytes.length - at), buffer.remaining());
                if (piece == 0) {
                    throw new AssertionError("the decoder left a full buffer over");
                }
                buffer.put(bytes, at, piece).flip();
                at += piece;
                decoder.decode(buffer);
                buffer.compact();
            }
            unfinished++;
            decoder.endOfStream();
        } catch (ProtocolException e) {
            violations++;
        }
    }
}
