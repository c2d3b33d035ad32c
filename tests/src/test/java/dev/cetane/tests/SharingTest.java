package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tables, tasks and ticks of workers without a framework, on real processes: what they promise, and what happens when one of them dies. */
@Timeout(180)
final class SharingTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = sharing().workers(2).set("pool.task-workers", 2).start();
    }

    private static RunningCetane.Starter sharing() {
        return INSTANCES.application(RunningCetane.TESTS.resolve("apps/sharing/worker.php"));
    }

    // ---- tables ----

    @Test
    void workers_that_count_at_the_same_time_lose_nothing() {
        RunningCetane own = sharing().workers(2).start();
        List<CompletableFuture<JsonNode>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            answers.add(CompletableFuture.supplyAsync(() -> json(own, "/add?times=500")));
        }
        answers.forEach(CompletableFuture::join);
        assertThat(json(own, "/row?key=sum").toString()).isEqualTo("{\"n\":12000,\"f\":-2000.0,\"s\":\"\"}");
    }

    @Test
    void what_is_in_a_table_outlives_a_crash_of_every_worker_and_a_reload() {
        RunningCetane own = sharing().workers(1).start();
        json(own, "/add?times=1");
        String before = own.get("/pid").body();
        assertThat(own.get("/crash").statusCode()).isEqualTo(502);
        assertThat(own.get("/pid").body()).isNotEqualTo(before);
        assertThat(json(own, "/row?key=sum").path("n").asInt()).isEqualTo(3);
        assertThat(own.command("reload").run().code()).isZero();
        assertThat(json(own, "/row?key=sum").path("n").asInt()).isEqualTo(3);
    }

    @Test
    void a_row_of_many_frames_is_the_same_bytes_again() {
        JsonNode large = json(cetane, "/large");
        assertThat(large.path("md5")).isEqualTo(large.path("expected"));
    }

    @Test
    void limits_hold_at_and_above() {
        JsonNode seen = json(cetane, "/limits");
        JsonNode set = seen.path("set");
        assertThat(set.path("a").asBoolean()).isTrue();
        assertThat(set.path("b").asBoolean()).isTrue();
        assertThat(set.path("c").asText()).contains("too long for column s", "takes 5 bytes");
        assertThat(set.path("d").asBoolean()).isTrue();
        assertThat(set.path("e").asBoolean()).as("a fourth row of three").isFalse();
        assertThat(seen.path("again").asBoolean()).as("after one was deleted").isTrue();
        assertThat(seen.path("count").asInt()).isEqualTo(3);
        assertThat(seen.path("long key").asText()).contains("1024 bytes at most, this one has 1025");
    }

    @Test
    void the_least_recently_used_row_makes_room_and_rows_end_at_their_time() {
        JsonNode seen = json(cetane, "/recent");
        assertThat(seen.path("rows").toString()).contains("\"a\"", "\"d\"").doesNotContain("\"b\"", "past");
        assertThat(seen.path("past").isNull()).isTrue();
    }

    @Test
    void a_scan_meets_each_row_once_while_rows_are_deleted() {
        RunningCetane own = sharing().workers(1).start();
        JsonNode seen = json(own, "/scan");
        assertThat(seen.path("sum").asInt()).isEqualTo(4950);
        assertThat(seen.path("left").asInt()).isBetween(50, 52);
        assertThat(seen.path("many").toString()).isEqualTo("[1,3]");
    }

    @Test
    void a_worker_that_reads_no_replies_is_killed_and_nobody_else_suffers() {
        RunningCetane own = INSTANCES.worker("deaf-caller.php").workers(1).start();
        ServerLog.Tail log = own.logFromHere();
        assertThat(own.get("/").statusCode()).isEqualTo(502);
        assertThat(log.await("worker.protocol-error").message()).contains("before the last REPLY was read");
        log.await("worker.ready");
    }

    // ---- tasks ----

    @Test
    void tasks_run_at_the_same_time_and_their_results_come_back_in_order() {
        JsonNode seen = json(cetane, "/tasks?run=slow,slow");
        Set<Integer> processes = new HashSet<>();
        seen.path("results").forEach(pid -> processes.add(pid.asInt()));
        assertThat(processes).hasSize(2);
        assertThat(json(cetane, "/tasks?run=large,heavy,slow").path("results").toString())
                .startsWith("[200000,200000,");
    }

    @Test
    void no_tasks_are_done_at_once() {
        assertThat(json(cetane, "/tasks?run=").path("results").toString()).isEqualTo("[]");
    }

    @Test
    void an_exception_comes_back_as_what_it_was() {
        assertThat(json(cetane, "/tasks?run=slow,fails").toString())
                .isEqualTo("{\"failed\":\"not today\",\"class\":\"DomainException\",\"code\":7}");
    }

    @Test
    void a_task_that_kills_its_worker_or_leaves_fails_alone() {
        CompletableFuture<JsonNode> other = CompletableFuture.supplyAsync(() -> json(cetane, "/tasks?run=slow"));
        assertThat(json(cetane, "/tasks?run=dies").path("failed").asText()).contains("signal 9 (KILL)", "task 1 of 1");
        assertThat(other.join().path("results").size()).isEqualTo(1);
        assertThat(json(cetane, "/tasks?run=leaves").path("failed").asText()).contains("exit()");
        assertThat(json(cetane, "/tasks?run=slow").path("results").size()).isEqualTo(1);
    }

    @Test
    void what_has_not_ended_in_time_is_false_and_its_worker_is_replaced() {
        ServerLog.Tail log = cetane.logFromHere();
        JsonNode seen = json(cetane, "/tasks?run=hangs,slow&wait=1000");
        assertThat(seen.path("results").get(0).isBoolean()).isTrue();
        assertThat(seen.path("results").get(1).asInt()).isPositive();
        assertThat(log.await("request.timed-out").message()).contains("task 1 of 2", "its caller waits");
        assertThat(log.await("worker.stopped").field("reason").asText()).isEqualTo("timed_out");
        assertThat(json(cetane, "/tasks?run=hangs&wait=300").path("timeout").asText())
                .contains("300");
        assertThat(json(cetane, "/tasks?run=slow").path("results").size()).isEqualTo(1);
    }

    @Test
    void a_task_that_asks_for_tasks_runs_them_itself() {
        JsonNode nested = json(cetane, "/tasks?run=nested,nested").path("results");
        for (JsonNode pids : nested) {
            assertThat(pids.path("a").asInt()).isEqualTo(pids.path("b").asInt());
        }
        assertThat(nested.size()).isEqualTo(2);
    }

    @Test
    void dispatched_tasks_run_later() {
        assertThat(cetane.get("/dispatch").body()).isEqualTo("\"dispatched\"");
        await().atMost(RunningCetane.PATIENCE)
                .until(() -> json(cetane, "/row?key=dispatched").path("n").asInt() >= 2);
    }

    @Test
    void the_time_limit_of_a_request_holds_while_it_waits_for_tasks() {
        RunningCetane own = sharing()
                .workers(1)
                .set("pool.task-workers", 1)
                .set("pool.request-timeout", "500ms")
                .start();
        assertThat(own.get("/tasks?run=hangs&wait=20000").statusCode()).isEqualTo(504);
        assertThat(own.get("/pid").statusCode()).isEqualTo(200);
    }

    @Test
    void a_task_runs_no_longer_than_its_limit() {
        RunningCetane own = sharing()
                .workers(1)
                .set("pool.task-workers", 1)
                .set("pool.task-timeout", "300ms")
                .start();
        assertThat(json(own, "/tasks?run=hangs&wait=20000").path("failed").asText())
                .contains("pool.task-timeout");
    }

    @Test
    void without_task_workers_tasks_run_where_they_are_asked_for() {
        RunningCetane own = sharing().workers(1).start();
        JsonNode seen = json(own, "/tasks?run=slow,slow");
        assertThat(seen.path("results").get(0)).isEqualTo(seen.path("results").get(1));
        assertThat(own.get("/pid").body()).isEqualTo(seen.path("results").get(0).asText());
    }

    @Test
    void a_front_controller_gives_tasks_to_processes_of_its_own_kind() {
        Path application = RunningCetane.TESTS.resolve("apps/sharing/front-controller");
        RunningCetane own = INSTANCES
                .application(application)
                .workers(1)
                .set("pool.task-workers", 1)
                .set("app.ini.auto_prepend_file", application.resolve("library.php"))
                .start();
        for (int visit = 1; visit <= 2; visit++) {
            JsonNode seen = json(own, "/?visit=" + visit);
            assertThat(seen.path("visits").asInt()).isEqualTo(visit);
            assertThat(seen.at("/results/greeting").asText()).isEqualTo("Hello, you!");
            JsonNode who = seen.at("/results/who");
            assertThat(who.path("pid").asInt())
                    .isPositive()
                    .isNotEqualTo(seen.path("pid").asInt());
            assertThat(who.path("sapi").asText()).isEqualTo("cgi-fcgi");
            assertThat(who.path("query")).as("no request is there").isEmpty();
        }
        own.log().fromStart().await("worker.log", line -> line.message().equals("printed by a task"));
    }

    // ---- ticks ----

    @Test
    void one_worker_is_woken_once_a_second() {
        RunningCetane own = sharing().workers(2).set("pool.task-workers", 2).start();
        await().atMost(RunningCetane.PATIENCE)
                .until(() -> json(own, "/row?key=ticks").path("n").asInt() >= 2);
        int ticker = json(own, "/row?key=ticked").path("n").asInt();
        int ticks = json(own, "/row?key=ticks").path("n").asInt();
        await().atMost(RunningCetane.PATIENCE)
                .until(() -> json(own, "/row?key=ticks").path("n").asInt() > ticks);
        assertThat(json(own, "/row?key=ticked").path("n").asInt())
                .as("always the same")
                .isEqualTo(ticker);
        assertThat(own.workerPids()).as("those that serve requests").doesNotContain((long) ticker);
    }

    private static JsonNode json(RunningCetane instance, String target) {
        return RunningCetane.json(instance.get(target));
    }
}
