package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code cetane check}: what it finds right and wrong before anything is served. */
@Timeout(180)
final class CheckTest {
    @TempDir
    private Path directory;

    @Test
    void a_laravel_application_that_is_all_right_is_ready_to_serve() {
        Command.Run check = check(
                        "check", RunningCetane.TESTS.resolve("apps/laravel").toString())
                .environment("DEMO_STORAGE", directory.resolve("storage").toString())
                .run();
        assertThat(check.out())
                .contains("a laravel application: bootstrap/app.php is there", "Ready to serve.")
                .containsPattern("ok +php +\\S+/php 8\\.")
                .containsPattern("ok +boot +a worker booted the application in \\d+ ms")
                .doesNotContain("FAIL");
        assertThat(check.code()).isZero();
    }

    @Test
    void a_front_controller_is_checked_under_php_cgi() {
        Command.Run check = check(
                        "check", RunningCetane.TESTS.resolve("bench/apps/hello").toString())
                .run();
        assertThat(check.out()).contains("(cgi-fcgi)", "Ready to serve.");
        assertThat(check.code()).isZero();
    }

    @Test
    void an_application_that_does_not_boot_fails_with_phps_own_words() throws IOException {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, "<?php\n\nrequire 'vendor/autoload.php';");
        Command.Run check = check("check", script.toString()).run();
        assertThat(check.code()).isEqualTo(1);
        assertThat(check.out())
                .containsPattern("FAIL +boot +.*vendor/autoload.php")
                .contains("see FAIL above");
    }

    @Test
    void a_syntax_error_fails() throws IOException {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, "<?php\nfunction (");
        Command.Run check = check("check", script.toString()).run();
        assertThat(check.code()).isEqualTo(1);
        assertThat(check.out()).containsPattern("FAIL +boot +.*Unclosed '\\('.* in " + script + " on line 2");
    }

    @Test
    void the_wrong_sapi_fails_and_names_the_key() {
        Command.Run check = check(
                        "check",
                        RunningCetane.TESTS.resolve("bench/apps/hello").toString(),
                        "--set",
                        "app.php=/usr/bin/php")
                .run();
        assertThat(check.code()).isEqualTo(1);
        assertThat(check.out()).contains("FAIL", "php-cgi", "app.php");
    }

    @Test
    void a_php_that_is_not_there_fails() {
        Command.Run check = check(
                        "check",
                        RunningCetane.TESTS.resolve("bench/apps/hello").toString(),
                        "--set",
                        "app.php=/nowhere/php-cgi")
                .run();
        assertThat(check.code()).isNotZero();
        assertThat(check.out() + check.err()).contains("/nowhere/php-cgi");
    }

    @Test
    void print_shows_every_key_with_its_value_and_where_that_came_from() throws IOException {
        Files.writeString(directory.resolve("worker.php"), "<?php");
        Files.writeString(directory.resolve("cetane.yaml"), "pool:\n  request-timeout: 5s\n");
        Command.Run print = check(
                        "check", directory.toString(), "--print", "--workers", "3", "--set", "http.max-body=1MiB")
                .environment("CETANE_POOL_QUEUE_SIZE", "7")
                .run();
        assertThat(print.code()).isZero();
        assertThat(print.out())
                .containsPattern("pool.workers: 3 +# .*--workers")
                .containsPattern("pool.request-timeout: 5s +# .*cetane.yaml:2")
                .containsPattern("pool.queue-size: 7 +# .*CETANE_POOL_QUEUE_SIZE")
                .containsPattern("http.max-body: 1MiB +# .*--set")
                .containsPattern("http.idle-timeout: 60s +# .*default");
    }

    private Command check(String... arguments) {
        String[] all = new String[arguments.length + 2];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = "--set";
        all[arguments.length + 1] = "run-directory=" + directory.resolve("run");
        return Command.cetane(all);
    }
}
