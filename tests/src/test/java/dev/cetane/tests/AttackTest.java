package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.cetane.tests.RawClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client may send to take memory, disk, files, log lines or other clients' data: it gets nothing but an answer. */
@Timeout(300)
final class AttackTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final String FILE =
            "--B\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"f\"\r\n\r\n%s\r\n";

    @TempDir
    Path directory;

    private static RunningCetane.Starter uploads() {
        return INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/uploads"))
                .workers(1);
    }

    /** Counts what it gets. */
    private RunningCetane.Starter counter() throws IOException {
        Path site = Files.createDirectories(directory.resolve("counter/public"));
        Files.writeString(
                site.resolve("index.php"),
                "<?php echo count($_POST), count($_FILES, 1), count($_GET), count($_COOKIE);");
        return INSTANCES.application(site.getParent()).workers(1);
    }

    private static String form(String body) {
        return "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    private static String put(int bytes) {
        return "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: " + bytes + "\r\n\r\n" + "x".repeat(bytes);
    }

    /** Sends all of it, though the answer may come and the connection end before. */
    private static Answer exchange(RunningCetane cetane, String request) throws IOException {
        try (RawClient client = cetane.connect()) {
            try {
                client.send(request);
            } catch (IOException e) {
                // The answer tells why.
            }
            return client.answer();
        }
    }

    private static List<Path> files(Path spool) {
        try (Stream<Path> files = Files.list(spool)) {
            return files.filter(file -> file.getFileName().toString().contains("-"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitNoFile(Path spool) {
        await("no file remains").atMost(RunningCetane.PATIENCE).until(() -> files(spool), List::isEmpty);
    }

    // ---- disk ----

    /** A file system of its own; needs root, as tests/run does. */
    private static void mount(Path place, String options) throws Exception {
        run("mount", "-t", "tmpfs", "-o", "mode=700," + options, "cetane-test", place.toString());
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0)
                .as(said)
                .isTrue();
    }

    @Test
    void a_full_disk_costs_requests_that_need_it_and_nothing_else() throws Exception {
        Path spool = Files.createDirectory(directory.resolve("spool"));
        mount(spool, "size=1m");
        try {
            RunningCetane cetane = uploads().set("http.spool-directory", spool).start();
            for (int i = 0; i < 3; i++) {
                assertThat(exchange(cetane, put(2_000_000)).status()).isEqualTo(507);
                assertThat(exchange(cetane, form(String.format(FILE, "f", "x".repeat(1_900_000)) + "--B--\r\n"))
                                .status())
                        .isEqualTo(507);
                String three = String.format(FILE, "f", "x".repeat(500_000));
                assertThat(exchange(cetane, form(three + three + three + "--B--\r\n"))
                                .status())
                        .isEqualTo(507);
                awaitNoFile(spool);
                assertThat(cetane.get("/").statusCode()).as("needs no disk").isEqualTo(200);
                assertThat(exchange(cetane, put(500_000)).status()).as("fits").isEqualTo(200);
                awaitNoFile(spool);
            }
            assertThat(cetane.log().fromStart().all("http.spool-failed")).isNotEmpty();
        } finally {
            run("umount", "--lazy", spool.toString());
        }
    }

    @Test
    void a_disk_without_room_for_another_file_is_as_full() throws Exception {
        Path spool = Files.createDirectory(directory.resolve("spool"));
        mount(spool, "size=4m,nr_inodes=6");
        try {
            RunningCetane cetane = uploads().set("http.spool-directory", spool).start();
            String many = IntStream.range(0, 10)
                    .mapToObj(i -> String.format(FILE, "f" + i, "small"))
                    .reduce("", String::concat);
            assertThat(exchange(cetane, form(many + "--B--\r\n")).status()).isEqualTo(507);
            awaitNoFile(spool);
            assertThat(exchange(cetane, form(String.format(FILE, "f", "small") + "--B--\r\n"))
                            .status())
                    .isEqualTo(200);
            awaitNoFile(spool);
        } finally {
            run("umount", "--lazy", spool.toString());
        }
    }

    // ---- bombs ----

    private static List<String> bombs() {
        List<String> bombs = new ArrayList<>();
        bombs.add(form("--B\r\n\r\n\r\n".repeat(700_000)));
        bombs.add(form("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n".repeat(100_000)));
        bombs.add(form(String.format(FILE, "f[]", "").repeat(80_000)));
        bombs.add(form(String.format(FILE, "f[]", "x").repeat(80_000)));
        bombs.add(form(String.format(FILE, "a" + "[a]".repeat(1000), "x").repeat(2000)));
        bombs.add(form("--B\r\nContent-Disposition: form-data; name=\"" + "a".repeat(7_000_000)));
        bombs.add(form("--B\r\n" + "X: y\r\n".repeat(1_000_000)));
        bombs.add(form("\r\n--B-".repeat(300_000)));
        bombs.add(form("\r".repeat(7_000_000)));
        bombs.add(form("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + "&=%[".repeat(1_900_000)));
        bombs.add("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=" + "B".repeat(12_000)
                + "\r\nContent-Length: 7000000\r\n\r\n" + "B".repeat(7_000_000));
        String fields = "a[]=1&".repeat(1_200_000);
        bombs.add("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "
                + fields.length() + "\r\n\r\n" + fields);
        bombs.add("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + "1\r\nx\r\n".repeat(50_000)
                + "0\r\n\r\n");
        bombs.add("GET / HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(1_000_000) + "\r\n");
        bombs.add("GET / HTTP/1.1\r\nHost: a\r\nX: " + "y".repeat(10_000_000) + "\r\n\r\n");
        bombs.add("GET /?" + "a[]=1&".repeat(1_000_000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
        bombs.add("GET /" + "../".repeat(2_000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
        bombs.add("GET / HTTP/1.1\r\nHost: a\r\nCookie: " + "a=1;".repeat(3_900) + "\r\n\r\n");
        bombs.add("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + "1,".repeat(7_000) + "\r\n\r\n");
        return bombs;
    }

    @Test
    void bombs_are_bounded_in_memory_and_temporary_files() throws Exception {
        RunningCetane cetane = counter()
                .set("http.trusted-proxies", "127.0.0.0/8")
                .set("app.ini.memory_limit", "64M")
                .start();
        Path spool = cetane.runDirectory().resolveSibling("spool");
        int number = 0;
        for (String bomb : bombs()) {
            String name = "bomb " + number++ + ": " + bomb.substring(0, 40);
            assertThat(exchange(cetane, bomb).status()).as(name).isIn(200, 400, 413, 414, 431);
            assertThat(cetane.get("/").statusCode()).as("after " + name).isEqualTo(200);
        }
        awaitNoFile(spool);
        assertThat(peakMegabytes(cetane.pid())).as("MB of the supervisor").isLessThan(200);
        assertThat(cetane.log().fromStart().all("worker.stopped")).isEmpty();
    }

    private static long peakMegabytes(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
            }
        }
        throw new AssertionError("no VmHWM of " + pid);
    }

    @Test
    void a_form_has_no_more_files_on_disk_than_PHP_takes() throws Exception {
        RunningCetane cetane = counter().start();
        Path spool = cetane.runDirectory().resolveSibling("spool");
        String request = form(String.format(FILE, "f[]", "x").repeat(100) + "--B--\r\n");
        try (RawClient client = cetane.connect()) {
            client.send(request.substring(0, request.length() - 4));
            await("files arrive")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> files(spool).size() == 20); // max_file_uploads
            client.send(request.substring(request.length() - 4));
            assertThat(client.answer().status()).isEqualTo(200);
        }
        awaitNoFile(spool);
    }

    // ---- files ----

    private RunningCetane.Starter site() throws IOException {
        Path site =
                Files.createDirectories(directory.resolve("site/public/assets")).getParent();
        Files.writeString(
                site.resolve("index.php"), "<?php // top-secret source\necho 'served ', $_SERVER['REQUEST_URI'];");
        Files.writeString(site.resolve("config.inc.php"), "<?php // top-secret source\n");
        Files.writeString(site.resolve("assets/app.js"), "asset");
        Files.writeString(site.resolve(".env"), "top-secret");
        Files.createDirectories(site.resolve(".git"));
        Files.writeString(site.resolve(".git/config"), "top-secret");
        Files.writeString(site.resolveSibling("secret.txt"), "top-secret");
        Files.createDirectories(site.resolveSibling("public-old"));
        Files.writeString(site.resolveSibling("public-old/secret.txt"), "top-secret");
        return INSTANCES.application(site.getParent()).workers(1);
    }

    @Test
    void no_path_leads_out_of_the_document_root_nor_to_source() throws Exception {
        RunningCetane cetane = site().start();
        for (String path : List.of(
                "/../secret.txt",
                "/%2e%2e/secret.txt",
                "/..%2fsecret.txt",
                "/%2e%2e%2fsecret.txt",
                "/%252e%252e%252fsecret.txt",
                "/..%5csecret.txt",
                "/..\\secret.txt",
                "/assets/../../secret.txt",
                "/assets/..%2f..%2fsecret.txt",
                "/assets/%2e%2e/%2e%2e/secret.txt",
                "/assets/.../.../secret.txt",
                "/..;/secret.txt",
                "/../public-old/secret.txt",
                "/..%2fpublic-old/secret.txt",
                "-old/secret.txt",
                "/%2fetc%2fpasswd",
                "//etc/passwd",
                "/%c0%ae%c0%ae/secret.txt",
                "/assets%00/../../secret.txt",
                "/secret.txt%00.js",
                "/index.php",
                "/index.php/",
                "/index.php%20",
                "/index.php.",
                "/index.php%00",
                "/INDEX.PHP",
                "/./index.php",
                "//index.php",
                "/assets/../index.php",
                "/index.php/../index.php",
                "/index.php::$DATA",
                "/index.php~",
                "/config.inc.php",
                "/config.inc.php/x.js",
                "/.env",
                "/%2eenv",
                "/assets/../.env",
                "/.git/config",
                "/.git%2fconfig",
                "/assets/app.js/../../.env")) {
            try (RawClient client = cetane.connect()) {
                Answer answer = client.get(path).answer();
                assertThat(answer.body()).as(path).doesNotContain("top-secret", "<?php", "root:");
            }
        }
        try (RawClient client = cetane.connect()) {
            assertThat(client.get("/assets/app.js").answer().body()).isIn("asset", "served /assets/app.js");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"../../evil.php", "..\\\\..\\\\evil.php", "/etc/evil.php", "evil.php\\0.jpg", "%2e%2e%2fevil.php"
            })
    void the_name_of_an_upload_is_no_path(String name) throws Exception {
        Path kept = directory.resolve("kept");
        RunningCetane cetane = uploads().start();
        String body =
                "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"" + name + "\"\r\n\r\nx\r\n--B--\r\n";
        Answer answer = exchange(cetane, form(body).replace("POST / ", "POST /?do=keep&to=" + kept + " "));
        assertThat(answer.body()).isEqualTo("true");
        awaitNoFile(cetane.runDirectory().resolveSibling("spool"));
        try (Stream<Path> all = Files.walk(directory)) {
            assertThat(all.filter(Files::isRegularFile).map(Path::getFileName).map(Path::toString))
                    .containsExactly("kept");
        }
    }

    // ---- log ----

    @ParameterizedTest
    @ValueSource(strings = {"json", "text"})
    void nothing_that_a_client_sends_makes_a_line_of_the_log(String format) throws Exception {
        Path site = Files.createDirectories(directory.resolve("log/public"));
        Files.writeString(
                site.resolve("index.php"),
                "<?php $text = urldecode($_SERVER['QUERY_STRING']); error_log($text); trigger_error($text);"
                        + " throw new Exception($text);");
        RunningCetane cetane = INSTANCES
                .application(site.getParent())
                .workers(1)
                .set("log.format", format)
                .set("http.access-log", true)
                .launch();
        if (format.equals("json")) {
            cetane.awaitStarted();
        } else {
            cetane.log().fromStart().awaitText("supervisor.started");
        }
        String forged = "2026-01-01T00:00:00.000Z ERROR forged.event";
        String hidden =
                "%1b%5b2Jx%0d%0a" + forged.replace(" ", "%20") + "%0a%7b%22event%22%3a%22forged.event%22%7d%e2%80%a8";
        String address = cetane.log().fromStart().all().stream()
                .map(line -> line.text().replaceFirst(".*? on http://127\\.0\\.0\\.1:(\\d+).*", "$1"))
                .filter(port -> port.matches("\\d+"))
                .findFirst()
                .orElseThrow();
        try (RawClient client =
                new RawClient(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(address)))) {
            client.send("GET /?" + hidden + " HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + "a\u001b[2J{\"event\":1}"
                    + "\r\n" + "User-Agent: \u009b31m<script>\r\n\r\n");
            assertThat(client.head().status()).isIn(400, 500);
        }
        try (RawClient client =
                new RawClient(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(address)))) {
            client.get("/?" + hidden);
            assertThat(client.head().status()).isEqualTo(500);
        }
        cetane.log().fromStart().awaitText("forged.event");
        for (ServerLog.Line line : cetane.log().fromStart().all()) {
            assertThat(line.event()).as(line.text()).isNotEqualTo("forged.event");
            assertThat(line.text()).doesNotStartWith("2026-01-01").doesNotStartWith("{\"event\"");
            assertThat(line.text().chars().noneMatch(c -> c < ' ' || (c >= 0x7F && c < 0xA0) || c == 0x2028))
                    .as(line.text())
                    .isTrue();
        }
    }
}
