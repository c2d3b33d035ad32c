package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code cetane warm}, run as in the build of an image, and functions that start with what it has made. Whether compiled code is used shows
 * where the source has changed since.
 */
@Timeout(300)
final class LambdaWarmTest {
    private static final Path DEMO = RunningCetane.TESTS.resolve("apps/laravel");

    private Path directory;
    private LambdaFileSystem files;

    @BeforeEach
    void install() throws IOException {
        directory = Files.createTempDirectory("cetane-warm-");
        files = new LambdaFileSystem(directory);
        files.installDistribution();
    }

    @AfterEach
    void delete() {
        RunningCetane.delete(directory);
    }

    private void put(String file, String text) throws IOException {
        Path path = files.task.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text, StandardCharsets.UTF_8);
    }

    private Command.Run warm(String... options) {
        return files.build(Stream.concat(Stream.of("/opt/cetane/bin/cetane", "warm", "/var/task"), Stream.of(options))
                        .toArray(String[]::new))
                .run();
    }

    private String text(String file) throws IOException {
        return Files.readString(files.task.resolve(file), StandardCharsets.UTF_8);
    }

    /** What the cache has for the applications of that kind. */
    private List<String> compiled(String kind) throws IOException {
        try (Stream<Path> all = Files.walk(files.task.resolve(".opcache"))) {
            return all.filter(Files::isRegularFile)
                    .map(path -> files.task.resolve(".opcache").relativize(path).toString())
                    .filter(path -> path.matches("[^/]+/" + kind + "/[0-9a-f]{32}/.*"))
                    .map(path -> path.replaceFirst("[^/]+/" + kind + "/[0-9a-f]{32}", ""))
                    .sorted()
                    .toList();
        }
    }

    /** One function as Lambda runs it, until it is closed. */
    private final class Running implements AutoCloseable {
        private final FakeRuntimeApi api = new FakeRuntimeApi();
        private final Process process;

        Running(String handler, String... environment) throws IOException {
            Map<String, String> more = new java.util.HashMap<>();
            for (int i = 0; i < environment.length; i += 2) {
                more.put(environment[i], environment[i + 1]);
            }
            process = files.start(api, handler, more);
        }

        JsonNode answer(String path) throws IOException {
            FakeRuntimeApi.Call call = api.invoke(httpApi(path, "")).await();
            assertThat(call.isError()).as(call.text() + files.log()).isFalse();
            return RunningCetane.json(call.text());
        }

        String body(String path) throws IOException {
            return answer(path).path("body").asText();
        }

        @Override
        public void close() throws IOException {
            process.destroy();
            try {
                assertThat(process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                api.close();
            }
        }
    }

    private void putWorker(String said) throws IOException {
        put("worker.php", """
                <?php
                require __DIR__ . '/lib.php';
                Cetane\\Worker::run(fn ($request) => new Cetane\\Response(200, [], json_encode([
                    'said' => said(), 'pid' => getmypid(), 'command' => file_get_contents('/proc/self/cmdline'),
                    'opcache' => (bool) ini_get('opcache.enable'),
                ])));
                """);
        put("lib.php", "<?php function said() { return '" + said + "'; }");
    }

    @Test
    void aColdStartRunsWhatWasCompiledAndSoDoesEachWorkerAfterIt() throws IOException {
        putWorker("first");
        Command.Run warm = warm("-n", "1");
        assertThat(warm.code()).as(warm.out() + warm.err()).isZero();
        assertThat(warm.out())
                .containsPattern("ok +opcache +[0-9]+ of [0-9]+ files compiled")
                .doesNotContain("advice", "FAIL", "skip");
        assertThat(warm.out())
                .containsPattern("(?m)^opcache +[0-9.]+ \\([0-9.]+ … [0-9.]+\\) +[0-9.]+ \\(.*\\) +-?[0-9.]+");
        assertThat(compiled("worker"))
                .contains("/var/task/lib.php.bin", "/var/task/worker.php.bin")
                .as("the client, too")
                .contains("/opt/cetane/php/autoload.php.bin", "/opt/cetane/php/src/Lambda/Handler.php.bin");
        put("lib.php", "<?php this is no PHP");

        try (Running lambda = new Running("worker.php")) {
            JsonNode first = RunningCetane.json(lambda.body("/"));
            assertThat(first.path("said").asText()).isEqualTo("first");
            assertThat(first.path("opcache").asBoolean()).isTrue();
            assertThat(first.path("command").asText())
                    .contains("opcache.file_cache=/tmp/cetane-boot-")
                    .doesNotContain("optimization_level");
            Processes.signal(first.path("pid").asLong(), "KILL");
            await("it is seen")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> files.log().contains("worker.stopped"));
            JsonNode second = RunningCetane.json(lambda.body("/"));
            assertThat(second.path("pid")).isNotEqualTo(first.path("pid"));
            assertThat(second.path("said").asText()).isEqualTo("first");
            assertThat(second.path("command"))
                    .as("the JVM starts PHP as the bootstrap does")
                    .isEqualTo(first.path("command"));
        }
        try (Running lambda = new Running("worker.php", "CETANE_APP_KIND", "worker")) {
            assertThat(RunningCetane.json(lambda.body("/")).path("said").asText())
                    .as("where the JVM starts the first worker")
                    .isEqualTo("first");
        }
    }

    @Test
    void whatAnotherPhpHasCompiledIsNotUsedAndSaidInTheLog() throws IOException {
        putWorker("first");
        assertThat(warm("-n", "0").code()).isZero();
        put("lib.php", "<?php function said() { return 'second'; }");
        Path maker;
        try (Stream<Path> all = Files.walk(files.task.resolve(".opcache"))) {
            maker = all.filter(path -> path.endsWith("made-by")).findFirst().orElseThrow();
        }
        Files.writeString(
                maker,
                Files.readString(maker, StandardCharsets.UTF_8).replaceFirst("curl [0-9.]+", "blackfire 1.2"),
                StandardCharsets.UTF_8);
        try (Running lambda = new Running("worker.php")) {
            JsonNode answer = RunningCetane.json(lambda.body("/"));
            assertThat(answer.path("said").asText()).isEqualTo("second");
            assertThat(answer.path("opcache").asBoolean()).isFalse();
            await("it is said")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> files.log()
                            .contains("another PHP has made it. Only there: blackfire 1.2. Only here: curl "));
        }
    }

    @Test
    void whatAnotherVersionOfPhpHasCompiledIsNotFound() throws IOException {
        putWorker("first");
        assertThat(warm("-n", "0").code()).isZero();
        put("lib.php", "<?php function said() { return 'second'; }");
        Path system;
        try (Stream<Path> all = Files.walk(files.task.resolve(".opcache"))) {
            system = all.filter(path -> path.getFileName().toString().matches("[0-9a-f]{32}"))
                    .findFirst()
                    .orElseThrow();
        }
        Files.move(system, system.resolveSibling("0".repeat(32)));
        try (Running lambda = new Running("worker.php")) {
            assertThat(RunningCetane.json(lambda.body("/")).path("said").asText())
                    .isEqualTo("second");
        }
    }

    @Test
    void whatAnotherVersionOfCetaneHasCompiledIsNotUsedAndSaidInTheLog() throws IOException {
        putWorker("first");
        assertThat(warm("-n", "0").code()).isZero();
        put("lib.php", "<?php function said() { return 'second'; }");
        Path version;
        try (Stream<Path> all = Files.list(files.task.resolve(".opcache"))) {
            version = all.filter(Files::isDirectory).findFirst().orElseThrow();
        }
        Files.move(version, version.resolveSibling("0.0.1"));
        try (Running lambda = new Running("worker.php")) {
            assertThat(RunningCetane.json(lambda.body("/")).path("said").asText())
                    .isEqualTo("second");
            assertThat(files.log()).contains("run cetane warm again");
        }
    }

    @Test
    void aFrontControllerRunsWhatWasCompiledForItsPhpToo() throws IOException {
        put("public/index.php", "<?php require __DIR__ . '/../src/page.php'; page();");
        put("src/page.php", "<?php function page() { header('X-Page: 1'); echo 'compiled by ', PHP_SAPI; }");
        Command.Run warm = warm("-n", "0");
        assertThat(warm.code()).as(warm.out() + warm.err()).isZero();
        assertThat(compiled("front-controller"))
                .contains("/var/task/public/index.php.bin", "/var/task/src/page.php.bin");
        put("src/page.php", "<?php this is no PHP");
        try (Running lambda = new Running("public/index.php")) {
            assertThat(lambda.body("/")).isEqualTo("compiled by cgi-fcgi");
        }
    }

    @Test
    void filesThatPhpCannotCompileAreNamedAndLeftOutAndTwoThatDeclareTheSameAreNone() throws IOException {
        putWorker("first");
        put("stubs/one.php", "<?php function same() { return 1; }");
        put("stubs/two.php", "<?php function same() { return 2; }");
        put("stubs/wrong.php", "<?php class {{ name }} {}");
        put("node_modules/a/b.php", "<?php");
        put("notes.txt", "<?php");
        Command.Run warm = warm("-n", "0");
        assertThat(warm.code()).as(warm.out() + warm.err()).isZero();
        assertThat(warm.out())
                .containsPattern("skip +opcache +/var/task/stubs/wrong.php: syntax error, unexpected .* on line 1");
        assertThat(compiled("worker"))
                .contains("/var/task/stubs/one.php.bin", "/var/task/stubs/two.php.bin")
                .noneMatch(file -> file.contains("node_modules") || file.contains("wrong"));
    }

    @Test
    void anApplicationThatDoesNotBootIsLeftAsItWas() throws IOException {
        put("worker.php", "<?php throw new LogicException('no database here');");
        Command.Run warm = warm();
        assertThat(warm.code()).isEqualTo(1);
        assertThat(warm.err()).contains("nothing was made: ").contains("no database here");
        assertThat(files.task.resolve(".opcache")).doesNotExist();
    }

    @Test
    void elsewhereThanOnLambdaItSaysThatCompiledCodeIsOfUseThereOnly() throws IOException {
        putWorker("first");
        Command.Run warm = Command.cetane("warm", files.task.toString(), "-n", "0")
                .environment("LAMBDA_TASK_ROOT", "/var/task")
                .run();
        assertThat(warm.code()).as(warm.out() + warm.err()).isZero();
        assertThat(warm.out()).contains("of use in " + files.task + " only", "run cetane warm where they lie there");
    }

    private void deployLaravel() throws IOException {
        for (String part : List.of("app", "config", "public", "resources", "routes", "vendor")) {
            assertThat(Command.of("cp", "-rL", DEMO.resolve(part).toString(), files.task.toString())
                            .run()
                            .code())
                    .isZero();
        }
        Files.copy(DEMO.resolve("artisan"), files.task.resolve("artisan"));
        put("bootstrap/app.php", Files.readString(RunningCetane.TESTS.resolve("apps/lambda-laravel/app.php")));
        for (String made :
                List.of("bootstrap/cache", "storage/app", "storage/framework/views", "storage/framework/sessions")) {
            Files.createDirectories(files.task.resolve(made));
        }
    }

    @Test
    void aLaravelApplicationStartsWithItsCachesAndCompiledCode() throws IOException {
        deployLaravel();
        Command.Run warm = warm("-n", "1", "--set", "lambda.warm-request=/bench");
        assertThat(warm.code()).as(warm.out() + warm.err()).isZero();
        assertThat(warm.out())
                .containsPattern("ok +config +php artisan config:cache made /var/task/bootstrap/cache/config.php")
                .containsPattern("advice +config +what the environment says now is written there")
                .containsPattern("ok +routes ")
                .containsPattern("ok +events ")
                .containsPattern("ok +views ")
                .containsPattern("ok +opcache ");
        for (String step : List.of("config", "routes", "events", "views", "opcache", "all")) {
            assertThat(warm.out()).containsPattern("(?m)^" + step + " +[0-9.]+ \\(");
        }
        assertThat(compiled("worker"))
                .contains("/var/task/bootstrap/cache/config.php.bin", "/var/task/app/Http/Kernel.php.bin")
                .as("what it loads from elsewhere")
                .anyMatch(file -> file.endsWith("/Illuminate/Foundation/Application.php.bin"));
        put("config/app.php", "<?php this is no PHP");
        put("routes/web.php", "<?php this is no PHP");
        put("app/Http/Controllers/PageController.php", "<?php this is no PHP");

        try (Running lambda = new Running(".", "CACHE_DRIVER", "array")) {
            JsonNode page = lambda.answer("/bench");
            assertThat(page.path("statusCode").asInt()).as(page + files.log()).isEqualTo(200);
        }
    }

    @Test
    void aCacheThatArtisanCannotMakeIsAsItWasAndTheOthersAreMade() throws IOException {
        deployLaravel();
        put("routes/web.php", text("routes/web.php") + """

                Route::get('/one', 'One@show')->name('twin');
                Route::get('/two', 'Two@show')->name('twin');
                """);
        put("bootstrap/cache/routes-v7.php", "<?php // of another time");
        Command.Run warm = warm("-n", "0", "--without", "opcache", "--set", "lambda.warm-request=/bench");
        assertThat(warm.code()).as(warm.out() + warm.err()).isEqualTo(1);
        assertThat(warm.out())
                .containsPattern(
                        "FAIL +routes +php artisan route:cache ends with exit code 1: .*already been assigned name .twin")
                .contains("It is as it was before; --without routes leaves it out")
                .containsPattern("ok +config ")
                .containsPattern("ok +views ")
                .containsPattern("- +opcache +left out");
        assertThat(text("bootstrap/cache/routes-v7.php")).isEqualTo("<?php // of another time");
        assertThat(files.task.resolve("bootstrap/cache/config.php")).exists();
        try (Stream<Path> left = Files.walk(files.task)) {
            assertThat(left.map(Path::toString))
                    .noneMatch(path -> path.endsWith(".before-warm") || path.endsWith(".away"));
        }
    }

    @Test
    void aCacheWithWhichTheApplicationAnswersOtherwiseIsTakenBack() throws IOException {
        deployLaravel();
        put("routes/web.php", text("routes/web.php") + """

                Route::get('/secret', static fn () => env('SECRET') === null ? abort(500) : 'known');
                """);
        put(".env", "SECRET=1\n");
        Command.Run warm =
                warm("-n", "0", "--without", "opcache", "--without", "views", "--set", "lambda.warm-request=/secret");
        assertThat(warm.code()).as(warm.out() + warm.err()).isEqualTo(1);
        assertThat(warm.out())
                .containsPattern("FAIL +config +with this cache the application answers 500 where it answered 200")
                .containsPattern("ok +routes ");
        assertThat(files.task.resolve("bootstrap/cache/config.php")).doesNotExist();
    }
}
