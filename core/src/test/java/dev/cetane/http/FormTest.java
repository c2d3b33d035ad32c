package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.ScriptedDispatcher.Form;
import dev.cetane.http.ScriptedDispatcher.Running;
import dev.cetane.worker.WorkerException.Kind;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Multipart forms on their way to a worker: what it gets, where files lie, and that they never stay. */
final class FormTest {
    private static final Map<String, String> FACTS = Map.of("capabilities", "form");

    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start(config -> {
            config.maxBodyBytes = 4L << 30;
            return config;
        });
        server.dispatcher.ready(FACTS);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static long storedFiles(TestServer server) {
        return server.spooled().stream()
                .filter(name -> server.spool.resolve(name).toFile().length() == "content".length())
                .count();
    }

    private static String head(long length) {
        return "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: "
                + length + "\r\n\r\n";
    }

    private static String body(String... parts) {
        StringBuilder body = new StringBuilder();
        for (String part : parts) {
            body.append("--B\r\nContent-Disposition: form-data; ").append(part).append("\r\n");
        }
        return body.append("--B--\r\n").toString();
    }

    private static String post(String... parts) {
        String body = body(parts);
        return head(body.length()) + body;
    }

    private static String field(String name, String value) {
        return "name=\"" + name + "\"\r\n\r\n" + value;
    }

