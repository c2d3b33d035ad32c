package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files beside applications: which kinds have them, and whose version they are of. */
@Timeout(180)
final class StaticFilesTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private Path directory;

    private Path release(String name) throws IOException {
        Path release = Files.createDirectories(directory.resolve(name));
        Path root = Files.createDirectories(release.resolve("public"));
        Files.writeString(root.resolve("index.php"), "<?php echo 'page of " + name + "';");
        Files.writeString(root.resolve("version.txt"), name);
        Files.writeString(release.resolve("secret.txt"), "secret");
        return release;
    }

    @Test
    void a_front_controllers_files_are_served_and_counted_and_named_in_the_access_log() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(release("shop"))
                .set("http.access-log", true)
                .start();
        HttpResponse<String> file = cetane.get("/version.txt");
        assertThat(file.body()).isEqualTo("shop");
        assertThat(file.headers().firstValue("content-type")).hasValue("text/plain; charset=utf-8");
        assertThat(cetane.log().fromStart().await("http.access").field("source").asText())
                .isEqualTo("file");
        assertThat(cetane.get(
                                "/version.txt",
                                "If-None-Match",
                                file.headers().firstValue("etag").orElseThrow())
                        .statusCode())
                .isEqualTo(304);
        for (String page : new String[] {"/", "/index.php", "/missing.txt", "/secret.txt", "/index.php/version.txt"}) {
            assertThat(cetane.get(page).body()).as(page).isEqualTo("page of shop");
        }
        assertThat(cetane.ops("/metrics").body())
                .contains("cetane_files_served_total{status=\"200\"} 1.0")
                .contains("cetane_files_served_total{status=\"304\"} 1.0");
    }

    @Test
    void beside_a_worker_script_nothing_is_served_unless_the_directory_is_said_to_be_public() throws IOException {
        Path release = release("app");
        Path script = release.resolve("worker.php");
        Files.writeString(script, "<?php Cetane\\Worker::run(fn () => 'page');");
        RunningCetane closed = INSTANCES.application(script).start();
        assertThat(closed.get("/secret.txt").body()).isEqualTo("page");
        assertThat(closed.get("/public/version.txt").body()).isEqualTo("page");
        RunningCetane open =
                INSTANCES.application(script).set("app.document-root", "public").start();
        assertThat(open.get("/version.txt").body()).isEqualTo("app");
        assertThat(open.get("/secret.txt").body()).isEqualTo("page");
    }

    @Test
    void files_change_with_the_version_that_serves_not_with_the_link() throws IOException {
        Path current = Files.createSymbolicLink(directory.resolve("current"), release("one"));
        RunningCetane cetane = INSTANCES.application(current).start();
        assertThat(cetane.get("/version.txt").body()).isEqualTo("one");
        Files.delete(current);
        Files.createSymbolicLink(current, release("two"));
        Files.writeString(directory.resolve("one/public/new.txt"), "new");
        // Once the new file is seen, what was known of the directory was looked at anew.
        while (!cetane.get("/new.txt").body().equals("new")) {
            assertThat(cetane.isAlive()).isTrue();
        }
        assertThat(cetane.get("/version.txt").body()).isEqualTo("one");
        assertThat(cetane.command("reload").run().code()).isZero();
        while (!cetane.get("/version.txt").body().equals("two")) {
            assertThat(cetane.isAlive()).isTrue();
        }
        JsonNode status = cetane.status();
        assertThat(status.path("generation").asInt()).isEqualTo(2);
    }

    @Test
    void can_be_switched_off() throws IOException {
        RunningCetane cetane =
                INSTANCES.application(release("off")).set("http.static", "off").start();
        assertThat(cetane.get("/version.txt").body()).isEqualTo("page of off");
    }
}
