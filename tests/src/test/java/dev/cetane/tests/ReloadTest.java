package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A new version is taken into service without a failed request, and one that does not boot is not taken. */
@Timeout(180)
final class ReloadTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private final Release release = new Release();

    @AfterEach
    void removeReleases() {
        release.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"HUP", "USR2"})
    void a_signal_takes_the_release_that_the_link_names_now_and_no_request_fails(String signal) {
        release.answering("1", "first").answering("2", "second").switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        List<Long> before = cetane.workerPids();
        ServerLog.Tail log = cetane.logFromHere();
        List<Load.Result> results;
        try (Load load = new Load(cetane, 4, "/")) {
            load.awaitAnswers(100);
            release.switchTo("2");
            load.awaitAnswers(100);
            cetane.signal(signal);
            log.await("pool.reloaded");
            load.awaitAnswers(100);
            results = load.stop();
        }
        assertThat(results).allSatisfy(result -> assertThat(result.status()).isEqualTo(200));
        assertThat(results).extracting(Load.Result::body).contains("first", "second");
        assertThat(cetane.get("/").body()).isEqualTo("second");
        before.forEach(Processes::awaitEnd);
        assertThat(cetane.workerPids()).hasSize(2).doesNotContainAnyElementsOf(before);
    }

    @Test
    void the_signal_by_which_others_open_their_logs_anew_ends_nothing() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        ServerLog.Tail log = cetane.logFromHere();
        cetane.signal("USR1");
        assertThat(log.await("signal.ignored").message()).contains("SIGUSR1", "standard output");
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
    }

    @Test
    void the_command_returns_when_only_the_new_version_serves_and_no_request_fails() {
        release.answering("1", "first").switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        List<Load.Result> results;
        try (Load load = new Load(cetane, 4, "/")) {
            load.awaitAnswers(100);
            release.answering("1", "changed in place");
            Command.Run reload = cetane.command("reload").run();
            assertThat(reload.err()).isEmpty();
            assertThat(reload.out()).isEqualTo("Generation 2 serves.\n");
            assertThat(reload.code()).isZero();
            assertThat(cetane.get("/").body()).isEqualTo("changed in place");
            results = load.stop();
        }
        assertThat(results).allSatisfy(result -> assertThat(result.status()).isEqualTo(200));
    }

    @Test
    void workers_go_one_by_one_each_after_its_replacement_is_ready() {
        release.answering("1", "first").switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.command("reload").run().code()).isZero();
        cetane.awaitWorkers("the old ones are gone", workers -> workers.size() == 2);
        int ready = 0;
        int stopped = 0;
        for (ServerLog.Line line : log.all()) {
            ready += line.event().equals("worker.ready") ? 1 : 0;
            stopped += line.event().equals("worker.stopped") ? 1 : 0;
            assertThat(stopped).as(line.text()).isLessThanOrEqualTo(ready);
        }
        assertThat(stopped).isEqualTo(2);
    }

    @Test
    void a_version_that_does_not_boot_is_reported_and_the_old_one_serves_on() {
        release.answering("1", "first")
                .with("broken", "<?php throw new Exception('no database here');")
                .answering("3", "third")
                .switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        List<Long> before = cetane.workerPids();
        List<Load.Result> results;
        try (Load load = new Load(cetane, 4, "/")) {
            load.awaitAnswers(50);
            release.switchTo("broken");
            Command.Run reload = cetane.command("reload").run();
            assertThat(reload.code()).isEqualTo(1);
            assertThat(reload.err()).contains("could not be booted", "no database here");
            load.awaitAnswers(50);
            results = load.stop();
        }
        assertThat(results).allSatisfy(result -> {
            assertThat(result.status()).isEqualTo(200);
            assertThat(result.body()).isEqualTo("first");
        });
        assertThat(cetane.workerPids()).containsExactlyInAnyOrderElementsOf(before);
        assertThat(cetane.log().fromStart().await("pool.reload-failed").message())
                .contains("no database here", "the old version goes on serving");

        release.switchTo("3");
        assertThat(cetane.command("reload").run().code()).isZero();
        assertThat(cetane.get("/").body()).isEqualTo("third");
    }

    @Test
    void a_version_that_hangs_while_it_boots_is_given_up_after_the_boot_time_out() {
        release.answering("1", "first").with("hanging", "<?php sleep(3600);").switchTo("1");
        RunningCetane cetane = INSTANCES
                .application(release.current())
                .set("pool.boot-timeout", "1s")
                .start();
        release.switchTo("hanging");
        Command.Run reload = cetane.command("reload").run();
        assertThat(reload.code()).isEqualTo(1);
        assertThat(reload.err()).contains("pool.boot-timeout (1s)");
        assertThat(cetane.get("/").body()).isEqualTo("first");
        cetane.awaitWorkers("two workers are left", workers -> workers.size() == 2);
        assertThat(cetane.processes()).hasSize(2);
    }

    @Test
    void a_request_that_runs_during_the_reload_finishes_while_the_new_version_serves() throws Exception {
        release.with("1", """
                <?php
                Cetane\\Worker::run(function (Cetane\\Request $request): string {
                    while ($request->path() === '/wait' && !file_exists(dirname($_SERVER['argv'][0]) . '/go-on')) {
                        usleep(1000);
                    }
                    return 'first';
                });
                """).answering("2", "second").switchTo("1");
        RunningCetane cetane =
                INSTANCES.application(release.current()).workers(1).start();
        try (RawClient old = cetane.connect()) {
            old.get("/wait");
            cetane.awaitRunning("/wait");
            release.switchTo("2");
            CompletableFuture<Command.Run> reload =
                    CompletableFuture.supplyAsync(() -> cetane.command("reload").run());
            assertThat(cetane.get("/").body()).as("served beside the old one").isEqualTo("second");
            Files.createFile(release.of("1").resolve("go-on"));
            assertThat(old.answer().body()).isEqualTo("first");
            assertThat(reload.get(60, TimeUnit.SECONDS).code()).isZero();
        }
    }

    @Test
    void when_the_release_that_runs_is_removed_the_next_worker_is_of_the_one_that_is_there() {
        release.answering("1", "first").answering("2", "second").switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        release.switchTo("2");
        RunningCetane.delete(release.of("1"));
        assertThat(cetane.get("/").body()).as("what runs goes on").isEqualTo("first");
        ServerLog.Tail log = cetane.logFromHere();
        cetane.workerPids().forEach(pid -> Processes.signal(pid, "KILL"));
        log.await("worker.ready");
        assertThat(cetane.get("/").body()).isEqualTo("second");
    }

    @Test
    void a_worker_can_be_replaced_alone() {
        release.answering("1", "first").switchTo("1");
        RunningCetane cetane = INSTANCES.application(release.current()).start();
        int id = cetane.workers().get(0).path("id").asInt();
        ServerLog.Tail log = cetane.logFromHere();
        Command.Run recycle =
                cetane.command("workers", "--recycle", Integer.toString(id)).run();
        assertThat(recycle.code()).isZero();
        ServerLog.Line stopped = log.await("worker.stopped");
        assertThat(stopped.field("worker").asInt()).isEqualTo(id);
        assertThat(stopped.field("reason").asText()).isEqualTo("recycled");

        Command.Run unknown = cetane.command("workers", "--recycle", "999").run();
        assertThat(unknown.code()).isEqualTo(1);
        assertThat(unknown.err()).contains("There is no worker 999: there are ");
    }
}
