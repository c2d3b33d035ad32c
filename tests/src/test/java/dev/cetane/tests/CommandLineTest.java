package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/cetane} as people and scripts use it: what it prints, where, and the exit code. */
@Timeout(180)
final class CommandLineTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static RunningCetane cetane;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        cetane = INSTANCES.worker("by-path.php").start();
    }

    // ---- help ----

    @Test
    void help_names_every_command_and_the_exit_codes() {
        Command.Run help = Command.cetane("--help").run();
        assertThat(help.code()).isZero();
        assertThat(help.err()).isEmpty();
        assertThat(help.out())
                .contains("serve", "check", "status", "workers", "top", "reload", "stop", "Exit codes: 0 done");
    }

    @Test
    void version_is_one_line() {
        Command.Run version = Command.cetane("--version").run();
        assertThat(version.code()).isZero();
        assertThat(version.out()).matches("cetane \\d+\\.\\d+\\.\\d+\\S*\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "check", "status", "workers", "top", "reload", "stop"})
    void each_command_has_help_of_its_own(String name) {
        Command.Run help = Command.cetane(name, "--help").run();
        assertThat(help.code()).isZero();
        assertThat(help.out()).startsWith("Usage: cetane " + name);
    }

    @Test
    void no_command_is_wrong_use_and_shows_the_usage() {
        Command.Run run = Command.cetane().run();
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("Usage: cetane");
    }

    @Test
    void an_unknown_option_is_wrong_use_and_names_the_help() {
        Command.Run run = Command.cetane("serve", "--wrokers", "3").run();
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).startsWith("cetane: ").contains("--wrokers", "cetane serve --help");
    }

    @Test
    void the_completion_script_completes_commands_and_options_in_bash() {
        Path script = RunningCetane.LAUNCHER.resolve("../../share/completion/cetane.bash");
        Command.Run completed = Command.of(
                        "bash", "-ec", """
                        shopt -s progcomp
                        compopt() { :; } # bash's own works on the interactive command line only
                        source "$1"
                        function=$(complete -p cetane | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                        complete_line() {
                            COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
                            $function || true
                            echo "${COMPREPLY[@]}"
                        }
                        complete_line cetane ''
                        complete_line cetane serve --wo
                        """, "bash", script.normalize().toString())
                .run();
        assertThat(completed.err()).isEmpty();
        assertThat(completed.out().lines().toList().get(0)).contains("serve", "status", "workers", "reload", "stop");
        assertThat(completed.out().lines().toList().get(1)).contains("--workers");
    }

    // ---- a running instance ----

    @Test
    void status_says_what_runs_where() {
        Command.Run status = cetane.command("status").run();
        assertThat(status.code()).isZero();
        assertThat(status.out())
                .contains(
                        "pid " + cetane.pid(),
                        ", ready\n",
                        "by-path.php (worker)",
                        cetane.urls().get(0),
                        "2 wanted, 2 idle");
    }

    @Test
    void status_is_there_as_json() {
        Command.Run status = cetane.command("status", "--json").run();
        assertThat(status.code()).isZero();
        JsonNode json = RunningCetane.json(status.out());
        assertThat(json.path("pid").asLong()).isEqualTo(cetane.pid());
        assertThat(json.path("ready").asBoolean()).isTrue();
        assertThat(json.at("/urls/0").asText()).isEqualTo(cetane.urls().get(0));
        assertThat(json.at("/workers/target").asInt()).isEqualTo(2);
    }

    @Test
    void workers_are_a_table_or_json() {
        Command.Run table = cetane.command("workers").run();
        assertThat(table.code()).isZero();
        assertThat(table.out().lines()).hasSize(3);
        assertThat(table.out()).startsWith("ID  ROLE").contains("idle");

        Command.Run json = cetane.command("workers", "--json").run();
        assertThat(RunningCetane.json(json.out())).hasSize(2);
    }

    @Test
    void a_worker_that_runs_a_request_shows_it() throws IOException {
        try (RawClient client = cetane.connect()) {
            client.get("/until-cancelled").head();
            cetane.awaitRunning("/until-cancelled");
            assertThat(cetane.command("workers").run().out()).contains("busy", "GET /until-cancelled");
        }
    }

    @Test
    void an_instance_in_the_default_directory_is_found_without_a_word() {
        RunningCetane found = INSTANCES
                .worker("by-path.php")
                .environment("XDG_RUNTIME_DIR", directory.toString())
                .set("run-directory", "auto")
                .start();
        Command.Run status = Command.cetane("status")
                .environment("XDG_RUNTIME_DIR", directory.toString())
                .run();
        assertThat(status.code()).isZero();
        assertThat(status.out()).contains("pid " + found.pid());
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "workers", "reload", "stop"})
    void without_an_instance_the_code_is_3_and_the_message_says_where_it_looked(String name) {
        Command.Run run =
                Command.cetane(name, "--run-directory", directory.toString()).run();
        assertThat(run.code()).isEqualTo(3);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("cetane: no instance runs").contains(directory.toString(), "cetane serve");
    }

    @Test
    void with_several_instances_one_has_to_be_named() {
        RunningCetane second = INSTANCES
                .worker("by-path.php")
                .set("run-directory", cetane.runDirectory())
                .start();
        Command.Run unnamed = cetane.command("status").run();
        assertThat(unnamed.code()).isEqualTo(2);
        assertThat(unnamed.err())
                .contains("2 instances run", "--instance " + cetane.pid(), "--instance " + second.pid());
        Command.Run named = cetane.command("status", "--instance", Long.toString(second.pid()))
                .run();
        assertThat(named.code()).isZero();
        assertThat(named.out()).contains("pid " + second.pid());
    }

    // ---- what stands in the way of a start ----

    @Test
    void all_problems_of_the_configuration_are_reported_together() throws IOException {
        Path file = directory.resolve("cetane.yaml");
        Files.writeString(file, """
                pool:
                  workers: many
                  request-timeuot: 2s
                http:
                  max-body: 3XB
                """);
        Command.Run run = Command.cetane(
                        "serve", application(), "--config", file.toString(), "--set", "pool.queue-size=-1")
                .environment("CETANE_LOG_LEVEL", "loud")
                .run();
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .contains("pool.workers", "many", "cetane.yaml:2")
                .contains("request-timeuot")
                .contains("http.max-body", "3XB")
                .contains("pool.queue-size", "-1", "--set")
                .contains("log.level", "loud", "CETANE_LOG_LEVEL", "debug, info, warn, error");
    }

    @Test
    void a_port_that_is_taken_is_named() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + taken.getLocalPort();
            Command.Run run = serve("--listen", address, "--ops", "off");
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.err()).startsWith("cetane: cannot start: ").contains(address, "in use");

            Command.Run ops = serve("--listen", "127.0.0.1:0", "--ops", address);
            assertThat(ops.code()).isEqualTo(1);
            assertThat(ops.err()).startsWith("cetane: cannot start: ").contains(address, "in use");
        }
    }

    @Test
    void an_application_that_is_not_there_is_named() {
        Command.Run run = Command.cetane("serve", "/no/such/app").run();
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("/no/such/app does not exist", "cetane serve APP");
    }

    @Test
    void a_directory_without_an_application_says_what_was_looked_for() {
        Command.Run run = Command.cetane("serve", directory.toString()).run();
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("bootstrap/app.php", "public/index.php", "worker.php");
    }

    @Test
    void an_application_that_does_not_boot_ends_the_start_with_phps_own_words() throws IOException {
        Path script = directory.resolve("broken.php");
        Files.writeString(script, "<?php throw new RuntimeException('DB_HOST is not set');");
        Command.Run run = Command.cetane(
                        "serve", script.toString(), "--listen", "127.0.0.1:0", "--ops", "off", "--set", runDirectory())
                .run();
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err())
                .startsWith("cetane: cannot start: ")
                .contains("could not be booted", "DB_HOST is not set");
    }

    @Test
    void a_php_that_is_not_there_is_named() {
        Command.Run run = serve("--set", "app.php=/opt/php9/bin/php");
        assertThat(run.code()).isNotZero();
        assertThat(run.err()).contains("/opt/php9/bin/php");
    }

    @Test
    void without_php_it_says_which_package_to_install() throws IOException {
        Path bin = Files.createDirectories(directory.resolve("bin"));
        for (String tool : new String[] {"sh", "readlink", "sed", "head", "dirname"}) {
            Files.createSymbolicLink(bin.resolve(tool), Path.of("/usr/bin").resolve(tool));
        }
        Command.Run run = Command.cetane("serve", application(), "--set", runDirectory())
                .environment("PATH", bin.toString())
                .environment("JAVA_HOME", System.getProperty("java.home"))
                .run();
        assertThat(run.code()).isNotZero();
        assertThat(run.err()).contains("php", "apt-get install");
    }

    private Command.Run serve(String... arguments) {
        String[] all = new String[arguments.length + 4];
        all[0] = "serve";
        all[1] = application();
        all[2] = "--set";
        all[3] = runDirectory();
        System.arraycopy(arguments, 0, all, 4, arguments.length);
        return Command.cetane(all).run();
    }

    private String runDirectory() {
        return "run-directory=" + directory.resolve("run");
    }

    private static String application() {
        return RunningCetane.TESTS.resolve("php/by-path.php").toString();
    }
}
