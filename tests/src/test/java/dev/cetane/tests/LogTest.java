package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the log says of requests, and what workers print: with the request's id, bounded, harmless, and never part of the protocol. */
@Timeout(180)
final class LogTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @Test
    void lines_printed_while_booting_belong_to_no_request_and_lines_of_a_request_carry_its_id() {
        RunningCetane cetane = INSTANCES.worker("echo-boot.php").workers(1).start();
        ServerLog.Tail log = cetane.log().fromStart();
        for (String text : new String[] {"echo while booting", "error output while booting"}) {
            ServerLog.Line line =
                    log.await("worker.output", printed -> printed.message().equals(text));
            assertThat(line.request()).isEmpty();
        }
        assertThat(cetane.get("/", "X-Request-Id", "first").body()).isEqualTo("booted");
        assertThat(cetane.get("/", "X-Request-Id", "second").body()).isEqualTo("booted");
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(log.await("worker.output", line -> line.message().startsWith("echo in a request"))
                        .message())
                .contains("without a line end");
    }

    @Test
    void a_flood_is_bounded_in_rate_and_length_and_cannot_steer_a_terminal() {
        RunningCetane cetane = INSTANCES
                .worker("stdout-flood.php")
                .workers(1)
                .set("pool.output-line", "256B")
                .set("pool.output-lines-per-second", 100)
                .start();
        HttpResponse<String> answer = cetane.get("/", "X-Request-Id", "flood");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("flooded");
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();

        ServerLog.Tail log = cetane.log().fromStart();
        assertThat(log.all("worker.output")).hasSizeBetween(100, 1000).allSatisfy(line -> {
            assertThat(line.message().getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(256);
            assertThat(line.text()).doesNotContain("\u001b");
        });
        assertThat(log.await("worker.output-dropped").field("lines").asInt()).isPositive();
    }

    @Test
    void the_access_log_has_a_line_for_each_answer_whoever_gave_it() throws IOException {
        RunningCetane cetane =
                INSTANCES.worker("by-path.php").set("http.access-log", true).start();
        assertThat(cetane.get("/pid?x=1", "X-Request-Id", "served").statusCode())
                .isEqualTo(200);
        ServerLog.Line served = cetane.log().fromStart().await("http.access", "served");
        assertThat(served.message()).isEqualTo("GET /pid?x=1");
        assertThat(served.field("status").asInt()).isEqualTo(200);
        assertThat(served.field("bytes").asInt()).isPositive();
        assertThat(served.field("peer").asText()).isEqualTo("127.0.0.1");

        assertThat(cetane.get("/die-before-head", "X-Request-Id", "lost").statusCode())
                .isEqualTo(502);
        assertThat(cetane.log()
                        .fromStart()
                        .await("http.access", "lost")
                        .field("status")
                        .asInt())
                .isEqualTo(502);
        try (RawClient client = cetane.connect()) {
            assertThat(client.send("nonsense\r\n\r\n").answer().status()).isEqualTo(400);
        }
        cetane.log()
                .fromStart()
                .await("http.access", line -> line.field("status").asInt() == 400);
    }

    @Test
    void a_reader_that_stops_reading_holds_up_no_request_and_is_told_what_it_has_missed() throws IOException {
        RunningCetane cetane = withAccessLog();
        cetane.log().stopReading();
        answerMoreThanFits(cetane);
        assertThat(cetane.ops("/health/live").statusCode()).isEqualTo(200);
        cetane.log().readOn();
        assertThat(cetane.log()
                        .fromStart()
                        .await("log.lines-dropped")
                        .field("lines")
                        .asInt())
                .isPositive();
        assertThat(cetane.get("/pid", "X-Request-Id", "after").statusCode()).isEqualTo(200);
        cetane.log().fromStart().await("http.access", "after");
    }

    @Test
    void a_reader_that_stops_reading_does_not_hold_up_the_end() throws IOException {
        RunningCetane cetane = withAccessLog();
        cetane.log().stopReading();
        answerMoreThanFits(cetane);
        cetane.signal("TERM");
        Processes.awaitEnd(cetane.pid());
        cetane.log().readOn();
        assertThat(cetane.awaitExit()).isZero();
    }

    private static RunningCetane withAccessLog() {
        return INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("http.access-log", true)
                .start();
    }

    /** 1500 lines of 4 kB: more than the pipe and the queue of the log hold. */
    private static void answerMoreThanFits(RunningCetane cetane) throws IOException {
        String target = "/pid?" + "x".repeat(4000);
        try (RawClient client = cetane.connect()) {
            for (int i = 0; i < 1500; i++) {
                assertThat(client.get(target).answer().status()).isEqualTo(200);
            }
        }
    }

    @Test
    void text_has_one_line_an_event_too() {
        RunningCetane cetane =
                INSTANCES.worker("by-path.php").set("log.format", "text").launch();
        cetane.log().fromStart().awaitText("supervisor.started: Serving");
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(cetane.log().fromStart().all())
                .allSatisfy(
                        line -> assertThat(line.text())
                                .matches(
                                        "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z (DEBUG|INFO |WARN |ERROR) [a-z.-]+: .*"));
    }
}
