package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.http.RawClient.Answer;
import dev.cetane.http.ScriptedDispatcher.Running;
import dev.cetane.worker.WorkerException.Kind;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bodies on disk: they arrive whole, cost no memory, and never stay. */
final class SpoolTest {
    private static final int LARGE = 200_000;

    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start(config -> {
            config.maxBodyBytes = 4L << 30;
            return config;
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void aPlaceThatCannotBeHadIsNamedWithTheReasonAndTheKeyThatNamesIt(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");

        assertThatThrownBy(() -> SpoolDirectory.open(file))
                .isInstanceOf(IOException.class)
                .hasMessage("request bodies cannot be spooled to " + file + ": something of that name is there;"
                        + " make it writable, or set http.spool-directory to another place");
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static String post(long length) {
        return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n";
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("never came");
            }
            Thread.onSpinWait();
        }
    }

    @Test
    void aLargeBodyIsAFileThatOnlyItsOwnerReads() throws Exception {
        byte[] body = random(LARGE);
        try (RawClient client = server.connect()) {
            client.send(post(LARGE)).send(body);
            Running job = server.dispatcher.take();
            Path file = job.request().bodyFile();
            assertThat(file).isAbsolute().hasBinaryContent(body);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThat(job.request().server()).containsEntry("CONTENT_LENGTH", String.valueOf(LARGE));
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
        await(() -> server.spooled().isEmpty());
    }

    @Test
    void aLargeChunkedBodyIsAFileToo() throws Exception {
        byte[] body = random(LARGE);
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int at = 0; at < LARGE; at += 10_000) {
                client.send("2710\r\n")
                        .send(Arrays.copyOfRange(body, at, at + 10_000))
                        .send("\r\n");
            }
            client.send("0\r\n\r\n");
            Running job = server.dispatcher.take();
            assertThat(job.request().bodyFile()).hasBinaryContent(body);
            assertThat(job.request().server()).containsEntry("CONTENT_LENGTH", String.valueOf(LARGE));
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
        await(() -> server.spooled().isEmpty());
    }

    @Test
    void aBodyInTinyChunksArrivesWhole() throws Exception {
        int count = 50_000;
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            client.send("1\r\nx\r\n".repeat(count)).send("0\r\n\r\n");
            Running job = server.dispatcher.take();
            assertThat(job.request().bodyFile()).hasContent("x".repeat(count));
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void theFileStaysUntilTheWorkerIsDoneWithIt() throws Exception {
        try (RawClient client = server.connect()) {
            client.send(post(LARGE)).send(random(LARGE));
            Running job = server.dispatcher.take();
            job.headOfLength(200, 0).end();
            assertThat(client.answer().status()).isEqualTo(200);
            assertThat(server.spooled()).hasSize(1);
            job.done();
            await(() -> server.spooled().isEmpty());
        }
    }

    @Test
    void theFileOfAFailedJobIsDeleted() throws Exception {
        try (RawClient client = server.connect()) {
            client.send(post(LARGE)).send(random(LARGE));
            server.dispatcher.take().failed(Kind.CRASHED);
            assertThat(client.answer().status()).isEqualTo(502);
        }
        await(() -> server.spooled().isEmpty());
    }

    @Test
    void theFileOfAClientThatLeftIsDeletedWhenTheWorkerIsDone() throws Exception {
        RawClient client = server.connect();
        client.send(post(LARGE)).send(random(LARGE));
        Running job = server.dispatcher.take();
        client.close();
        server.dispatcher.takeCancelled();
        assertThat(job.request().bodyFile()).exists();
        job.head(200).data("x").end().done();
        await(() -> server.spooled().isEmpty());
    }

    @Test
    void anUploadThatBreaksOffLeavesNothing() throws Exception {
        RawClient client = server.connect();
        client.send(post(LARGE)).send(random(LARGE / 2));
        await(() -> !server.spooled().isEmpty());
        client.close();
        server.counts.await(counts -> counts.abandoned() == 1);
        await(() -> server.spooled().isEmpty());
        assertThat(server.dispatcher.idle()).isTrue();
    }

    @Test
    void aBodyThatTheWorkerMovedAwayIsNotMissed() throws Exception {
        try (RawClient client = server.connect()) {
            client.send(post(LARGE)).send(random(LARGE));
            Running job = server.dispatcher.take();
            Files.delete(job.request().bodyFile());
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void aDiskThatTakesNothingCostsA507() throws Exception {
        server.dispatcher.answer(job -> job.respond(200, "ok"));
        Files.delete(server.spool);
        try (RawClient client = server.connect()) {
            client.send(post(LARGE)).send(random(LARGE));
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(507);
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(answer.text()).doesNotContain(server.spool.toString());
        }
        assertThat(server.log.await("http.spool-failed").message()).contains(server.spool.toString());
        try (RawClient client = server.connect()) {
            assertThat(client.get("/").answer().status())
                    .as("others are served")
                    .isEqualTo(200);
        }
    }

    @Test
    void aFileOnAFullDiskFailsAndIsDeleted() throws Exception {
        // The device that is always full stands in for the disk; the file itself is there, as it is on a disk that
        // fills up.
        SpoolDirectory full = new SpoolDirectory(server.spool) {
            @Override
            FileChannel create(Path file) throws IOException {
                Files.createFile(file);
                return FileChannel.open(Path.of("/dev/full"), StandardOpenOption.WRITE);
            }
        };
        CountDownLatch changed = new CountDownLatch(1);
        SpoolFile file = full.newBody(new SpoolBacklog(), changed::countDown);
        file.append(Unpooled.wrappedBuffer(random(1000)));
        assertThat(changed.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(file.failure()).isInstanceOf(IOException.class).hasMessageContaining("space");
        file.finish();
        file.discard();
        full.close();
        assertThat(file.stored()).isFalse();
        assertThat(server.spooled()).isEmpty();
    }

    @Test
    void whatAKilledServerLeftIsRemovedAtTheStartAndWhatARunningOneHasIsNot(@TempDir Path spool) throws IOException {
        long running = ProcessHandle.current().parent().orElseThrow().pid();
        long gone = 1L << 40;
        Files.write(spool.resolve("body-17"), new byte[10]);
        Files.write(spool.resolve("body-" + gone + "-1"), new byte[10]);
        Files.write(spool.resolve("upload-" + gone + "-2"), new byte[10]);
        Files.write(spool.resolve("upload-" + running + "-1"), new byte[10]);
        Files.write(spool.resolve("keep"), new byte[10]);
        try (TestServer next = TestServer.start(config -> {
            config.spool = spool;
            return config;
        })) {
            assertThat(next.spooled()).containsExactly("upload-" + running + "-1");
            assertThat(spool.resolve("keep")).exists();
        }
    }

    /** Many times the heap's free part would not fit; the checksum shows that every byte arrived. */
    @Test
    void aBodyOfAGigabyteNeedsNoMemory() throws Exception {
        long length = 1L << 30;
        byte[] piece = random(1 << 20);
        Thread writer;
        try (RawClient client = server.connect()) {
            writer = new Thread(() -> {
                try {
                    client.send(post(length));
                    for (long sent = 0; sent < length; sent += piece.length) {
                        client.send(piece);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            writer.join(TimeUnit.SECONDS.toMillis(120));
            Running job = server.dispatcher.take();
            try (InputStream in = Files.newInputStream(job.request().bodyFile())) {
                long read = 0;
                for (byte[] next = in.readNBytes(piece.length); next.length > 0; next = in.readNBytes(piece.length)) {
                    assertThat(next).isEqualTo(piece);
                    read += next.length;
                }
                assertThat(read).isEqualTo(length);
            }
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void aBodyForAScriptThatIsNotThereIsNotTheNextRequests(@TempDir Path root) throws Exception {
        Files.writeString(root.resolve("index.php"), "");
        try (TestServer classic = TestServer.start(config -> {
                    config.scripts = root;
                    return config;
                });
                RawClient client = classic.connect()) {
            classic.dispatcher.answer(
                    running -> running.respond(200, running.request().text()));
            for (byte[] body : new byte[][] {random(10), random(LARGE)}) {
                String head = "POST /missing.php HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length + "\r\n\r\n";

                assertThat(client.send(head).send(body).answer().status()).isEqualTo(404);
                assertThat(client.get("/").answer().text()).isEmpty();
                await(() -> classic.spooled().isEmpty());
            }
        }
    }
}
