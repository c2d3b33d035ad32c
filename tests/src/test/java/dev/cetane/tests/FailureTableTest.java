package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client sees when a worker fails it, for each way to fail; the workers speak the protocol in raw bytes. */
@Timeout(180)
final class FailureTableTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    /** Has one worker, so that it is known which one a request goes to. */
    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = INSTANCES.worker("by-path.php").workers(1).start();
    }

    // ---- too much to do ----

    @Test
    void a_request_that_finds_the_queue_full_is_refused_at_once_and_those_that_wait_are_served() throws Exception {
        RunningCetane small = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.queue-size", 1)
                .start();
        try (RawClient waiting = small.connect()) {
            try (RawClient running = small.connect()) {
                occupyWorker(running);
                waiting.get("/count");
                small.awaitStatus(
                        "one waits", status -> status.at("/queue/depth").asInt() == 1);

                HttpResponse<String> refused = small.get("/count");
                assertThat(refused.statusCode()).isEqualTo(503);
                assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
            }
            RawClient.Answer served = waiting.answer();
            assertThat(served.status()).isEqualTo(200);
            assertThat(served.body()).as("the refused request never got to PHP").isEqualTo("2");
        }
    }

    @Test
    void a_request_that_waits_longer_than_the_queue_time_out_is_refused() throws Exception {
        RunningCetane small = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.queue-timeout", "300ms")
                .start();
        try (RawClient running = small.connect()) {
            occupyWorker(running);
            HttpResponse<String> refused = small.get("/count");
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(small.status().at("/workers/busy").asInt())
                    .as("the worker still runs the other request")
                    .isEqualTo(1);
        }
    }

    // ---- the worker dies ----

    @Test
    void a_request_whose_worker_dies_before_it_took_it_is_served_by_another_but_is_handed_on_once_only()
            throws Exception {
        FrozenPair pair = new FrozenPair(INSTANCES.worker("by-path.php"), "/pid", "unlucky");
        Processes.signal(pair.first, "KILL");
        ServerLog.Tail log = pair.cetane.log().fromStart();
        assertThat(log.await("request.handed-on", "unlucky").message()).contains("GET /pid", "pid " + pair.first);
        pair.cetane.awaitWorkers("the other has it", workers -> isRunningOn(workers, pair.second));

        Processes.signal(pair.second, "CONT");
        assertThat(pair.answer().statusCode()).isEqualTo(200);
        assertThat(pair.answer().body()).isEqualTo(Long.toString(pair.second));
    }

    @Test
    void a_request_that_two_workers_die_on_before_they_took_it_fails() throws Exception {
        FrozenPair pair = new FrozenPair(INSTANCES.worker("by-path.php"), "/pid", "unluckier");
        Processes.signal(pair.first, "KILL");
        pair.cetane.awaitWorkers("the other has it", workers -> isRunningOn(workers, pair.second));
        Processes.signal(pair.second, "KILL");
        assertThat(pair.answer().statusCode()).isEqualTo(502);
        assertThat(pair.cetane
                        .log()
                        .fromStart()
                        .await("request.failed", "unluckier")
                        .message())
                .contains("two workers in turn were gone before they took GET /pid");
    }

    private static boolean isRunningOn(List<JsonNode> workers, long pid) {
        return workers.stream()
                .anyMatch(worker -> worker.path("pid").asLong() == pid
                        && worker.path("state").asText().equals("busy"));
    }

    @Test
    void a_worker_that_dies_before_the_head_costs_one_502() {
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/die-before-head", "X-Request-Id", "no-head");
        assertThat(answer.statusCode()).isEqualTo(502);
        assertThat(answer.body()).contains("Request: no-head").doesNotContain("/die", "pid", "signal");

        ServerLog.Line stopped = log.await("worker.stopped", "no-head");
        assertThat(stopped.level()).isEqualTo("warn");
        assertThat(stopped.message()).contains("GET /die-before-head", "signal 9");
        assertThat(stopped.field("reason").asText()).isEqualTo("crashed");
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
    }

    @Test
    void last_words_of_a_worker_are_in_the_log_with_the_request() {
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/exit-with-last-words", "X-Request-Id", "words").statusCode())
                .isEqualTo(502);
        assertThat(log.await("worker.stopped", "words").message())
                .contains("exit code 3", "last words", "GET /exit-with-last-words");
        assertThat(log.await("worker.output", "words").message()).isEqualTo("last words");
    }

    @Test
    void a_worker_that_leaves_with_code_0_and_no_answer_costs_a_502_but_is_no_crash() {
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/exit-zero", "X-Request-Id", "left").statusCode())
                .isEqualTo(502);
        assertThat(log.await("worker.stopped", "left").field("reason").asText()).isEqualTo("exited");
    }

    @Test
    void a_chunked_answer_whose_worker_dies_is_cut_not_ended() {
        RawClient.assertCut(cetane, "/die-after-head");
    }

    @Test
    void an_answer_of_known_length_whose_worker_dies_is_cut_before_that_length() {
        RawClient.assertCut(cetane, "/die-after-head-with-length");
    }

    @Test
    void an_http_1_0_client_sees_a_reset_where_the_end_of_the_connection_would_look_like_the_whole_answer()
            throws IOException {
        try (RawClient client = cetane.connect()) {
            client.send("GET /die-after-head HTTP/1.0\r\n\r\n");
            assertThatThrownBy(() -> client.rest()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void a_worker_that_dies_after_a_complete_answer_costs_nothing() {
        long pid = Long.parseLong(cetane.get("/pid").body());
        HttpResponse<String> answer = cetane.get("/die-after-end");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("full");
        awaitStopped(cetane, pid);
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
    }

    // ---- the worker does not answer ----

    @Test
    void a_request_over_its_time_gets_a_504_and_its_worker_is_replaced() {
        RunningCetane impatient = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.request-timeout", "500ms")
                .start();
        ServerLog.Tail log = impatient.logFromHere();
        long pid = impatient.workerPids().get(0);
        HttpResponse<String> answer = impatient.get("/hang", "X-Request-Id", "slow");
        assertThat(answer.statusCode()).isEqualTo(504);

        ServerLog.Line timedOut = log.await("request.timed-out", "slow");
        assertThat(timedOut.message()).contains("pool.request-timeout (500ms)", "GET /hang", "pid " + pid);
        assertThat(awaitStopped(impatient, pid).field("reason").asText()).isEqualTo("timed_out");
        assertThat(impatient.get("/pid").body()).isNotEqualTo(Long.toString(pid));
        assertThat(Processes.isRunning(pid)).isFalse();
    }

    @Test
    void a_route_may_have_a_limit_of_its_own() {
        RunningCetane patient = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("http.route-timeouts./hang*", "200ms")
                .start();
        ServerLog.Tail log = patient.logFromHere();
        assertThat(patient.get("/hang", "X-Request-Id", "slow").statusCode()).isEqualTo(504);
        assertThat(log.await("request.timed-out", "slow").message())
                .contains("GET /hang ran longer than http.route-timeouts \"/hang*\" (200ms)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"silent.php", "hang-in-boot.php"})
    void a_worker_that_never_gets_ready_fails_the_start_within_the_boot_time_out(String name) {
        RunningCetane hanging =
                INSTANCES.worker(name).set("pool.boot-timeout", "500ms").launch();
        assertThat(hanging.awaitExit()).isEqualTo(1);
        assertThat(hanging.log().shown()).contains("cetane: cannot start:", "pool.boot-timeout (500ms)");
    }

    @Test
    void a_worker_that_ignores_sigterm_is_killed() {
        RunningCetane impatient = INSTANCES
                .worker("ignores-sigterm.php")
                .workers(1)
                .set("pool.request-timeout", "300ms")
                .set("pool.kill-grace", "200ms")
                .start();
        ServerLog.Tail log = impatient.logFromHere();
        assertThat(impatient.get("/").statusCode()).isEqualTo(504);
        assertThat(log.await("worker.stopped").message()).contains("signal 9");
    }

    @Test
    void an_answer_that_stalls_is_cut_by_the_request_time_out() {
        RunningCetane impatient = INSTANCES
                .worker("hang-after-head.php")
                .workers(1)
                .set("pool.request-timeout", "500ms")
                .start();
        RawClient.assertCut(impatient, "/");
        impatient.log().fromStart().await("request.timed-out");
    }

    // ---- the application fails ----

    @Test
    void an_exception_is_a_500_and_the_worker_lives() {
        String pid = cetane.get("/pid").body();
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/exception", "X-Request-Id", "thrown");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).contains("Request: thrown").doesNotContain("it broke");
        assertThat(log.await("request.failed", "thrown").message()).contains("it broke");
        assertThat(cetane.get("/pid").body()).as("the same worker serves on").isEqualTo(pid);
    }

    @Test
    void an_exception_after_the_head_cuts_the_answer_and_the_worker_lives() {
        String pid = cetane.get("/pid").body();
        RawClient.assertCut(cetane, "/exception-after-head");
        assertThat(cetane.get("/pid").body()).isEqualTo(pid);
    }

    @Test
    void a_fatal_error_is_a_500_and_the_worker_is_replaced() {
        long pid = Long.parseLong(cetane.get("/pid").body());
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/fatal", "X-Request-Id", "fatal");
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("out of memory");
        assertThat(log.await("request.failed", "fatal").message()).contains("out of memory");
        awaitStopped(cetane, pid);
    }

    @Test
    void clients_see_the_message_of_an_error_in_debug_mode_only() {
        RunningCetane debug =
                INSTANCES.worker("by-path.php").set("app.debug", true).start();
        assertThat(debug.get("/exception").body()).contains("it broke");
    }

    @Test
    void a_worker_that_announces_its_last_request_is_replaced_and_its_answer_is_whole() {
        long pid = Long.parseLong(cetane.get("/pid").body());
        HttpResponse<String> answer = cetane.get("/last");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("bye");
        ServerLog.Line stopped = awaitStopped(cetane, pid);
        assertThat(stopped.level()).isEqualTo("info");
        assertThat(stopped.field("reason").asText()).isEqualTo("exited");
    }

    // ---- the client leaves ----

    @Test
    void a_request_whose_client_leaves_while_it_waits_is_dropped() throws Exception {
        RunningCetane small = INSTANCES.worker("by-path.php").workers(1).start();
        try (RawClient running = small.connect()) {
            occupyWorker(running);
            try (RawClient leaving = small.connect()) {
                leaving.get("/die-before-head");
                small.awaitStatus(
                        "one waits", status -> status.at("/queue/depth").asInt() == 1);
            }
            small.awaitStatus("none waits", status -> status.at("/queue/depth").asInt() == 0);
        }
        assertThat(small.get("/count").body()).as("PHP has not seen it").isEqualTo("2");
    }

    @Test
    void a_running_request_whose_client_leaves_is_cancelled_and_the_worker_serves_on() throws Exception {
        RunningCetane small = INSTANCES.worker("by-path.php").workers(1).start();
        long pid = small.workerPids().get(0);
        try (RawClient leaving = small.connect()) {
            occupyWorker(leaving);
        }
        awaitAllIdle(small);
        assertThat(small.get("/pid").body()).isEqualTo(Long.toString(pid));
    }

    @Test
    void a_client_that_does_not_read_is_cut_off_and_its_worker_serves_on() throws IOException {
        RunningCetane impatient = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/front-controller"))
                .workers(1)
                .set("http.write-timeout", "500ms")
                .start();
        long pid = impatient.workerPids().get(0);
        try (RawClient client = impatient.connect()) {
            client.get("/big?mb=256");
            impatient.awaitRunning("/big?mb=256");
            assertThat(impatient.get("/pid").body())
                    .as("the worker is free again")
                    .isEqualTo(Long.toString(pid));
            assertThatThrownBy(client::answer).isInstanceOfAny(EOFException.class, SocketException.class);
        }
    }

    /** Has a worker busy until the client closes its connection. */
    private static void occupyWorker(RawClient client) throws IOException {
        RawClient.Answer head = client.get("/until-cancelled").head();
        assertThat(head.status()).isEqualTo(200);
        assertThat(client.chunk()).isEqualTo("waiting");
    }

    private static ServerLog.Line awaitStopped(RunningCetane instance, long pid) {
        return instance.log()
                .fromStart()
                .await("worker.stopped", line -> line.field("pid").asLong() == pid);
    }

    private static void awaitAllIdle(RunningCetane instance) {
        instance.awaitStatus(
                "all workers are idle",
                status -> status.at("/workers/idle").asInt()
                        == status.at("/workers/target").asInt());
    }
}
