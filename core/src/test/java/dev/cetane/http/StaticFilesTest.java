package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.files.StaticRoot;
import dev.cetane.http.RawClient.Answer;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of the document root, served without a worker; the application answers 299 to whatever reaches it. */
final class StaticFilesTest {
    private static final int APPLICATION = 299;
    private static final Instant MODIFIED = Instant.parse("2024-02-29T12:34:56.123456789Z");
    private static final String DATE = "Thu, 29 Feb 2024 12:34:56 GMT";

    @TempDir
    private Path project;

    private Path root;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        root = Files.createDirectories(project.resolve("public"));
        file("app.css", "0123456789");
        server = TestServer.start(config -> {
            config.files = new StaticRoot(project, root);
            return config;
        });
        server.dispatcher.answer(
                job -> job.headOfLength(APPLICATION, 3).data("php").end().done());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Path file(String name, String content) throws IOException {
        return file(name, content.getBytes(StandardCharsets.ISO_8859_1));
    }

    private Path file(String name, byte[] content) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, content);
        return Files.setLastModifiedTime(file, FileTime.from(MODIFIED));
    }

    private Answer get(String target, String... fields) throws IOException {
        try (RawClient client = server.connect()) {
            return client.send(request("GET", target, fields)).answer();
        }
    }

    private Answer head(String target, String... fields) throws IOException {
        try (RawClient client = server.connect()) {
            Answer answer = client.send(request("HEAD", target, fields)).answerToHead();
            // Nothing follows the head: the next answer starts there.
            assertThat(client.get("/").answer().status()).isEqualTo(APPLICATION);
            return answer;
        }
    }

    private static String request(String method, String target, String... fields) {
        StringBuilder request = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: test\r\n");
        for (String field : fields) {
            request.append(field).append("\r\n");
        }
        return request.append("\r\n").toString();
    }

    @Test
    void areSentWithTypeLengthAndValidators() throws IOException {
        Answer answer = get("/app.css?v=1");
        assertThat(answer.statusLine()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(answer.text()).isEqualTo("0123456789");
        assertThat(answer.fields())
                .containsEntry("content-type", "text/css; charset=utf-8")
                .containsEntry("content-length", "10")
                .containsEntry("last-modified", DATE)
                .containsEntry("accept-ranges", "bytes")
                .containsEntry("x-content-type-options", "nosniff")
                .containsKeys("etag", "date")
                .doesNotContainKeys("vary", "cache-control", "content-encoding", "connection");
        assertThat(answer.field("etag")).matches("\"[0-9a-f]+-a\"");
    }

    @Test
    void answerHeadWithoutBody() throws IOException {
        Answer answer = head("/app.css", "Range: bytes=2-3");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("content-length")).isEqualTo("10");
    }

    @Test
    void thatAreLargeAreSentWhole() throws Exception {
        byte[] content = new byte[5 << 20];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31 + (i >> 8));
        }
        file("big.bin", content);
        try (RawClient client = server.connect()) {
            // Several on one connection, pipelined, with the application's answer behind.
            client.send(request("GET", "/big.bin")
                    + request("GET", "/app.css")
                    + request("GET", "/big.bin", "Range: bytes=1-70000")
                    + request("GET", "/x"));
            assertThat(client.answer().body()).isEqualTo(content);
            assertThat(client.answer().text()).isEqualTo("0123456789");
            assertThat(client.answer().body()).isEqualTo(java.util.Arrays.copyOfRange(content, 1, 70001));
            assertThat(client.answer().status()).isEqualTo(APPLICATION);
        }
        server.counts.await(counts -> counts.answered().size() == 4);
        assertThat(server.counts.now().files()).containsExactly(200, 200, 206);
        assertThat(server.counts.now().answered()).containsExactly(200, 200, 206, APPLICATION);
    }

    @Test
    void thatAreEmptyAreSentToo() throws IOException {
        file("empty.txt", "");
        Answer answer = get("/empty.txt", "Range: bytes=-5");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("content-length")).isEqualTo("0");
        assertThat(get("/empty.txt", "Range: bytes=0-").status()).isEqualTo(416);
    }

    @Test
    void followTheVersionOfHttpAndConnection() throws IOException {
        try (RawClient client = server.connect()) {
            client.send("GET /app.css HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
            assertThat(client.answer().field("connection")).isEqualTo("keep-alive");
            client.send(request("GET", "/app.css", "Connection: close"));
            assertThat(client.answer().field("connection")).isEqualTo("close");
            assertThat(client.endsCleanly()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/css",
                "/css/",
                "/missing.css",
                "/app.css/",
                "/app.css/x",
                "/index.php",
                "/INDEX.PHP",
                "/index%2ephp",
                "/index.php/app.css",
                "/index.phtml",
                "/lib.phar",
                "/index.php.bak",
                "/index.php7",
                "/.env",
                "/%2eenv",
                "/%2Eenv",
                "/css/.hidden.css",
                "/.git/config",
                "/.well-known/.secret",
                "/css/.well-known/x.txt",
                "/dump.sql",
                "/DUMP.SQL",
                "/cetane.yaml",
                "/outside.txt",
                "/outside/secret.txt",
                "/code.txt",
                "/dot.txt",
                "/dangling.txt",
                "/loop.txt",
                "/device",
                "/fifo",
                "/%5c..%5csecret.txt",
                "/..%5csecret.txt",
                "/css\\app.css",
                "/app.css%20",
                "/app.css%0a",
                "/app.css::$DATA",
                "/app%252ecss",
                "/%252e%252e/secret.txt",
                "/APP.CSS",
                "/css/%ff%fe.css",
            })
    void areNotServedForOtherPaths(String target) throws Exception {
        hostileTree();
        assertThat(get(target).status()).isEqualTo(APPLICATION);
        assertThat(server.counts.now().files()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/../secret.txt",
                "/%2e%2e/secret.txt",
                "/..%2fsecret.txt",
                "/.%2e/secret.txt",
                "/css/../../secret.txt",
                "/css/..%2f..%2f..%2f..%2fetc/passwd",
                "/app.css%00",
                "/app.css%00.txt",
                "/%",
                "/%zz"
            })
    void areNotReachableOutOfTheRoot(String target) throws Exception {
        hostileTree();
        assertThat(get(target).status()).isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/app.css",
                "//app.css",
                "/./app.css",
                "/%61pp.css",
                "/css/../app.css",
                "/css/%2e%2e/app.css",
                "/nothing/..//app.css",
                "/inside.css",
                "/shared/picture.png",
                "/.well-known/acme-challenge/token",
                "/caf%c3%a9/%E2%82%AC%20x.txt",
                "/photo.min.phx.png",
                "/LICENSE"
            })
    void areServedForTheirPathHoweverItIsWritten(String target) throws Exception {
        hostileTree();
        assertThat(get(target).status()).isEqualTo(200);
    }

    private void hostileTree() throws Exception {
        file("index.php", "<?php");
        file("index.php.bak", "<?php");
        file("index.php7", "<?php");
        file("index.phtml", "<?php");
        file("lib.phar", "<?php");
        file(".env", "SECRET");
        file(".git/config", "SECRET");
        file("css/app.css", "css");
        file("css/.hidden.css", "css");
        file("css/.well-known/x.txt", "x");
        file(".well-known/acme-challenge/token", "token");
        file(".well-known/.secret", "x");
        file("dump.sql", "SECRET");
        file("DUMP.SQL", "SECRET");
        file("cetane.yaml", "SECRET");
        file("LICENSE", "MIT");
        file("photo.min.phx.png", "x");
        Files.writeString(project.resolve("secret.txt"), "SECRET");
        Path shared = Files.createDirectories(project.resolve("storage/app/public"));
        Files.writeString(shared.resolve("picture.png"), "png");
        Files.createSymbolicLink(root.resolve("shared"), Path.of("../storage/app/public"));
        Files.createSymbolicLink(root.resolve("outside.txt"), Path.of("../secret.txt"));
        Files.createSymbolicLink(root.resolve("outside"), project);
        Files.createSymbolicLink(root.resolve("inside.css"), Path.of("css/app.css"));
        Files.createSymbolicLink(root.resolve("code.txt"), Path.of("index.php"));
        Files.createSymbolicLink(root.resolve("dot.txt"), Path.of(".env"));
        Files.createSymbolicLink(root.resolve("dangling.txt"), Path.of("nowhere"));
        Files.createSymbolicLink(root.resolve("loop.txt"), Path.of("loop.txt"));
        Files.createSymbolicLink(root.resolve("device"), Path.of("/dev/zero"));
        assertThat(new ProcessBuilder("mkfifo", root.resolve("fifo").toString())
                        .start()
                        .waitFor())
                .isZero();
        // A name in UTF-8, whatever the locale of this test.
        assertThat(new ProcessBuilder(
                                "sh",
                                "-c",
                                "mkdir -p \"$0/$(printf 'caf\\303\\251')\"; echo x > \"$0/$(printf 'caf\\303\\251/\\342\\202\\254 x.txt')\"",
                                root.toString())
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void withNamesTooLongForAnyFileAreTheApplications() throws IOException {
        assertThat(get("/" + "a".repeat(5000)).status()).isEqualTo(APPLICATION);
        assertThat(get("/css/" + "a".repeat(300) + ".css").status()).isEqualTo(APPLICATION);
        assertThat(get("/app.css" + "/a".repeat(2500)).status()).isEqualTo(APPLICATION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"})
    void areForGetAndHeadOnly(String method) throws IOException {
        try (RawClient client = server.connect()) {
            assertThat(client.send(request(method, "/app.css", "Content-Length: 0"))
                            .answer()
                            .status())
                    .isEqualTo(APPLICATION);
        }
    }

    @Test
    void thatMayNotBeReadAreTheApplications() throws Exception {
        Path file = file("locked.css", "x");
        if (!Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
            Files.setPosixFilePermissions(file, java.util.Set.of());
            assertThat(get("/locked.css").status()).isEqualTo(APPLICATION);
            assertThat(server.log.await("http.file-failed").message()).contains("may not be read");
        }
    }

    @Test
    void thatAppearAreSeenWithinASecond() throws IOException {
        assertThat(get("/new.css").status()).isEqualTo(APPLICATION);
        file("new.css", "x");
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (get("/new.css").status() != 200) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        Files.delete(root.resolve("new.css"));
        assertThat(get("/new.css").status()).isEqualTo(APPLICATION);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            If-None-Match: TAG                                                          | 304
            If-None-Match: W/TAG                                                        | 304
            If-None-Match: "other", TAG                                                 | 304
            If-None-Match: *                                                            | 304
            If-None-Match: "other"                                                      | 200
            If-None-Match: "a                                                           | 200
            If-Modified-Since: Thu, 29 Feb 2024 12:34:56 GMT                            | 304
            If-Modified-Since: Fri, 01 Mar 2024 00:00:00 GMT                            | 304
            If-Modified-Since: Thu, 29 Feb 2024 12:34:55 GMT                            | 200
            If-Modified-Since: Thursday, 29-Feb-24 12:34:56 GMT                         | 304
            If-Modified-Since: Thu Feb 29 12:34:56 2024                                 | 304
            If-Modified-Since: yesterday                                                | 200
            If-None-Match: "other"+If-Modified-Since: Fri, 01 Mar 2024 00:00:00 GMT     | 200
            If-None-Match: TAG+If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT         | 304
            If-Match: TAG                                                               | 200
            If-Match: *                                                                 | 200
            If-Match: W/TAG                                                             | 412
            If-Match: "other"                                                           | 412
            If-Match: "other"+If-None-Match: TAG                                        | 412
            If-Match: TAG+If-None-Match: TAG                                            | 304
            If-Match: TAG+If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT            | 200
            If-Unmodified-Since: Thu, 29 Feb 2024 12:34:55 GMT                          | 412
            If-Unmodified-Since: Thu, 29 Feb 2024 12:34:56 GMT                          | 200
            """)
    void obeyConditionsInTheOrderOfTheRfc(String fields, int status) throws IOException {
        String tag = get("/app.css").field("etag");
        String[] lines = fields.replace("TAG", tag).split("\\+");
        Answer answer = get("/app.css", lines);
        assertThat(answer.status()).isEqualTo(status);
        if (status == 304) {
            assertThat(answer.fields()).containsEntry("etag", tag).doesNotContainKeys("content-length", "content-type");
        }
        assertThat(head("/app.css", lines).status()).isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            bytes=0-0     | 206 | bytes 0-0/10 | 0
            bytes=2-4     | 206 | bytes 2-4/10 | 234
            bytes=7-      | 206 | bytes 7-9/10 | 789
            bytes=-3      | 206 | bytes 7-9/10 | 789
            bytes=-30     | 206 | bytes 0-9/10 | 0123456789
            bytes=5-99999999999999999999 | 206 | bytes 5-9/10 | 56789
            BYTES= 2 - 4  | 206 | bytes 2-4/10 | 234
            bytes=10-     | 416 | bytes */10   | ''
            bytes=99999999999999999999- | 416 | bytes */10   | ''
            bytes=-0      | 416 | bytes */10   | ''
            bytes=4-2     | 200 |              | 0123456789
            bytes=        | 200 |              | 0123456789
            bytes=-       | 200 |              | 0123456789
            bytes=a-b     | 200 |              | 0123456789
            bytes=0-1,4-5 | 200 |              | 0123456789
            lines=1-2     | 200 |              | 0123456789
            """)
    void areSentInPartForOneRange(String range, int status, String contentRange, String body) throws IOException {
        Answer answer = get("/app.css", "Range: " + range);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.field("content-range")).isEqualTo(contentRange);
        assertThat(answer.text()).isEqualTo(body);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            TAG                           | 206
            W/TAG                         | 200
            "other"                       | 200
            Thu, 29 Feb 2024 12:34:56 GMT | 206
            Thu, 29 Feb 2024 12:34:57 GMT | 200
            Thu, 29 Feb 2024 12:34:55 GMT | 200
            nonsense                      | 200
            """)
    void areSentInPartOnlyWhileTheyAreTheSame(String condition, int status) throws IOException {
        String value = condition.replace("TAG", get("/app.css").field("etag"));
        assertThat(get("/app.css", "Range: bytes=0-1", "If-Range: " + value).status())
                .isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gzip, deflate, br        | br
            br;q=0.5, gzip           | gzip
            gzip;q=0.5, br;q=0.5     | br
            *                        | br
            *;q=0                    |
            br;q=0, *                | gzip
            identity, gzip;q=0.5     |
            identity;q=0.5, gzip     | gzip
            gzip;q=0                 |
            gzip;q=x                 |
            GZIP;q=1.000             | gzip
            x-gzip                   | gzip
            deflate, zstd            |
            """)
    void areSentCompressedAsTheClientLikesIt(String accepted, String coding) throws IOException {
        file("app.js", "plain");
        file("app.js.br", "as br");
        file("app.js.gz", "as gzip");
        Answer answer = get("/app.js", "Accept-Encoding: " + accepted);
        assertThat(answer.field("content-encoding")).isEqualTo(coding);
        assertThat(answer.text()).isEqualTo(coding == null ? "plain" : "as " + coding);
        assertThat(answer.field("vary")).isEqualTo("Accept-Encoding");
        assertThat(answer.field("content-type")).isEqualTo("text/javascript; charset=utf-8");
        String tag = answer.field("etag");
        assertThat(get("/app.js", "Accept-Encoding: " + accepted, "If-None-Match: " + tag)
                        .status())
                .isEqualTo(304);
        if (coding != null) {
            assertThat(get("/app.js", "If-None-Match: " + tag).status()).isEqualTo(200);
        }
    }

    @Test
    void thatAreCompressedThemselvesAreSentAsTheyAre() throws IOException {
        file("app.js.gz", "gz");
        file("logo.png", "png");
        file("logo.png.gz", "gz");
        assertThat(get("/app.js.gz", "Accept-Encoding: gzip").fields())
                .containsEntry("content-type", "application/gzip")
                .doesNotContainKeys("content-encoding", "vary");
        assertThat(get("/logo.png", "Accept-Encoding: gzip").text()).isEqualTo("png");
        // Only the compressed form is there.
        assertThat(get("/app.js", "Accept-Encoding: gzip").status()).isEqualTo(APPLICATION);
    }

    @Test
    void thatCarryTheirVersionInTheirNameMayBeKept() throws IOException {
        file("build/assets/app-4ed993c7.js", "x");
        file("build/assets/app.js", "x");
        assertThat(get("/build/assets/app-4ed993c7.js").field("cache-control"))
                .isEqualTo("public, max-age=31536000, immutable");
        assertThat(get("/build/assets/app.js").field("cache-control")).isNull();
    }

    @Test
    void whoseTimeTellsNothingHaveNoValidators() throws IOException {
        Files.setLastModifiedTime(file("old.css", "x"), FileTime.fromMillis(1000));
        Files.setLastModifiedTime(file("future.css", "x"), FileTime.from(Instant.parse("2100-01-01T00:00:00Z")));
        assertThat(get("/old.css", "If-Modified-Since: " + DATE, "If-None-Match: \"1\"")
                        .fields())
                .doesNotContainKeys("etag", "last-modified");
        assertThat(get("/future.css").fields()).containsKey("etag").doesNotContainKey("last-modified");
    }

    @Test
    void thatShrinkWhileTheyAreSentEndTheConnection() throws Exception {
        int length = 64 << 20;
        Path file = file("large.bin", new byte[length]);
        try (RawClient client = new RawClient(server.address(), 4096)) {
            client.get("/large.bin");
            assertThat(client.head().field("content-length")).isEqualTo(Integer.toString(length));
            Files.writeString(file, "short");
            assertThatThrownBy(() -> client.bytes(length)).isInstanceOfAny(EOFException.class, SocketException.class);
        }
        server.counts.await(counts -> counts.aborted() == 1 && counts.closed() == 1);
        assertThat(server.log.await("request.answer-cut").message()).contains("large.bin");
        assertThat(server.counts.now().answered()).isEmpty();
    }

    @Test
    void areAbandonedWhenTheClientLeaves() throws Exception {
        file("large.bin", new byte[64 << 20]);
        try (RawClient client = new RawClient(server.address(), 4096)) {
            client.get("/large.bin").head();
        }
        server.counts.await(counts -> counts.abandoned() == 1 && counts.closed() == 1);
    }

    @Test
    void aLinkOfADeploymentIsFollowedAnew() throws Exception {
        // As "current" does in a deployment.
        Path releases = Files.createDirectories(project.resolve("releases"));
        for (String release : new String[] {"1", "2"}) {
            Files.createDirectories(releases.resolve(release).resolve("public"));
            Files.writeString(releases.resolve(release).resolve("public/v.txt"), release);
        }
        Path current = Files.createSymbolicLink(project.resolve("current"), releases.resolve("1"));
        try (TestServer deployed = TestServer.start(config -> {
            config.files = new StaticRoot(current, current.resolve("public"));
            return config;
        })) {
            try (RawClient client = deployed.connect()) {
                assertThat(client.get("/v.txt").answer().text()).isEqualTo("1");
                Files.delete(current);
                Files.createSymbolicLink(current, releases.resolve("2"));
                long deadline = System.nanoTime() + 10_000_000_000L;
                while (!client.get("/v.txt").answer().text().equals("2")) {
                    assertThat(System.nanoTime()).isLessThan(deadline);
                }
            }
        }
    }
}
