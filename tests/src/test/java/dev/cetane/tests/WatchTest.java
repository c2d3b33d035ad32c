package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Development: code that changes is served, code that is broken is not. */
@Timeout(180)
final class WatchTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private Path directory;

    private void save(String name, String content) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        // As most editors do.
        Path written = Files.writeString(directory.resolve(name + "~"), content);
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void changed_code_is_served_and_broken_code_is_told_of_once_while_the_old_serves_on() throws IOException {
        save("worker.php", "<?php require __DIR__ . '/src/page.php'; Cetane\\Worker::run(fn () => page());");
        save("src/page.php", "<?php function page() { return 'one'; }");
        RunningCetane cetane = INSTANCES
                .application(directory.resolve("worker.php"))
                .workers(2)
                .set("watch.enabled", true)
                .start();
        cetane.log().fromStart().await("watch.started");
        assertThat(cetane.get("/").body()).isEqualTo("one");

        ServerLog.Tail log = cetane.logFromHere();
        save("src/page.php", "<?php function page() { return 'two'; }");
        assertThat(log.await("watch.changed").message()).contains("src/page.php has changed");
        log.await("pool.reloaded");
        assertThat(cetane.get("/").body()).isEqualTo("two");

        log = cetane.logFromHere();
        save("src/page.php", "<?php function page() { return 'three }");
        assertThat(log.await("pool.reload-failed").message())
                .contains("syntax error", "src/page.php", "the old version goes on serving");
        assertThat(cetane.get("/").body()).isEqualTo("two");

        log = cetane.logFromHere();
        save("src/page.php", "<?php function page() { return 'four'; }");
        log.await("pool.reloaded");
        assertThat(cetane.get("/").body()).isEqualTo("four");
        assertThat(cetane.log().shown().split("the old version goes on serving", -1))
                .hasSize(2);
    }

    @Test
    void what_an_application_writes_while_it_serves_is_no_change_of_its_code() throws IOException {
        save("worker.php", "<?php require __DIR__ . '/src/page.php'; Cetane\\Worker::run(fn () => page());");
        save("src/page.php", "<?php function page() { return 'one'; }");
        Files.createDirectories(directory.resolve("storage/logs"));
        RunningCetane cetane = INSTANCES
                .application(directory.resolve("worker.php"))
                .workers(1)
                .set("watch.enabled", true)
                .start();
        cetane.log().fromStart().await("watch.started");

        for (String written : List.of(
                "storage/logs/laravel.log", "storage/app/upload.php", "vendor/a/b.php", "public/uploads/photo.jpg")) {
            save(written, "<?php // no code of the application");
        }
        save("src/page.php", "<?php function page() { return 'two'; }");
        ServerLog.Tail log = cetane.log().fromStart();
        assertThat(log.await("watch.changed").message())
                .contains("src/page.php")
                .doesNotContain("storage", "vendor", "uploads");
        log.await("pool.reloaded");
        assertThat(cetane.log().fromStart().all("watch.changed")).hasSize(1);
    }
}
