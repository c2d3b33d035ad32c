package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * What Octane offers on Swoole only, in the demo Laravel application: tasks, tables, the cache, ticks. On the real laravel/octane with
 * OCTANE_SOURCE.
 */
@Timeout(180)
final class OctaneSharingTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private static Path storage;

    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = INSTANCES
                .laravel(RunningCetane.TESTS.resolve("apps/octane"), storage)
                .workers(2)
                .set("pool.task-workers", 2)
                .set("app.ini.memory_limit", "128M")
                .start();
    }

    @Test
    void closures_run_concurrently_on_task_workers_and_results_keep_their_keys() {
        JsonNode seen = json("/tasks/pid,slow,bound,database,big");
        JsonNode results = seen.path("results");
        assertThat(results.path("pid-0").asInt())
                .isPositive()
                .isNotEqualTo(seen.path("pid").asInt());
        assertThat(results.path("slow-1").asText()).isEqualTo("slow");
        assertThat(results.path("bound-2").asText()).isEqualTo("seen by the closure");
        assertThat(results.path("database-3").asInt()).isPositive();
        assertThat(results.path("big-4").asInt()).isEqualTo(300_000);
    }

    @Test
    void an_empty_list_is_done_at_once() {
        assertThat(json("/tasks/none").path("results").toString()).isEqualTo("[]");
    }

    @Test
    void an_exception_is_a_task_exception_with_its_class() {
        assertThat(json("/tasks/slow,throw").toString())
                .isEqualTo("{\"class\":\"DomainException\",\"message\":\"not today\",\"code\":7}");
    }

    @Test
    void a_result_that_cannot_be_serialised_is_an_exception_and_no_number() {
        assertThat(json("/tasks/closure").path("message").asText()).contains("Closure");
    }

    @Test
    void a_task_that_its_worker_does_not_survive_says_so() {
        assertThat(json("/tasks/kill").path("message").asText()).contains("signal 9 (KILL)");
        assertThat(json("/tasks/exit").path("message").asText()).contains("exit()");
        assertThat(json("/tasks/slow").path("results").path("slow-0").asText()).isEqualTo("slow");
    }

    @Test
    void what_cannot_be_given_to_a_task_or_unserialised_there_is_an_exception() {
        assertThat(json("/tasks/connection").path("message").asText()).contains("PDO");
        assertThat(json("/tasks/slow,unserialise").path("message").asText())
                .contains("Allowed memory size", "task 2 of 2");
        assertThat(json("/tasks/slow").path("results").path("slow-0").asText()).isEqualTo("slow");
    }

    @Test
    void the_routes_by_which_octane_takes_tasks_from_outside_are_closed() {
        for (String route : List.of("/octane/resolve-tasks", "/octane/dispatch-tasks", "/octane//dispatch%2Dtasks")) {
            assertThat(cetane.send(cetane.request(route).POST(HttpRequest.BodyPublishers.noBody()))
                            .statusCode())
                    .as(route)
                    .isEqualTo(404);
        }
    }

    @Test
    void what_has_not_ended_in_time_is_false_and_nothing_at_all_is_a_time_out() {
        JsonNode results = json("/tasks/sleep,slow?wait=2000").path("results");
        assertThat(results.path("sleep-0").isBoolean()).isTrue();
        assertThat(results.path("slow-1").asText()).isEqualTo("slow");
        assertThat(json("/tasks/sleep?wait=200").path("timeout").asText()).contains("200");
    }

    @Test
    void a_task_may_ask_for_tasks() {
        assertThat(json("/tasks/nested").path("results").toString()).isEqualTo("{\"nested-0\":{\"a\":1,\"b\":2}}");
    }

    @Test
    void a_table_of_the_configuration_has_the_interface_of_swooles() {
        JsonNode seen = json("/table/t");
        assertThat(seen.path("class").asText()).isEqualTo("Swoole\\Table");
        assertThat(seen.path("row").toString()).isEqualTo("{\"count\":1,\"page\":\"page t\",\"share\":0.5}");
        assertThat(seen.path("field").asText()).isEqualTo("page t");
        assertThat(seen.path("second").path("count").asInt()).isEqualTo(42);
        assertThat(seen.path("keys").path("t-2").asInt()).isEqualTo(42);
        assertThat(seen.path("absent").toString()).isEqualTo("[false,false,false,false,false]");
        assertThat(seen.path("size").asInt()).isEqualTo(100);
    }

    @Test
    void workers_count_in_the_table_and_in_the_cache_and_lose_nothing() {
        List<CompletableFuture<Integer>> counters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            counters.add(CompletableFuture.supplyAsync(
                    () -> cetane.get("/count/all/50").statusCode()));
        }
        counters.forEach(counter -> assertThat(counter.join()).isEqualTo(200));
        assertThat(json("/counted/all").toString()).isEqualTo("{\"table\":400,\"cache\":400}");
    }

    @Test
    void the_cache_of_octane_is_shared_bounded_and_forgets_in_time() {
        JsonNode seen = json("/cache");
        assertThat(seen.path("kept").toString()).isEqualTo("{\"a\":1}");
        assertThat(seen.path("gone").isNull()).isTrue();
        assertThat(seen.path("many").toString()).isEqualTo("{\"m1\":1,\"m2\":2,\"m3\":null}");
        assertThat(seen.path("added").toString()).isEqualTo("[true,false,1]");
        assertThat(seen.path("decremented").asInt()).isEqualTo(-3);
        assertThat(seen.path("forgotten").toString()).isEqualTo("[true,null]");
        assertThat(seen.path("long").asText()).endsWith("ValueTooLargeForColumnException");
        assertThat(seen.path("last").asInt()).isEqualTo(199);
        assertThat(seen.path("first").isNull()).as("made room").isTrue();
        assertThat(seen.path("flushed").toString()).isEqualTo("[true,null]");
    }

    @Test
    void ticks_come_and_caches_are_refreshed_at_intervals() {
        await().atMost(RunningCetane.PATIENCE).until(() -> {
            JsonNode seen = json("/ticks");
            return seen.path("ticks").asInt() >= 1 && seen.path("interval").asLong() > 0;
        });
    }

    private static JsonNode json(String target) {
        return RunningCetane.json(cetane.get(target));
    }
}
