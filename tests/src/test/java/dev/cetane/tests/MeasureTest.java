package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code cetane measure} on real workers. */
@Timeout(180)
final class MeasureTest {
    @TempDir
    Path directory;

    private Path script;

    @BeforeEach
    void write() throws Exception {
        script = directory.resolve("worker.php");
        Files.writeString(script, """
                <?php
                Cetane\\Worker::run(function ($request) {
                    $path = $request->server()['REQUEST_URI'];
                    $path === '/slow' && usleep(5000);
                    $path === '/fail' && throw new DomainException('no');
                    return $path === '/missing' ? new Cetane\\Response(404, [], 'none') : $path;
                });
                """);
    }

    @Test
    void the_time_of_a_request_is_told_part_by_part() {
        Command.Run result = measure("/slow", "-n", "20");

        assertThat(result.code()).as(result.toString()).isZero();
        assertThat(result.out())
                .startsWith("20 requests of GET /slow, one after the other, to " + script + " (worker).")
                .contains("CPU: ")
                .containsPattern("PHP client +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+%")
                .containsPattern("pipe +[0-9.]+")
                .containsPattern("supervisor +[0-9.]+")
                .containsPattern("HTTP +[0-9.]+")
                .containsPattern("total +[0-9.]+")
                .contains("bytes allocated a request");
        double handler = Double.parseDouble(result.out().replaceAll("(?s).*PHP application +([0-9.]+).*", "$1"));
        assertThat(handler).isGreaterThanOrEqualTo(5000);
    }

    @Test
    void figures_are_saved_and_compared_on_the_same_cpu_and_on_others_only_when_told_to() throws Exception {
        Path file = directory.resolve("figures");
        assertThat(measure("/", "-n", "20", "--save", file.toString()).code()).isZero();

        Command.Run same = measure("/slow", "-n", "20", "--compare", file.toString());
        assertThat(same.code()).as(same.toString()).isZero();
        assertThat(same.out())
                .contains("path: / then, /slow now")
                .containsPattern("PHP application +[0-9.]+ +[0-9.]+ +[0-9]{2,}\\.[0-9]+ +[0-9.]+ … [0-9.]+");

        Files.writeString(file, Files.readString(file).replaceFirst("(?m)^cpu: .*", "cpu: another one"));
        Command.Run refused = measure("/", "-n", "20", "--compare", file.toString());
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).contains("another one").contains("--any-cpu compares them all the same");
        assertThat(measure("/", "-n", "20", "--any-cpu", "--compare", file.toString())
                        .code())
                .isZero();
    }

    @Test
    void what_costs_time_is_named() {
        Command.Run result =
                measure("/", "-n", "20", "--set", "app.debug=true", "--set", "app.ini.opcache.enable_cli=0");

        assertThat(result.out())
                .contains("What costs time here:")
                .contains("opcache is off")
                .contains("app.debug is on");
    }

    @Test
    void what_cannot_be_measured_is_told() throws Exception {
        assertThat(measure("/fail").err()).contains("GET /fail is answered 500");
        assertThat(measure("articles").err()).contains("measure needs the path of a request");
        assertThat(measure("/", "-n", "9").err()).contains("-n = \"9\" is no whole number in 10 … 1000000");
        assertThat(measure("/", "--compare", "nowhere").err())
                .contains("nowhere cannot be read: no such file or directory");
        assertThat(measure("/", "--save", "/nowhere/else").err())
                .contains("/nowhere/else cannot be written: there is no directory /nowhere");
        Command.Run other = measure("/missing", "-n", "10");
        assertThat(other.out()).contains("Not every answer was a 200: 10 × 404.");
        Path file = directory.resolve("other");
        Files.writeString(file, "something else");
        assertThat(measure("/", "--compare", file.toString()).err()).contains("was not saved by cetane measure");
        Files.writeString(file, "cetane-measure 1\nmicros total: 1 2 x 4 5\n");
        assertThat(measure("/", "--compare", file.toString()).err()).contains("has no times of the part total");
        Files.writeString(script, "<?php throw new DomainException('no boot');");
        assertThat(measure("/").err()).contains("no boot");
    }

    private Command.Run measure(String path, String... options) {
        String[] all = new String[options.length + 4];
        all[0] = "measure";
        all[1] = path;
        all[2] = "--app";
        all[3] = script.toString();
        System.arraycopy(options, 0, all, 4, options.length);
        // It is an instance: not in the directory where others look for theirs.
        return Command.cetane(all)
                .environment("XDG_RUNTIME_DIR", directory.toString())
                .run();
    }
}
