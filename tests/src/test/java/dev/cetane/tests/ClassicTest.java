package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Classic applications: which script answers, and each row of the failure table when it fails. */
@Timeout(180)
final class ClassicTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final Path APPLICATION = RunningCetane.TESTS.resolve("apps/classic");

    @TempDir
    Path directory;

    /** Has one worker, so that it is known which one a request goes to. */
    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = classic().start();
    }

    private static RunningCetane.Starter classic() {
        return INSTANCES.application(APPLICATION).workers(1).set("app.kind", "classic");
    }

    private static String pid(RunningCetane instance) {
        HttpResponse<String> answer = instance.get("/pid.php");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    // ---- which script answers ----

    @ParameterizedTest
    @CsvSource({
        "/, /index.php, , /index.php",
        "/index.php, /index.php, , /index.php",
        "/index.php/a/b?c=d, /index.php, /a/b, /index.php/a/b",
        "/a/pretty/path, /index.php, , /index.php",
        "/sub/, /sub/index.php, , /sub/index.php",
        "/sub/index.php/x.php/y, /sub/index.php, /x.php/y, /sub/index.php/x.php/y",
        "/sub/../sub/./index.php, /sub/index.php, , /sub/index.php",
        "/uploads/, /index.php, , /index.php",
    })
    void the_script_is_the_one_that_the_path_names(String target, String script, String pathInfo, String self) {
        JsonNode seen = RunningCetane.json(cetane.get(target));
        assertThat(seen.path("script").asText()).isEqualTo(script);
        assertThat(seen.path("file").asText()).isEqualTo(APPLICATION + script);
        assertThat(seen.path("path info").textValue()).isEqualTo(pathInfo);
        assertThat(seen.path("self").asText()).isEqualTo(self);
        assertThat(seen.path("uri").asText()).isEqualTo(target);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/none.php",
                "/none.php/a",
                "/uploads/photo.jpg/x.php",
                "/uploads/photo.jpg%00.php",
                "/.hidden/x.php",
                "/uploads/photo.php.txt/.php",
                "/sub.php",
            })
    void nothing_else_is_run(String target) throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer answer = client.get(target).answer();
            assertThat(answer.status()).isIn(400, 404);
            assertThat(answer.body()).doesNotContain("ran");
        }
    }

    @Test
    void an_uploaded_file_is_sent_or_missing_but_never_run() {
        assertThat(cetane.get("/uploads/photo.jpg").body()).startsWith("<?php");
        assertThat(RunningCetane.json(cetane.get("/uploads/photo.php.txt"))
                        .path("script")
                        .asText())
                .isEqualTo("/index.php");
    }

    @Test
    void files_are_sent_without_php() {
        HttpResponse<String> answer = cetane.get("/style.css");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/css"));
    }

    @Test
    void a_directory_gets_its_slash() throws IOException {
        try (RawClient client = cetane.connect()) {
            RawClient.Answer answer = client.get("//sub?a=b").answer();
            assertThat(answer.status()).isEqualTo(301);
            assertThat(answer.field("location")).isEqualTo("/sub/?a=b");
        }
    }

    @Test
    void php_reads_forms_itself() {
        String boundary = "----b";
        String form = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a[b]\"\r\n\r\n1\r\n--" + boundary
                + "\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\n" + "x".repeat(300_000)
                + "\r\n--" + boundary + "--\r\n";
        JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/")
                .header("Content-Type", "multipart/form-data; boundary=" + boundary)
                .POST(BodyPublishers.ofString(form))));
        assertThat(seen.path("post").toString()).isEqualTo("{\"a\":{\"b\":\"1\"}}");
        assertThat(seen.at("/files/f").toString()).isEqualTo("[0,300000,true]");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16 * 1024, 16 * 1024 + 1, 65_528, 3_000_000})
    void bodies_of_every_length_arrive_whole(int length) {
        for (int i = 0; i < 2; i++) {
            JsonNode seen = RunningCetane.json(cetane.send(cetane.request("/")
                    .header("Content-Type", "text/plain")
                    .PUT(BodyPublishers.ofByteArray(new byte[length]))));
            assertThat(seen.path("input").asInt()).isEqualTo(length);
        }
    }

    @Test
    void a_body_that_no_script_reads_does_not_reach_the_next_request() {
        String pid = pid(cetane);
        HttpRequest.Builder request = cetane.request("/pid.php").POST(BodyPublishers.ofByteArray(new byte[2_000_000]));
        assertThat(cetane.send(request).body()).isEqualTo(pid);
        assertThat(pid(cetane)).isEqualTo(pid);
    }

    @Test
    void children_share_one_opcode_cache() {
        await("the file is cached").until(() -> !cetane.get("/count.php").body().contains("not cached"));
        String[] one = cetane.get("/count.php").body().split(" ", -1);
        Processes.signal(Long.parseLong(one[0]), "KILL");
        Processes.awaitEnd(Long.parseLong(one[0]));
        String[] other = cetane.get("/count.php").body().split(" ", -1);
        assertThat(other[0]).isNotEqualTo(one[0]);
        assertThat(Integer.parseInt(other[1])).as("hits of all children").isGreaterThan(Integer.parseInt(one[1]));
    }

    // ---- the failure table ----

    @Test
    void die_and_exit_give_what_was_printed_and_the_worker_lives() {
        String pid = pid(cetane);
        HttpResponse<String> died = cetane.get("/die.php");
        assertThat(died.statusCode()).isEqualTo(418);
        assertThat(died.headers().firstValue("X-Said")).hasValue("before");
        assertThat(died.body()).isEqualTo("last words");
        assertThat(cetane.get("/exit.php").body()).isEqualTo("left");
        assertThat(pid(cetane)).isEqualTo(pid);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/kill.php", "/segfault.php"})
    void a_worker_that_dies_before_the_head_costs_one_502(String target) {
        long pid = Long.parseLong(pid(cetane));
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get(target, "X-Request-Id", "no-head");
        assertThat(answer.statusCode()).isEqualTo(502);
        assertThat(answer.body()).contains("Request: no-head").doesNotContain(target);
        ServerLog.Line stopped = log.await("worker.stopped", "no-head");
        assertThat(stopped.level()).isEqualTo("warn");
        assertThat(stopped.message()).contains("GET " + target, "pid " + pid);
        assertThat(stopped.field("reason").asText()).isEqualTo("crashed");
        assertThat(pid(cetane)).isNotEqualTo(Long.toString(pid));
    }

    @Test
    void a_worker_that_dies_after_the_head_aborts_the_answer() {
        RawClient.assertCut(cetane, "/kill-after-head.php");
        assertThat(pid(cetane)).isNotEmpty();
    }

    @Test
    void a_request_over_its_time_gets_a_504_and_its_worker_is_killed_with_what_it_has_started() {
        RunningCetane impatient = classic()
                .set("pool.request-timeout", "500ms")
                .set("pool.kill-grace", "200ms")
                .start();
        for (String target : List.of("/hang.php", "/starts-a-process.php")) {
            long pid = Long.parseLong(pid(impatient));
            ServerLog.Tail log = impatient.logFromHere();
            assertThat(impatient.get(target, "X-Request-Id", "slow").statusCode())
                    .isEqualTo(504);
            assertThat(log.await("request.timed-out", "slow").message())
                    .contains("pool.request-timeout (500ms)", "GET " + target, "pid " + pid);
            assertThat(log.await("worker.stopped").field("reason").asText()).isEqualTo("timed_out");
            assertThat(pid(impatient)).isNotEqualTo(Long.toString(pid));
            Processes.awaitEnd(pid);
        }
        RawClient.assertCut(impatient, "/hang-after-head.php");
    }

    @Test
    void out_of_memory_and_exceptions_are_500s_whose_message_is_in_the_log_and_the_worker_lives() {
        String pid = pid(cetane);
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> full = cetane.get("/memory.php", "X-Request-Id", "full");
        assertThat(full.statusCode()).isEqualTo(500);
        assertThat(full.body()).isEmpty();
        assertThat(log.await("worker.output", "full").message()).contains("Allowed memory size", "memory.php");
        assertThat(cetane.get("/exception.php", "X-Request-Id", "thrown").statusCode())
                .isEqualTo(500);
        assertThat(log.await("worker.output", "thrown").message()).contains("it broke");
        assertThat(pid(cetane)).isEqualTo(pid);
    }

    @Test
    void clients_see_messages_in_debug_mode_only() {
        RunningCetane debug = classic().set("app.debug", true).start();
        assertThat(debug.get("/exception.php").body()).contains("it broke");
    }

    @Test
    void warnings_are_lines_with_the_request() {
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/warning.php", "X-Request-Id", "warned").body()).isEqualTo("fine");
        log.await(
                "worker.output",
                line -> line.request().equals("warned") && line.message().contains("a warning in"));
        log.await(
                "worker.output",
                line -> line.request().equals("warned") && line.message().equals("a line of its own"));
    }

    @Test
    void a_head_that_is_none_is_a_502_and_the_worker_lives() {
        String pid = pid(cetane);
        assertThat(cetane.get("/invalid-head.php").statusCode()).isEqualTo(502);
        assertThat(pid(cetane)).isEqualTo(pid);
    }

    @Test
    void a_client_that_does_not_read_is_cut_off_and_costs_a_child_at_most() throws IOException {
        RunningCetane impatient = classic().set("http.write-timeout", "500ms").start();
        try (RawClient client = impatient.connect()) {
            client.get("/endless.php");
            impatient.awaitRunning("/endless.php");
            pid(impatient);
            assertThatThrownBy(client::answer).isInstanceOfAny(EOFException.class, SocketException.class);
        }
    }

    @Test
    void a_script_whose_client_leaves_ends_at_its_next_output() throws IOException {
        long pid = Long.parseLong(pid(cetane));
        ServerLog.Tail log = cetane.logFromHere();
        try (RawClient client = cetane.connect()) {
            client.get("/endless.php").head();
        }
        Processes.awaitEnd(pid);
        assertThat(log.await("worker.stopped").field("reason").asText()).isEqualTo("exited");
        assertThat(pid(cetane)).isNotEqualTo(Long.toString(pid));
    }

    @Test
    void a_script_that_ignores_that_its_client_leaves_goes_on() throws IOException {
        Path file = directory.resolve("done");
        String pid = pid(cetane);
        try (RawClient client = cetane.connect()) {
            client.get("/leave.php?file=" + file);
            await("it has begun").until(() -> Files.exists(directory.resolve("done.begun")));
        }
        Files.createFile(directory.resolve("done.go"));
        await("it is done").until(() -> Files.exists(file) && Files.size(file) > 0);
        assertThat(pid(cetane)).as("the worker lives").isEqualTo(pid);
    }

    @Test
    void large_answers_are_whole() throws IOException {
        try (RawClient client = cetane.connect()) {
            assertThat(client.get("/big.php?mb=20").answer().body()).hasSize(20 << 20);
        }
    }

    @Test
    void a_request_whose_worker_dies_before_it_took_it_is_served_by_another_but_is_handed_on_once_only()
            throws Exception {
        FrozenPair pair = new FrozenPair(classic(), "/pid.php", "unlucky");
        Processes.signal(pair.first, "KILL");
        ServerLog.Tail log = pair.cetane.log().fromStart();
        assertThat(log.await("request.handed-on", "unlucky").message()).contains("GET /pid.php", "pid " + pair.first);
        Processes.signal(pair.second, "CONT");
        assertThat(pair.answer().statusCode()).isEqualTo(200);
    }

    // ---- the protocol ----

    @Test
    void a_child_that_breaks_fastcgi_costs_one_502_and_is_replaced() {
        RunningCetane broken = classic()
                .set("app.php", RunningCetane.TESTS.resolve("php/fastcgi/php-cgi"))
                .set("pool.backoff-initial", "10ms")
                .start();
        for (String how :
                List.of("garbage", "version", "other-request", "type", "refusal", "long-end", "no-head", "long-head")) {
            long pid = Long.parseLong(broken.get("/pid").body());
            ServerLog.Tail log = broken.logFromHere();
            boolean head = how.equals("long-end");
            if (head) {
                RawClient.assertCut(broken, "/" + how);
            } else {
                assertThat(broken.get("/" + how).statusCode()).as(how).isEqualTo(502);
            }
            if (how.equals("long-head")) {
                log.await("request.invalid-answer");
                assertThat(broken.get("/pid").body())
                        .as("an application may do that")
                        .isEqualTo(Long.toString(pid));
            } else {
                assertThat(log.await("worker.protocol-error").message()).contains("Protocol violation", "pid " + pid);
                assertThat(broken.get("/pid").body()).as(how).isNotEqualTo(Long.toString(pid));
            }
        }
        assertThat(broken.get("/folded").statusCode()).isEqualTo(502);
        RawClient.assertCut(broken, "/garbage-after-head");
        long pid = Long.parseLong(broken.get("/pid").body());
        ServerLog.Tail log = broken.logFromHere();
        assertThat(broken.get("/answers-twice").body()).isEqualTo("once");
        log.await("worker.protocol-error");
        assertThat(broken.get("/pid").body()).isNotEqualTo(Long.toString(pid));
    }

    // ---- life ----

    @Test
    void workers_are_replaced_after_their_requests_and_above_their_memory() {
        RunningCetane limited = classic()
                .set("pool.max-requests", 3)
                .set("pool.jitter-percent", 0)
                .start();
        Set<String> pids = new HashSet<>();
        for (int i = 0; i < 12; i++) {
            pids.add(pid(limited));
        }
        await("several children have served").until(() -> pids.add(pid(limited)) || pids.size() > 3);
        assertThat(limited.log()
                        .fromStart()
                        .await("worker.stopped")
                        .field("reason")
                        .asText())
                .isEqualTo("max_requests");

        RunningCetane small = classic()
                .set("pool.max-memory", "1MiB")
                .set("pool.jitter-percent", 0)
                .start();
        pid(small);
        assertThat(small.log().fromStart().await("worker.due").field("reason").asText())
                .isEqualTo("max_memory");
        small.log().fromStart().await("worker.stopped");
    }

    @Test
    void a_reload_starts_a_new_php_cgi_and_the_old_one_ends() {
        RunningCetane pair = classic().workers(2).start();
        pair.awaitStatus("both are idle", status -> status.at("/workers/idle").asInt() == 2);
        List<Long> before = pair.processes();
        assertThat(pair.command("reload").run().code()).isZero();
        await("the old processes have ended")
                .atMost(RunningCetane.PATIENCE)
                .until(() -> before.stream().noneMatch(Processes::isRunning));
        assertThat(pair.get("/").statusCode()).isEqualTo(200);
    }

    @Test
    void when_php_cgi_dies_another_is_started() {
        RunningCetane pair = classic().workers(2).start();
        pair.awaitStatus("both are idle", status -> status.at("/workers/idle").asInt() == 2);
        List<Long> before = pair.processes();
        long child = pair.workerPids().get(0);
        long parent = ProcessHandle.of(child)
                .flatMap(ProcessHandle::parent)
                .orElseThrow()
                .pid();
        Processes.signal(parent, "KILL");
        pair.log().fromStart().await("php-cgi.ended");
        before.forEach(Processes::awaitEnd);
        assertThat(pair.get("/").statusCode()).isEqualTo(200);
        pair.awaitStatus(
                "both are idle again", status -> status.at("/workers/idle").asInt() == 2);
    }

    @Test
    void nothing_outlives_a_supervisor_that_is_killed_not_even_a_busy_child() throws IOException {
        RunningCetane killed = classic().workers(2).start();
        try (RawClient client = killed.connect()) {
            client.get("/hang.php");
            killed.awaitRunning("/hang.php");
            List<Long> processes = killed.processes();
            assertThat(processes).hasSizeGreaterThanOrEqualTo(5);
            killed.kill();
            processes.forEach(Processes::awaitEnd);
        }
    }

    @Test
    void a_php_cgi_that_does_not_start_fails_the_start() {
        RunningCetane failing = classic().set("app.php", "/bin/false").launch();
        assertThat(failing.awaitExit()).isEqualTo(1);
        assertThat(failing.log().shown()).contains("cannot start", "/bin/false ended with exit code 1");
    }

    @ParameterizedTest
    @CsvSource({
        "none, pool.boot-timeout (2s)",
        "another process, process 1 is no child of php-cgi",
    })
    void a_child_that_does_not_say_who_it_is_fails_the_start(String answer, String message) {
        RunningCetane failing = classic()
                .set("app.php", RunningCetane.TESTS.resolve("php/fastcgi/php-cgi"))
                .set("app.environment.FIRST_ANSWER", answer)
                .set("pool.boot-timeout", "2s")
                .launch();
        assertThat(failing.awaitExit()).isEqualTo(1);
        assertThat(failing.log().shown()).contains("cannot start", message);
    }

    @Test
    void a_check_boots_a_worker() {
        Command.Run check = Command.cetane(
                        "check",
                        APPLICATION.toString(),
                        "--set",
                        "app.kind=classic",
                        "--set",
                        "run-directory=" + directory)
                .run();
        assertThat(check.out()).contains("is a classic application", "a worker booted");
        assertThat(check.code()).isZero();
    }

    @Test
    void metrics_count_classic_requests_as_any() {
        pid(cetane);
        assertThat(cetane.ops("/metrics").body()).contains("cetane_").contains("worker");
        JsonNode worker = cetane.workers().get(0);
        assertThat(worker.path("pid").asLong()).isEqualTo(Long.parseLong(pid(cetane)));
    }
}
