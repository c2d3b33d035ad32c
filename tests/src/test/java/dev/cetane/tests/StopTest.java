package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How an instance ends: in order when it is asked to, and without a process left when it is not. */
@Timeout(180)
final class StopTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void a_signal_lets_the_running_request_finish_refuses_new_ones_and_ends_with_0(String signal) throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        try (RawClient running = cetane.connect();
                RawClient idle = cetane.connect()) {
            assertThat(idle.get("/").answer().status()).isEqualTo(200);
            running.send("GET /until-cancelled HTTP/1.1\r\nHost: test\r\n\r\n");
            assertThat(running.head().status()).isEqualTo(200);
            assertThat(running.chunk()).isEqualTo("waiting");

            cetane.signal(signal);
            cetane.log().fromStart().await("supervisor.draining");
            assertThat(idle.rest()).as("idle connections are closed").isEmpty();
            assertThatThrownBy(() -> cetane.connect().close()).isInstanceOf(ConnectException.class);
            assertThat(cetane.isAlive()).as("it waits for the request").isTrue();
        }
        assertThat(cetane.awaitExit()).isZero();
        cetane.log().fromStart().await("supervisor.stopped");
    }

    @Test
    void a_request_that_runs_when_the_stop_comes_gets_its_whole_answer_and_the_connection_closes() throws Exception {
        RunningCetane cetane = INSTANCES.worker("well-behaved.php").workers(1).start();
        try (RawClient client = cetane.connect()) {
            client.get("/?sleep=1000&size=100000");
            cetane.awaitRunning("/?sleep=1000&size=100000");
            cetane.signal("TERM");
            RawClient.Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.body()).hasSize(100_000);
            assertThat(answer.field("connection")).isEqualTo("close");
        }
        assertThat(cetane.awaitExit()).isZero();
    }

    @Test
    void what_does_not_finish_within_the_grace_is_cut() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("http.shutdown-grace", "300ms")
                .set("pool.stop-grace", "300ms")
                .start();
        try (RawClient client = cetane.connect()) {
            client.get("/hang");
            cetane.awaitRunning("/hang");
            cetane.signal("TERM");
            assertThat(cetane.awaitExit()).isZero();
            cetane.log().fromStart().await("supervisor.drain-incomplete");
        }
    }

    @Test
    void a_second_signal_stops_at_once() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.request-timeout", 0)
                .set("http.shutdown-grace", "1h")
                .set("pool.stop-grace", "1h")
                .start();
        try (RawClient client = cetane.connect()) {
            client.get("/hang");
            cetane.awaitRunning("/hang");
            cetane.signal("TERM");
            cetane.log().fromStart().await("supervisor.draining");
            cetane.signal("TERM");
            assertThat(cetane.awaitExit()).isZero();
            assertThat(cetane.processes()).isEmpty();
        }
    }

    @Test
    void the_command_waits_for_the_end() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").start();
        Command.Run stop = cetane.command("stop").run();
        assertThat(stop.out()).isEqualTo("Stopping.\nStopped.\n");
        assertThat(stop.code()).isZero();
        assertThat(cetane.awaitExit()).isZero();
    }

    @Test
    void the_command_can_stop_at_once() throws IOException {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("pool.request-timeout", 0)
                .set("http.shutdown-grace", "1h")
                .start();
        try (RawClient client = cetane.connect()) {
            client.get("/hang");
            cetane.awaitRunning("/hang");
            assertThat(cetane.command("stop", "--now").run().code()).isZero();
            assertThat(cetane.awaitExit()).isZero();
        }
    }

    @Test
    void workers_may_run_their_shutdown_code() {
        RunningCetane cetane =
                INSTANCES.worker("exits-after-stop-slowly.php").workers(1).start();
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        cetane.log().fromStart().await("worker.output", line -> line.message().equals("shutdown code has run"));
        assertThat(cetane.log().fromStart().await("worker.stopped").message()).contains("exit code 0");
    }

    @Test
    void what_a_worker_has_started_ends_with_it() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        long child = Long.parseLong(cetane.get("/leave-child").body());
        assertThat(Processes.isRunning(child)).isTrue();
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        // SIGKILL is sent by then, and the kernel takes its time.
        Processes.awaitEnd(child);
    }

    @ParameterizedTest
    @ValueSource(strings = {"php/by-path.php", "apps/front-controller", "apps/psr15/worker.php"})
    void idle_workers_leave_when_the_supervisor_is_killed(String application) {
        RunningCetane cetane =
                INSTANCES.application(RunningCetane.TESTS.resolve(application)).start();
        assertThat(cetane.processes()).hasSize(2);
        cetane.kill();
        cetane.awaitNoProcess();
    }

    @Test
    void busy_workers_die_with_a_supervisor_that_is_killed() throws Exception {
        RunningCetane cetane = INSTANCES.worker("by-path.php").start();
        try (RawClient client = cetane.connect()) {
            client.get("/hang");
            cetane.awaitRunning("/hang");
            cetane.kill();
            cetane.awaitNoProcess();
        }
    }

    @Test
    void a_stop_while_the_application_boots_ends_at_once() throws Exception {
        RunningCetane cetane = INSTANCES.worker("hang-in-boot.php").launch();
        cetane.awaitControl();
        cetane.signal("TERM");
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(cetane::awaitExit);
        assertThat(code.get(60, TimeUnit.SECONDS)).isZero();
    }
}
