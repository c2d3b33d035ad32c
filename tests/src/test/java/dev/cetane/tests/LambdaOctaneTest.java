package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static dev.cetane.tests.LambdaEvents.quoted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The demo Laravel application under Octane's worker as a function, where only the temporary directory is written. On the real laravel/octane with
 * OCTANE_SOURCE, as {@link OctaneTest}.
 */
@Timeout(180)
final class LambdaOctaneTest {
    private static final Path OCTANE = RunningCetane.TESTS.resolve("apps/octane");
    private static final Path BOOTSTRAP = RunningCetane.TESTS.resolve("apps/lambda-laravel/app.php");

    private Path directory;
    private Path application;
    private Path temporary;

    @BeforeEach
    void deploy() throws IOException {
        directory = Files.createTempDirectory("cetane-octane-");
        temporary = Files.createDirectory(directory.resolve("tmp"));
        application = Files.createDirectory(directory.resolve("task"));
        for (String part : List.of("app", "config", "octane", "resources", "routes", "vendor")) {
            Files.createSymbolicLink(
                    application.resolve(part), OCTANE.resolve(part).toRealPath());
        }
        Files.createDirectory(application.resolve("bootstrap"));
        Files.copy(BOOTSTRAP, application.resolve("bootstrap/app.php"));
    }

    @AfterEach
    void delete() {
        RunningCetane.delete(directory);
    }

    private RunningLambda start() {
        return start(starter -> starter);
    }

    private RunningLambda start(UnaryOperator<RunningLambda.Starter> more) {
        RunningLambda.Starter starter = new RunningLambda.Starter(application)
                .environment("LAMBDA_TASK_ROOT", application.toString())
                .environment("_HANDLER", ".")
                .environment("TMPDIR", temporary.toString())
                .environment("CACHE_DRIVER", "array");
        return more.apply(starter).bootstrapped().start();
    }

    private static JsonNode json(RunningLambda lambda, String path, String query) {
        return lambda.body(httpApi(path, query));
    }

    private static String text(RunningLambda lambda, String path) {
        return lambda.answer(httpApi(path, "")).path("body").asText();
    }

