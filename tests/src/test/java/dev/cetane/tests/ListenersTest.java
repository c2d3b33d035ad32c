package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The addresses that take requests, and what a worker sees of the world around it. */
@Timeout(180)
final class ListenersTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private Path directory;

    @Test
    void ipv4_ipv6_and_a_unix_socket_serve_side_by_side() throws IOException {
        Path socket = directory.resolve("http.sock");
        RunningCetane cetane = INSTANCES
                .worker("well-behaved.php")
                .listen("127.0.0.1:0", "[::1]:0", "unix:" + socket)
                .start();
        List<String> urls = cetane.urls();
        assertThat(urls).hasSize(3);
        assertThat(urls.get(0)).startsWith("http://127.0.0.1:");
        assertThat(urls.get(1)).startsWith("http://[").contains("1]:");
        assertThat(urls.get(2)).isEqualTo("unix:" + socket);

        assertThat(server(new RawClient(tcp(urls.get(0)))).path("REMOTE_ADDR").asText())
                .isEqualTo("127.0.0.1");
        assertThat(server(new RawClient(tcp(urls.get(1)))).path("REMOTE_ADDR").asText())
                .isIn("::1", "0:0:0:0:0:0:0:1");
        assertThat(server(new RawClient(UnixDomainSocketAddress.of(socket)))
                        .path("REQUEST_URI")
                        .asText())
                .isEqualTo("/");

        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        assertThat(Files.exists(socket)).as("the socket's file is removed").isFalse();
    }

    @Test
    void without_file_descriptors_connections_wait_and_the_log_says_what_to_raise() throws IOException {
        RunningCetane cetane = INSTANCES.worker("well-behaved.php").workers(1).start();
        ServerLog.Tail log = cetane.logFromHere();
        mostOpenFiles(cetane, 5);
        try (RawClient client = new RawClient(tcp(cetane.urls().get(0)))) {
            client.get("/");
            assertThat(log.await("http.accept-failed").message())
                    .startsWith("no connection can be accepted on 127.0.0.1:")
                    .contains(
                            ": Too many open files; tried again each second. Raise the limit of open files (ulimit -n");
            mostOpenFiles(cetane, 1024);
            assertThat(client.answer().status()).isEqualTo(200);
        }
        assertThat(log.all()).noneMatch(line -> line.event().equals("library"));
    }

    /** As {@code ulimit -n} would have it, while it runs. */
    private static void mostOpenFiles(RunningCetane cetane, int most) {
        Command.Run run = Command.of("prlimit", "--pid", Long.toString(cetane.pid()), "--nofile=" + most + ":")
                .run();
        assertThat(run.code()).as(run.toString()).isZero();
    }

    @Test
    void a_unix_socket_that_a_dead_instance_left_is_replaced_and_one_in_use_is_not() throws IOException {
        Path socket = directory.resolve("http.sock");
        RunningCetane killed =
                INSTANCES.worker("well-behaved.php").listen("unix:" + socket).start();
        killed.kill();
        assertThat(Files.exists(socket)).isTrue();

        RunningCetane next =
                INSTANCES.worker("well-behaved.php").listen("unix:" + socket).start();
        RunningCetane third =
                INSTANCES.worker("well-behaved.php").listen("unix:" + socket).launch();
        assertThat(third.awaitExit()).isEqualTo(1);
        assertThat(third.log().shown()).contains("cannot start", socket.toString());
        assertThat(server(new RawClient(UnixDomainSocketAddress.of(socket)))
                        .path("REQUEST_URI")
                        .asText())
                .isEqualTo("/");
        assertThat(next.isAlive()).isTrue();
    }

    @Test
    void the_ops_port_can_be_off() {
        RunningCetane cetane =
                INSTANCES.worker("well-behaved.php").set("ops.listen", "off").start();
        assertThat(cetane.log().fromStart().await("supervisor.started").message())
                .doesNotContain("health");
        assertThat(cetane.get("/").statusCode()).isEqualTo(200);
    }

    @Test
    void workers_see_the_variables_that_are_named_and_no_others() throws IOException {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, "<?php Cetane\\Worker::run(fn () => json_encode(getenv() + $_ENV));");
        RunningCetane cetane = INSTANCES
                .application(script)
                .environment("SECRET_OF_THE_PARENT", "hunter2")
                .environment("DB_HOST", "db.internal")
                .environment("DB_PASSWORD", "passed on purpose")
                .set("app.pass-environment", "PATH,DB_*")
                .set("app.environment.APP_ENV", "production")
                .start();
        JsonNode environment = RunningCetane.json(cetane.get("/"));
        assertThat(environment.path("DB_HOST").asText()).isEqualTo("db.internal");
        assertThat(environment.path("DB_PASSWORD").asText()).isEqualTo("passed on purpose");
        assertThat(environment.path("APP_ENV").asText()).isEqualTo("production");
        assertThat(environment.has("PATH")).isTrue();
        assertThat(environment.has("HOME")).isFalse();
        assertThat(environment.toString()).doesNotContain("hunter2", "SECRET", "CETANE_JAVA");
        for (long pid : cetane.workerPids()) {
            assertThat(Files.readString(Path.of("/proc", Long.toString(pid), "environ")))
                    .doesNotContain("hunter2");
        }
    }

    private static InetSocketAddress tcp(String url) {
        URI uri = URI.create(url);
        return new InetSocketAddress(uri.getHost(), uri.getPort());
    }

    private static JsonNode server(RawClient client) throws IOException {
        try (client) {
            return RunningCetane.json(client.get("/").answer().body()).path("server");
        }
    }
}
