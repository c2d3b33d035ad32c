package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.http.ScriptedDispatcher.Running;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Answers whose body is a part of a file. */
final class FileResponseTest {
    @TempDir
    private Path directory;

    private TestServer server;
    private Path file;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start();
        file = Files.writeString(directory.resolve("file"), "0123456789");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static void awaitGone(Path file) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (Files.exists(file)) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(file + " is still there");
            }
            Thread.onSpinWait();
        }
    }

    @Test
    void isSentBetweenDataAndDeletedAfterwards() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.headOfLength(200, 7).data("<");
            job.job.file(file, 2, 5, true);
            job.data(">").end().done();
            assertThat(client.answer().text()).isEqualTo("<23456>");
        }
        awaitGone(file);
    }

    @Test
    void isAChunkOfAnAnswerOfUnknownLength() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.head(200);
            job.job.file(file, 0, 10, false);
            job.job.file(file, 3, 0, false);
            job.job.file(file, 9, 1, false);
            job.end().done();
            assertThat(client.answer().text()).isEqualTo("01234567899");
        }
        assertThat(file).exists();
    }

    @Test
    void isNotSentForHeadAndDeletedAllTheSame() throws Exception {
        try (RawClient client = server.connect()) {
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
            Running job = server.dispatcher.take();
            job.headOfLength(200, 10);
            job.job.file(file, 0, 10, true);
            job.end().done();
            assertThat(client.answerToHead().field("content-length")).isEqualTo("10");
        }
        awaitGone(file);
    }

    @Test
    void isDeletedWhenTheClientHasLeft() throws Exception {
        RawClient client = server.connect();
        client.get("/");
        Running job = server.dispatcher.take();
        client.close();
        server.dispatcher.takeCancelled();
        job.headOfLength(200, 10);
        job.job.file(file, 0, 10, true);
        job.end().done();
        awaitGone(file);
    }

    @ParameterizedTest
    @CsvSource({"0,11", "5,6", "11,1", "9223372036854775807,9223372036854775807", "-1,2"})
    void thatEndsBeforeThePartCutsTheAnswer(long offset, long length) throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.head(200).job.file(file, offset, length, true);
            assertThatThrownBy(client::answer).isInstanceOfAny(EOFException.class, SocketException.class);
            assertThat(server.log.await("request.answer-cut").message()).contains(file.toString());
            job.end().done();
        }
        awaitGone(file);
    }

    @Test
    void thatIsNoFileCutsTheAnswer() throws Exception {
        try (RawClient client = server.connect()) {
            client.get("/");
            server.dispatcher.take().head(200).job.file(directory, 0, 1, false);
            assertThatThrownBy(client::answer).isInstanceOfAny(EOFException.class, SocketException.class);
        }
    }

    @Test
    void thatShrinksWhileItIsSentCutsTheAnswer() throws Exception {
        byte[] large = new byte[64 << 20];
        Files.write(file, large);
        try (RawClient client = new RawClient(server.address(), 4096)) {
            client.get("/");
            Running job = server.dispatcher.take();
            job.headOfLength(200, large.length);
            job.job.file(file, 0, large.length, false);
            job.end().done();
            client.head();
            Files.writeString(file, "short", StandardCharsets.US_ASCII);
            assertThatThrownBy(() -> client.bytes(large.length))
                    .isInstanceOfAny(EOFException.class, SocketException.class);
        }
        server.counts.await(counts -> counts.closed() == 1);
        assertThat(server.counts.now().answered()).isEmpty();
    }
}
