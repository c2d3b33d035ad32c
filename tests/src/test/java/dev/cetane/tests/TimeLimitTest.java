package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Time limits of single requests: by their path, and as the application sets them. */
@Timeout(180)
final class TimeLimitTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private Path directory;

    private Path worker() throws IOException {
        return Files.writeString(directory.resolve("worker.php"), """
                <?php
                Cetane\\Worker::run(function (Cetane\\Request $request) {
                    $query = $request->query();
                    $granted = isset($query['limit']) ? Cetane\\TimeLimit::restart((float) $query['limit']) : null;
                    usleep(1000 * (int) ($query['take'] ?? 0));
                    return json_encode($granted);
                });
                """);
    }

    @Test
    void a_request_may_take_as_long_as_the_application_says_and_no_longer() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(worker())
                .workers(1)
                .set("pool.request-timeout", "600ms")
                .set("pool.longest-request", "30s")
                .start();
        assertThat(cetane.get("/?limit=20&take=1500").body()).isEqualTo("20");
        assertThat(cetane.get("/?limit=500").body())
                .as("no more than pool.longest-request")
                .isEqualTo("30");
        assertThat(cetane.get("/?limit=0").body()).isEqualTo("30");

        ServerLog.Tail log = cetane.logFromHere();
        assertThat(cetane.get("/?limit=0.2&take=60000", "X-Request-Id", "short").statusCode())
                .isEqualTo(504);
        assertThat(log.await("request.timed-out", "short").message())
                .contains("ran longer than what the application has set by Cetane\\TimeLimit (200ms)");
        assertThat(cetane.get("/?take=60000", "X-Request-Id", "usual").statusCode())
                .isEqualTo(504);
        assertThat(log.await("request.timed-out", "usual").message()).contains("pool.request-timeout (600ms)");
    }

    @Test
    void the_application_has_no_say_where_the_configuration_gives_it_none() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(worker())
                .workers(1)
                .set("pool.longest-request", "0")
                .start();
        HttpResponse<String> refused = cetane.get("/?limit=20");
        assertThat(refused.statusCode()).isEqualTo(500);
        assertThat(cetane.log().fromStart().await("request.failed").message())
                .contains("pool.longest-request is 0, so requests keep their time limits");
        assertThat(cetane.get("/").body()).isEqualTo("null");
    }

    @Test
    void phps_own_limit_follows() throws IOException {
        Path root = Files.createDirectories(directory.resolve("public"));
        Files.writeString(root.resolve("index.php"), """
                <?php
                if (isset($_GET['limit'])) {
                    Cetane\\TimeLimit::restart((float) $_GET['limit']);
                }
                echo ini_get('max_execution_time');
                """);
        RunningCetane cetane = INSTANCES
                .application(directory)
                .workers(1)
                .set("app.ini.max_execution_time", "10")
                .set("pool.request-timeout", "20s")
                .set("http.route-timeouts./reports/**", "90s")
                .set("http.route-timeouts./quick", "5s")
                .start();
        assertThat(cetane.get("/").body()).isEqualTo("10");
        assertThat(cetane.get("/reports/2026").body()).isEqualTo("90");
        assertThat(cetane.get("/").body()).isEqualTo("10");
        assertThat(cetane.get("/quick").body()).isEqualTo("10");
        assertThat(cetane.get("/?limit=33.3").body()).isEqualTo("34");
        assertThat(cetane.get("/").body()).isEqualTo("10");
    }
}