    private static int pid(RunningLambda lambda) {
        return json(lambda, "/counter", "").path("pid").asInt();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.map(directory::relativize).map(Path::toString).sorted().toList();
        }
    }

    /** One person, who keeps the cookie of the session. */
    private static final class Person {
        private final RunningLambda lambda;
        private final List<String> cookies = new ArrayList<>();

        Person(RunningLambda lambda) {
            this.lambda = lambda;
        }

        JsonNode get(String path, String query) {
            StringBuilder sent = new StringBuilder();
            for (String cookie : cookies) {
                sent.append(sent.isEmpty() ? "" : ",").append(quoted(cookie));
            }
            JsonNode answer = lambda.answer(
                    httpApi("GET", path, query, "\"headers\":{\"host\":\"shop.test\"},\"cookies\":[" + sent + "],"));
            for (JsonNode cookie : answer.path("cookies")) {
                cookies.clear();
                cookies.add(cookie.asText().replaceAll(";.*", ""));
            }
            return RunningCetane.json(answer.path("body").asText());
        }
    }

    // ---- a request ----

    @Test
    void pagesAreServedByOctaneAndOnlyTheTemporaryDirectoryIsWritten() throws IOException {
        List<String> deployed = names(application);
        try (RunningLambda lambda = start()) {
            JsonNode page = lambda.answer(httpApi("/bench", ""));
            assertThat(page.path("statusCode").asInt()).as(page.toString()).isEqualTo(200);
            JsonNode environment = json(lambda, "/environment", "");
            assertThat(environment.path("octane").asText()).isEqualTo("1");
            assertThat(environment.path("base").asText()).isEqualTo(application.toString());
            assertThat(environment.path("console").asBoolean()).isFalse();
            assertThat(names(application)).isEqualTo(deployed);
            assertThat(names(temporary))
                    .contains("storage/bootstrap/config.php", "storage/bootstrap/packages.php")
                    .anyMatch(name -> name.matches("storage/framework/views/.*\\.php"))
                    .anyMatch(name -> name.matches("storage/framework/sessions/.+"));
        }
    }

    @Test
    void theStateOfOneInvocationIsNotSeenByTheNext() {
        try (RunningLambda lambda = start()) {
            assertNothingIsKept(lambda);
        }
    }

    private static void assertNothingIsKept(RunningLambda lambda) {
        int pid = pid(lambda);
        Person ada = new Person(lambda);
        Person grace = new Person(lambda);
        ada.get("/login", "user=1");
        grace.get("/login", "user=2");
        for (int turn = 0; turn < 5; turn++) {
            assertThat(ada.get("/me", "turn=" + turn).toString())
                    .isEqualTo("{\"user\":\"Ada\",\"query\":{\"turn\":\"" + turn + "\"}}");
            assertThat(grace.get("/me", "").toString()).isEqualTo("{\"user\":\"Grace\",\"query\":[]}");
            assertThat(json(lambda, "/me", "").path("user").isNull()).isTrue();
        }
        for (int turn = 0; turn < 2; turn++) {
            assertThat(json(lambda, "/state", "change=1").toString()).isEqualTo("{\"bound\":true,\"scoped\":1}");
            assertThat(json(lambda, "/state", "").toString()).isEqualTo("{\"bound\":false,\"scoped\":1}");
        }
        assertThat(json(lambda, "/superglobals", "a=1").path("get").toString()).isEqualTo("{\"a\":\"1\"}");
        assertThat(json(lambda, "/superglobals", "").path("get")).isEmpty();
        assertThat(pid(lambda)).as("all in one process").isEqualTo(pid);
    }

    @Test
    void aWorkerThatBootsFromTheCacheThatTheFirstHasMadeHasAllOfTheConfigurationToo() throws IOException {
        try (RunningLambda lambda = start()) {
            JsonNode first = json(lambda, "/octane-config", "");
            assertThat(first.path("listeners").size())
                    .as("of Octane's own configuration")
                    .isPositive();
            Path cache = temporary.resolve("storage/bootstrap/config.php");
            Files.writeString(cache, Files.readString(cache).replace("Cetane demo", "The cached demo"));
            json(lambda, "/exit", "text=[]");
            JsonNode second = json(lambda, "/octane-config", "");
            assertThat(second.path("pid")).isNotEqualTo(first.path("pid"));
            assertThat(second.path("name").asText()).isEqualTo("The cached demo");
            assertThat(second.path("listeners")).isEqualTo(first.path("listeners"));
            assertThat(second.path("providers")).isEqualTo(first.path("providers"));
            assertNothingIsKept(lambda);
        }
    }

    @Test
    void uploadsAreValidCanBeMovedAndAreDeleted() {
        String form = file("document", "a.txt", "first") + file("deep[x][y]", "b.txt", "second") + "--B--\r\n";
        String more =
                "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"multipart/form-data; boundary=B\"},\"body\":"
                        + quoted(form) + ",";
        try (RunningLambda lambda = start()) {
            JsonNode moved = lambda.body(httpApi("POST", "/upload", "", more));
            assertThat(moved.at("/files/document/moved").asBoolean()).isTrue();
            assertThat(moved.at("/files/deep/x/y/moved").asBoolean()).isTrue();
            JsonNode left = lambda.body(httpApi("POST", "/upload-paths", "", more));
            assertThat(left.path("valid").asBoolean()).as("is_uploaded_file()").isTrue();
            assertThat(left.path("paths")).hasSize(2);
            for (JsonNode path : left.path("paths")) {
                await(path + " is deleted")
                        .atMost(RunningCetane.PATIENCE)
                        .until(() -> Files.notExists(Path.of(path.asText())));
            }
        }
    }

    private static String file(String field, String name, String content) {
        return "--B\r\nContent-Disposition: form-data; name=\"" + field + "\"; filename=\"" + name + "\"\r\n\r\n"
                + content + "\r\n";
    }

    @Test
    void theAnswerIsGivenBeforeTerminableMiddlewareRunsAndTheNextEventIsTakenAfterIt() {
        try (RunningLambda lambda = start()) {
            Invocation slow = lambda.api.invoke(httpApi("/terminate", "ms=300"));
            Invocation next = lambda.api.invoke(httpApi("/hello", ""));
            assertThat(slow.await().text()).contains("the log line follows");
            assertThat(lambda.api.deliveries(next))
                    .as("the sandbox may not be frozen yet")
                    .isZero();
            assertThat(next.await().text()).contains("Hello, world!");
            assertThat(lambda.log()
                            .fromStart()
                            .awaitText("terminated terminate")
                            .request())
                    .isEqualTo(slow.id);
        }
    }

    // ---- streams and files ----

    @Test
    void streamsLeaveAsTheyAreMadeAndOneThatFailsSaysSoInTrailers() {
        try (RunningLambda lambda = start(starter -> starter.environment("CETANE_LAMBDA_STREAM", "true"))) {
            Call lines = lambda.api.invoke(httpApi("/stream", "lines=3&ms=1")).await();
            assertThat(lines.isStreamed()).isTrue();
            assertThat(lines.text()).endsWith("\0\0\0\0\0\0\0\0line 1\nline 2\nline 3\n");
            assertThat(lines.pieces()).as("the prelude and each line").hasSize(4);
            assertThat(lines.trailers()).isEmpty();
            Call generator = lambda.api.invoke(httpApi("/stream/typed", "")).await();
            assertThat(generator.text()).endsWith("\0\0\0typed and printed generator");
            int pid = Integer.parseInt(lambda.api
                    .invoke(httpApi("/counter", ""))
                    .await()
                    .text()
                    .replaceAll("(?s).*\"pid\":(\\d+).*", "$1"));
            Call broken = lambda.api.invoke(httpApi("/stream/throws", "")).await();
            assertThat(broken.text()).endsWith("\0\0\0begun");
            assertThat(broken.trailers()).containsKey("lambda-runtime-function-error-type");
            lambda.log().fromStart().awaitText("this exception cuts a stream");
            assertThat(lambda.api.invoke(httpApi("/counter", "")).await().text())
                    .as("the worker lives")
                    .contains("\"pid\":" + pid + ",");
        }
    }

    @Test
    void withoutStreamingStreamsAndFilesAreWholeAnswers() {
        try (RunningLambda lambda = start()) {
            assertThat(text(lambda, "/stream/untyped")).isEqualTo("untyped generator");
            JsonNode file = lambda.answer(httpApi("/download", "kb=100&delete=1"));
            assertThat(file.path("body").asText()).hasSize(100 << 10).startsWith("block 0 ");
            assertThat(text(lambda, "/sendfile")).isEqualTo("sent in place of the body");
            assertThat(temporary.resolve("storage/app"))
                    .isDirectoryNotContaining(
                            path -> path.getFileName().toString().startsWith("once"));
        }
    }

    // ---- the database ----

    @Test
    void connectionsAreClosedAfterEachRequestBeforeTheSandboxCanBeFrozen() throws IOException {
        try (FakeMySql database = new FakeMySql();
                RunningLambda lambda = start(
                        starter -> starter.environment("HARNESS_DATABASE_PORT", Integer.toString(database.port())))) {
            for (int request = 1; request <= 3; request++) {
                assertThat(json(lambda, "/database", "").path("n").asInt()).isEqualTo(1);
                await("the connection is closed")
                        .atMost(RunningCetane.PATIENCE)
                        .until(() -> database.connections() == 0);
                assertThat(database.accepted()).isEqualTo(request);
            }
        }
    }

    @Test
    void connectionsThatAreKeptAreClosedByTheServerWhenASandboxLeavesThemIdle() throws IOException {
        try (FakeMySql database = new FakeMySql();
                RunningLambda lambda =
                        start(starter -> starter.environment("HARNESS_DATABASE_PORT", Integer.toString(database.port()))
                                .environment("OCTANE_PERSIST_DATABASE_SESSIONS", "1")
                                .environment("OCTANE_DATABASE_SESSION_TTL", "60"))) {
            for (int request = 1; request <= 3; request++) {
                assertThat(json(lambda, "/database", "").path("n").asInt()).isEqualTo(1);
            }
            // The next invocation is taken when the one before is over; this one asks the database nothing.
            assertThat(text(lambda, "/hello")).isEqualTo("Hello, world!");
            assertThat(text(lambda, "/hello")).isEqualTo("Hello, world!");
            assertThat(database.accepted()).isEqualTo(1);
            assertThat(database.connections()).isEqualTo(1);
            String shorter = "SET SESSION wait_timeout=60";
            String longer = "SET SESSION wait_timeout=@@GLOBAL.wait_timeout";
            assertThat(database.timeouts()).containsExactly(shorter, longer, shorter, longer, shorter);
            database.dropConnections();
            assertThat(json(lambda, "/database", "").path("n").asInt())
                    .as("the server has closed it meanwhile")
                    .isEqualTo(1);
            assertThat(database.accepted()).isEqualTo(2);
        }
    }

    @Test
    void aSnapshotHoldsNoConnectionThoughTheWarmRequestHasOpenedOne() throws IOException {
        try (FakeMySql database = new FakeMySql();
                RunningLambda lambda =
                        start(starter -> starter.environment("HARNESS_DATABASE_PORT", Integer.toString(database.port()))
                                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                                .environment("CETANE_LAMBDA_WARM_REQUEST", "/database")
                                .environment("OCTANE_PERSIST_DATABASE_SESSIONS", "1"))) {
            lambda.api.awaitSnapshot();
            assertThat(database.accepted()).isEqualTo(1);
            await("it is closed").atMost(RunningCetane.PATIENCE).until(() -> database.connections() == 0);
            lambda.api.restore();
            assertThat(json(lambda, "/database", "").path("n").asInt()).isEqualTo(1);
            assertThat(database.connections()).isEqualTo(1);
        }
    }

    // ---- trouble ----

    @Test
    void whateverEndsAWorkerIsAnsweredOnceAndTheNextEventHasANewOne() {
        try (RunningLambda lambda = start()) {
            for (String path : List.of("/oom", "/fatal", "/escape")) {
                int pid = pid(lambda);
                Invocation invocation = lambda.api.invoke(httpApi(path, ""));
                JsonNode answer = RunningCetane.json(invocation.await().text());
                assertThat(answer.path("statusCode").asInt()).as(path).isEqualTo(500);
                assertThat(answer.path("body").asText()).doesNotContain("memory size", "escapes");
                assertThat(pid(lambda)).as(path).isNotEqualTo(pid);
                assertOnce(lambda, invocation);
            }
            lambda.log().fromStart().awaitText("Allowed memory size of 67108864 bytes exhausted");
            lambda.log().fromStart().awaitText("this exception escapes the kernel");
            int pid = pid(lambda);
            Invocation killed = lambda.api.invoke(httpApi("/slow", "ms=60000"));
            await("it is delivered").atMost(RunningCetane.PATIENCE).until(() -> lambda.api.deliveries(killed) == 1);
            Processes.signal(pid, "KILL");
            assertThat(RunningCetane.json(killed.await().text())
                            .path("statusCode")
                            .asInt())
                    .isEqualTo(502);
            assertThat(pid(lambda)).isNotEqualTo(pid);
            assertOnce(lambda, killed);
        }
    }

    @Test
    void anExitIsAnAnswerAndTheNextEventHasANewWorker() {
        try (RunningLambda lambda = start()) {
            int pid = pid(lambda);
            assertThat(text(lambda, "/send-and-exit")).isEqualTo("sent by hand, then printed");
            assertThat(pid(lambda)).isNotEqualTo(pid);
        }
    }

    @Test
    void aRequestThatOutlivesItsDeadlineIsA504AndLeavesNothingBehind() throws IOException {
        try (FakeMySql database = new FakeMySql();
                RunningLambda lambda =
                        start(starter -> starter.environment("HARNESS_DATABASE_PORT", Integer.toString(database.port()))
                                .environment("OCTANE_PERSIST_DATABASE_SESSIONS", "1"))) {
            int pid = pid(lambda);
            json(lambda, "/database", "");
            Invocation late = lambda.api.invoke(httpApi("/slow", "ms=60000"), 1_500, Map.of());
            assertThat(RunningCetane.json(late.await().text())
                            .path("statusCode")
                            .asInt())
                    .isEqualTo(504);
            assertThat(pid(lambda)).isNotEqualTo(pid);
            assertOnce(lambda, late);
            await("no connection of the worker that was killed is left")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> database.connections() == 0);
        }
    }

    private static void assertOnce(RunningLambda lambda, Invocation invocation) {
        assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
        assertThat(lambda.api.answers(invocation)).hasSize(1);
    }

    @Test
    void anApplicationThatCannotBootIsAnInitErrorWithItsOwnMessage() {
        try (RunningLambda lambda = start(starter -> starter.environment("HARNESS_BROKEN", "1"))) {
            Call error = lambda.api.awaitInitError();
            assertThat(error.text()).contains("a provider does not like it here");
            assertThat(error.headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Runtime.InitError");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }
}
