package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.EOFException;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The demo Laravel application under Octane's worker: what users of Octane have reported of other servers, and must not happen here. On the real
 * laravel/octane with OCTANE_SOURCE.
 */
@Timeout(180)
final class OctaneTest {
    private static final Path APPLICATION = RunningCetane.TESTS.resolve("apps/octane");

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private static Path storage;

    /** Has one worker, so that all requests meet in one process. */
    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = octane(APPLICATION)
                .workers(1)
                .set("app.ini.memory_limit", "64M")
                .start();
    }

    private static RunningCetane.Starter octane(Path application) {
        return INSTANCES.laravel(application, storage);
    }

    // ---- nothing leaks ----

    @Test
    void memory_is_flat_over_pages_errors_and_pages_that_are_not_there() {
        List<Integer> bytes = new ArrayList<>();
        for (int part = 0; part < 3; part++) {
            for (int round = 0; round < 50; round++) {
                for (String target : List.of("/bench", "/no/such/page", "/exception", "/stream/untyped")) {
                    cetane.get(target);
                }
            }
            bytes.add(json("/memory").path("bytes").asInt());
        }
        assertThat(bytes.get(2) - bytes.get(1))
                .as("bytes in use after 200 more requests")
                .isLessThan(50_000);
    }

    @Test
    void two_users_on_one_worker_never_see_each_others_state() {
        Visitor ada = new Visitor(cetane);
        Visitor grace = new Visitor(cetane);
        ada.get("/login?user=1");
        grace.get("/login?user=2");
        for (int turn = 0; turn < 20; turn++) {
            JsonNode seen = RunningCetane.json(ada.get("/me?turn=" + turn));
            assertThat(seen.toString()).isEqualTo("{\"user\":\"Ada\",\"query\":{\"turn\":\"" + turn + "\"}}");
            assertThat(RunningCetane.json(grace.get("/me")).toString()).isEqualTo("{\"user\":\"Grace\",\"query\":[]}");
            assertThat(json("/me").path("user").isNull()).isTrue();
        }
        ada.get("/logout");
        assertThat(RunningCetane.json(ada.get("/me")).path("user").isNull()).isTrue();
        assertThat(RunningCetane.json(grace.get("/me")).path("user").asText()).isEqualTo("Grace");
    }

    @Test
    void superglobals_are_filled_and_never_those_of_another_request() {
        JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/superglobals?a=1")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("b=2"))));
        assertThat(seen.at("/get/a").asText()).isEqualTo("1");
        assertThat(seen.at("/post/b").asText()).isEqualTo("2");
        assertThat(json("/superglobals").path("get")).isEmpty();
        assertThat(json("/superglobals").path("post")).isEmpty();
    }

    // ---- input ----

    @Test
    void forms_are_read_with_every_method() {
        for (String method : List.of("POST", "PUT", "PATCH", "DELETE")) {
            JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/form")
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .method(method, BodyPublishers.ofString("name=x&list%5B%5D=1"))));
            assertThat(seen.path("method").asText()).isEqualTo(method);
            assertThat(seen.path("input").toString()).isEqualTo("{\"name\":\"x\",\"list\":[\"1\"]}");
        }
    }

    @Test
    void a_form_with_files_is_read_when_it_is_posted_whatever_method_it_names() throws IOException {
        String body = "--B\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\nPUT\r\n"
                + form("--B\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx\r\n");
        JsonNode seen = exchange("POST", "/form", body);
        assertThat(seen.path("method").asText()).isEqualTo("PUT");
        assertThat(seen.at("/input/name").asText()).isEqualTo("x");
        JsonNode raw = exchange("PUT", "/put-raw", body);
        assertThat(raw.path("input")).as("as under php-fpm").isEmpty();
        assertThat(raw.path("content").asText()).isEqualTo(body);
    }

    @Test
    void uploads_are_valid_can_be_moved_and_are_deleted_nested_ones_too() throws IOException {
        String body = form(
                file("document", "a.txt", "first"),
                file("upload[]", "b.txt", "second"),
                file("deep[x][y]", "c.txt", "third"));
        JsonNode moved = upload("/upload", body);
        assertThat(moved.at("/files/document/valid").asBoolean()).isTrue();
        assertThat(moved.at("/files/upload/0/moved").asBoolean()).isTrue();
        assertThat(moved.at("/files/deep/x/y/moved").asBoolean()).isTrue();

        JsonNode left = upload("/upload-paths", body);
        assertThat(left.path("valid").asBoolean()).as("is_uploaded_file()").isTrue();
        assertThat(left.path("paths")).hasSize(3);
        for (JsonNode path : left.path("paths")) {
            await(path + " is deleted")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> Files.notExists(Path.of(path.asText())));
        }
    }

    @Test
    void a_request_without_a_host_has_urls_all_the_same() throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer answer =
                    client.send("GET /address HTTP/1.0\r\n\r\n").answer();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(RunningCetane.json(answer.body()).path("url").asText()).matches("http://[^/]+/deep");
        }
    }

    // ---- output ----

    @Test
    void what_is_printed_to_the_standard_output_is_a_log_line_and_no_part_of_the_answer() {
        assertThat(cetane.get("/stdout", "X-Request-Id", "to-stdout").body()).isEqualTo("clean");
        for (String text : List.of("noise on the standard output", "{\"type\":\"request\",\"noise\":true}")) {
            cetane.log()
                    .fromStart()
                    .await(
                            "worker.output",
                            line -> line.message().equals(text)
                                    && line.request().equals("to-stdout"));
        }
        assertThat(cetane.get("/echo").body()).isEqualTo("printed by the controller, returned by the controller");
        cetane.get("/echo-outside", "X-Request-Id", "echo-after");
        assertThat(cetane.log().fromStart().await("worker.log", "echo-after").message())
                .isEqualTo("printed after the response");
    }

    @Test
    void dumps_reach_the_browser_and_the_worker_lives() {
        long pid = pid();
        assertThat(cetane.get("/dump?a=1").body()).contains("sf-dump").endsWith("after the dump");
        HttpResponse<String> end = cetane.get("/dd?a=1");
        assertThat(end.statusCode()).isEqualTo(500);
        assertThat(end.body()).contains("sf-dump");
        assertThat(pid()).isEqualTo(pid);
    }

    @Test
    void echo_streams_at_once_and_every_kind_of_generator_has_a_body() throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer head = client.get("/stream?lines=3&ms=100").head();
            assertThat(client.chunk()).isEqualTo("line 1\n");
            assertThat(client.chunk()).isEqualTo("line 2\n");
            assertThat(client.body(head)).isEqualTo("line 3\n");
        }
        assertThat(cetane.get("/stream/typed").body()).isEqualTo("typed and printed generator");
        assertThat(cetane.get("/stream/untyped").body()).isEqualTo("untyped generator");
        assertThat(cetane.get("/stream/string").body()).isEqualTo("a returned string");
        assertThat(cetane.get("/stream/printed-before").body()).isEqualTo("printed before, streamed");
    }

    @Test
    void a_stream_notices_that_its_client_has_left_and_is_terminated_as_any_request() throws IOException {
        long pid = pid();
        ServerLog.Tail log = cetane.logFromHere();
        try (RawClient client = cetane.connect()) {
            client.get("/stream/events").head();
            assertThat(client.chunk()).isEqualTo("data: 0\n\n");
        }
        log.awaitText("the stream knows that its client has left");
        log.awaitText("terminated stream/events");
        assertThat(pid()).isEqualTo(pid);
    }

    @Test
    void an_exception_in_a_stream_cuts_the_connection_and_the_worker_lives() throws IOException {
        long pid = pid();
        try (RawClient client = cetane.connect()) {
            client.get("/stream/throws").head();
            assertThat(client.chunk()).isEqualTo("begun");
            assertThatThrownBy(client::chunk).as("no end that looks whole").isInstanceOf(EOFException.class);
        }
        cetane.log().fromStart().awaitText("this exception cuts a stream");
        assertThat(pid()).isEqualTo(pid);
    }

    @Test
    void files_are_sent_whole_in_ranges_and_deleted_when_asked() {
        HttpResponse<String> whole = cetane.get("/download?kb=3000");
        assertThat(whole.body()).hasSize(3_000 << 10).startsWith("block 0 ");
        HttpResponse<String> range = cetane.get("/download?kb=100", "Range", "bytes=1024-2047");
        assertThat(range.statusCode()).isEqualTo(206);
        assertThat(range.headers().firstValue("Content-Range")).hasValue("bytes 1024-2047/102400");
        assertThat(range.body()).hasSize(1024).startsWith("block 1 ");
        assertThat(cetane.get("/download?kb=70000", "Range", "bytes=-1024").body())
                .as("of a file that is larger than PHP's memory")
                .startsWith("block 69999 ");
        assertThat(cetane.get("/download?kb=10&delete=1").body()).hasSize(10 << 10);
        Path files = storage.resolve("app");
        await("the file is deleted")
                .atMost(RunningCetane.PATIENCE)
                .until(() -> files.toFile().list((where, name) -> name.startsWith("once")), names -> names.length == 0);
        assertThat(cetane.get("/sendfile").body()).isEqualTo("sent in place of the body");
        assertThat(cetane.get("/sendfile?path=/etc/passwd").statusCode()).isEqualTo(500);
    }

    @Test
    void status_header_case_and_cookies_are_as_the_application_set_them() throws IOException {
        for (int status : List.of(419, 425, 431, 451, 299)) {
            try (RawClient client = cetane.connect()) {
                String answer = client.send(
                                "GET /status/" + status + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                        .rest();
                assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("\r\nX-MiXed-CaSe: Kept\r\n");
            }
        }
        List<String> cookies = cetane.get("/cookie-attributes").headers().allValues("Set-Cookie");
        assertThat(cookies)
                .hasSize(4)
                .contains("fourth=4; path=/; secure; httponly; samesite=lax; partitioned")
                .anyMatch(cookie -> cookie.equals("first=one; path=/; secure; httponly; samesite=none"))
                .anyMatch(cookie -> cookie.matches(
                        "second=two; expires=[^;]+; Max-Age=600; path=/deep; domain=example.org; samesite=strict"))
                .anyMatch(cookie -> cookie.startsWith("third=3;"));
        assertThat(cetane.get("/cookies").headers().allValues("Set-Cookie"))
                .as("queued, direct and session cookies")
                .hasSizeGreaterThanOrEqualTo(5);
    }

    @Test
    void the_client_has_its_answer_before_terminable_middleware_runs() {
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/terminate?ms=500").body()).isEqualTo("the log line follows");
        assertThat(log.all("worker.output")).isEmpty();
        log.awaitText("terminated terminate");
    }

    // ---- trouble ----

    @Test
    void exit_after_an_answer_that_was_sent_by_hand_keeps_the_answer() {
        long pid = pid();
        HttpResponse<String> answer = cetane.get("/send-and-exit");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("sent by hand, then printed");
        assertThat(pid()).isNotEqualTo(pid);
    }

    @Test
    void a_redirect_that_was_sent_by_hand_before_exit_keeps_its_fields_and_cookies() {
        HttpResponse<String> answer = cetane.get("/redirect-and-exit");
        assertThat(answer.statusCode()).isEqualTo(302);
        assertThat(answer.headers().firstValue("Location"))
                .hasValueSatisfying(to -> assertThat(to).endsWith("/there"));
        assertThat(answer.headers().firstValue("X-Sent")).hasValue("by hand");
        assertThat(answer.headers().allValues("Set-Cookie")).anyMatch(cookie -> cookie.startsWith("kept="));
    }

    @Test
    void what_header_and_setcookie_set_is_part_of_the_answer_and_of_no_other() {
        HttpResponse<String> answer = cetane.get("/php-header");
        assertThat(answer.statusCode()).isEqualTo(202);
        assertThat(answer.headers().allValues("X-Plain")).containsExactly("of PHP");
        assertThat(answer.headers().allValues("X-Response")).containsExactly("of Laravel");
        assertThat(answer.headers().allValues("Content-Type")).containsExactly("text/plain; charset=UTF-8");
        assertThat(answer.headers().allValues("Set-Cookie")).contains("plain=of%20PHP; SameSite=Strict");

        HttpResponse<String> next = cetane.get("/memory");
        assertThat(next.headers().map()).doesNotContainKey("x-plain");
        assertThat(next.headers().allValues("Set-Cookie")).noneMatch(cookie -> cookie.startsWith("plain="));
    }

    @Test
    void lack_of_memory_is_a_500_whose_cause_is_in_the_log_with_the_request() {
        long pid = pid();
        HttpResponse<String> answer = cetane.get("/oom", "X-Request-Id", "octane-oom");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("Allowed memory");
        assertThat(cetane.log()
                        .fromStart()
                        .await("request.failed", "octane-oom")
                        .message())
                .contains("GET /oom", "Allowed memory size of 67108864 bytes exhausted");
        assertThat(pid()).isNotEqualTo(pid);
    }

    @Test
    void what_escapes_laravel_is_octanes_answer_and_replaces_the_worker() {
        long pid = pid();
        HttpResponse<String> answer = cetane.get("/escape");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).isEqualTo("Internal server error.");
        cetane.log().fromStart().awaitText("this exception escapes the kernel");
        assertThat(pid()).isNotEqualTo(pid);
    }

    @Test
    void a_request_beyond_the_time_limit_is_answered_and_hits_its_own_worker_alone() throws IOException {
        RunningCetane pair =
                octane(APPLICATION).workers(2).set("pool.request-timeout", "3s").start();
        try (RawClient other = pair.connect()) {
            other.get("/stream?lines=20&ms=200");
            other.head();
            HttpResponse<String> answer = pair.get("/slow?ms=60000");
            assertThat(answer.statusCode()).isEqualTo(504);
            assertThat(pair.get("/hello").body()).isEqualTo("Hello, world!");
        }
    }

    @Test
    void one_request_may_have_another_time_limit_than_the_rest() {
        RunningCetane instance = octane(APPLICATION)
                .workers(1)
                .set("pool.request-timeout", "1s")
                .set("pool.longest-request", "20s")
                .set("http.route-timeouts./slow", "20s")
                .start();
        assertThat(instance.get("/limit/10?take=2000").body()).isEqualTo("{\"granted\":10}");
        assertThat(instance.get("/limit/500").body()).isEqualTo("{\"granted\":20}");
        assertThat(instance.get("/slow?ms=2000").body()).isEqualTo("done");
        assertThat(instance.get("/limit?take=60000").statusCode()).isEqualTo(504);
        assertThat(instance.get("/limit/0.1?take=60000").statusCode()).isEqualTo(504);
        assertThat(instance.get("/hello").body()).isEqualTo("Hello, world!");
    }

    @Test
    void a_connection_that_the_database_has_closed_is_made_anew_and_none_remains() throws IOException {
        try (FakeMySql database = new FakeMySql()) {
            RunningCetane instance = octane(APPLICATION)
                    .workers(1)
                    .set("app.environment.HARNESS_DATABASE_PORT", database.port())
                    .start();
            for (int request = 0; request < 20; request++) {
                assertThat(instance.get("/database").body()).isEqualTo("{\"n\":1}");
            }
            assertThat(database.accepted()).as("connections of 20 requests").isEqualTo(1);

            database.dropConnections();
            assertThat(instance.get("/database").body()).isEqualTo("{\"n\":1}");
            assertThat(database.accepted()).isEqualTo(2);

            assertThat(instance.command("reload").run().code()).isZero();
            assertThat(instance.get("/database").body()).isEqualTo("{\"n\":1}");
            await("the old worker's connection is closed")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> database.connections() == 1);
            instance.signal("TERM");
            assertThat(instance.awaitExit()).isZero();
            await("no connection remains").atMost(RunningCetane.PATIENCE).until(() -> database.connections() == 0);
        }
    }

    @Test
    void a_stop_lets_the_running_request_finish_and_exits_with_0() throws IOException {
        RunningCetane instance = octane(APPLICATION).workers(1).start();
        try (RawClient client = instance.connect()) {
            client.get("/slow?ms=1500");
            instance.awaitRunning("/slow?ms=1500");
            instance.signal("TERM");
            assertThat(client.answer().body()).isEqualTo("done");
        }
        assertThat(instance.awaitExit()).isZero();
    }

    @Test
    void an_application_that_cannot_boot_is_told_and_nothing_is_served() {
        RunningCetane broken =
                octane(APPLICATION).set("app.environment.HARNESS_BROKEN", "1").launch();
        broken.log().fromStart().awaitText("cetane: cannot start: ");
        assertThat(broken.awaitExit()).isEqualTo(1);
        assertThat(broken.log().fromStart().all("worker.boot-failed"))
                .first()
                .satisfies(line -> assertThat(line.message()).contains("a provider does not like it here", "#0 "));
    }

    @Test
    void a_reload_takes_the_new_release_under_load_and_a_broken_one_leaves_the_old_serving() throws IOException {
        try (Release release = new Release()) {
            application(release, "one", "");
            application(release, "two", "");
            application(release, "broken", "throw new LogicException('this release is broken');");
            release.switchTo("one");
            RunningCetane instance = octane(release.current()).workers(2).start();
            assertThat(version(instance)).isEqualTo("one");
            try (Load load = new Load(instance, 4, "/environment")) {
                load.awaitAnswers(20);
                release.switchTo("two");
                assertThat(instance.command("reload").run().code()).isZero();
                RunningCetane.delete(release.of("one"));
                load.awaitAnswers(20);
                release.switchTo("broken");
                Command.Run reload = instance.command("reload").run();
                assertThat(reload.code()).isEqualTo(1);
                assertThat(reload.err()).contains("this release is broken");
                load.awaitAnswers(20);
                assertThat(load.stop())
                        .allSatisfy(result ->
                                assertThat(result.status()).as(result.body()).isEqualTo(200));
            }
            assertThat(version(instance)).isEqualTo("two");
        }
    }

    /** A release of the application that is known by its name. */
    private static void application(Release release, String name, String php) throws IOException {
        Path directory = release.of(name);
        Files.createDirectories(directory.resolve("bootstrap"));
        Files.createDirectories(directory.resolve("vendor"));
        Files.writeString(
                directory.resolve("vendor/autoload.php"), "<?php require '" + APPLICATION + "/vendor/autoload.php';");
        Files.writeString(
                directory.resolve("bootstrap/app.php"),
                "<?php " + php + " putenv('HARNESS_VERSION=" + name + "'); return require '" + APPLICATION
                        + "/bootstrap/app.php';");
    }

    private static String version(RunningCetane instance) {
        return RunningCetane.json(instance.get("/environment")).path("version").asText();
    }

    private static String form(String... parts) {
        return String.join("", parts) + "--B--\r\n";
    }

    private static String file(String field, String name, String content) {
        return "--B\r\nContent-Disposition: form-data; name=\"" + field + "\"; filename=\"" + name + "\"\r\n\r\n"
                + content + "\r\n";
    }

    private static JsonNode upload(String target, String body) throws IOException {
        return exchange("POST", target, body);
    }

    private static JsonNode exchange(String method, String target, String body) throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer answer = client.send(method + " " + target
                            + " HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: "
                            + body.length() + "\r\n\r\n" + body)
                    .answer();
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            return RunningCetane.json(answer.body());
        }
    }

    private static JsonNode json(String target) {
        return RunningCetane.json(cetane.get(target));
    }

    private static long pid() {
        return json("/counter").path("pid").asLong();
    }
}
