package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Call;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The demo Laravel application as a function: in a place where only the temporary directory is written, its jobs, its commands. */
final class LambdaLaravelTest {
    private static final Path DEMO = RunningCetane.TESTS.resolve("apps/laravel");
    private static final Path FILES = RunningCetane.TESTS.resolve("apps/lambda-laravel");

    private Path directory;
    private Path application;
    private Path temporary;

    @BeforeEach
    void deploy() throws IOException {
        directory = Files.createTempDirectory("cetane-laravel-");
        temporary = Files.createDirectory(directory.resolve("tmp"));
        application = Files.createDirectory(directory.resolve("task"));
        for (String part : List.of("app", "config", "public", "resources", "routes", "vendor")) {
            Files.createSymbolicLink(application.resolve(part), DEMO.resolve(part));
        }
        Files.createDirectory(application.resolve("bootstrap"));
        Files.copy(FILES.resolve("app.php"), application.resolve("bootstrap/app.php"));
        Files.copy(FILES.resolve("queue.php"), application.resolve("queue.php"));
        Files.copy(FILES.resolve("artisan.php"), application.resolve("artisan.php"));
    }

    @AfterEach
    void delete() {
        RunningCetane.delete(directory);
    }

    private RunningLambda start(String handler) {
        return starter(handler).start();
    }

    private RunningLambda.Starter starter(String handler) {
        return new RunningLambda.Starter(application)
                .environment("LAMBDA_TASK_ROOT", application.toString())
                .environment("_HANDLER", handler)
                .environment("TMPDIR", temporary.toString())
                .environment("NOTES", directory.resolve("notes").toString())
                .environment("CACHE_DRIVER", "array")
                .bootstrapped();
    }

