package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that are too large, too slow or not HTTP are answered before PHP sees anything of them. */
@Timeout(180)
final class BadRequestTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("http.max-uri", "1KiB")
                .set("http.max-header", "2KiB")
                .set("http.max-body", "64KiB")
                .set("http.header-timeout", "500ms")
                .set("http.body-timeout", "500ms")
                .start();
    }

    static Stream<Arguments> badRequests() {
        String get = "GET / HTTP/1.1\r\nHost: a\r\n";
        String post = "POST / HTTP/1.1\r\nHost: a\r\n";
        return Stream.of(
                Arguments.of("no HTTP at all", "hello\r\n\r\n", 400),
                Arguments.of("no Host", "GET / HTTP/1.1\r\n\r\n", 400),
                Arguments.of("two Hosts", get + "Host: b\r\n\r\n", 400),
                Arguments.of("space before the colon", get + "X : y\r\n\r\n", 400),
                Arguments.of("a folded line", get + "X: y\r\n z\r\n\r\n", 400),
                Arguments.of("NUL in a value", get + "X: a\0b\r\n\r\n", 400),
                Arguments.of("line ends of LF alone", "GET / HTTP/1.1\nHost: a\n\n", 400),
                Arguments.of("a length that is no number", post + "Content-Length: 1x\r\n\r\n", 400),
                Arguments.of("a negative length", post + "Content-Length: -1\r\n\r\n", 400),
                Arguments.of("two lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
                Arguments.of(
                        "a length beside chunked",
                        post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                        400),
                Arguments.of("a bad chunk size", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
                Arguments.of("a coding that is not known", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
                Arguments.of("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
                Arguments.of("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
                Arguments.of("an expectation that cannot be met", get + "Expect: miracles\r\n\r\n", 417),
                Arguments.of("a long target", "GET /" + "x".repeat(1024) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
                Arguments.of("long fields", get + "X: " + "y".repeat(2048) + "\r\n\r\n", 431),
                Arguments.of("a large body, announced", post + "Content-Length: 65537\r\n\r\n", 413),
                Arguments.of(
                        "a large body in chunks",
                        post + "Transfer-Encoding: chunked\r\n\r\n10001\r\n" + "x".repeat(0x10001) + "\r\n0\r\n\r\n",
                        413),
                Arguments.of("a head that does not end", "GET / HTTP/1.1\r\nHost: a\r\nX: ", 408),
                Arguments.of("a body that does not end", post + "Content-Length: 10\r\n\r\nhalf", 408));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("badRequests")
    void a_bad_request_is_refused_the_connection_closed_and_php_left_in_peace(String what, String request, int status)
            throws IOException {
        int before = served();
        try (RawClient client = cetane.connect()) {
            RawClient.Answer answer = client.send(request).answer();
            assertThat(answer.status()).as(what).isEqualTo(status);
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(client.rest()).isEmpty();
        }
        assertThat(served()).isEqualTo(before + 1);
    }

    @Test
    void what_is_just_within_the_limits_is_served() throws IOException {
        String target = "/" + "x".repeat(1023);
        try (RawClient client = cetane.connect()) {
            assertThat(client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n")
                            .answer()
                            .status())
                    .isEqualTo(200);
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n" + "x".repeat(65_536));
            assertThat(client.answer().status()).isEqualTo(200);
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"
                    + "x".repeat(0x10000)
                    + "\r\n0\r\n\r\n");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void pipelined_requests_are_answered_in_order() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.get("/count").get("/pid").get("/count");
            int first = Integer.parseInt(client.answer().body());
            assertThat(client.answer().body()).matches("[0-9]+");
            assertThat(client.answer().body()).isEqualTo(Integer.toString(first + 2));
        }
    }

    @Test
    void a_client_that_asks_first_is_told_to_go_on() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.lines("POST / HTTP/1.1", "Host: a", "Content-Length: 5", "Expect: 100-continue", "");
            assertThat(client.answer().status()).isEqualTo(100);
            assertThat(client.send("hello").answer().status()).isEqualTo(200);
        }
    }

    /** How many requests the worker has seen, this one among them. */
    private static int served() {
        return Integer.parseInt(cetane.get("/count").body());
    }
}
