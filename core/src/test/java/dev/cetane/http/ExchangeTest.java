package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.RawClient.Answer;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests and answers as they should be, over real sockets. */
final class ExchangeTest {
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void anAnswerOfKnownLengthHasThatContentLength() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, "hello", "Content-Type", "text/plain"));
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.statusLine()).isEqualTo("HTTP/1.1 200 OK");
            assertThat(answer.text()).isEqualTo("hello");
            assertThat(answer.field("content-length")).isEqualTo("5");
            assertThat(answer.field("content-type")).isEqualTo("text/plain");
            assertThat(answer.field("date")).matches("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT");
            assertThat(answer.fields()).doesNotContainKeys("server", "connection", "transfer-encoding");
        }
    }

    @Test
    void anAnswerOfUnknownLengthComesInChunks() throws IOException {
        server.dispatcher.answer(
                job -> job.head(200).data("one ").data("two").end().done());
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.field("transfer-encoding")).isEqualTo("chunked");
            assertThat(answer.text()).isEqualTo("one two");
        }
    }

    @Test
    void aConnectionServesOneRequestAfterTheOther() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, job.request().server().get("REQUEST_URI")));
        try (RawClient client = server.connect()) {
            for (int i = 0; i < 5; i++) {
                assertThat(client.get("/" + i).answer().text()).isEqualTo("/" + i);
            }
        }
        assertThat(server.counts.now().opened()).isEqualTo(1);
    }

    @Test
    void aShortBodyArrivesInTheFrame() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, job.request().text()));
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nab\r\n\0");
            assertThat(client.answer().text()).isEqualTo("ab\r\n\0");
        }
    }
}
