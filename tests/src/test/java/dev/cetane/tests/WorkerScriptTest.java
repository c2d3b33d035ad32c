package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Worker scripts on the client library: the examples of the documentation as they stand there, and a PSR-15 application. */
@Timeout(180)
final class WorkerScriptTest {
    private static final Path ROOT = RunningCetane.TESTS.getParent();

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    private Path directory;

    @Test
    void the_example_of_the_readme_serves() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(example(ROOT.resolve("README.md"), "Worker::run", "worker.php"))
                .start();
        assertThat(cetane.get("/").body()).isEqualTo("hi");
    }

    @Test
    void the_front_controller_of_the_readme_counts_visits() throws IOException {
        Path sessions = Files.createDirectories(directory.resolve("sessions"));
        example(ROOT.resolve("README.md"), "session_start", "public/index.php");
        RunningCetane cetane = INSTANCES
                .application(directory)
                .set("app.ini.session.save_path", sessions)
                .start();
        HttpResponse<String> first = cetane.get("/");
        assertThat(first.body()).isEqualTo("Visit 1 of 127.0.0.1\n");
        String cookie = first.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
        assertThat(cetane.get("/", "Cookie", cookie).body()).isEqualTo("Visit 2 of 127.0.0.1\n");
    }

    @Test
    void the_worker_in_three_lines_serves() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(example(ROOT.resolve("php-client/README.md"), "Worker::run", "worker.php"))
                .start();
        HttpResponse<String> answer = cetane.get("/");
        assertThat(answer.body()).isEqualTo("hi");
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/plain");
    }

    @Test
    void the_loop_serves_and_leaves_when_it_is_told_to_stop() throws IOException {
        Path script = example(ROOT.resolve("php-client/README.md"), "->wait()", "worker.php");
        Files.writeString(
                script,
                "<?php\nuse Cetane\\{Request, Response, Worker};\n" + Files.readString(script)
                        + "\nerror_log('the loop has ended');\n");
        RunningCetane cetane = INSTANCES.application(script).workers(1).start();
        for (int i = 0; i < 3; i++) {
            assertThat(cetane.get("/").body()).isEqualTo("hi");
        }
        cetane.signal("TERM");
        assertThat(cetane.awaitExit()).isZero();
        cetane.log().fromStart().await("worker.output", line -> line.message().contains("the loop has ended"));
        assertThat(cetane.log().fromStart().await("worker.stopped").message()).contains("exit code 0");
    }

    @Test
    void echo_in_a_handler_is_a_log_line_and_an_exception_a_500() throws IOException {
        Path script = directory.resolve("worker.php");
        Files.writeString(script, """
                <?php
                use Cetane\\{Request, Response, Worker};
                Worker::run(function (Request $request): Response {
                    echo "printed for {$request->path()}\\n";
                    var_dump(7);
                    if ($request->path() === '/exception') {
                        throw new RuntimeException('the secret of the handler');
                    }
                    return new Response(200, [], (string) getmypid());
                });
                """);
        RunningCetane cetane = INSTANCES.application(script).workers(1).start();
        HttpResponse<String> answer = cetane.get("/page", "X-Request-Id", "echo");
        assertThat(answer.body()).matches("[0-9]+");
        cetane.log()
                .fromStart()
                .await(
                        "worker.log",
                        line -> line.message().contains("printed for /page")
                                && line.request().equals("echo"));
        HttpResponse<String> broken = cetane.get("/exception");
        assertThat(broken.statusCode()).isEqualTo(500);
        assertThat(broken.body()).doesNotContain("secret", "printed");
        assertThat(cetane.get("/page").body()).as("the same process").isEqualTo(answer.body());
    }

    @Test
    void a_psr_15_application_sees_the_request_and_is_heard() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/psr15/worker.php"))
                .workers(1)
                .start();
        HttpResponse<String> answer = cetane.send(cetane.request("/message?a[]=1&a[]=2")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Cookie", "x=y")
                .header("X-Two", "b")
                .POST(BodyPublishers.ofString("field=value")));
        JsonNode message = RunningCetane.json(answer);
        assertThat(message.path("method").asText()).isEqualTo("POST");
        assertThat(message.path("uri").asText())
                .isEqualTo("http://127.0.0.1:" + cetane.address().getPort() + "/message?a%5B%5D=1&a%5B%5D=2");
        assertThat(message.at("/query/a").toString()).isEqualTo("[\"1\",\"2\"]");
        assertThat(message.at("/cookies/x").asText()).isEqualTo("y");
        assertThat(message.at("/parsed/field").asText()).isEqualTo("value");
        assertThat(message.path("body").asText()).isEqualTo("field=value");

        HttpResponse<String> large =
                cetane.send(cetane.request("/length").POST(BodyPublishers.ofByteArray(new byte[5 << 20])));
        assertThat(large.body()).isEqualTo(Integer.toString(5 << 20));

        HttpResponse<String> made = cetane.get("/answer");
        assertThat(made.statusCode()).isEqualTo(201);
        assertThat(made.body()).isEqualTo("made");
        assertThat(made.headers().allValues("Set-Cookie")).containsExactly("a=1", "b=2");
        assertThat(cetane.get("/file").body())
                .isEqualTo(Files.readString(RunningCetane.TESTS.resolve("apps/psr15/worker.php")));

        assertThat(cetane.get("/exception").statusCode()).isEqualTo(500);
        assertThat(RunningCetane.json(cetane.get("/message")).path("pid").asLong())
                .as("the worker lives")
                .isEqualTo(message.path("pid").asLong());
        assertThat(cetane.get("/nowhere").statusCode()).isEqualTo(404);
    }

    /** Saves the block of PHP that holds a text from a document. */
    private Path example(Path document, String text, String name) throws IOException {
        Matcher blocks = Pattern.compile("```php\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(document));
        while (blocks.find()) {
            if (blocks.group(1).contains(text)) {
                Path file = directory.resolve(name);
                Files.createDirectories(file.getParent());
                return Files.writeString(file, blocks.group(1));
            }
        }
        throw new AssertionError(document + " has no example with " + text);
    }
}
