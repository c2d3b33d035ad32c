package dev.cetane.fastcgi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests as the specification of FastCGI 1.0 draws them, and as php-cgi wants them. */
final class FastCgiRequestEncoderTest {
    private final FastCgiRequestEncoder encoder = new FastCgiRequestEncoder(Map.of("A", "b"), "/srv/www");

    private record Sent(int type, ByteBuffer content) {
        byte[] bytes() {
            byte[] bytes = new byte[content.remaining()];
            content.duplicate().get(bytes);
            return bytes;
        }
    }

    private static List<Sent> records(ByteBuffer in) {
        List<Sent> records = new ArrayList<>();
        while (in.hasRemaining()) {
            assertThat(in.get()).as("version").isEqualTo((byte) 1);
            int type = in.get();
            assertThat(in.getShort()).as("request").isEqualTo((short) 1);
            byte[] content = new byte[in.getShort() & 0xFFFF];
            assertThat(in.getShort()).as("padding and reserved").isZero();
            in.get(content);
            records.add(new Sent(type, ByteBuffer.wrap(content)));
        }
        return records;
    }

    private static Map<String, String> params(byte[] content) {
        ByteBuffer in = ByteBuffer.wrap(content);
        Map<String, String> params = new LinkedHashMap<>();
        while (in.hasRemaining()) {
            byte[] name = new byte[length(in)];
            byte[] value = new byte[length(in)];
            in.get(name).get(value);
            params.put(new String(name, StandardCharsets.ISO_8859_1), new String(value, StandardCharsets.ISO_8859_1));
        }
        return params;
    }

    private static int length(ByteBuffer in) {
        return in.get(in.position()) >= 0 ? in.get() : in.getInt() & 0x7FFF_FFFF;
    }

    @Test
    void a_short_request_is_these_bytes() {
        encoder.begin();
        encoder.server("C", "d");
        byte[] bytes = bytes(encoder.finish());
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("0101000100080000" + "0001010000000000" // begin: responder, keep the connection
                        + "0104000100080000" + "01014162" + "01014364" // two parameters
                        + "0104000100000000");
    }

    @Test
    void lengths_from_128_on_take_four_bytes() {
        String value = "v".repeat(200);
        encoder.begin();
        encoder.server("N".repeat(127), value);
        encoder.server("M".repeat(128), "\u00FF");
        Map<String, String> params = params(records(encoder.finish()).get(1).bytes());
        assertThat(params)
                .containsEntry("N".repeat(127), value)
                .containsEntry("M".repeat(128), "\u00FF")
                .containsEntry("A", "b");
    }

    @Test
    void the_file_of_a_script_is_found_in_the_document_root() {
        encoder.begin();
        encoder.server("SCRIPT_NAME", "/lib/doku.php");
        assertThat(params(records(encoder.finish()).get(1).bytes()))
                .containsEntry("SCRIPT_FILENAME", "/srv/www/lib/doku.php");
    }

    @Test
    void a_body_is_followed_by_the_end_of_stdin_and_no_body_is_not() {
        encoder.begin();
        encoder.body("0123456789".getBytes(StandardCharsets.US_ASCII), 2, 5);
        List<Sent> records = records(encoder.finish());
        assertThat(encoder.hasBody()).isTrue();
        assertThat(records).extracting(Sent::type).containsExactly(1, 4, 4, 5, 5);
        assertThat(records.get(3).bytes()).isEqualTo("23456".getBytes(StandardCharsets.US_ASCII));
        assertThat(records.get(4).bytes()).isEmpty();

        encoder.begin();
        encoder.body(new byte[0], 0, 0);
        assertThat(records(encoder.finish())).extracting(Sent::type).containsExactly(1, 4, 4);
        assertThat(encoder.hasBody()).isFalse();
    }

    @Test
    void a_body_in_a_file_goes_out_in_records_of_less_than_64_KiB(@TempDir Path directory) throws IOException {
        byte[] content = new byte[200_001];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31);
        }
        Path file = Files.write(directory.resolve("body"), content);
        encoder.begin();
        encoder.bodyFile(file);
        assertThat(records(encoder.finish())).extracting(Sent::type).containsExactly(1, 4, 4);
        assertThat(encoder.bodyFile()).isEqualTo(file);

        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        try (FileChannel from = FileChannel.open(file)) {
            StdinRecords.send(from, Channels.newChannel(sent));
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        List<Sent> records = records(ByteBuffer.wrap(sent.toByteArray()));
        records.forEach(record -> body.writeBytes(record.bytes()));
        assertThat(records).extracting(Sent::type).containsOnly(5);
        assertThat(records).filteredOn(record -> record.bytes().length == 0).hasSize(1);
        assertThat(records.get(records.size() - 1).bytes()).isEmpty();
        assertThat(body.toByteArray()).isEqualTo(content);
    }

    @Test
    void what_does_not_fit_or_is_no_text_is_refused_and_forgotten() {
        encoder.begin();
        assertThatThrownBy(() -> encoder.server("BIG", "x".repeat(65_536))).hasMessageContaining("at most 65535 fit");
        encoder.begin();
        assertThatThrownBy(() -> encoder.server("", "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> encoder.server("N", "a\0b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> encoder.server("N", "\u0100")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> encoder.form(ByteBuffer.allocate(0), ByteBuffer.allocate(0)))
                .isInstanceOf(IllegalStateException.class);
        a_short_request_is_these_bytes();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
