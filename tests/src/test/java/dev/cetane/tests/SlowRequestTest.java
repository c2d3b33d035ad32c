package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Where PHP is in a request that takes long, read from outside of a real PHP. */
@Timeout(180)
final class SlowRequestTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    Path directory;

    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("worker.php"), """
                <?php
                namespace App;
                final class Shop
                {
                    public static function total(int $depth): string
                    {
                        return $depth > 0 ? self::total($depth - 1) : self::wait();
                    }
                    private static function wait(): string
                    {
                        $started = hrtime(true);
                        $left = sleep(2);
                        return $left . (hrtime(true) - $started >= 2_000_000_000 ? " slept" : " woke");
                    }
                }
                \\Cetane\\Worker::run(fn ($request) => $request->server()['REQUEST_URI'] === '/slow' ? Shop::total(2) : 'quick');
                """);
    }

    @Test
    void a_slow_request_is_logged_once_with_its_stack_and_is_not_disturbed() {
        RunningCetane cetane = start("pool.slow-request", "100ms");

        assertThat(cetane.get("/").body()).isEqualTo("quick");
        assertThat(cetane.get("/slow", "X-Request-Id", "slow").body()).isEqualTo("0 slept");

        ServerLog.Line line = cetane.log().fromStart().await("request.slow", "slow");
        assertThat(line.message())
                .contains("GET /slow runs for ")
                .containsSubsequence(
                        "#0 sleep()",
                        "#1 App\\Shop::wait() at " + directory.resolve("worker.php") + ":12",
                        "#2 App\\Shop::total() at " + directory.resolve("worker.php") + ":7",
                        "#5 App\\{closure}()",
                        "Cetane\\Worker::run()",
                        "{main} at " + directory.resolve("worker.php"));
        int counted = RunningCetane.json(cetane.ops("/status?json"))
                .path("slow requests")
                .asInt();
        assertThat(counted)
                .isPositive()
                .isEqualTo(cetane.log().fromStart().all("request.slow").size());
        // On a busy machine the quick one may be slow too.
        assertThat(cetane.log().fromStart().all("request.slow"))
                .filteredOn(slow -> slow.request().equals("slow"))
                .hasSize(1);
    }

    @Test
    void a_request_that_is_out_of_time_says_where_it_was() {
        RunningCetane cetane = start("pool.request-timeout", "300ms");

        assertThat(cetane.get("/slow", "X-Request-Id", "late").statusCode()).isEqualTo(504);

        assertThat(cetane.log().fromStart().await("request.timed-out", "late").message())
                .contains("pool.request-timeout (300ms)")
                .contains("PHP was in\n#0 sleep()\n#1 App\\Shop::wait() at ");
    }

    @Test
    void a_worker_can_be_traced_at_any_time() throws IOException {
        RunningCetane cetane = start("pool.request-timeout", "20s");
        try (RawClient client = cetane.connect()) {
            client.get("/slow");
            int worker = cetane.awaitRunning("/slow").path("id").asInt();

            Command.Run traced = cetane.command("workers", "--trace", Integer.toString(worker))
                    .run();
            assertThat(traced.code()).as(traced.err()).isZero();
            assertThat(traced.out()).contains("runs GET /slow.\n#0 sleep()\n#1 App\\Shop::wait() at ");
            assertThat(cetane.command("workers", "--trace", "99").run().err())
                    .contains("There is no worker 99: there are 1, from 1 to 1; cetane workers lists them.");
            assertThat(cetane.command("workers", "--trace", "x").run().err())
                    .contains("--trace = \"x\" is no whole number in 1 … 999999999");
        }
    }

    @Test
    void a_worker_that_runs_a_task_can_be_traced_too() throws IOException {
        Files.writeString(directory.resolve("worker.php"), """
                <?php
                function report(): void
                {
                    sleep(20);
                }
                Cetane\\Worker::run(fn () => json_encode(Cetane\\Tasks::resolve(['report'], 20_000)));
                """);
        RunningCetane cetane = INSTANCES
                .application(directory.resolve("worker.php"))
                .workers(1)
                .set("pool.task-workers", 1)
                .start();
        try (RawClient client = cetane.connect()) {
            client.get("/");
            JsonNode[] task = new JsonNode[1];
            await("the task runs").atMost(RunningCetane.PATIENCE).until(() -> {
                for (JsonNode worker : RunningCetane.json(
                        cetane.command("workers", "--json").run().out())) {
                    if (worker.path("role").asText().equals("task")
                            && worker.path("state").asText().equals("busy")) {
                        task[0] = worker;
                    }
                }
                return task[0] != null;
            });
            await("it is in the function")
                    .atMost(RunningCetane.PATIENCE)
                    .untilAsserted(() -> assertThat(cetane.command(
                                            "workers",
                                            "--trace",
                                            task[0].path("id").asText())
                                    .run()
                                    .out())
                            .contains("#0 sleep()\n#1 report() at " + directory.resolve("worker.php") + ":4\n"));
        }
    }

    @Test
    void a_classic_application_is_read_as_others_are() throws IOException {
        Path script = Files.writeString(directory.resolve("index.php"), """
                <?php
                function render(): int
                {
                    return sleep(2);
                }
                echo render(), ' slept';
                """);
        RunningCetane cetane = INSTANCES
                .application(directory)
                .workers(1)
                .set("app.kind", "classic")
                .set("pool.slow-request", "100ms")
                .start();

        assertThat(cetane.get("/", "X-Request-Id", "slow").body()).isEqualTo("0 slept");

        assertThat(cetane.log().fromStart().await("request.slow", "slow").message())
                .endsWith("PHP is in\n#0 sleep()\n#1 render() at " + script + ":4\n#2 {main} at " + script + ":6");
    }

    private RunningCetane start(String key, String value) {
        return INSTANCES
                .application(directory.resolve("worker.php"))
                .workers(1)
                .set(key, value)
                .start();
    }
}
