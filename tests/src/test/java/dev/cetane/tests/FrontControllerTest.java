package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A plain {@code public/index.php} under real php-cgi: everything it may do, request after request in one process. */
@Timeout(180)
final class FrontControllerTest {
    private static final Path APPLICATION = RunningCetane.TESTS.resolve("apps/front-controller");

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private static Path sessions;

    private static RunningCetane cetane;

    @TempDir
    private Path signals;

    @BeforeAll
    static void start() {
        cetane = INSTANCES
                .application(APPLICATION)
                .workers(1)
                .set("app.ini.session.save_path", sessions)
                .start();
    }

    // ---- the request ----

    @Test
    void superglobals_are_those_of_this_request() {
        JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/superglobals?a=1&b[x][]=2&b[x][]=3&c.d=%C3%A4")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Cookie", "one=1; two=%32")
                .header("X-Custom-Name", "custom")
                .POST(BodyPublishers.ofString("a=posted&list[]=x&list[]=y"))));
        assertThat(seen.at("/get/a").asText()).isEqualTo("1");
        assertThat(seen.at("/get/b/x").toString()).isEqualTo("[\"2\",\"3\"]");
        assertThat(seen.at("/get/c_d").asText()).isEqualTo("ä");
        assertThat(seen.at("/post/a").asText()).isEqualTo("posted");
        assertThat(seen.at("/post/list").toString()).isEqualTo("[\"x\",\"y\"]");
        assertThat(seen.at("/cookie").toString()).isEqualTo("{\"one\":\"1\",\"two\":\"2\"}");
        assertThat(seen.at("/request/a").asText()).as("POST wins over GET").isEqualTo("posted");

        JsonNode server = seen.path("server");
        assertThat(server.path("REQUEST_METHOD").asText()).isEqualTo("POST");
        assertThat(server.path("REQUEST_URI").asText()).isEqualTo("/superglobals?a=1&b[x][]=2&b[x][]=3&c.d=%C3%A4");
        assertThat(server.path("QUERY_STRING").asText()).isEqualTo("a=1&b[x][]=2&b[x][]=3&c.d=%C3%A4");
        assertThat(server.path("HTTP_X_CUSTOM_NAME").asText()).isEqualTo("custom");
        assertThat(server.path("CONTENT_TYPE").asText()).isEqualTo("application/x-www-form-urlencoded");
        assertThat(server.path("CONTENT_LENGTH").asText()).isEqualTo("26");
        assertThat(server.path("SERVER_PROTOCOL").asText()).isEqualTo("HTTP/1.1");
        assertThat(server.path("REMOTE_ADDR").asText()).isEqualTo("127.0.0.1");
        assertThat(server.path("SCRIPT_NAME").asText()).isEqualTo("/index.php");
        assertThat(server.path("SCRIPT_FILENAME").asText())
                .isEqualTo(APPLICATION.resolve("public/index.php").toString());
        assertThat(server.path("DOCUMENT_ROOT").asText())
                .isEqualTo(APPLICATION.resolve("public").toString());

        JsonNode next = RunningCetane.json(cetane.get("/superglobals"));
        assertThat(next.path("get")).isEmpty();
        assertThat(next.path("post")).isEmpty();
        assertThat(next.path("cookie")).isEmpty();
        assertThat(next.at("/server/HTTP_X_CUSTOM_NAME").isMissingNode()).isTrue();
        assertThat(next.at("/server/CONTENT_TYPE").asText()).isEmpty();
    }

    @Test
    void fields_that_could_pretend_to_be_others_do_not_arrive() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.lines(
                    "GET /superglobals HTTP/1.1",
                    "Host: test",
                    "Proxy: http://evil",
                    "X_Real_Ip: 1.2.3.4",
                    "X-Forwarded-For: 1.2.3.4",
                    "");
            JsonNode server = RunningCetane.json(client.answer().body()).path("server");
            assertThat(server.has("HTTP_PROXY")).isFalse();
            assertThat(server.has("HTTP_X_REAL_IP")).isFalse();
            assertThat(server.path("REMOTE_ADDR").asText()).isEqualTo("127.0.0.1");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16 * 1024, 16 * 1024 + 1, 1 << 20, 20 << 20})
    void a_body_of_any_size_arrives_whole_and_can_be_read_twice(int length) throws Exception {
        byte[] body = bytes(length);
        HttpResponse<String> answer = cetane.send(cetane.request("/input")
                .header("Content-Type", "application/octet-stream")
                .POST(BodyPublishers.ofByteArray(body)));
        assertThat(RunningCetane.json(answer).path("length").asInt()).isEqualTo(length);
        assertThat(RunningCetane.json(answer).path("sha1").asText())
                .isEqualTo(HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-1").digest(body)));
    }

    @Test
    void a_chunked_body_arrives_with_its_length() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.lines("POST /input HTTP/1.1", "Host: test", "Transfer-Encoding: chunked", "");
            client.lines("5", "hello", "7", ", world", "0", "");
            assertThat(RunningCetane.json(client.answer().body()).path("length").asInt())
                    .isEqualTo(12);
        }
    }

    @Test
    void sessions_live_through_requests_and_stay_apart() {
        HttpResponse<String> first = cetane.get("/session?name=first");
        HttpResponse<String> second = cetane.get("/session?name=second");
        String firstCookie = cookie(first);
        String secondCookie = cookie(second);
        assertThat(firstCookie).startsWith("PHPSESSID=").isNotEqualTo(secondCookie);
        for (int visit = 2; visit <= 4; visit++) {
            JsonNode one = RunningCetane.json(cetane.get("/session", "Cookie", firstCookie));
            assertThat(one.path("visits").asInt()).isEqualTo(visit);
            assertThat(one.path("name").asText()).isEqualTo("first");
            JsonNode two = RunningCetane.json(cetane.get("/session", "Cookie", secondCookie));
            assertThat(two.path("visits").asInt()).isEqualTo(visit);
            assertThat(two.path("name").asText()).isEqualTo("second");
        }
        assertThat(RunningCetane.json(cetane.get("/session")).path("visits").asInt())
                .as("a visitor without a cookie is new")
                .isEqualTo(1);
    }

    // ---- the answer ----

    @Test
    void status_header_fields_and_cookies_are_those_of_the_script() {
        HttpResponse<String> answer = cetane.get("/answer");
        assertThat(answer.statusCode()).isEqualTo(418);
        assertThat(answer.body()).isEqualTo("short and stout");
        assertThat(answer.headers().allValues("X-Once")).containsExactly("second");
        assertThat(answer.headers().allValues("X-Twice")).containsExactly("one", "two");
        assertThat(answer.headers().allValues("Set-Cookie"))
                .containsExactly("plain=value", "other=%C3%A4%3B%3D; path=/answer; HttpOnly; SameSite=Lax");
        assertThat(answer.headers().firstValue("Content-Length")).hasValue("15");

        JsonNode next = RunningCetane.json(cetane.get("/plain"));
        assertThat(next.path("status").asInt()).isEqualTo(200);
        assertThat(next.path("headers").toString()).doesNotContain("X-Once", "Set-Cookie");
        assertThat(next.path("sent").asBoolean()).isFalse();
    }

    @Test
    void a_location_makes_a_redirect() {
        HttpResponse<String> answer = cetane.get("/redirect");
        assertThat(answer.statusCode()).isEqualTo(302);
        assertThat(answer.headers().firstValue("Location")).hasValue("/elsewhere");
    }

    @Test
    void head_has_the_fields_of_get_and_no_body_and_the_connection_goes_on() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.send("HEAD /answer HTTP/1.1\r\nHost: test\r\n\r\n");
            RawClient.Answer head = client.head();
            assertThat(head.status()).isEqualTo(418);
            assertThat(client.get("/answer").answer().body()).isEqualTo("short and stout");
            assertThat(client.get("/not-modified").answer().status()).isEqualTo(304);
            assertThat(client.get("/answer").answer().body()).isEqualTo("short and stout");
        }
    }

    @Test
    void flushed_pieces_arrive_before_the_next_is_made() throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer head = client.get("/stream?signals=" + signals).head();
            assertThat(head.field("transfer-encoding")).isEqualTo("chunked");
            assertThat(client.chunk()).isEqualTo("one\n");
            Files.createFile(signals.resolve("after-one"));
            assertThat(client.chunk()).isEqualTo("two\n");
            Files.createFile(signals.resolve("after-two"));
            assertThat(client.body(head)).isEqualTo("three\n");
        }
    }

    @Test
    void a_large_answer_is_whole() {
        String body = cetane.get("/big?mb=20").body();
        assertThat(body).hasSize(20 << 20);
        assertThat(body.charAt(0)).isEqualTo('A');
        assertThat(body.charAt(body.length() - 1)).isEqualTo((char) ('A' + (20 * 16 - 1) % 26));
    }

    @Test
    void the_client_has_its_answer_while_the_script_works_on() throws IOException {
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/finish?signals=" + signals, "X-Request-Id", "finished");
        assertThat(answer.body()).isEqualTo("the whole answer");
        assertThat(log.all("worker.output")).isEmpty();
        Files.createFile(signals.resolve("go-on"));
        assertThat(log.await("worker.output", "finished").message()).contains("worked after the answer");
    }

    @Test
    void nothing_of_a_request_is_left_for_the_next() {
        JsonNode first = RunningCetane.json(cetane.get("/state"));
        HttpResponse<String> answer = cetane.get("/state");
        JsonNode second = RunningCetane.json(answer);
        assertThat(second).isEqualTo(first);
        assertThat(second.path("leftover").asBoolean()).isFalse();
        assertThat(second.path("cwd").asText())
                .isEqualTo(APPLICATION.resolve("public").toString());
        assertThat(answer.statusCode()).isEqualTo(201);
    }

    // ---- what goes wrong ----

    @ParameterizedTest
    @CsvSource({"/exit, 200, 0, exited", "/exit?status=403, 403, 0, exited", "/exit?code=7, 200, 7, crashed"})
    void exit_answers_with_what_was_printed_and_replaces_the_worker(
            String target, int status, int code, String reason) {
        String pid = cetane.get("/pid").body();
        HttpResponse<String> answer = cetane.get(target);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).isEqualTo("printed before exit");
        assertThat(answer.headers().firstValue("X-Before")).hasValue("exit");
        ServerLog.Line stopped = cetane.log()
                .fromStart()
                .await("worker.stopped", line -> line.field("pid").asText().equals(pid));
        assertThat(stopped.message()).contains("exit code " + code);
        assertThat(stopped.field("reason").asText()).isEqualTo(reason);
        assertThat(cetane.get("/pid").body()).isNotEqualTo(pid);
    }

    @Test
    void die_answers_with_its_text() {
        HttpResponse<String> answer = cetane.get("/die");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("printed by die");
    }

    @Test
    void an_uncaught_exception_is_a_500_whose_detail_is_in_the_log_and_the_process_lives() {
        String pid = cetane.get("/pid").body();
        for (String target : List.of("/exception", "/fatal", "/compile-error")) {
            ServerLog.Tail log = cetane.logFromHere();
            String id = "broken" + target.replace('/', '-');
            HttpResponse<String> answer = cetane.get(target, "X-Request-Id", id);
            assertThat(answer.statusCode()).as(target).isEqualTo(500);
            assertThat(answer.body()).contains("Request: " + id).doesNotContain("secret", ".php");
            assertThat(log.await("request.failed", id).message()).as(target).contains(".php");
        }
        assertThat(cetane.get("/pid").body()).isEqualTo(pid);
    }

    @Test
    void what_was_printed_before_an_uncaught_exception_is_the_500s_body_as_under_php_fpm() {
        String pid = cetane.get("/pid").body();
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/exception-after-output", "X-Request-Id", "after-output");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).isEqualTo("x".repeat(100));
        assertThat(log.await("worker.log", "after-output").message()).contains("the secret of the exception", ".php");
        assertThat(cetane.get("/pid").body()).isEqualTo(pid);
    }

    @Test
    void running_out_of_memory_is_a_500_and_the_worker_is_replaced() {
        String pid = cetane.get("/pid").body();
        HttpResponse<String> answer = cetane.get("/oom", "X-Request-Id", "oom");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("Allowed memory", ".php");
        assertThat(cetane.log().fromStart().await("request.failed", "oom").message())
                .contains("Allowed memory size", "index.php");
        assertThat(cetane.get("/pid").body()).isNotEqualTo(pid);
    }

    @Test
    void the_time_limit_of_php_is_a_500_and_the_worker_is_replaced() {
        String pid = cetane.get("/pid").body();
        assertThat(cetane.get("/loop", "X-Request-Id", "loop").statusCode()).isEqualTo(500);
        assertThat(cetane.log().fromStart().await("request.failed", "loop").message())
                .contains("Maximum execution time");
        assertThat(cetane.get("/pid").body()).isNotEqualTo(pid);
    }

    @Test
    void clients_see_details_in_debug_mode_only() {
        RunningCetane debug =
                INSTANCES.application(APPLICATION).set("app.debug", true).start();
        HttpResponse<String> exception = debug.get("/exception");
        assertThat(exception.statusCode()).isEqualTo(500);
        assertThat(exception.body()).contains("the secret of the exception");
        HttpResponse<String> memory = debug.get("/oom");
        assertThat(memory.statusCode()).isEqualTo(500);
        assertThat(memory.body()).contains("Allowed memory size");
    }

    @Test
    void warnings_and_the_error_log_are_log_lines_with_the_request_and_no_part_of_the_answer() {
        HttpResponse<String> answer = cetane.get("/print-and-warn", "X-Request-Id", "chatty");
        assertThat(answer.body()).isEqualTo("only this is the answer");
        ServerLog.Tail log = cetane.log().fromStart();
        for (String text : List.of("said to the error log", "a notice of the application", "written to stderr")) {
            log.await(
                    "worker.output",
                    line -> line.message().contains(text) && line.request().equals("chatty"));
        }
        assertThat(cetane.get("/dump").body()).contains("int(42)");
    }

    @Test
    void the_settings_of_php_are_those_of_the_configuration() throws IOException {
        cetane.get("/session");
        try (var files = Files.list(sessions)) {
            assertThat(files).isNotEmpty();
        }
    }

    private static String cookie(HttpResponse<String> answer) {
        String field = answer.headers().firstValue("Set-Cookie").orElse("");
        return field.substring(0, Math.max(0, field.indexOf(';')));
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >>> 8));
        }
        return bytes;
    }
}
