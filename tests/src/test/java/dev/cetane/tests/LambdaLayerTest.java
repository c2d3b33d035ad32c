package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The layer as it is unpacked on Lambda: Cetane in /opt, the function in /var/task, and nothing but /tmp can be written. */
@Timeout(300)
final class LambdaLayerTest {
    private static final Path SHARE =
            RunningCetane.LAUNCHER.resolve("../../share/lambda").normalize();

    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = Files.createTempDirectory("cetane-layer-");
    }

    @AfterEach
    void deleteDirectory() {
        RunningCetane.delete(directory);
    }

    private static String said(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void theLayerStartsWhereOnlyTmpCanBeWritten() throws Exception {
        LambdaFileSystem files = new LambdaFileSystem(directory);
        Process build = new ProcessBuilder(SHARE.resolve("build-layer").toString(), files.layer.toString())
                .redirectErrorStream(true)
                .start();
        build.getOutputStream().close();
        String size = said(build);
        assertThat(build.waitFor()).as(size).isZero();
        assertThat(size).containsPattern("the layer has [0-9.]+ MB unzipped");
        double megabytes = Double.parseDouble(size.replaceAll("(?s).*the layer has ([0-9.]+) MB.*", "$1"));
        assertThat(megabytes).isLessThan(75);

        Files.writeString(
                files.task.resolve("worker.php"),
                "<?php Cetane\\Worker::run(fn () => __DIR__ . ' ' . (int) @touch(__DIR__ . '/x') . (int) touch('/tmp/x'));",
                StandardCharsets.UTF_8);
        try (FakeRuntimeApi api = new FakeRuntimeApi()) {
            Process lambda = files.start(
                    api, "worker.php", Map.of("CETANE_JAVA_OPTIONS", "-Xlog:class+load:file=/tmp/classes.log"));
            try {
                String answer = api.invoke(httpApi("/", "")).await().text();
                assertThat(RunningCetane.json(answer).path("body").asText()).isEqualTo("/var/task 01");
                assertThat(Files.readAllLines(files.temporary.resolve("classes.log"), StandardCharsets.UTF_8))
                        .as("the class cache is used, though it was trained elsewhere")
                        .anyMatch(line -> line.contains("dev.cetane.lambda.InvocationLoop ")
                                && line.contains("shared objects file"));
            } finally {
                lambda.destroy();
                assertThat(lambda.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            }
        }
    }
}
