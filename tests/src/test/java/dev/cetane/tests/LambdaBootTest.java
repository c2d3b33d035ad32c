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
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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

    @Test
    void theBootstrapStartsTheWorkerThatTheJvmTakesOver() throws IOException {
        Path script = script("Cetane\\Worker::run(fn () => (string) getmypid());");
        try (RunningLambda lambda =
                new RunningLambda.Starter(script).bootstrapped().start()) {
            String first = lambda.answer(httpApi("/", "")).path("body").asText();
            List<String> booted = commandLine(first);
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
    void anApiThatFailsEndsTheProcessSoThatLambdaStartsAfresh() throws IOException {
        try (RunningLambda lambda = new RunningLambda.Starter(script("Cetane\\Worker::run(fn () => 'hi');")).start()) {
            lambda.api.answerNextWith(500);
            lambda.api.invoke(httpApi("/", "")).await();
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }
}