    private static String file(String name, String content) {
        return "name=\"" + name + "\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\n" + content;
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

    private void awaitNoFile() {
        await(() -> server.spooled().isEmpty());
    }

    @Test
    void fieldsAreATextAndFilesAreFilesThatOnlyTheirOwnerReads() throws Exception {
        try (RawClient client = server.connect()) {
            String request = post(field("a", "1 & 2"), file("f[]", "content"), field("b[x]", ""), file("f[]", ""));
            client.send(request);
            Running job = server.dispatcher.take();
            Form form = job.form();
            assertThat(form.fields()).isEqualTo("a=1 %26 2&b%5Bx%5D=");
            Path file = Path.of(form.files().get(0).get(4));
            Path empty = Path.of(form.files().get(1).get(4));
            assertThat(form.files())
                    .containsExactly(
                            List.of("f[]", "x.txt", "x.txt", "text/plain", file.toString(), "0", "7"),
                            List.of("f[]", "x.txt", "x.txt", "text/plain", empty.toString(), "0", "0"));
            assertThat(file).isAbsolute().hasContent("content");
            assertThat(empty).hasContent("");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            int length = request.length() - request.indexOf("\r\n\r\n") - 4;
            assertThat(job.request().server())
                    .containsEntry("CONTENT_LENGTH", String.valueOf(length))
                    .containsEntry("CONTENT_TYPE", "multipart/form-data; boundary=B");
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
        awaitNoFile();
    }

    /** Each file tells that it is stored, also when the script is being looked for by a thread already. */
    @Test
    void aFormOfManyFilesIsGivenToTheApplicationOnce(@TempDir Path root) throws Exception {
        Files.writeString(root.resolve("index.php"), "");
        try (TestServer classic = TestServer.start(config -> {
            config.scripts = root;
            return config;
        })) {
            classic.dispatcher.ready(FACTS);
            EmbeddedChannel channel = classic.embedded();
            String[] files = new String[10];
            Arrays.fill(files, file("f[]", "content"));
            channel.writeInbound(Unpooled.copiedBuffer(post(files), StandardCharsets.ISO_8859_1));
            // Nothing runs on the event loop until all of them have told.
            await(() -> storedFiles(classic) == files.length);
            await(() -> {
                channel.runPendingTasks();
                return !classic.dispatcher.idle();
            });
            classic.dispatcher.take();
            EmbeddedChannel other = classic.embedded();
            other.writeInbound(
                    Unpooled.copiedBuffer("GET /later HTTP/1.1\r\nHost: a\r\n\r\n", StandardCharsets.ISO_8859_1));
            await(() -> {
                other.runPendingTasks();
                return !classic.dispatcher.idle();
            });
            classic.dispatcher.take();
            channel.runPendingTasks();
            assertThat(classic.dispatcher.idle()).isTrue();
            channel.finishAndReleaseAll();
            other.finishAndReleaseAll();
        }
    }

    @Test
    void filesStayUntilTheWorkerIsDoneWithThem() throws Exception {
        try (RawClient client = server.connect()) {
            client.send(post(file("f", "content")));
            Running job = server.dispatcher.take();
            Path file = Path.of(job.form().files().get(0).get(4));
            job.headOfLength(200, 0).end();
            assertThat(client.answer().status()).isEqualTo(200);
            assertThat(file).exists();
            job.done();
            awaitNoFile();
        }
    }

    @Test
    void filesGoWhenTheWorkerFails() throws Exception {
        for (Kind kind : List.of(Kind.CRASHED, Kind.TIMED_OUT, Kind.APPLICATION, Kind.QUEUE_TIMEOUT)) {
            try (RawClient client = server.connect()) {
                client.send(post(file("f", "content"), field("a", "x".repeat(50_000))));
                Running job = server.dispatcher.take();
                assertThat(server.spooled()).hasSize(3);
                job.failed(kind);
                assertThat(client.answer().status()).isGreaterThanOrEqualTo(500);
                awaitNoFile();
            }
        }
    }

    @Test
    void filesGoWhenTheClientLeavesInTheMiddle() throws Exception {
        String body = body(file("f", "x".repeat(100_000)), file("g", "y".repeat(100_000)));
        try (RawClient client = server.connect()) {
            client.send(head(body.length())).send(body.substring(0, 150_000));
            await(() -> server.spooled().size() == 2);
        }
        awaitNoFile();
        assertThat(server.dispatcher.idle()).isTrue();
    }

    @Test
    void filesGoWhenTheClientLeavesBehindTheForm() throws Exception {
        Running job;
        try (RawClient client = server.connect()) {
            client.send(post(file("f", "content")));
            job = server.dispatcher.take();
        }
        server.dispatcher.takeCancelled();
        assertThat(server.spooled()).hasSize(1);
        job.respond(200, "nobody reads this");
        awaitNoFile();
    }

    @Test
    void aFileThatIsTooLongIsNotKept() throws Exception {
        server.dispatcher.ready(Map.of("capabilities", "form", "upload-max-filesize", "1000"));
        try (RawClient client = server.connect()) {
            client.send(post(file("f", "x".repeat(5_000_000)), file("g", "y")));
            Running job = server.dispatcher.take();
            assertThat(job.form().files().get(0)).containsExactly("f", "x.txt", "x.txt", "", "", "1", "0");
            assertThat(job.form().files().get(1).get(5)).isEqualTo("0");
            await(() -> server.spooled().size() == 1);
            job.respond(200, "ok");
            client.answer();
        }
        awaitNoFile();
    }

    @Test
    void longTextsAreFilesOfTheirOwn() throws Exception {
        String value = "x".repeat(5_000_000);
        try (RawClient client = server.connect()) {
            client.send(post(field("a", value), file("f", "content")));
            Running job = server.dispatcher.take();
            assertThat(job.form().inFiles()).isTrue();
            assertThat(job.form().fields()).isEqualTo("a=" + value);
            assertThat(job.form().files()).hasSize(1);
            job.respond(200, "ok");
            client.answer();
        }
        awaitNoFile();
    }

    @Test
    void thousandsOfFilesArrive() throws Exception {
        server.dispatcher.ready(
                Map.of("capabilities", "form", "max-file-uploads", "5000", "max-multipart-body-parts", "5000"));
        String[] parts = new String[3000];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = file("f[]", "content " + i);
        }
        try (RawClient client = server.connect()) {
            client.send(post(parts));
            Running job = server.dispatcher.take();
            List<List<String>> files = job.form().files();
            assertThat(files).hasSize(parts.length);
            for (int i = 0; i < parts.length; i += 100) {
                assertThat(Path.of(files.get(i).get(4))).hasContent("content " + i);
            }
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
        awaitNoFile();
    }

    @Test
    void aChunkedFormArrivesWhateverItsChunks() throws Exception {
        String body = body(field("a", "1\r\n--A"), file("f", "\r\n--\r\n-"), field("b", "2"));
        try (RawClient client = server.connect()) {
            client.send(String.join(
                    "\r\n",
                    "POST / HTTP/1.1",
                    "Host: a",
                    "Content-Type: multipart/form-data; boundary=B",
                    "Transfer-Encoding: chunked",
                    "",
                    ""));
            for (int i = 0; i < body.length(); i++) {
                client.send("1\r\n" + body.charAt(i) + "\r\n");
            }
            client.send("0\r\n\r\n");
            Running job = server.dispatcher.take();
            assertThat(job.form().fields()).isEqualTo("a=1\r\n--A&b=2");
            assertThat(Files.readAllBytes(Path.of(job.form().files().get(0).get(4))))
                    .isEqualTo("\r\n--\r\n-".getBytes(StandardCharsets.ISO_8859_1));
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void whatPhpWouldNotReadAsAFormComesAsItIs() throws Exception {
        String body = body(field("a", "1"));
        for (String head : List.of(
                "PUT / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B\r\n",
                "POST / HTTP/1.1\r\nContent-Type: multipart/form-data\r\n",
                "POST / HTTP/1.1\r\nContent-Type: multipart/mixed; boundary=B\r\n",
                "POST / HTTP/1.1\r\n")) {
            try (RawClient client = server.connect()) {
                client.send(head + "Host: a\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
                Running job = server.dispatcher.take();
                assertThat(job.request().text()).isEqualTo(body);
                job.respond(200, "ok");
                client.answer();
            }
        }
        server.dispatcher.ready(Map.of("capabilities", "file"));
        try (RawClient client = server.connect()) {
            client.send(post(field("a", "1")));
            Running job = server.dispatcher.take();
            assertThat(job.request().text()).as("no worker takes forms").isEqualTo(body);
            job.respond(200, "ok");
            client.answer();
        }
    }

    @Test
    void aFormAboveTheLimitOfPhpIsRefusedBeforeItIsRead() throws Exception {
        server.dispatcher.ready(Map.of("capabilities", "form", "post-max-size", "1000"));
        try (RawClient client = server.connect()) {
            client.send(head(1001));
            assertThat(client.answer().status()).isEqualTo(413);
        }
        try (RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + "x".repeat(1001) + "\r\n");
            assertThat(client.answer().status()).isEqualTo(413);
        }
        try (RawClient client = server.connect()) {
            String request = post(field("a", "x".repeat(800)));
            client.send(request);
            Running job = server.dispatcher.take();
            assertThat(job.form().fields()).hasSize(802);
            job.respond(200, "ok");
            client.answer();
        }
        awaitNoFile();
    }

    @Test
    void aFormThatComesBeforeTheFirstWorkerIsReadyWaitsForItsLimits() throws Exception {
        try (TestServer early = TestServer.start();
                RawClient client = early.connect()) {
            client.send(post(field("a", "1"), file("f", "x".repeat(2_000_000))));
            assertThat(early.dispatcher.idle()).isTrue();
            assertThat(early.spooled()).isEmpty();
            early.dispatcher.ready(Map.of("capabilities", "form", "upload-max-filesize", "3"));
            Running job = early.dispatcher.take();
            assertThat(job.form().fields()).isEqualTo("a=1");
            assertThat(job.form().files().get(0).get(5)).isEqualTo("1");
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void aPartWithEndlessHeadersIsRefused() throws Exception {
        try (RawClient client = server.connect()) {
            String body = "--B\r\nContent-Disposition: form-data; name=a; filename=" + "x".repeat(70_000);
            client.send(head(8_000_000)).send(body);
            assertThat(client.answer().status()).isEqualTo(431);
        }
        try (RawClient client = server.connect()) {
            client.send(head(8_000_000)).send("--B\r\n" + "X: y\r\n".repeat(20_000));
            assertThat(client.answer().status()).isEqualTo(431);
        }
        awaitNoFile();
    }

    @Test
    void whatTheLimitsLeaveOutIsSaidInTheLogWithoutAWordOfTheClient() throws Exception {
        server.dispatcher.ready(Map.of("capabilities", "form", "max-input-vars", "1", "max-file-uploads", "1"));
        try (RawClient client = server.connect()) {
            client.send(post(field("secret", "1"), field("b", "2"), file("f", "1"), file("g", "2")));
            Running job = server.dispatcher.take();
            assertThat(job.form().fields()).isEqualTo("secret=1");
            assertThat(job.form().files()).hasSize(1);
            assertThat(server.log.await("http.form-cut").message())
                    .contains("max_input_vars", "max_file_uploads")
                    .doesNotContain("secret");
            job.respond(200, "ok");
            client.answer();
        }
    }

    /** Many times the heap would not fit; the disk is asked whether every byte has arrived. */
    @Test
    void aLargeFileNeedsNoMemory() throws Exception {
        long length = Long.getLong("cetane.upload-mib", 64) << 20;
        server.dispatcher.ready(Map.of("capabilities", "form", "upload-max-filesize", "0", "post-max-size", "0"));
        byte[] piece = new byte[1 << 20];
        new Random(1).nextBytes(piece);
        String before = "--B\r\nContent-Disposition: form-data; " + file("f", "");
        String after = "\r\n--B--\r\n";
        try (RawClient client = server.connect()) {
            Thread writer = new Thread(() -> {
                try {
                    client.send(head(before.length() + length + after.length())).send(before);
                    for (long sent = 0; sent < length; sent += piece.length) {
                        client.send(piece);
                    }
                    client.send(after);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            writer.join(TimeUnit.SECONDS.toMillis(120));
            Running job = server.dispatcher.take();
            List<String> file = job.form().files().get(0);
            assertThat(file.get(6)).isEqualTo(String.valueOf(length));
            try (var in = Files.newInputStream(Path.of(file.get(4)))) {
                for (long read = 0; read < length; read += piece.length) {
                    assertThat(in.readNBytes(piece.length)).isEqualTo(piece);
                }
                assertThat(in.read()).isEqualTo(-1);
            }
            job.respond(200, "ok");
            assertThat(client.answer().status()).isEqualTo(200);
        }
        awaitNoFile();
    }

    @Test
    void aDiskThatFailsIsAnsweredAndNothingStays() throws Exception {
        try (RawClient client = server.connect()) {
            Files.delete(server.spool);
            client.send(post(file("f", "x".repeat(100_000)), file("g", "y")));
            assertThat(client.answer().status()).isEqualTo(507);
        }
        assertThat(server.log.await("http.spool-failed").message()).contains(server.spool.toString());
        assertThat(server.dispatcher.idle()).isTrue();
    }

    @Test
    void bytesOfNoCharsetArriveAsTheyAre() throws Exception {
        try (RawClient client = server.connect()) {
            byte[] request = post(field("\u00fc", "\u00ff\u0000\u00e4"), file("\u00f6", "\u0000\u00ff"))
                    .getBytes(StandardCharsets.ISO_8859_1);
            client.send(request);
            Running job = server.dispatcher.take();
            assertThat(job.form().fields()).isEqualTo("\u00fc=\u00ff%00\u00e4");
            assertThat(job.form().files().get(0).get(0)).isEqualTo("\u00f6");
            assertThat(Path.of(job.form().files().get(0).get(4))).hasBinaryContent(new byte[] {0, (byte) 0xFF});
            job.respond(200, "ok");
            client.answer();
        }
    }
}