    private List<String> notes() throws IOException {
        Path notes = directory.resolve("notes");
        return Files.exists(notes) ? Files.readAllLines(notes, StandardCharsets.UTF_8) : List.of();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.map(directory::relativize).map(Path::toString).sorted().toList();
        }
    }

    private static String message(String id, String receives, String data) {
        return "{\"messageId\":\"" + id + "\",\"receiptHandle\":\"r\",\"eventSource\":\"aws:sqs\","
                + "\"eventSourceARN\":\"arn:aws:sqs:eu-west-1:1:orders\",\"attributes\":{\"ApproximateReceiveCount\":\""
                + receives + "\"},\"body\":\"{\\\"uuid\\\":\\\"u\\\",\\\"job\\\":\\\"Chore@do\\\",\\\"data\\\":"
                + data.replace("\"", "\\\"") + "}\"}";
    }

    private static String batch(String... messages) {
        return "{\"Records\":[" + String.join(",", messages) + "]}";
    }

    private static List<String> failures(Call call) {
        assertThat(call.isError()).as(call.text()).isFalse();
        List<String> failures = new ArrayList<>();
        for (JsonNode failure : RunningCetane.json(call.text()).path("batchItemFailures")) {
            failures.add(failure.path("itemIdentifier").asText());
        }
        return failures;
    }

    @Test
    void pagesAreServedAndOnlyTheTemporaryDirectoryIsWritten() throws IOException {
        List<String> deployed = names(application);
        try (RunningLambda lambda = start(".")) {
            JsonNode page = lambda.answer(httpApi("/bench", ""));
            assertThat(page.path("statusCode").asInt()).as(page.toString()).isEqualTo(200);
            assertThat(names(application)).isEqualTo(deployed);
            assertThat(names(temporary))
                    .contains("storage/bootstrap/config.php")
                    .anyMatch(name -> name.matches("storage/framework/views/.*\\.php"))
                    .anyMatch(name -> name.matches("storage/framework/sessions/.+"));

            // The next worker boots from the cache of the configuration that the first has made.
            Path cache = temporary.resolve("storage/bootstrap/config.php");
            Files.writeString(
                    cache,
                    Files.readString(cache, StandardCharsets.UTF_8).replace("Cetane demo", "The cached demo"),
                    StandardCharsets.UTF_8);
            String pid = lambda.body(httpApi("/counter", "")).path("pid").asText();
            Processes.signal(Long.parseLong(pid), "KILL");
            lambda.log().fromStart().await("worker.stopped");
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).contains("The cached demo");
        }
    }

    @Test
    void aSnapshotHoldsNoConnectionThoughTheWarmRequestHasOpenedOneThatIsToBeKept() {
        try (RunningLambda lambda = starter(".")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .environment("CETANE_LAMBDA_WARM_REQUEST", "/bench")
                .environment("OCTANE_PERSIST_DATABASE_SESSIONS", "1")
                .start()) {
            lambda.api.awaitSnapshot();
            assertThat(temporary.resolve("storage/app/demo.sqlite"))
                    .as("opened")
                    .isNotEmptyFile();
            assertThat(open(lambda)).noneMatch(file -> file.contains("demo.sqlite"));
            lambda.api.restore();
            JsonNode page = lambda.answer(httpApi("/bench", ""));
            assertThat(page.path("statusCode").asInt()).as(page.toString()).isEqualTo(200);
            assertThat(open(lambda)).as("kept").anyMatch(file -> file.contains("demo.sqlite"));
        }
    }

    /** What the runtime's processes have open. */
    private static List<String> open(RunningLambda lambda) {
        List<String> open = new ArrayList<>();
        for (long pid : lambda.processes()) {
            try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
                for (Path file : files.toList()) {
                    open.add(Files.readSymbolicLink(file).toString());
                }
            } catch (IOException e) {
                // It was closed meanwhile, or the process has ended.
            }
        }
        return open;
    }

    @Test
    void jobsOfABatchAreDoneAndOnlyThoseThatAreToBeTriedAgainAreReported() throws IOException {
        try (RunningLambda lambda = start("queue.php")) {
            Call call = lambda.api
                    .invoke(batch(
                            message("one", "1", "{\"do\":\"work\",\"on\":\"this\"}"),
                            message("two", "1", "{\"do\":\"throw\"}"),
                            message("three", "3", "{\"do\":\"throw\"}"),
                            message("four", "1", "{\"do\":\"leak\"}"),
                            message("five", "2", "{\"do\":\"name\"}")))
                    .await();
            assertThat(failures(call)).containsExactly("two");
            assertThat(notes())
                    .containsExactly("worked on this as sqs orders 1", "failed for good: no stock", "Cetane demo");
            assertThat(lambda.log().fromStart().await("worker.log")).isNotNull();
        }
    }

    @Test
    void aJobThatOutlivesTheInvocationFailsAndTheRestOfTheBatchIsNotBegun() throws IOException {
        try (RunningLambda lambda = start("queue.php")) {
            lambda.api.invoke(batch(message("warm", "1", "{\"do\":\"leak\"}"))).await();
            Call call = lambda.api
                    .invoke(
                            batch(
                                    message("one", "1", "{\"do\":\"work\",\"on\":\"this\"}"),
                                    message("two", "1", "{\"do\":\"sleep\"}"),
                                    message("three", "1", "{\"do\":\"work\",\"on\":\"that\"}")),
                            3_000,
                            java.util.Map.of())
                    .await();
            assertThat(failures(call)).containsExactly("two", "three");
            assertThat(notes()).containsExactly("worked on this as sqs orders 1");
        }
    }

    @Test
    void artisanCommandsAreRunAndTellTheirOutputAndExitCode() {
        try (RunningLambda lambda = start("artisan.php")) {
            JsonNode answer = RunningCetane.json(
                    lambda.api.invoke("{\"cli\":\"env\"}").await().text());
            assertThat(answer.path("exitCode").asInt()).isZero();
            assertThat(answer.path("output").asText()).contains("production");
            assertThat(lambda.api.invoke("\"inspire --no-interaction\"").await().isError())
                    .isTrue();
            Call unknown = lambda.api.invoke("\"no:such\"").await();
            assertThat(unknown.isError()).isTrue();
            assertThat(unknown.text()).contains("no:such");
            Call other = lambda.api.invoke("{\"a\":1}").await();
            assertThat(other.text()).contains("The event is no command");
            assertThat(RunningCetane.json(lambda.api.invoke("\"env\"").await().text())
                            .path("exitCode")
                            .asInt())
                    .isZero();
        }
    }
}
