package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /** Makes that file system, in a mount namespace that ends with the process. Arguments: root, layer, function, temporary directory. */
    private static final String ENTER = """
            set -e
            root=$1 layer=$2 task=$3 tmp=$4
            mkdir "$root/opt" "$root/var" "$root/var/task" "$root/tmp" "$root/proc" "$root/dev"
            for name in usr etc; do
                mkdir "$root/$name"
                mount --bind "/$name" "$root/$name"
                mount -o remount,bind,ro "$root/$name"
            done
            for name in bin sbin lib lib64; do
                [ ! -h "/$name" ] || ln -s "usr/$name" "$root/$name"
            done
            mount --bind "$layer" "$root/opt"
            mount -o remount,bind,ro "$root/opt"
            mount --bind "$task" "$root/var/task"
            mount -o remount,bind,ro "$root/var/task"
            mount --bind "$tmp" "$root/tmp"
            mount -t proc proc "$root/proc"
            mount --rbind /dev "$root/dev"
            exec /usr/sbin/chroot "$root" /opt/bootstrap
            """;

    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = Files.createTempDirectory("cetane-layer-");
    }

    @AfterEach
    void deleteDirectory() {
        RunningCetane.delete(directory);
    }

    private static Process start(ProcessBuilder builder) throws IOException {
        Process process = builder.redirectErrorStream(true).start();
        process.getOutputStream().close();
        return process;
    }

    private static String said(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void theLayerStartsWhereOnlyTmpCanBeWritten() throws Exception {
        Path layer = Files.createDirectory(directory.resolve("layer"));
        Process build = start(new ProcessBuilder(SHARE.resolve("build-layer").toString(), layer.toString()));
        String size = said(build);
        assertThat(build.waitFor()).as(size).isZero();
        assertThat(size).containsPattern("the layer has [0-9.]+ MB unzipped");
        double megabytes = Double.parseDouble(size.replaceAll("(?s).*the layer has ([0-9.]+) MB.*", "$1"));
        assertThat(megabytes).isLessThan(75);

        Path task = Files.createDirectory(directory.resolve("task"));
        Files.writeString(
                task.resolve("worker.php"),
                "<?php Cetane\\Worker::run(fn () => __DIR__ . ' ' . (int) @touch(__DIR__ . '/x') . (int) touch('/tmp/x'));",
                StandardCharsets.UTF_8);
        Path root = Files.createDirectory(directory.resolve("root"));
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (FakeRuntimeApi api = new FakeRuntimeApi()) {
            ProcessBuilder builder = new ProcessBuilder(List.of(
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    ENTER,
                    "sh",
                    root.toString(),
                    layer.toString(),
                    task.toString(),
                    temporary.toString()));
            builder.environment().clear();
            builder.environment()
                    .putAll(Map.of(
                            "PATH", "/usr/local/bin:/usr/bin:/bin:/opt/bin",
                            "AWS_LAMBDA_RUNTIME_API", api.address(),
                            "LAMBDA_TASK_ROOT", "/var/task",
                            "_HANDLER", "worker.php",
                            "CETANE_JAVA_OPTIONS", "-Xlog:class+load:file=/tmp/classes.log"));
            builder.redirectOutput(directory.resolve("log").toFile());
            Process lambda = start(builder);
            try {
                String answer = api.invoke(httpApi("/", "")).await().text();
                assertThat(RunningCetane.json(answer).path("body").asText()).isEqualTo("/var/task 01");
                assertThat(Files.readAllLines(temporary.resolve("classes.log"), StandardCharsets.UTF_8))
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
