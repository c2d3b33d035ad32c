package dev.cetane.tests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The file system of a function: a layer in /opt, the function in /var/task, and nothing but /tmp can be written; or, as in the build of an
 * image, /var/task too. In a mount namespace that ends with the process.
 */
final class LambdaFileSystem {
    /** Arguments: root, layer, function, temporary directory, what else the function's directory is mounted with, command. */
    private static final String ENTER = """
            set -e
            root=$1 layer=$2 task=$3 tmp=$4 mode=$5
            shift 5
            mkdir -p "$root/opt" "$root/var/task" "$root/tmp" "$root/proc" "$root/dev"
            for name in usr etc; do
                mkdir -p "$root/$name"
                mount --bind "/$name" "$root/$name"
                mount -o remount,bind,ro "$root/$name"
            done
            for name in bin sbin lib lib64; do
                [ ! -h "/$name" ] || ln -sfn "usr/$name" "$root/$name"
            done
            mount --bind "$layer" "$root/opt"
            mount -o remount,bind,ro "$root/opt"
            mount --bind "$task" "$root/var/task"
            mount -o "remount,bind,$mode" "$root/var/task"
            mount --bind "$tmp" "$root/tmp"
            mount -t proc proc "$root/proc"
            mount --rbind /dev "$root/dev"
            exec /usr/sbin/chroot "$root" "$@"
            """;

    final Path layer;
    final Path task;
    final Path temporary;
    private final Path directory;

    /** @param directory an empty one, in which the parts are made */
    LambdaFileSystem(Path directory) throws IOException {
        this.directory = directory;
        layer = Files.createDirectory(directory.resolve("layer"));
        task = Files.createDirectory(directory.resolve("task"));
        temporary = Files.createDirectory(directory.resolve("tmp"));
        Files.createDirectory(directory.resolve("root"));
    }

    /** Puts this build into the layer as it is, without what a real layer has on top. */
    void installDistribution() throws IOException {
        Path distribution = RunningCetane.LAUNCHER.resolve("../..").normalize();
        Command.Run copied = Command.of(
                        "cp",
                        "-r",
                        distribution.toString(),
                        layer.resolve("cetane").toString())
                .run();
        if (copied.code() != 0) {
            throw new IOException(copied.err());
        }
        Files.copy(distribution.resolve("share/lambda/bootstrap"), layer.resolve("bootstrap"));
    }

    /** Runs a command as when the image is built. */
    Command build(String... words) {
        return Command.of(command("rw", words).toArray(String[]::new));
    }

    /** Starts the bootstrap as Lambda does; its output goes to {@link #log()}. */
    Process start(FakeRuntimeApi api, String handler, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command("ro", "/opt/bootstrap"));
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of(
                        "PATH",
                        "/usr/local/bin:/usr/bin:/bin:/opt/bin",
                        "AWS_LAMBDA_RUNTIME_API",
                        api.address(),
                        "LAMBDA_TASK_ROOT",
                        "/var/task",
                        "_HANDLER",
                        handler));
        builder.environment().putAll(environment);
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        process.getOutputStream().close();
        return process;
    }

    String log() throws IOException {
        return Files.readString(directory.resolve("log"), StandardCharsets.UTF_8);
    }

    private List<String> command(String mode, String... words) {
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                ENTER,
                "sh",
                directory.resolve("root").toString(),
                layer.toString(),
                task.toString(),
                temporary.toString(),
                mode));
        command.addAll(List.of(words));
        return command;
    }
}
