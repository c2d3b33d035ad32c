package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The demo Laravel application, booted once a worker: each of its routes, and what must not leak from one request to the next. */
@Timeout(180)
final class LaravelTest {
    private static final Path APPLICATION = RunningCetane.TESTS.resolve("apps/laravel");

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private static Path storage;

    /** Has one worker, so that all requests meet in one process. */
    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = INSTANCES.laravel(APPLICATION, storage).workers(1).start();
    }

    // ---- pages ----

    @Test
    void the_home_page_has_the_articles_and_counts_visits_in_the_session() {
        Visitor visitor = new Visitor(cetane);
        HttpResponse<String> first = visitor.get("/");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/html"));
        assertThat(first.body()).contains("<html", "</html>");
        assertThat(visitor.get("/bench").statusCode()).isEqualTo(200);
        assertThat(visitor.get("/bench").body())
                .isNotEqualTo(visitor.get("/bench").body());
    }

    @Test
    void text_and_json_are_answered() {
        assertThat(cetane.get("/hello").body()).isEqualTo("Hello, world!");
        HttpResponse<String> json = cetane.get("/json");
        assertThat(json.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(RunningCetane.json(json).path("message").asText()).isEqualTo("Hello, world!");
    }

    @Test
    void the_application_is_booted_once_and_serves_many_requests() {
        JsonNode first = RunningCetane.json(cetane.get("/counter"));
        JsonNode second = RunningCetane.json(cetane.get("/counter"));
        assertThat(second.path("pid")).isEqualTo(first.path("pid"));
        assertThat(second.path("requests").asInt())
                .isEqualTo(first.path("requests").asInt() + 1);
    }

    // ---- nothing leaks ----

    @Test
    void two_users_who_take_turns_are_never_mixed_up() {
        Visitor one = new Visitor(cetane);
        Visitor two = new Visitor(cetane);
        Visitor guest = new Visitor(cetane);
        String first = user(one.get("/login?user=1"));
        String second = user(two.get("/login?user=2"));
        assertThat(first).isNotEmpty().isNotEqualTo(second);
        for (int i = 0; i < 10; i++) {
            HttpResponse<String> me = one.get("/me?turn=" + i);
            assertThat(user(me)).isEqualTo(first);
            assertThat(RunningCetane.json(me).at("/query/turn").asInt())
                    .as("the controller has this request")
                    .isEqualTo(i);
            assertThat(user(two.get("/me?other=" + i))).isEqualTo(second);
            assertThat(user(guest.get("/me"))).isEmpty();
        }
        assertThat(user(one.get("/logout"))).isEmpty();
        assertThat(user(one.get("/me"))).isEmpty();
        assertThat(user(two.get("/me"))).isEqualTo(second);
    }

    @Test
    void what_a_request_is_given_is_what_everything_in_it_sees() {
        for (String who : List.of("me", "you", "them")) {
            JsonNode seen = RunningCetane.json(cetane.get("/leak?who=" + who));
            assertThat(seen.at("/given/who").asText()).isEqualTo(who);
            assertThat(seen.path("held")).isEqualTo(seen.path("given"));
            assertThat(seen.path("helper")).isEqualTo(seen.path("given"));
            assertThat(seen.path("url").asText()).endsWith("/leak?who=" + who);
        }
    }

    @Test
    void locale_configuration_and_time_zone_are_set_for_one_request() {
        JsonNode before = RunningCetane.json(cetane.get("/locale"));
        JsonNode during = RunningCetane.json(cetane.get("/locale?set=de"));
        assertThat(during.path("locale").asText()).isEqualTo("de");
        assertThat(during.path("timezone").asText()).isEqualTo("Europe/Berlin");
        assertThat(RunningCetane.json(cetane.get("/locale"))).isEqualTo(before).isNotEqualTo(during);
    }

    // ---- input ----

    @Test
    void forms_and_json_arrive_with_every_method() {
        for (String method : List.of("POST", "PUT", "PATCH", "DELETE")) {
            JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/form?q=1")
                    .header("Content-Type", "application/json")
                    .header("Cookie", "one=1")
                    .method(method, BodyPublishers.ofString("{\"name\":\"ä\"}"))));
            assertThat(seen.path("method").asText()).isEqualTo(method);
            assertThat(seen.at("/query/q").asText()).isEqualTo("1");
            assertThat(seen.at("/input/name").asText()).isEqualTo("ä");
            assertThat(seen.path("bytes").asInt()).isEqualTo(13);
        }
        JsonNode form = RunningCetane.json(cetane.send(cetane.request("/form")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("list[]=a&list[]=b"))));
        assertThat(form.at("/input/list").toString()).isEqualTo("[\"a\",\"b\"]");
    }

    @Test
    void phps_own_variables_are_filled_too() {
        JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/superglobals?a=1")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("b=2"))));
        assertThat(seen.at("/get/a").asText()).isEqualTo("1");
        assertThat(seen.at("/post/b").asText()).isEqualTo("2");
        assertThat(seen.path("input").asText()).isEqualTo("b=2");
        assertThat(RunningCetane.json(cetane.get("/superglobals")).path("post")).isEmpty();
    }

    @Test
    void cookies_come_and_go() {
        HttpResponse<String> answer = cetane.get("/cookies?value=mine", "Cookie", "gone=here");
        List<String> set = answer.headers().allValues("Set-Cookie");
        assertThat(set).hasSizeGreaterThanOrEqualTo(5);
        assertThat(set).anyMatch(cookie -> cookie.startsWith("direct=") && cookie.contains("samesite=strict"));
        assertThat(set).anyMatch(cookie -> cookie.startsWith("gone=") && cookie.contains("Max-Age=0"));
        assertThat(cetane.get("/hello").headers().allValues("Set-Cookie")).isEmpty();
    }

    // ---- streams and files ----

    @Test
    void a_stream_arrives_line_by_line() throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer head = client.get("/stream?lines=3&ms=100").head();
            assertThat(head.field("transfer-encoding")).isEqualTo("chunked");
            assertThat(client.chunk()).isEqualTo("line 1\n");
            assertThat(client.chunk()).isEqualTo("line 2\n");
            assertThat(client.body(head)).isEqualTo("line 3\n");
        }
    }

    @Test
    void generators_and_large_streams_are_whole() {
        assertThat(cetane.get("/generator").body()).isEqualTo("one\ntwo\nthree\n");
        assertThat(cetane.get("/big?mb=8").body()).hasSize(8 << 20).endsWith("0123456789abcdef");
    }

    @Test
    void files_are_sent_whole_in_ranges_and_once() {
        HttpResponse<String> whole = cetane.get("/download?kb=100");
        assertThat(whole.statusCode()).isEqualTo(200);
        assertThat(whole.body()).hasSize(100 << 10).startsWith("block 0 ");
        assertThat(whole.headers().firstValue("Content-Disposition"))
                .hasValueSatisfying(value -> assertThat(value).contains("cetane.bin"));

        HttpResponse<String> range = cetane.get("/download?kb=100", "Range", "bytes=1024-2047");
        assertThat(range.statusCode()).isEqualTo(206);
        assertThat(range.headers().firstValue("Content-Range")).hasValue("bytes 1024-2047/102400");
        assertThat(range.body()).hasSize(1024).startsWith("block 1 ");

        assertThat(cetane.get("/download?kb=10&delete=1").body()).hasSize(10 << 10);
        Path files = storage.resolve("app");
        await("the file is deleted")
                .atMost(RunningCetane.PATIENCE)
                .until(() -> files.toFile().list((where, name) -> name.startsWith("once")), names -> names.length == 0);
    }

    // ---- trouble ----

    @Test
    void exceptions_and_aborts_are_laravels_error_pages_and_the_worker_lives() {
        long pid = pid();
        HttpResponse<String> exception = cetane.get("/exception", "X-Request-Id", "laravel-exception");
        assertThat(exception.statusCode()).isEqualTo(500);
        assertThat(exception.body()).doesNotContain("part of the demo", "vendor");
        cetane.log()
                .fromStart()
                .await(
                        "worker.output",
                        line -> line.message().contains("this exception is part of the demo")
                                && line.request().equals("laravel-exception"));
        assertThat(cetane.get("/abort/404").statusCode()).isEqualTo(404);
        assertThat(cetane.get("/abort/503").statusCode()).isEqualTo(503);
        assertThat(cetane.get("/no/such/route").statusCode()).isEqualTo(404);
        assertThat(pid()).isEqualTo(pid);
    }

    @Test
    void a_fatal_error_and_lack_of_memory_are_500_and_replace_the_worker() {
        for (String target : List.of("/fatal", "/oom")) {
            long pid = pid();
            String id = "laravel" + target.replace('/', '-');
            HttpResponse<String> answer = cetane.get(target, "X-Request-Id", id);
            assertThat(answer.statusCode()).as(target).isEqualTo(500);
            assertThat(answer.body()).doesNotContain("DoesNotCount", "Allowed memory");
            assertThat(cetane.log().fromStart().await("request.failed", id).message())
                    .containsPattern("DoesNotCount|Allowed memory size");
            assertThat(pid()).as("a new process after " + target).isNotEqualTo(pid);
        }
    }

    @Test
    void exit_answers_with_what_was_printed_and_replaces_the_worker() {
        long pid = pid();
        HttpResponse<String> answer = cetane.get("/exit?text=so+long&status=202");
        assertThat(answer.statusCode()).isEqualTo(202);
        assertThat(answer.body()).isEqualTo("so long");
        ServerLog.Line stopped = cetane.log()
                .fromStart()
                .await("worker.stopped", line -> line.field("pid").asLong() == pid);
        assertThat(stopped.field("reason").asText()).isEqualTo("exited");
        assertThat(stopped.level()).isEqualTo("info");
        assertThat(pid()).isNotEqualTo(pid);
    }

    @Test
    void dd_ends_the_request_and_not_the_worker() {
        long pid = pid();
        assertThat(cetane.get("/dd?a=1").body()).contains("query", "<script");
        assertThat(cetane.get("/dump?a=1").body()).contains("query").endsWith("after the dump");
        assertThat(pid()).isEqualTo(pid);
    }

    @Test
    void what_a_controller_prints_comes_before_what_it_returns() {
        assertThat(cetane.get("/echo").body()).isEqualTo("printed by the controller, returned by the controller");
        assertThat(cetane.get("/echo-outside").body()).isEqualTo("the response");
    }

    @Test
    void terminable_middleware_runs_when_the_client_has_its_answer() {
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/terminate?ms=500", "X-Request-Id", "terminate");
        assertThat(answer.body()).isEqualTo("the log line follows");
        assertThat(log.all("worker.output")).isEmpty();
        log.await(
                "worker.output",
                line -> line.message().contains("terminated terminate")
                        && line.request().equals("terminate"));
    }

    @Test
    void log_lines_carry_the_request() {
        cetane.get("/log?text=remember+this", "X-Request-Id", "logged");
        cetane.log()
                .fromStart()
                .await(
                        "worker.output",
                        line -> line.message().contains("remember this")
                                && line.request().equals("logged"));
    }

    @Test
    void a_slow_request_does_not_hold_up_others_on_another_worker() throws IOException {
        RunningCetane pair = INSTANCES
                .application(APPLICATION)
                .workers(2)
                .set("app.environment.DEMO_STORAGE", storage)
                .start();
        try (RawClient slow = pair.connect()) {
            slow.get("/slow?ms=2000");
            pair.awaitRunning("/slow?ms=2000");
            assertThat(pair.get("/hello").body()).isEqualTo("Hello, world!");
            assertThat(pair.awaitRunning("/slow?ms=2000").path("state").asText())
                    .isEqualTo("busy");
            assertThat(slow.answer().body()).isEqualTo("done");
        }
    }

    private static long pid() {
        return RunningCetane.json(cetane.get("/counter")).path("pid").asLong();
    }

    private static String user(HttpResponse<String> answer) {
        return RunningCetane.json(answer).path("user").asText("").replace("null", "");
    }
}
