package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker that writes what it may not costs one request and one worker, whatever it writes. */
@Timeout(180)
final class ProtocolViolationTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @ParameterizedTest
    @CsvSource({
        "garbage.php, MAGIC",
        "frame-out-of-turn.php, TURN",
        "wrong-request-number.php, REQUEST_NUMBER",
        "garbage-call.php, PAYLOAD in CALL",
    })
    void before_the_head_it_is_a_502_and_the_worker_is_killed_and_replaced(String name, String violation) {
        RunningCetane cetane = INSTANCES.worker(name).workers(1).start();
        long pid = cetane.workerPids().get(0);
        ServerLog.Tail log = cetane.logFromHere();
        HttpResponse<String> answer = cetane.get("/", "X-Request-Id", "violated");
        assertThat(answer.statusCode()).isEqualTo(502);
        assertThat(answer.body()).contains("Request: violated").doesNotContain(violation, "Protocol");

        ServerLog.Line line = log.await("worker.protocol-error", "violated");
        assertThat(line.message()).contains("pid " + pid, violation, "byte");
        ServerLog.Line stopped = log.await("worker.stopped");
        assertThat(stopped.field("reason").asText()).isEqualTo("protocol_error");
        assertThat(stopped.field("pid").asLong()).isEqualTo(pid);
        log.await("worker.ready");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "half-frame.php",
                "huge-length.php",
                "wrong-content-length-long.php",
                "wrong-content-length-short.php"
            })
    void after_the_head_the_connection_is_cut_and_the_worker_is_replaced(String name) {
        RunningCetane cetane = INSTANCES.worker(name).workers(1).start();
        ServerLog.Tail log = cetane.logFromHere();
        RawClient.assertCut(cetane, "/");
        log.await("worker.stopped");
        log.await("worker.ready");
    }

    @ParameterizedTest
    @ValueSource(strings = {"header-with-newline.php", "header-with-nul.php"})
    void a_header_that_would_split_the_answer_is_a_502_and_the_worker_lives(String name) throws IOException {
        RunningCetane cetane = INSTANCES.worker(name).workers(1).start();
        long pid = cetane.workerPids().get(0);
        try (RawClient client = cetane.connect()) {
            for (int i = 0; i < 2; i++) {
                RawClient.Answer answer = client.get("/").answer();
                assertThat(answer.status()).isEqualTo(502);
                assertThat(answer.fields()).doesNotContainKeys("set-cookie", "x-name");
            }
        }
        assertThat(cetane.workerPids()).containsExactly(pid);
        cetane.log().fromStart().await("request.invalid-answer");
    }

    @Test
    void a_worker_whose_child_holds_its_pipes_is_missed_at_once_and_the_child_ends_with_it() {
        RunningCetane cetane =
                INSTANCES.worker("fork-child-holding-fifo.php").workers(1).start();
        long pid = cetane.workerPids().get(0);
        long child = Long.parseLong(cetane.get("/").body());
        assertThat(Processes.isRunning(child)).isTrue();

        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/?exit", "X-Request-Id", "held").statusCode()).isEqualTo(502);
        ServerLog.Line stopped = log.await("worker.stopped", "held");
        assertThat(stopped.message()).contains("pid " + pid, "exit code 4");
        log.await("worker.ready");
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        Processes.awaitEnd(child);
    }

    @Test
    void an_answer_to_an_unread_request_ends_the_worker() {
        RunningCetane cetane =
                INSTANCES.worker("answers-unread-request.php").workers(1).start();
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/").statusCode()).isIn(200, 502);
        log.await("worker.stopped");
        log.await("worker.ready");
    }

    @Test
    void an_endless_answer_ends_when_its_client_has_left() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("endless-body.php")
                .workers(1)
                .set("pool.request-timeout", "1s")
                .start();
        ServerLog.Tail log = cetane.logFromHere();
        try (RawClient client = cetane.connect()) {
            client.get("/").head();
            assertThat(client.chunk()).startsWith("stream stream");
        }
        assertThat(log.await("worker.stopped").field("reason").asText()).isEqualTo("timed_out");
        log.await("worker.ready");
    }
}
