package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.RawClient.Answer;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Raw bytes and what must become of them. Whatever two servers could read in two ways is refused, and the connection with it. */
final class StrictParsingTest {
    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = TestServer.start();
        server.dispatcher.answer(job -> job.respond(
                200,
                job.request().server().get("REQUEST_URI") + " " + job.request().text()));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Arguments row(String what, int status, String bytes) {
        return Arguments.of(what, status, bytes);
    }

    /** What is put behind each refused request: were it read as a request, a second answer would come. */
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

    static Stream<Arguments> refused() {
        String host = "Host: a\r\n";
        String get = "GET / HTTP/1.1\r\n" + host;
        String post = "POST / HTTP/1.1\r\n" + host;
        String chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
        return Stream.of(
                // Two readings of where the body ends.
                row("both lengths", 400, post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                row(
                        "both, other order",
                        400,
                        post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
                row("same length twice", 400, post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
                row("two lengths", 400, post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
                row(
                        "two lengths in 1.0",
                        400,
                        "POST / HTTP/1.0\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
                row("list of lengths", 400, post + "Content-Length: 5, 5\r\n\r\nhello"),
                row("list of lengths in 1.0", 400, "POST / HTTP/1.0\r\nContent-Length: 5, 5\r\n\r\nhello"),
                row("length with sign", 400, post + "Content-Length: +5\r\n\r\nhello"),
                row("negative length", 400, post + "Content-Length: -5\r\n\r\n"),
                row("hexadecimal length", 400, post + "Content-Length: 0x5\r\n\r\nhello"),
                row("length of letters", 400, post + "Content-Length: five\r\n\r\n"),
                row("empty length", 400, post + "Content-Length:\r\n\r\n"),
                row("length with space inside", 400, post + "Content-Length: 5 5\r\n\r\nhello"),
                row("length beyond 64 bits", 400, post + "Content-Length: 99999999999999999999\r\n\r\n"),
                row("chunked in 1.0", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                row("identity", 400, post + "Transfer-Encoding: identity\r\n\r\n"),
                row("unknown coding", 400, post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
                row("quoted chunked", 400, post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
                row("coding before chunked", 501, post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                row("chunked twice", 400, post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
                row("chunked, then identity", 400, post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
                row(
                        "two codings, chunked last",
                        400,
                        post + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                row("coding with comma", 501, post + "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n"),
                row("vertical tab before chunked", 400, post + "Transfer-Encoding: \u000bchunked\r\n\r\n0\r\n\r\n"),
                row("draft WebSocket handshake", 400, get + "Sec-WebSocket-Key1: 1\r\nSec-WebSocket-Key2: 2\r\n\r\n"),
                // Chunks.
                row("chunk size of letters", 400, chunked + "g\r\nhello\r\n0\r\n\r\n"),
                row("chunk size with 0x", 400, chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
                row("chunk size with sign", 400, chunked + "+5\r\nhello\r\n0\r\n\r\n"),
                row("negative chunk size", 400, chunked + "-5\r\nhello\r\n0\r\n\r\n"),
                row("empty chunk size", 400, chunked + "\r\nhello\r\n0\r\n\r\n"),
                row("only an extension", 400, chunked + ";a=b\r\nhello\r\n0\r\n\r\n"),
                row("chunk size beyond 32 bits", 400, chunked + "100000005\r\nhello\r\n0\r\n\r\n"),
                row("space before chunk size", 400, chunked + " 5\r\nhello\r\n0\r\n\r\n"),
                row("space behind chunk size", 400, chunked + "5 \r\nhello\r\n0\r\n\r\n"),
                row("chunk size ends with LF", 400, chunked + "5\nhello\r\n0\r\n\r\n"),
                row("LF in a chunk extension", 400, chunked + "5;a=\nhello\r\n0\r\n\r\n"),
                row("chunk longer than its size", 400, chunked + "5\r\nhello!\r\n0\r\n\r\n"),
                row("chunk ends with LF", 400, chunked + "5\r\nhello\n0\r\n\r\n"),
                row("chunk ends with nothing", 400, chunked + "5\r\nhello0\r\n\r\n"),
                row("trailer line ends with LF", 400, chunked + "0\r\nA: b\n\r\n"),
                // Lines and fields.
                row("folded field", 400, get + "A: b\r\n c\r\n\r\n"),
                row("folded by a tab", 400, get + "A: b\r\n\tc\r\n\r\n"),
                row("folded length", 400, post + "Content-Length: 5\r\n 0\r\n\r\nhello"),
                row("fold of nothing", 400, get + "A: b\r\n \r\n\r\n"),
                row("first field indented", 400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
                row("field ends with LF", 400, "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n"),
                row("request line ends with LF", 400, "GET / HTTP/1.1\nHost: a\r\n\r\n"),
                row("head ends with LF", 400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
                row("CR alone in a value", 400, get + "A: b\rc\r\n\r\n"),
                row("CR before a name", 400, get + "\rA: b\r\n\r\n"),
                row("CR CR LF", 400, get + "A: b\r\r\n\r\n"),
                row("NUL in a value", 400, get + "A: b\0c\r\n\r\n"),
                row("control character in a value", 400, get + "A: b\u0001c\r\n\r\n"),
                row("DEL in a value", 400, get + "A: b\u007fc\r\n\r\n"),
                row("NUL in a name", 400, get + "A\0: b\r\n\r\n"),
                row("space before the colon", 400, get + "A : b\r\n\r\n"),
                row("tab before the colon", 400, get + "A\t: b\r\n\r\n"),
                row("space in a name", 400, get + "A B: c\r\n\r\n"),
                row("no colon", 400, get + "A\r\n\r\n"),
                row("no name", 400, get + ": b\r\n\r\n"),
                row("name with parenthesis", 400, get + "A(: b\r\n\r\n"),
                row("name beyond ASCII", 400, get + "\u00e4: b\r\n\r\n"),
                row("Content-Length with space before colon", 400, post + "Content-Length : 5\r\n\r\nhello"),
                // The request line.
                row("two spaces", 400, "GET  / HTTP/1.1\r\n" + host + "\r\n"),
                row("two spaces before the version", 400, "GET /  HTTP/1.1\r\n" + host + "\r\n"),
                row("tab", 400, "GET\t/ HTTP/1.1\r\n" + host + "\r\n"),
                row("vertical tab", 400, "GET /\u000bHTTP/1.1\r\n" + host + "\r\n"),
                row("form feed", 400, "GET\u000c/ HTTP/1.1\r\n" + host + "\r\n"),
                row("CR in the line", 400, "GET /\rHTTP/1.1\r\n" + host + "\r\n"),
                row("leading space", 400, " GET / HTTP/1.1\r\n" + host + "\r\n"),
                row("trailing space", 400, "GET / HTTP/1.1 \r\n" + host + "\r\n"),
                row("space in the target", 400, "GET /a b HTTP/1.1\r\n" + host + "\r\n"),
                row("NUL in the target", 400, "GET /a\0b HTTP/1.1\r\n" + host + "\r\n"),
                row("control character in the target", 400, "GET /a\u0001b HTTP/1.1\r\n" + host + "\r\n"),
                row("DEL in the target", 400, "GET /a\u007fb HTTP/1.1\r\n" + host + "\r\n"),
                row("fragment", 400, "GET /a#b HTTP/1.1\r\n" + host + "\r\n"),
                row("encoded NUL", 400, "GET /a%00b HTTP/1.1\r\n" + host + "\r\n"),
                row("broken encoding", 400, "GET /a%zz HTTP/1.1\r\n" + host + "\r\n"),
                row("cut encoding", 400, "GET /a%4 HTTP/1.1\r\n" + host + "\r\n"),
                row("method with brackets", 400, "G[T / HTTP/1.1\r\n" + host + "\r\n"),
                row("method beyond ASCII", 400, "G\u00cbT / HTTP/1.1\r\n" + host + "\r\n"),
                row("no version", 400, "GET /\r\n" + host + "\r\n"),
                row("HTTP/0.9 of one word", 400, "GET\r\n\r\n"),
                row("lower-case version", 400, "GET / http/1.1\r\n" + host + "\r\n"),
                row("version of two digits", 400, "GET / HTTP/1.10\r\n" + host + "\r\n"),
                row("version of one number", 400, "GET / HTTP/1\r\n" + host + "\r\n"),
                row("version with letters", 400, "GET / HTTP/1.a\r\n" + host + "\r\n"),
                row("another protocol", 400, "GET / HTTQ/1.1\r\n" + host + "\r\n"),
                row("HTTP/2 preface", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                row("HTTP/1.2", 505, "GET / HTTP/1.2\r\n" + host + "\r\n"),
                row("HTTP/0.9 by name", 505, "GET / HTTP/0.9\r\n" + host + "\r\n"),
                row("TLS hello", 400, "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003\r\n\r\n"),
                row("TRACE", 405, "TRACE / HTTP/1.1\r\n" + host + "\r\n"),
                row("CONNECT", 405, "CONNECT a:443 HTTP/1.1\r\n" + host + "\r\n"),
                // Host and target.
                row("no Host", 400, "GET / HTTP/1.1\r\n\r\n"),
                row("two Hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
                row("the same Host twice", 400, get + host + "\r\n"),
                row("empty Host", 400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
                row("two hosts in one", 400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
                row("Host with path", 400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
                row("Host with user", 400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"),
                row("Host with port of letters", 400, "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n"),
                row("Host with two ports", 400, "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n"),
                row("Host of a port only", 400, "GET / HTTP/1.1\r\nHost: :80\r\n\r\n"),
                row("Host with open bracket", 400, "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
                row("Host beyond ASCII", 400, "GET / HTTP/1.1\r\nHost: \u00e4\r\n\r\n"),
                row("asterisk for GET", 400, "GET * HTTP/1.1\r\n" + host + "\r\n"),
                row("target without slash", 400, "GET a HTTP/1.1\r\n" + host + "\r\n"),
                row("authority form", 400, "GET a:80 HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form of another scheme", 400, "GET ftp://a/ HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form without host", 400, "GET http:///x HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form with user", 400, "GET http://u@a/x HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form without Host", 400, "GET http://a/x HTTP/1.1\r\n\r\n"),
                row("another expectation", 417, post + "Expect: a-pony\r\nContent-Length: 5\r\n\r\n"),
                row("an expectation more", 417, post + "Expect: 100-continue, x\r\nContent-Length: 5\r\n\r\n"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void isRefusedAndTheConnectionIsClosed(String what, int status, String bytes) throws IOException {
        try (RawClient client = server.connect()) {
            client.send(bytes + SMUGGLED);
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(answer.text()).contains("Request: ");
            assertThat(client.endsCleanly()).as("nothing follows").isTrue();
        }
    }

    /** The parser must not depend on where the network cuts the bytes. */
    @ParameterizedTest(name = "{0}, byte by byte")
    @MethodSource("refused")
    void isRefusedHoweverTheBytesAreCut(String what, int status, String bytes) throws IOException {
        EmbeddedChannel channel = server.embedded();
        for (byte b : (bytes + SMUGGLED).getBytes(StandardCharsets.ISO_8859_1)) {
            if (channel.isActive()) {
                channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {b}));
            }
        }
        String out = TestServer.written(channel);
        assertThat(out).startsWith("HTTP/1.1 " + status + " ");
        assertThat(out.lines().filter(line -> line.startsWith("HTTP/1.1 ")))
                .as("one answer")
                .hasSize(1);
        channel.finishAndReleaseAll();
    }

    static Stream<Arguments> served() {
        String host = "Host: a\r\n";
        String post = "POST / HTTP/1.1\r\n" + host;
        String chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
        return Stream.of(
                row("plain", "/ ", "GET / HTTP/1.1\r\n" + host + "\r\n"),
                row("empty lines first", "/ ", "\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n"),
                row("no space behind the colon", "/ ", "GET / HTTP/1.1\r\nHost:a\r\n\r\n"),
                row("spaces around a value", "/ ", "GET / HTTP/1.1\r\nHost: \t a \t \r\n\r\n"),
                row("tab inside a value", "/ ", "GET / HTTP/1.1\r\n" + host + "A: b\tc\r\n\r\n"),
                row("bytes beyond ASCII in a value", "/ ", "GET / HTTP/1.1\r\n" + host + "A: \u00e4\u00ff\r\n\r\n"),
                row(
                        "bytes beyond ASCII in the target",
                        "/\u00e4?\u00ff ",
                        "GET /\u00e4?\u00ff HTTP/1.1\r\n" + host + "\r\n"),
                row("broken encoding in the query", "/?a=%zz&b=%00 ", "GET /?a=%zz&b=%00 HTTP/1.1\r\n" + host + "\r\n"),
                row(
                        "brackets and quotes in the target",
                        "/[\"<>]{|}?^` ",
                        "GET /[\"<>]{|}?^` HTTP/1.1\r\n" + host + "\r\n"),
                row("two slashes", "//a//b ", "GET //a//b HTTP/1.1\r\n" + host + "\r\n"),
                row("empty value", "/ ", "GET / HTTP/1.1\r\n" + host + "A:\r\n\r\n"),
                row(
                        "field names of every token character",
                        "/ ",
                        "GET / HTTP/1.1\r\n" + host + "!#$%&'*+-.^`|~9aZ: b\r\n\r\n"),
                row("unknown method", "/ ", "BREW / HTTP/1.1\r\n" + host + "\r\n"),
                row("Host with port", "/ ", "GET / HTTP/1.1\r\nHost: a:8080\r\n\r\n"),
                row("Host with empty port", "/ ", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n"),
                row("Host of an IPv6 address", "/ ", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
                row("absolute form", "/x?y ", "GET http://b/x?y HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form without path", "/ ", "GET HTTP://b HTTP/1.1\r\n" + host + "\r\n"),
                row("absolute form with query only", "/?y ", "GET https://b?y HTTP/1.1\r\n" + host + "\r\n"),
                row("length 0", "/ ", post + "Content-Length: 0\r\n\r\n"),
                row("length with leading zeros", "/ hello", post + "Content-Length: 0005\r\n\r\nhello"),
                row("body of a GET", "/ hello", "GET / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello"),
                row("chunked", "/ hello", chunked + "5\r\nhello\r\n0\r\n\r\n"),
                row(
                        "chunked in other case",
                        "/ hello",
                        post + "transfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                row("several chunks", "/ hello", chunked + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
                row("chunk size in either case", "/ helloworld", chunked + "A\r\nhelloworld\r\n0\r\n\r\n"),
                row("chunk size with zeros", "/ hello", chunked + "0005\r\nhello\r\n000\r\n\r\n"),
                row("chunk extensions", "/ hello", chunked + "5;a=b;c=\"d e\"\r\nhello\r\n0;x\r\n\r\n"),
                row(
                        "trailers are dropped",
                        "/ hello",
                        chunked + "5\r\nhello\r\n0\r\nA: b\r\nContent-Length: 3\r\n\r\n"),
                row("chunked and empty", "/ ", chunked + "0\r\n\r\n"),
                row("100-continue without a body", "/ ", "GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n"));
    }

    private static Arguments row(String what, String expected, String bytes) {
        return Arguments.of(what, expected, bytes);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("served")
    void isServedAndTheConnectionGoesOn(String what, String expected, String bytes) throws IOException {
        try (RawClient client = server.connect()) {
            client.send(bytes + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.text()).isEqualTo(expected);
            assertThat(client.answer().text()).as("the request behind it").isEqualTo("/next ");
        }
    }

    @ParameterizedTest(name = "{0}, byte by byte")
    @MethodSource("served")
    void isServedHoweverTheBytesAreCut(String what, String expected, String bytes) throws IOException {
        try (RawClient client = server.connect()) {
            for (byte b : bytes.getBytes(StandardCharsets.ISO_8859_1)) {
                client.send(new byte[] {b});
            }
            assertThat(client.answer().text()).isEqualTo(expected);
        }
    }
}
