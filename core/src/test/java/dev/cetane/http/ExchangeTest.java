package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.http.RawClient.Answer;
import dev.cetane.http.ScriptedDispatcher.Running;
import dev.cetane.worker.WorkerException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and answers over real sockets: framing, order, failures, and what becomes of clients that are slow or leave. */
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
            assertThat(answer.fields()).doesNotContainKey("content-length");
            assertThat(answer.text()).isEqualTo("one two");
        }
    }

    @Test
    void anEmptyAnswerIsWhole() throws IOException {
        server.dispatcher.answer(job -> job.headOfLength(200, 0).end().done());
        try (RawClient client = server.connect()) {
            assertThat(client.get("/").answer().field("content-length")).isEqualTo("0");
            assertThat(client.get("/").answer().text()).isEmpty();
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

    @Test
    void partsOfAStreamedAnswerArriveBeforeItsEnd() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.head(200);
            assertThat(client.head().status()).as("the head, before any data").isEqualTo(200);
            job.data("first");
            assertThat(client.line()).isEqualTo("5");
            assertThat(client.text(7)).isEqualTo("first\r\n");
            job.data("second").end().done();
            assertThat(client.line()).isEqualTo("6");
        }
    }

    @Test
    void partsOfAnAnswerOfKnownLengthArriveBeforeItsEnd() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.headOfLength(200, 10).data("first");
            assertThat(client.head().field("content-length")).isEqualTo("10");
            assertThat(client.text(5)).isEqualTo("first");
            job.data("other").end().done();
            assertThat(client.text(5)).isEqualTo("other");
        }
    }

    // ---- methods, statuses and versions ----

    @Test
    void headGetsTheHeadOfItsGetAndNoBody() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, "hello"));
        try (RawClient client = server.connect()) {
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.answerToHead().field("content-length")).isEqualTo("5");
            assertThat(client.get("/").answer().text()).isEqualTo("hello");
        }
    }

    @Test
    void headKeepsTheLengthThatTheApplicationNames() throws IOException {
        server.dispatcher.answer(
                job -> job.headOfLength(200, 0, "Content-Length", "1234").end().done());
        try (RawClient client = server.connect()) {
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.answerToHead().field("content-length")).isEqualTo("1234");
        }
    }

    @Test
    void headOfAStreamHasNoFraming() throws IOException {
        server.dispatcher.answer(job -> job.head(200).data("hello").end().done());
        try (RawClient client = server.connect()) {
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.answerToHead().fields()).doesNotContainKeys("content-length", "transfer-encoding");
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.answerToHead().status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 304})
    void statusesWithoutABodyHaveNone(int status) throws IOException {
        server.dispatcher.answer(job -> job.respond(status, "a body", "Content-Length", "6"));
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.fields()).doesNotContainKeys("content-length", "transfer-encoding");
            assertThat(client.get("/").answer().status())
                    .as("the next answer on it")
                    .isEqualTo(status);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "200,OK",
        "299,Successful (299)",
        "404,Not Found",
        "418,I'm a teapot",
        "599,Server Error (599)",
        "999,Unknown Status (999)"
    })
    void everyStatusIsPassedOn(int status, String ignored) throws IOException {
        server.dispatcher.answer(job -> job.respond(status, "x"));
        try (RawClient client = server.connect()) {
            assertThat(client.get("/").answer().status()).isEqualTo(status);
        }
    }

    @Test
    void anHttp10ClientGetsAStreamUntilTheConnectionEnds() throws IOException {
        server.dispatcher.answer(
                job -> job.head(200).data("one ").data("two").end().done());
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
            Answer answer = client.answer();
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(answer.fields()).doesNotContainKeys("content-length", "transfer-encoding");
            assertThat(answer.text()).isEqualTo("one two");
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void anHttp10ClientKeepsItsConnectionWhenItAsksFor() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, "hello"));
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
            assertThat(client.answer().field("connection")).isEqualTo("keep-alive");
            client.send("GET / HTTP/1.0\r\n\r\n");
            assertThat(client.answer().field("connection")).isEqualTo("close");
            assertThat(client.atEnd()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"close", "Close", "keep-alive, close", "x,close ,y"})
    void theConnectionEndsWhenTheClientSaysSo(String connection) throws IOException {
        server.dispatcher.answer(job -> job.respond(200, "hello"));
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: " + connection + "\r\n\r\n");
            assertThat(client.answer().field("connection")).isEqualTo("close");
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void optionsOfTheServerIsAnsweredWithoutAWorker() throws IOException {
        try (RawClient client = server.connect()) {
            client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(204);
            assertThat(answer.field("allow"))
                    .contains("GET")
                    .contains("OPTIONS")
                    .doesNotContain("TRACE");
            assertThat(server.dispatcher.idle()).isTrue();
        }
    }

    // ---- heads from the application ----

    @Test
    void interimHeadsArePassedOn() throws IOException {
        server.dispatcher.answer(
                job -> job.headOfLength(103, 0, "Link", "</a.css>; rel=preload").respond(200, "hello", "X-Final", "1"));
        try (RawClient client = server.connect()) {
            Answer hints = client.get("/").answer();
            assertThat(hints.statusLine()).isEqualTo("HTTP/1.1 103 Early Hints");
            assertThat(hints.field("link")).isEqualTo("</a.css>; rel=preload");
            Answer answer = client.answer();
            assertThat(answer.text()).isEqualTo("hello");
            assertThat(answer.fields()).doesNotContainKey("link");
        }
    }

    @Test
    void anHttp10ClientGetsNoInterimHead() throws IOException {
        server.dispatcher.answer(job -> job.headOfLength(103, 0, "Link", "x").respond(200, "hello"));
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.0\r\n\r\n");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void fieldsOfTheConnectionAreDroppedAndOthersKept() throws IOException {
        server.dispatcher.answer(job -> job.respond(
                200,
                "hello",
                "connection",
                "upgrade",
                "Keep-Alive",
                "timeout=5",
                "Transfer-Encoding",
                "gzip",
                "Upgrade",
                "h2c",
                "TE",
                "trailers",
                "Trailer",
                "X",
                "Proxy-Connection",
                "close",
                "Content-Length",
                "999",
                "Set-Cookie",
                "a=b",
                "Set-Cookie",
                "c=d",
                "Server",
                "app",
                "Date",
                "Thu, 01 Jan 1970 00:00:00 GMT",
                "X-Bytes",
                "\u00e4\u00ff"));
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.fields().keySet())
                    .containsExactlyInAnyOrder("content-length", "set-cookie", "server", "date", "x-bytes");
            assertThat(answer.field("content-length")).isEqualTo("5");
            assertThat(answer.field("set-cookie")).isEqualTo("a=b\nc=d");
            assertThat(answer.field("date")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
            assertThat(answer.field("x-bytes")).isEqualTo("\u00e4\u00ff");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "X-A|b\\r\\nInjected: yes",
                "X-A|b\\n",
                "X-A|\\0",
                "X A|b",
                "X-A:|b",
                "''|b",
                "X\\r\\n|b",
                "Content-Length|five"
            })
    void aHeaderThatCannotBeSentCostsA502(String name, String value) throws IOException {
        server.dispatcher.answer(job ->
                job.head(200, unescape(name), unescape(value)).data("x").end().done());
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.status()).isEqualTo(502);
            assertThat(answer.fields()).doesNotContainKey("injected");
            assertThat(client.get("/").answer().status())
                    .as("the connection goes on")
                    .isEqualTo(502);
        }
        assertThat(server.log.events("request.invalid-answer")).hasSize(2);
    }

    private static String unescape(String text) {
        return text.replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0");
    }

    @Test
    void aLengthThatTheApplicationNamesFramesAStream() throws IOException {
        server.dispatcher.answer(job -> job.head(200, "Content-Length", "10")
                .data("first")
                .data("other")
                .end()
                .done());
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.field("content-length")).isEqualTo("10");
            assertThat(answer.text()).isEqualTo("firstother");
            assertThat(client.get("/").answer().text()).isEqualTo("firstother");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"short", "much too long"})
    void anotherLengthThanTheApplicationNamedIsCut(String body) throws Exception {
        server.dispatcher.answer(
                job -> job.head(200, "Content-Length", "9").data(body).end().done());
        try (RawClient client = server.connect()) {
            assertThatThrownBy(() -> client.get("/").answer())
                    .isInstanceOfAny(EOFException.class, SocketException.class);
        }
        assertThat(server.log.await("request.answer-cut").message()).contains("Content-Length");
        server.counts.await(counts -> counts.aborted() == 1);
    }

    // ---- order ----

    @Test
    void pipelinedRequestsAreServedInOrderAndOneAtATime() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/first").get("/second");
            Running first = server.dispatcher.take();
            assertThat(first.job.describe()).isEqualTo("GET /first");
            assertThat(server.dispatcher.idle()).as("the second waits").isTrue();
            first.respond(200, "1");
            Running second = server.dispatcher.take();
            assertThat(second.job.describe()).isEqualTo("GET /second");
            second.respond(200, "2");
            assertThat(client.answer().text()).isEqualTo("1");
            assertThat(client.answer().text()).isEqualTo("2");
        }
    }

    @Test
    void aFloodOfPipelinedRequestsIsServedCompletely() throws Exception {
        server.dispatcher.answer(job -> job.respond(200, job.request().server().get("REQUEST_URI")));
        int count = 3000;
        StringBuilder requests = new StringBuilder();
        for (int i = 0; i < count; i++) {
            requests.append("POST /").append(i).append(" HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab");
        }
        try (RawClient client = server.connect()) {
            Thread writer = new Thread(() -> {
                try {
                    client.send(requests.toString());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            for (int i = 0; i < count; i++) {
                assertThat(client.answer().text()).isEqualTo("/" + i);
            }
            writer.join();
        }
    }

    /** Closing a socket with unread input resets it, and a reset can overtake the answer. */
    @Test
    void whatFollowsTheLastRequestDoesNotCostItsAnswer() throws Exception {
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            Running job = server.dispatcher.take();
            for (int i = 0; i < 40; i++) {
                client.send("GET /late HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(4000) + "\r\n\r\n");
            }
            job.respond(200, "hello");
            assertThat(client.answer().text()).isEqualTo("hello");
            assertThat(client.endsCleanly()).isTrue();
            assertThat(server.dispatcher.idle()).isTrue();
        }
    }

    // ---- 100-continue ----

    @Test
    void continueIsSentBeforeTheBody() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, job.request().text()));
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
            assertThat(client.answer().statusLine()).isEqualTo("HTTP/1.1 100 Continue");
            client.send("hello");
            assertThat(client.answer().text()).isEqualTo("hello");
        }
    }

    @Test
    void continueOfAPipelinedRequestWaitsForTheAnswerBeforeIt() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/").send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            server.dispatcher.take().respond(200, "first");
            assertThat(client.answer().text()).isEqualTo("first");
            assertThat(client.answer().status()).isEqualTo(100);
        }
    }

    @Test
    void aBodyThatIsTooLargeIsRefusedInsteadOfContinued() throws IOException {
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n");
            assertThat(client.answer().status()).isEqualTo(413);
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void anHttp10ClientIsNeverContinued() throws IOException {
        server.dispatcher.answer(job -> job.respond(200, job.request().text()));
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
            assertThat(client.answer().text()).isEqualTo("hello");
        }
    }

    // ---- failures ----

    @ParameterizedTest
    @CsvSource({
        "OVERLOADED,503",
        "QUEUE_TIMEOUT,503",
        "DRAINING,503",
        "TIMED_OUT,504",
        "CRASHED,502",
        "PROTOCOL,502",
        "BOOT_FAILED,502",
        "APPLICATION,500",
        "UNDELIVERABLE,431"
    })
    void aFailedJobIsAnsweredByItsKind(Kind kind, int status) throws IOException {
        server.dispatcher.answer(job -> job.failed(kind));
        try (RawClient client = server.connect()) {
            Answer answer = client.get("/").answer();
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.field("retry-after")).isEqualTo(status == 503 ? "1" : null);
            assertThat(answer.field("cache-control")).isEqualTo("no-store");
            assertThat(answer.text()).doesNotContain("scripted").doesNotContain("public detail");
            assertThat(client.get("/").answer().status())
                    .as("the connection goes on")
                    .isEqualTo(status);
        }
    }

    @Test
    void anAnswerToAFailureNamesTheIdThatTheLogHas() throws Exception {
        server.dispatcher.answer(job -> job.failed(Kind.APPLICATION));
        try (RawClient client = server.connect()) {
            String text = client.get("/").answer().text();
            String id = server.log.await("request.failed").requestId();
            assertThat(text).contains("Request: " + id);
        }
    }

    @Test
    void aFailureAnswersHeadWithoutABody() throws IOException {
        server.dispatcher.answer(job -> job.failed(Kind.APPLICATION));
        try (RawClient client = server.connect()) {
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(client.answerToHead().status()).isEqualTo(500);
            assertThat(client.get("/").answer().status()).isEqualTo(500);
        }
    }

    @Test
    void debugModeShowsTheApplicationsMessage() throws IOException {
        try (TestServer debugging = TestServer.start(config -> {
            config.debug = true;
            return config;
        })) {
            debugging.dispatcher.answer(job -> job.failed(Kind.APPLICATION));
            try (RawClient client = debugging.connect()) {
                assertThat(client.get("/").answer().text()).contains("public detail");
            }
        }
    }

    @Test
    void anInterimHeadDoesNotKeepAFailureFromBeingAnswered() throws IOException {
        server.dispatcher.answer(job -> job.headOfLength(103, 0, "Link", "x").failed(Kind.CRASHED));
        try (RawClient client = server.connect()) {
            assertThat(client.get("/").answer().status()).isEqualTo(103);
            assertThat(client.answer().status()).isEqualTo(502);
        }
    }

    @Test
    void aChunkedAnswerThatFailsHasNoLastChunk() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.head(200).data("some");
            assertThat(client.head().field("transfer-encoding")).isEqualTo("chunked");
            assertThat(client.text(9)).isEqualTo("4\r\nsome\r\n");
            job.failed(Kind.CRASHED);
            assertThat(client.atEnd()).isTrue();
        }
        server.counts.await(counts -> counts.aborted() == 1 && counts.closed() == 1);
        assertThat(server.counts.now().answered()).isEmpty();
    }

    /** Under nginx with php-fpm it has them too. There the answer then ends as if it were whole. */
    @Test
    void whatWasFlushedBeforeAnAnswerFailsReachesTheClientAndNoEnd() throws Exception {
        server.dispatcher.answer(job -> job.head(200).data("some").data("more").failed(Kind.APPLICATION));
        for (int request = 0; request < 50; request++) {
            try (RawClient client = server.connect()) {
                client.get("/");
                assertThat(client.head().status()).isEqualTo(200);
                StringBuilder body = new StringBuilder();
                while (body.length() < 8) {
                    body.append(client.text(Integer.parseInt(client.line(), 16)))
                            .append(client.line());
                }
                assertThat(body).hasToString("somemore");
                assertThat(client.endsCleanly()).as("without a last chunk").isTrue();
            }
        }
        server.counts.await(counts -> counts.aborted() == 50 && counts.closed() == 50);
    }

    @Test
    void anAnswerThatLacksItsEndAloneIsNotTakenForWhole() throws Exception {
        server.dispatcher.answer(job -> job.headOfLength(200, 4).data("some").failed(Kind.CRASHED));
        for (int request = 0; request < 50; request++) {
            try (RawClient client = server.connect()) {
                assertThatThrownBy(() -> client.get("/").answer())
                        .isInstanceOfAny(EOFException.class, SocketException.class);
            }
        }
    }

    @Test
    void anAnswerOfKnownLengthThatFailsIsShort() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            server.dispatcher.take().headOfLength(200, 10).data("some").failed(Kind.CRASHED);
            assertThatThrownBy(client::answer).isInstanceOfAny(EOFException.class, SocketException.class);
        }
        server.counts.await(counts -> counts.aborted() == 1);
    }

    /** The end of the connection is all that an HTTP/1.0 client has to recognise the end of an answer: it must be a reset. */
    @Test
    void anAnswerToAnHttp10ClientThatFailsEndsInAReset() throws Exception {
        try (RawClient client = server.connect()) {
            client.send("GET / HTTP/1.0\r\n\r\n");
            Running job = server.dispatcher.take();
            job.head(200).data("some");
            client.head();
            client.bytes(4);
            job.failed(Kind.CRASHED);
            assertThatThrownBy(() -> client.bytes(1))
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
    }

    // ---- clients that are slow, or leave ----

    @Test
    void aClientThatLeavesCancelsItsJobAndTheOutputIsThrownAway() throws Exception {
        RawClient client = server.connect();
        client.get("/");
        Running job = server.dispatcher.take();
        client.close();
        assertThat(server.dispatcher.takeCancelled()).isSameAs(job.job);
        job.head(200).data(new byte[4 << 20]).end().done();
        server.counts.await(counts -> counts.abandoned() == 1 && counts.closed() == 1);
        assertThat(server.counts.now().answered()).isEmpty();
    }

    @Test
    void aClientThatLeavesInTheMiddleFreesTheReader() throws Exception {
        RawClient client = new RawClient(server.address(), 4096);
        client.get("/");
        Running job = server.dispatcher.take();
        Thread reader =
                new Thread(() -> job.head(200).data(new byte[64 << 20]).end().done());
        reader.start();
        client.head();
        client.close();
        reader.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(reader.isAlive()).isFalse();
        assertThat(server.dispatcher.takeCancelled()).isSameAs(job.job);
    }

    @Test
    void aSlowClientSlowsTheWorkerDownAndGetsEverything() throws Exception {
        int piece = 64 * 1024;
        int pieces = 512;
        AtomicLong sent = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(1);
        try (RawClient client = new RawClient(server.address(), 4096)) {
            client.get("/");
            Running job = server.dispatcher.take();
            Thread reader = new Thread(() -> {
                job.headOfLength(200, (long) piece * pieces);
                byte[] bytes = new byte[piece];
                for (int i = 0; i < pieces; i++) {
                    bytes[0] = (byte) i;
                    job.data(bytes);
                    sent.addAndGet(piece);
                }
                job.end().done();
                ended.countDown();
            });
            reader.start();
            client.head();
            // Buffer, kernel and socket hold some megabytes; the rest has to wait for the client.
            awaitState(reader, Thread.State.WAITING);
            assertThat(sent.get()).isLessThan(16L << 20);
            for (int i = 0; i < pieces; i++) {
                assertThat(client.bytes(piece)[0]).isEqualTo((byte) i);
            }
            assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static void awaitState(Thread thread, Thread.State state) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (thread.getState() != state) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("is " + thread.getState());
            }
            Thread.onSpinWait();
        }
    }

    @Test
    void aClientThatTakesNothingIsCutAfterTheWriteTimeout() throws Exception {
        try (TestServer impatient = TestServer.start(config -> {
                    config.writeTimeout = Duration.ofMillis(100);
                    return config;
                });
                RawClient client = new RawClient(impatient.address(), 4096)) {
            client.get("/");
            Running job = impatient.dispatcher.take();
            Thread reader = new Thread(
                    () -> job.head(200).data(new byte[64 << 20]).end().done());
            reader.start();
            impatient.counts.await(counts -> counts.aborted() == 1 && counts.closed() == 1);
            reader.join(TimeUnit.SECONDS.toMillis(10));
            assertThat(reader.isAlive()).isFalse();
            assertThat(impatient.dispatcher.takeCancelled()).isSameAs(job.job);
        }
    }

    @Test
    void aCompleteAnswerThatNobodyTakesIsCutToo() throws Exception {
        try (TestServer impatient = TestServer.start(config -> {
                    config.writeTimeout = Duration.ofMillis(100);
                    config.responseBufferBytes = 256 << 20;
                    return config;
                });
                RawClient client = new RawClient(impatient.address(), 4096)) {
            client.get("/");
            impatient.dispatcher.take().head(200).data(new byte[32 << 20]).end().done();
            impatient.counts.await(counts -> counts.aborted() == 1 && counts.closed() == 1);
        }
    }

    @Test
    void aSlowUploadCostsNoWorker() throws Exception {
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
            try (RawClient other = server.connect()) {
                other.get("/other");
                Running job = server.dispatcher.take();
                assertThat(job.job.describe()).isEqualTo("GET /other");
                job.respond(200, "");
                assertThat(other.answer().status()).isEqualTo(200);
            }
            client.send("o");
            Running job = server.dispatcher.take();
            assertThat(job.request().text()).isEqualTo("hello");
            job.respond(200, "");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    // ---- what is counted and logged ----

    @Test
    void everyAnswerIsCounted() throws Exception {
        server.dispatcher.answer(job -> job.respond(201, ""));
        try (RawClient client = server.connect()) {
            client.get("/").answer();
            client.send("nonsense\r\n\r\n").answer();
        }
        assertThat(server.counts.await(counts -> counts.closed() == 1).answered())
                .containsExactly(201, 400);
    }

    @Test
    void theAccessLogHasALineForEachAnswer() throws Exception {
        try (TestServer logging = TestServer.start(config -> {
                    config.accessLog = true;
                    return config;
                });
                RawClient client = logging.connect()) {
            logging.dispatcher.answer(job -> job.respond(200, "hello"));
            client.send("GET /a?b HTTP/1.1\r\nHost: a\r\nX-Request-Id: my-id\r\n\r\n")
                    .answer();
            var event = logging.log.await("http.access");
            assertThat(event.requestId()).isEqualTo("my-id");
            assertThat(event.message()).isEqualTo("GET /a?b");
            assertThat(event.field("status")).isEqualTo(200);
            assertThat(event.field("peer")).isEqualTo("127.0.0.1");
        }
    }
}
