package dev.cetane.fastcgi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Records as the specification of FastCGI 1.0 draws them, written here byte by byte. */
final class RecordDecoderTest {
    private final Heard heard = new Heard();
    private final RecordDecoder decoder = new RecordDecoder(heard);

    private static final class Heard implements RecordDecoder.Handler {
        final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
        final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
        int ends;

        @Override
        public void stdout(ByteBuffer bytes) {
            take(bytes, stdout);
        }

        @Override
        public void stderr(ByteBuffer bytes) {
            take(bytes, stderr);
        }

        private static void take(ByteBuffer bytes, ByteArrayOutputStream into) {
            while (bytes.hasRemaining()) {
                into.write(bytes.get());
            }
        }

        @Override
        public void end() {
            ends++;
        }
    }

    static byte[] record(int version, int type, int id, byte[] content, int padding) {
        ByteBuffer out = ByteBuffer.allocate(8 + content.length + padding);
        out.put((byte) version).put((byte) type).putShort((short) id);
        out.putShort((short) content.length).put((byte) padding).put((byte) 0).put(content);
        return out.array();
    }

    private static byte[] stdout(String text, int padding) {
        return record(1, 6, 1, text.getBytes(StandardCharsets.ISO_8859_1), padding);
    }

    private static byte[] end(int protocolStatus) {
        return record(1, 3, 1, new byte[] {0, 0, 0, 0, (byte) protocolStatus, 0, 0, 0}, 0);
    }

    private static byte[] join(byte[]... records) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] record : records) {
            all.writeBytes(record);
        }
        return all.toByteArray();
    }

    /** As a connection would bring it: pieces of these sizes in turn, through a buffer that is compacted. */
    private void feed(byte[] bytes, List<Integer> sizes) throws FastCgiException {
        ByteBuffer buffer = ByteBuffer.allocate(RecordDecoder.BUFFER_BYTES);
        for (int at = 0, i = 0; at < bytes.length; i++) {
            int count = Math.min(Math.min(sizes.get(i % sizes.size()), bytes.length - at), buffer.remaining());
            buffer.put(bytes, at, count).flip();
            decoder.decode(buffer);
            buffer.compact();
            at += count;
        }
    }

    @Property(tries = 300)
    void an_answer_is_the_same_in_whatever_pieces_it_arrives(
            @ForAll @Size(max = 6) List<@IntRange(max = 70) Integer> lengths,
            @ForAll @IntRange(max = 255) int padding,
            @ForAll @Size(min = 1, max = 5) List<@IntRange(min = 1, max = 90) Integer> pieces)
            throws FastCgiException {
        StringBuilder expected = new StringBuilder();
        List<byte[]> records = new ArrayList<>();
        for (int length : lengths) {
            String text = "x".repeat(length) + length;
            expected.append(text);
            records.add(stdout(text, padding));
            records.add(record(1, 7, 1, "e".getBytes(StandardCharsets.ISO_8859_1), 0));
        }
        records.add(end(0));
        byte[] answer = join(records.toArray(new byte[0][]));
        heard.ends = 0;
        for (int request = 1; request <= 2; request++) {
            heard.stdout.reset();
            heard.stderr.reset();
            decoder.begin();
            feed(answer, pieces);
            assertThat(heard.stdout.toString(StandardCharsets.ISO_8859_1)).isEqualTo(expected.toString());
            assertThat(heard.stderr.size()).isEqualTo(lengths.size());
            assertThat(heard.ends).isEqualTo(request);
        }
    }

    @Example
    void the_length_of_an_answer_is_known_when_its_end_is_there() throws FastCgiException {
        List<Long> rests = new ArrayList<>();
        RecordDecoder[] self = new RecordDecoder[1];
        self[0] = new RecordDecoder(new RecordDecoder.Handler() {
            @Override
            public void stdout(ByteBuffer bytes) {
                rests.add(self[0].restOfAnswer());
            }

            @Override
            public void stderr(ByteBuffer bytes) {}

            @Override
            public void end() {}
        });
        self[0].begin();
        self[0].decode(ByteBuffer.wrap(
                join(stdout("abc", 5), record(1, 7, 1, new byte[4], 4), stdout("defgh", 3), stdout("", 0), end(0))));
        assertThat(rests).containsExactly(5L, 0L);

        rests.clear();
        self[0].begin();
        byte[] answer = join(stdout("abc", 5), stdout("defgh", 3), end(0));
        self[0].decode(ByteBuffer.wrap(answer, 0, answer.length - 12));
        assertThat(rests).containsExactly(-1L, -1L);
    }

    @Example
    void what_must_not_come_is_refused() {
        assertRefused(record(2, 6, 1, new byte[1], 0), "version 2");
        assertRefused("HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.US_ASCII), "version 72");
        assertRefused(record(1, 6, 2, new byte[1], 0), "request 2");
        assertRefused(record(1, 1, 1, new byte[8], 0), "type 1");
        assertRefused(record(1, 11, 0, new byte[8], 0), "type 11");
        assertRefused(record(1, 3, 1, new byte[7], 0), "7 bytes");
        assertRefused(record(1, 3, 1, new byte[65535], 0), "65535 bytes");
        assertRefused(end(1), "protocol status 1");
    }

    private void assertRefused(byte[] bytes, String message) {
        RecordDecoder fresh = new RecordDecoder(heard);
        fresh.begin();
        assertThatThrownBy(() -> fresh.decode(ByteBuffer.wrap(bytes)))
                .isInstanceOf(FastCgiException.class)
                .hasMessageContaining(message);
    }

    @Example
    void nothing_may_come_between_two_requests() {
        decoder.begin();
        assertThatThrownBy(() -> decoder.decode(ByteBuffer.wrap(join(end(0), stdout("late", 0)))))
                .isInstanceOf(FastCgiException.class)
                .hasMessageContaining("none runs");
        assertThat(heard.ends).isEqualTo(1);
        assertThat(heard.stdout.size()).isZero();
    }
}
