package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.RawClient.Answer;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every limit below, at and above it; nothing above one reaches a worker. */
final class LimitsTest {
    private static final int MOST_URI = 1000;
    private static final int MOST_HEADER = 2000;
    private static final int MOST_BODY = 3000;
    private static final int INLINE = 100;

    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        server = TestServer.start(config -> {
            config.maxUriBytes = MOST_URI;
            config.maxHeaderBytes = MOST_HEADER;
            config.maxBodyBytes = MOST_BODY;
            config.inlineBodyBytes = INLINE;
            return config;
        });
        server.dispatcher.answer(job -> {
            var request = job.request();
            byte[] body = request.bodyFile() == null ? request.body() : ScriptedDispatcher.read(request.bodyFile());
            job.respond(200, body.length + (request.bodyFile() == null ? " inline" : " in a file"));
        });
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static void check(String request, int status, String text) throws IOException {
        try (RawClient client = server.connect()) {
            client.send(request);
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(status);
            if (status == 200) {
                assertThat(answer.text()).isEqualTo(text);
                assertThat(answer.fields()).doesNotContainKey("connection");
            } else {
                assertThat(answer.field("connection")).isEqualTo("close");
                assertThat(client.endsCleanly()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"-1,200", "0,200", "1,414", "63,414", "64,414", "5000,414"})
    void target(int above, int status) throws IOException {
        String target = "/" + "a".repeat(MOST_URI + above - 1);
        check("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", status, "0 inline");
    }

    @Test
    void aTargetWithoutEndIsRefusedBeforeItsEnd() throws IOException {
        check("GET /" + "a".repeat(10_000), 414, "");
    }

    @ParameterizedTest
    @CsvSource({"-1,200", "0,200", "1,431", "5000,431"})
    void sumOfFields(int above, int status) throws IOException {
        String fields = "Host: a\r\nA: b\r\nX: ";
        int counted = fields.length() - 4;
        check(
                "GET / HTTP/1.1\r\n" + fields + "x".repeat(MOST_HEADER - counted + above) + "\r\n\r\n",
                status,
                "0 inline");
    }

    @Test
    void aFieldWithoutEndIsRefusedBeforeItsEnd() throws IOException {
        check("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(10_000), 431, "");
    }

    @ParameterizedTest
    @CsvSource({"-1,200", "0,200", "1,431"})
    void numberOfFields(int above, int status) throws IOException {
        String more = "a:\r\n".repeat(RequestHead.MAX_FIELDS + above - 1);
        check("GET / HTTP/1.1\r\nHost: a\r\n" + more + "\r\n", status, "0 inline");
    }

    @ParameterizedTest
    @CsvSource({"-1,200", "0,200", "1,413"})
    void bodyByItsLength(int above, int status) throws IOException {
        int length = MOST_BODY + above;
        check(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n" + "b".repeat(length),
                status,
                length + " in a file");
    }

    @Test
    void aPromisedBodyThatIsTooLargeIsRefusedBeforeItIsSent() throws IOException {
        check("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + (MOST_BODY + 1) + "\r\n\r\n", 413, "");
    }

    @ParameterizedTest
    @CsvSource({"-1,200", "0,200", "1,413"})
    void bodyInChunks(int above, int status) throws IOException {
        int length = MOST_BODY + above;
        String chunk = "3e8\r\n" + "b".repeat(1000) + "\r\n";
        String last = Integer.toHexString(length - 2000) + "\r\n" + "b".repeat(length - 2000) + "\r\n";
        check(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + last + "0\r\n\r\n",
                status,
                length + " in a file");
    }

    @Test
    void aChunkedBodyThatIsTooLargeIsRefusedBeforeItsEnd() throws IOException {
        String chunk = "3e8\r\n" + "b".repeat(1000) + "\r\n";
        check("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk.repeat(4), 413, "");
        assertThat(server.spooled()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"-1,inline", "0,inline", "1,in a file"})
    void bodyInTheFrame(int above, String where) throws IOException {
        int length = INLINE + above;
        check(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n" + "b".repeat(length),
                200,
                length + " " + where);
        check(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n"
                        + Integer.toHexString(length - 1) + "\r\n" + "b".repeat(length - 1) + "\r\n0\r\n\r\n",
                200,
                length + " " + where);
    }

    @Test
    void trailersCountAsFields() throws IOException {
        check(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + "x".repeat(MOST_HEADER)
                        + "\r\n\r\n",
                431,
                "");
    }

    @Test
    void aBodyBesideALargeHeadGoesToAFileSoThatTheFrameHoldsBoth() throws IOException {
        try (TestServer large = TestServer.start(config -> {
                    config.maxHeaderBytes = 32 * 1024;
                    config.inlineBodyBytes = 24 * 1024;
                    return config;
                });
                RawClient client = large.connect()) {
            large.dispatcher.answer(job -> job.respond(200, job.request().bodyFile() == null ? "inline" : "in a file"));
            String target = "/" + "a".repeat(8000);
            client.send("POST " + target + " HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(32_000)
                    + "\r\nContent-Length: 24000\r\n\r\n" + "b".repeat(24_000));
            assertThat(client.answer().text()).isEqualTo("in a file");
        }
    }

    @Test
    void connections() throws Exception {
        try (TestServer small = TestServer.start(config -> {
                    config.maxConnections = 2;
                    return config;
                });
                RawClient first = small.connect();
                RawClient second = small.connect()) {
            small.dispatcher.answer(job -> job.respond(200, "ok"));
            assertThat(first.get("/").answer().status()).isEqualTo(200);
            assertThat(second.get("/").answer().status()).isEqualTo(200);
            try (RawClient third = small.connect()) {
                assertThat(third.atEnd()).isTrue();
            }
            assertThat(small.counts.now().refused()).isEqualTo(1);
            assertThat(small.log.await("http.connections-refused").message()).contains("http.max-connections");
            first.socket().close();
            small.counts.await(counts -> counts.closed() == 1);
            try (RawClient fourth = small.connect()) {
                assertThat(fourth.get("/").answer().status()).isEqualTo(200);
            }
        }
    }
}
