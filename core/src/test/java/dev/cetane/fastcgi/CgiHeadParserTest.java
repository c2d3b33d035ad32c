package dev.cetane.fastcgi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.protocol.ResponseHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads of answers by RFC 3875, 6.3. */
final class CgiHeadParserTest {
    private static ResponseHead parse(String text) throws InvalidHeadException {
        CgiHeadParser parser = new CgiHeadParser();
        ByteBuffer in = ByteBuffer.wrap((text + "\r\nbody").getBytes(StandardCharsets.ISO_8859_1));
        assertThat(parser.take(in)).isTrue();
        assertThat(in.remaining()).as("the body stays").isEqualTo(4);
        return parser.head(4);
    }

    @Test
    void the_status_is_no_field_and_200_when_it_is_not_there() throws InvalidHeadException {
        ResponseHead head =
                parse("X-Powered-By: PHP\r\nStatus: 418 I'm a teapot\r\nContent-type: text/html;charset=UTF-8\r\n");
        assertThat(head.status()).isEqualTo(418);
        assertThat(head.reason()).isEqualTo("I'm a teapot");
        assertThat(head.bodyLength()).isEqualTo(4);
        assertThat(head.headers()).containsExactly("X-Powered-By", "PHP", "Content-Type", "text/html;charset=UTF-8");
        assertThat(parse("Content-type: text/plain\r\n").status()).isEqualTo(200);
        assertThat(parse("").status()).isEqualTo(200);
        assertThat(parse("status: 404\r\n").status()).isEqualTo(404);
    }

    @Test
    void a_location_makes_302_unless_there_is_a_status() throws InvalidHeadException {
        assertThat(parse("Location: /there\r\n").status()).isEqualTo(302);
        assertThat(parse("Location: /there\r\nStatus: 201 Created\r\n").status())
                .isEqualTo(201);
    }

    @Test
    void lines_may_end_with_a_line_feed_alone_and_values_may_be_empty() throws InvalidHeadException {
        CgiHeadParser parser = new CgiHeadParser();
        assertThat(parser.take(ByteBuffer.wrap("A:\nB: \t b \n\nrest".getBytes(StandardCharsets.US_ASCII))))
                .isTrue();
        assertThat(parser.head(-1).headers()).containsExactly("A", "", "B", "b");
    }

    @Test
    void a_line_without_a_colon_is_left_out() throws InvalidHeadException {
        assertThat(parse("nothing\r\nA: 1\r\n").headers()).containsExactly("A", "1");
    }

    @Test
    void there_is_one_content_type_the_last_and_an_empty_one_is_none() throws InvalidHeadException {
        assertThat(parse("Content-Type: text/css\r\ncontent-type: text/html\r\nA: 1\r\n")
                        .headers())
                .containsExactly("A", "1", "Content-Type", "text/html");
        assertThat(parse("Content-Type:\r\nA: 1\r\n").headers()).containsExactly("A", "1");
    }

    @Test
    void a_head_may_come_byte_by_byte() throws InvalidHeadException {
        CgiHeadParser parser = new CgiHeadParser();
        byte[] bytes = "Status: 204 No Content\r\nA: 1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < bytes.length; i++) {
            assertThat(parser.take(ByteBuffer.wrap(bytes, i, 1))).isEqualTo(i == bytes.length - 1);
        }
        assertThat(parser.head(0).status()).isEqualTo(204);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Status: 99 odd",
                "Status: 100 Continue",
                "Status: 20x",
                "Status: 2000",
                "Status:",
                "A: 1\r\n folded: 2",
                ": no name"
            })
    void what_is_no_head_is_refused(String line) {
        assertThatThrownBy(() -> parse(line + "\r\n")).isInstanceOf(InvalidHeadException.class);
    }

    @Test
    void a_head_is_bounded() {
        CgiHeadParser parser = new CgiHeadParser();
        ByteBuffer line = ByteBuffer.wrap(("A: " + "x".repeat(997) + "\n").getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        assertThat(parser.take(line.rewind())).isFalse();
                    }
                })
                .isInstanceOf(InvalidHeadException.class)
                .hasMessageContaining("65536 bytes");
    }
}
