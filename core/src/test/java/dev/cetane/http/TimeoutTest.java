package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.ScriptedDispatcher.Running;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every wait for a client has an end, on a clock that only this test moves. */
final class TimeoutTest {
    private static final Duration HEADER = Duration.ofSeconds(10);
    private static final Duration BODY = Duration.ofSeconds(30);
    private static final Duration IDLE = Duration.ofSeconds(60);
    private static final Duration A_BIT = Duration.ofMillis(1);

    private final ManualTicker ticker = new ManualTicker();
    private TestServer server;
    private EmbeddedChannel channel;

    @BeforeEach
    void connect() throws IOException {
        server = TestServer.start();
        channel = server.embedded(ticker);
    }

    @AfterEach
    void stop() {
        channel.finishAndReleaseAll();
        server.close();
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    private void pass(Duration time) {
        ticker.advance(time.toNanos());
        channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
    }

    private String written() {
        return TestServer.written(channel);
    }

    private void respond(Running job) {
        job.respond(200, "x");
        channel.runPendingTasks();
    }

    @Test
    void aConnectionWithoutARequestIsClosedSilently() {
        pass(IDLE.minus(A_BIT));
        assertThat(channel.isOpen()).isTrue();
        pass(A_BIT);
        assertThat(channel.isOpen()).isFalse();
        assertThat(written()).isEmpty();
    }

    @Test
    void aHeadThatIsNotCompleteInTimeIsAnswered408() {
        pass(IDLE.minus(A_BIT));
        send("GET / HTTP/1.1\r\nHos");
        pass(HEADER.minus(A_BIT));
        assertThat(written()).isEmpty();
        pass(A_BIT);
        assertThat(written()).startsWith("HTTP/1.1 408 ").contains("Connection: close");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void drippingAHeadDoesNotExtendItsTime() {
        for (char c : "GET / HTTP/1.1\r\nA:".toCharArray()) {
            send(String.valueOf(c));
            pass(Duration.ofMillis(555));
        }
        pass(Duration.ofMillis(600));
        assertThat(written()).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void emptyLinesDoNotStartAHead() {
        send("\r\n");
        pass(HEADER);
        assertThat(written()).isEmpty();
        assertThat(channel.isOpen()).isTrue();
        pass(IDLE.minus(HEADER));
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aBodyThatPausesTooLongIsAnswered408() {
        send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
        pass(BODY.minus(A_BIT));
        send("h");
        pass(BODY.minus(A_BIT));
        send("e");
        pass(BODY.minus(A_BIT));
        assertThat(written()).isEmpty();
        pass(A_BIT);
        assertThat(written()).startsWith("HTTP/1.1 408 ");
        assertThat(server.dispatcher.idle()).isTrue();
    }

    @Test
    void aChunkedBodyThatPausesTooLongIsAnswered408() {
        send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        pass(BODY);
        assertThat(written()).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void theApplicationsTimeIsNotTheClients() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        pass(Duration.ofHours(1));
        assertThat(channel.isOpen()).isTrue();
        respond(server.dispatcher.take());
        assertThat(written()).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void theIdleTimeBeginsAnewWithEachAnswer() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(server.dispatcher.take());
        assertThat(written()).startsWith("HTTP/1.1 200 ");
        pass(IDLE.minus(A_BIT));
        assertThat(channel.isOpen()).isTrue();
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(server.dispatcher.take());
        pass(IDLE.minus(A_BIT));
        assertThat(channel.isOpen()).isTrue();
        pass(A_BIT);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void theSecondHeadOfAConnectionIsTimedToo() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT");
        pass(HEADER);
        respond(server.dispatcher.take());
        assertThat(written()).startsWith("HTTP/1.1 200 ");
        pass(HEADER.minus(A_BIT));
        assertThat(channel.isOpen()).isTrue();
        pass(A_BIT);
        assertThat(written()).startsWith("HTTP/1.1 408 ");
    }

    /** A hello world leaves in one write: what is handed to the operating system is one buffer. */
    @Test
    void anAnswerOfKnownLengthIsOneWrite() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        Running job = server.dispatcher.take();
        job.headOfLength(200, 1);
        channel.runPendingTasks();
        job.data("x");
        channel.runPendingTasks();
        assertThat(channel.outboundMessages()).isEmpty();
        job.end().done();
        channel.runPendingTasks();
        assertThat(channel.outboundMessages()).hasSize(1);
        assertThat(written()).endsWith("Content-Length: 1\r\n\r\nx");
    }

    @Test
    void theDateIsMadeAnewEachSecond() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(server.dispatcher.take());
        String first = written();
        pass(Duration.ofSeconds(1));
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(server.dispatcher.take());
        assertThat(first).contains("Date: Sun, 09 Sep 2001 01:46:41 GMT\r\n");
        assertThat(written()).contains("Date: Sun, 09 Sep 2001 01:46:42 GMT\r\n");
    }
}
