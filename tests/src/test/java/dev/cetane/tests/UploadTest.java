package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.RawClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Uploads from the client's socket to the application, and that no file outlives its request. */
@Timeout(180)
final class UploadTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static RunningCetane cetane;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() {
        cetane = uploads().start();
    }

    private static RunningCetane.Starter uploads() {
        return INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/uploads"))
                .workers(1);
    }

    private static String post(String target, String body) {
        return "POST " + target
                + " HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    private static String form(String... parts) {
        StringBuilder body = new StringBuilder();
        for (String part : parts) {
            body.append("--B\r\nContent-Disposition: form-data; ").append(part).append("\r\n");
        }
        return body.append("--B--\r\n").toString();
    }

    private static String file(String name, String content) {
        return "name=\"" + name + "\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n" + content;
    }

    private static String random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static String sha1(String content) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-1").digest(content.getBytes(StandardCharsets.ISO_8859_1));
        return HexFormat.of().formatHex(digest);
    }

    private static List<Path> spooled(RunningCetane instance) {
        try (Stream<Path> files = Files.list(instance.runDirectory().resolveSibling("spool"))) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitNoFile(RunningCetane instance) {
        await("no file remains").atMost(RunningCetane.PATIENCE).until(() -> spooled(instance), List::isEmpty);
    }

    private static Answer exchange(RunningCetane instance, String request) throws IOException {
        try (RawClient client = instance.connect()) {
            return client.send(request).answer();
        }
    }

    @Test
    void files_and_fields_reach_a_front_controller() throws Exception {
        String large = random(1_900_000);
        Answer answer = exchange(
                cetane,
                post(
                        "/",
                        form("name=\"a[b]\"\r\n\r\n1", file("f", large), file("g", ""), file("h", random(2_500_000)))));
        JsonNode seen = RunningCetane.json(answer.body());
        assertThat(seen.path("post").toString()).isEqualTo("{\"a\":{\"b\":\"1\"}}");
        assertThat(seen.path("input").asText()).isEmpty();
        assertThat(seen.at("/files/f").toString()).isEqualTo("[0,1900000,\"" + sha1(large) + "\",true]");
        assertThat(seen.at("/files/g").toString()).isEqualTo("[0,0,\"" + sha1("") + "\",true]");
        assertThat(seen.at("/files/h").toString()).as("upload_max_filesize").isEqualTo("[1,0,null,false]");
        awaitNoFile(cetane);
    }

    @Test
    void a_file_that_the_application_has_moved_stays_there() throws Exception {
        Path target = directory.resolve("kept");
        String content = random(100_000);
        Answer answer = exchange(cetane, post("/?do=keep&to=" + target, form(file("f", content), file("g", "gone"))));
        assertThat(answer.body()).isEqualTo("true");
        awaitNoFile(cetane);
        assertThat(target).hasBinaryContent(content.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void no_file_outlives_a_worker_that_fails() throws Exception {
        String body = form(file("f", random(100_000)), "name=\"a\"\r\n\r\n" + random(100_000));
        assertThat(exchange(cetane, post("/?do=crash", body)).status()).isEqualTo(502);
        awaitNoFile(cetane);
        assertThat(exchange(cetane, post("/?do=throw", body)).status()).isEqualTo(500);
        awaitNoFile(cetane);
        Answer exit = exchange(cetane, post("/?do=exit", body));
        assertThat(exit.status()).isEqualTo(200);
        assertThat(exit.body()).isEqualTo("1");
        awaitNoFile(cetane);
    }

    @Test
    void no_file_outlives_a_request_that_takes_too_long() throws Exception {
        RunningCetane impatient = uploads().set("pool.request-timeout", "500ms").start();
        assertThat(exchange(impatient, post("/?do=hang", form(file("f", random(100_000)))))
                        .status())
                .isEqualTo(504);
        awaitNoFile(impatient);
    }

    @Test
    void no_file_outlives_a_client_that_leaves_in_the_middle() throws Exception {
        try (RawClient client = cetane.connect()) {
            String request = post("/", form(file("f", random(100_000)), file("g", random(100_000))));
            client.send(request.substring(0, 150_000));
            await("files arrive")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> spooled(cetane).size() == 2);
        }
        awaitNoFile(cetane);
    }

    @Test
    void a_form_larger_than_post_max_size_is_refused() throws Exception {
        RunningCetane small = uploads().set("app.ini.post_max_size", "100K").start();
        String body = form(file("f", random(200_000)));
        assertThat(exchange(small, post("/", body)).status()).isEqualTo(413);
        assertThat(exchange(small, post("/", form(file("f", random(90_000))))).status())
                .isEqualTo(200);
        awaitNoFile(small);
    }

    @Test
    void a_worker_that_wants_no_forms_gets_the_body() throws Exception {
        RunningCetane raw =
                uploads().set("app.ini.enable_post_data_reading", "0").start();
        String body = form(file("f", "content"));
        JsonNode seen = RunningCetane.json(exchange(raw, post("/", body)).body());
        assertThat(seen.path("input").asText()).isEqualTo(body);
        assertThat(seen.path("files").size()).isZero();
    }

    @Test
    void Laravel_gets_valid_files_that_it_can_move() throws Exception {
        RunningCetane laravel = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/laravel"))
                .workers(1)
                .set("app.environment.DEMO_STORAGE", directory.resolve("storage"))
                .start();
        String content = random(300_000);
        Answer answer = exchange(
                laravel, post("/upload", form("name=\"t\"\r\n\r\n1", file("photos[x]", content), file("none", ""))));
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        JsonNode seen = RunningCetane.json(answer.body());
        assertThat(seen.at("/input/t").asText()).isEqualTo("1");
        JsonNode photo = seen.at("/files/photos/x");
        assertThat(photo.path("name").asText()).isEqualTo("photo.jpg");
        assertThat(photo.path("sha1").asText()).isEqualTo(sha1(content));
        assertThat(photo.path("valid").asBoolean()).isTrue();
        assertThat(photo.path("moved").asBoolean()).isTrue();
        awaitNoFile(laravel);
    }
}
