package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** How a function starts: what is loaded for it, PHP and JVM at the same moment, and what happens when it cannot. */
final class LambdaBootTest {
    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = Files.createTempDirectory("cetane-function-");
    }

    @AfterEach
    void deleteDirectory() {
        RunningCetane.delete(directory);
    }

    private Path script(String php) throws IOException {
        return Files.writeString(directory.resolve("worker.php"), "<?php\n" + php, StandardCharsets.UTF_8);
    }

    private static List<String> commandLine(String pid) throws IOException {
        return List.of(Files.readString(Path.of("/proc", pid, "cmdline"), StandardCharsets.UTF_8)
                .split("\0", -1));
    }

    @Test
    void neitherNettyNorALibraryForYamlJsonOrCommandLinesIsLoaded() throws IOException {
        Path classes = directory.resolve("classes.log");
        try (RunningLambda lambda = new RunningLambda.Starter(script("Cetane\\Worker::run(fn () => 'hi');"))
                .javaOptions("-Xlog:class+load:file=" + classes)
                .start()) {
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("hi");
            lambda.api.invoke("{\"other\":1}").await();
        }
        List<String> loaded = Files.readAllLines(classes, StandardCharsets.UTF_8);
        assertThat(loaded).anyMatch(line -> line.contains("dev.cetane.lambda.InvocationLoop "));
        for (String library : List.of("io.netty.", "picocli.", "org.snakeyaml.", "com.fasterxml.", "io.micrometer.")) {
            assertThat(loaded).noneMatch(line -> line.contains(" " + library));
        }
    }

    /** Where a process runs, and the part of its environment that is not about the start itself. */
    private static Set<String> surroundings(String pid) throws IOException {
        Set<String> surroundings =
                new TreeSet<>(List.of(Files.readString(Path.of("/proc", pid, "environ"), StandardCharsets.ISO_8859_1)
                        .split("\0", -1)));
        surroundings.removeIf(variable -> variable.matches("(CETANE_(?!APP=)|PWD=|OLDPWD=|_=).*"));
        surroundings.add(Files.readSymbolicLink(Path.of("/proc", pid, "cwd")).toString());
        return surroundings;
    }

    private String put(String file, String php) throws IOException {
        Path path = directory.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, "<?php\n" + php, StandardCharsets.UTF_8);
        return file;
    }

    static Stream<Arguments> applications() {
        String page = "echo getmypid();";
        String loop = "while (frankenphp_handle_request(fn () => print(getmypid()))) {}";
        String worker = "Cetane\\Worker::run(fn () => (string) getmypid());";
        return Stream.of(
                Arguments.of("worker.php", worker, "worker.php"),
                Arguments.of("worker.php", worker, "."),
                Arguments.of("loop.php", loop, "loop.php"),
                Arguments.of("public/index.php", page, "public/index.php"),
                Arguments.of("public/index.php", page, "."),
                Arguments.of("index.php", page, "."));
    }

    @ParameterizedTest
    @MethodSource("applications")
    void theBootstrapStartsTheWorkerThatTheJvmTakesOver(String file, String php, String handler) throws IOException {
        put(file, php);
        try (RunningLambda lambda = new RunningLambda.Starter(directory.resolve(file))
                .environment("LAMBDA_TASK_ROOT", directory.toString())
                .environment("_HANDLER", handler)
                .bootstrapped()
                .start()) {
            String first = lambda.answer(httpApi("/", "")).path("body").asText();
            List<String> booted = commandLine(first);
            Set<String> surroundings = surroundings(first);
            assertThat(Files.readString(Path.of("/proc", first, "environ"), StandardCharsets.ISO_8859_1))
                    .contains("CETANE_BOOTED=");
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo(first);

            Processes.signal(Long.parseLong(first), "KILL");
            lambda.log().fromStart().await("worker.stopped");
            String second = lambda.answer(httpApi("/", "")).path("body").asText();
            assertThat(second).isNotEqualTo(first);
            assertThat(commandLine(second))
                    .as("the JVM starts PHP as the bootstrap does")
                    .isEqualTo(booted);
            assertThat(surroundings(second)).isEqualTo(surroundings);
        }
    }

    @Test
    void theBootstrapStartsLaravelThatTheJvmTakesOver() throws IOException {
        try (RunningLambda lambda = new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/laravel"))
                .environment(
                        "LAMBDA_TASK_ROOT", RunningCetane.TESTS.resolve("apps").toString())
                .environment("DEMO_STORAGE", directory.toString())
                .bootstrapped()
                .start()) {
            String first = lambda.body(httpApi("/counter", "")).path("pid").asText();
            assertThat(Files.readString(Path.of("/proc", first, "environ"), StandardCharsets.ISO_8859_1))
                    .contains("CETANE_BOOTED=");
            List<String> booted = commandLine(first);
            Set<String> surroundings = surroundings(first);
            Processes.signal(Long.parseLong(first), "KILL");
            lambda.log().fromStart().await("worker.stopped");
            String second = lambda.body(httpApi("/counter", "")).path("pid").asText();
            assertThat(commandLine(second)).isEqualTo(booted);
            assertThat(surroundings(second)).isEqualTo(surroundings);
        }
    }

    /** A java that begins when that file is there. */
    private RunningLambda.Starter javaWaitsFor(Path file) throws IOException {
        Path java = directory.resolve("java");
        Files.writeString(
                java,
                "#!/bin/sh\nuntil [ -e '" + file + "' ]; do sleep 0.01; done\nexec java \"$@\"\n",
                StandardCharsets.UTF_8);
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
        return new RunningLambda.Starter(directory)
                .environment("CETANE_JAVA", java.toString())
                .bootstrapped();
    }

    @Test
    void whatAWorkerScriptDoesOnceItIsConnectedDoesNotWaitForTheJvm() throws IOException {
        Path booted = directory.resolve("booted");
        script("$worker = Cetane\\Worker::connect();\ntouch('" + booted + "');\nCetane\\Worker::run(fn () => 'hi');");
        try (RunningLambda lambda = javaWaitsFor(booted).start()) {
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("hi");
        }
    }

    @Test
    void laravelBootsBeforeTheJvmIsThereAndWhatKeepsItFromItIsTold() throws IOException {
        Path booted = directory.resolve("booted");
        put("bootstrap/app.php", "touch('" + booted + "'); throw new LogicException('no key here');");
        put("vendor/autoload.php", "");
        try (RunningLambda lambda = javaWaitsFor(booted).start()) {
            assertThat(lambda.api.awaitInitError().text()).contains("no key here");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void codeThatNothingHasCompiledIsNotOptimizedUnlessTheApplicationWantsIt() throws IOException {
        Path script = script("Cetane\\Worker::run(fn () => ini_get('opcache.optimization_level'));");
        try (RunningLambda lambda =
                new RunningLambda.Starter(script).bootstrapped().start()) {
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("0");
        }
        try (RunningLambda lambda = new RunningLambda.Starter(script)
                .set("app.ini.opcache.optimization_level", "0x7FFE9FFF")
                .start()) {
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("0x7FFE9FFF");
        }
    }

    @Test
    void whatKeepsLaravelFromBootingIsTheInitError() throws IOException {
        put("bootstrap/app.php", "throw new LogicException('no key here');");
        put("vendor/autoload.php", "");
        try (RunningLambda lambda =
                new RunningLambda.Starter(directory).bootstrapped().start()) {
            assertThat(lambda.api.awaitInitError().text()).contains("no key here");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void aCrashOfTheWorkerThatTheBootstrapStartedIsAnsweredForOnce() throws IOException {
        Path script =
                script("Cetane\\Worker::run(fn ($r) => $r->path() === '/die' ? posix_kill(getmypid(), 9) : 'hi');");
        try (RunningLambda lambda =
                new RunningLambda.Starter(script).bootstrapped().start()) {
            Invocation invocation = lambda.api.invoke(httpApi("/die", ""));
            assertThat(RunningCetane.json(invocation.await().text())
                            .path("statusCode")
                            .asInt())
                    .isEqualTo(502);
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("hi");
            assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        }
    }

    @Test
    void whatPhpSaysOfAFailedBootIsToldThoughItFailedBeforeTheJvmWasThere() throws IOException {
        Path script = script("throw new LogicException('no database here');");
        try (RunningLambda lambda =
                new RunningLambda.Starter(script).bootstrapped().start()) {
            Call call = lambda.api.awaitInitError();
            assertThat(call.text()).contains("no database here");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void aHandlerThatDoesNotExistIsAnInitError() {
        try (RunningLambda lambda = new RunningLambda.Starter(directory.resolve("missing.php")).start()) {
            assertThat(lambda.api.awaitInitError().text()).contains("missing.php does not exist");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void aLongBootGoesOnInTheFirstInvocation() throws IOException {
        Path script =
                script("while (!file_exists(__DIR__ . '/go')) { usleep(1000); }\nCetane\\Worker::run(fn () => 'hi');");
        try (RunningLambda lambda = new RunningLambda.Starter(script)
                .set("lambda.init-limit", "100ms")
                .start()) {
            Invocation invocation = lambda.api.invoke(httpApi("/", ""));
            await("it is delivered before the application has booted")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> lambda.api.deliveries(invocation) == 1);
            Files.createFile(directory.resolve("go"));
            assertThat(RunningCetane.json(invocation.await().text())
                            .path("body")
                            .asText())
                    .isEqualTo("hi");
        }
    }

    @Test
    void aBootThatFailsInTheFirstInvocationIsItsErrorAndTheEnd() throws IOException {
        Path script = script("while (!file_exists(__DIR__ . '/go')) { usleep(1000); }\n"
                + "throw new LogicException('no database here');");
        try (RunningLambda lambda = new RunningLambda.Starter(script)
                .set("lambda.init-limit", "100ms")
                .start()) {
            Invocation invocation = lambda.api.invoke(httpApi("/", ""));
            await("it is delivered").atMost(RunningCetane.PATIENCE).until(() -> lambda.api.deliveries(invocation) == 1);
            Files.createFile(directory.resolve("go"));
            assertThat(invocation.await().headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Runtime.InitError");
            assertThat(invocation.await().text()).contains("no database here");
            assertThat(lambda.awaitExit()).isEqualTo(1);
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        }
    }

    @Test
    void aBootThatOutlivesTheFirstInvocationIsItsTimeOutAndServesTheNext() throws IOException {
        Path script =
                script("while (!file_exists(__DIR__ . '/go')) { usleep(1000); }\nCetane\\Worker::run(fn () => 'hi');");
        try (RunningLambda lambda = new RunningLambda.Starter(script)
                .set("lambda.init-limit", "100ms")
                .start()) {
            Invocation invocation = lambda.api.invoke(httpApi("/", ""), 1_000, Map.of());
            assertThat(invocation.await().headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Function.TimedOut");
            assertThat(invocation.await().text()).contains("had not booted");
            Files.createFile(directory.resolve("go"));
            assertThat(lambda.answer(httpApi("/", "")).path("body").asText()).isEqualTo("hi");
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        }
    }

    @Test
    void anApiThatFailsEndsTheProcessSoThatLambdaStartsAfresh() throws IOException {
        try (RunningLambda lambda = new RunningLambda.Starter(script("Cetane\\Worker::run(fn () => 'hi');")).start()) {
            lambda.api.answerNextWith(500);
            lambda.api.invoke(httpApi("/", "")).await();
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }
}
