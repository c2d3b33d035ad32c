package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/cetane}: finds Java from any place, and is a decent process 1. A shell script stands in for Java. */
@Timeout(60)
final class LauncherTest {
    private static final Path LAUNCHER = Path.of(System.getProperty("cetane.home"), "bin", "cetane")
            .toAbsolutePath()
            .normalize();

    @TempDir
    private Path directory;

    private Path java;

    @BeforeEach
    void standInForJava() throws IOException {
        java = javaThat("printf '%s\\n' \"$@\"");
    }

    @Test
    void the_real_java_prints_the_version() throws Exception {
        Run run = run(List.of(LAUNCHER.toString(), "--version"), Map.of());
        assertThat(run.output()).contains("0.1.0");
        assertThat(run.code()).isZero();
    }

    @Test
    void hands_its_arguments_to_java_as_they_are() throws Exception {
        Run run = run(List.of(LAUNCHER.toString(), "serve", "a b", "", "*"), Map.of("CETANE_JAVA", java.toString()));
        assertThat(run.output()).endsWith("dev.cetane.Cetane\nserve\na b\n\n*\n");
    }

    @Test
    void options_of_the_user_come_after_its_own_and_so_win() throws Exception {
        Run run = run(
                List.of(LAUNCHER.toString()),
                Map.of("CETANE_JAVA", java.toString(), "CETANE_JAVA_OPTIONS", "-Xmx1g -Dx=*"));
        assertThat(run.output()).containsSubsequence("-Xmx64m\n", "-Xmx1g\n-Dx=*\n", "dev.cetane.Cetane\n");
    }

    @Test
    void what_is_meant_for_the_launcher_is_no_configuration() throws Exception {
        Path printsEnvironment = javaThat("env");
        Run run = run(
                List.of(LAUNCHER.toString()),
                Map.of("CETANE_JAVA", printsEnvironment.toString(), "CETANE_JAVA_OPTIONS", "-Dx=y"));
        assertThat(run.output()).doesNotContain("CETANE_");
    }

    @Test
    void runs_through_relative_and_chained_symbolic_links_from_another_directory() throws Exception {
        Path bin = Files.createDirectories(directory.resolve("some where/bin"));
        Path first = Files.createSymbolicLink(bin.resolve("first"), LAUNCHER);
        Files.createSymbolicLink(bin.resolve("second"), first.getFileName());
        Files.createSymbolicLink(directory.resolve("third"), Path.of("some where/bin/second"));
        Run run = run(List.of("./third"), Map.of("CETANE_JAVA", java.toString()));
        assertThat(run.output())
                .contains("-Dcetane.home=" + LAUNCHER.getParent().getParent());
    }

    @Test
    void is_found_through_the_path() throws Exception {
        Run run = run(
                List.of("sh", "-c", "cetane serve"),
                Map.of("CETANE_JAVA", java.toString(), "PATH", LAUNCHER.getParent() + ":/usr/bin:/bin"));
        assertThat(run.output()).endsWith("serve\n");
    }

    @Test
    void says_what_to_install_when_there_is_no_java() throws Exception {
        Path bin = Files.createDirectories(directory.resolve("bin"));
        for (String tool : List.of("sh", "readlink", "sed", "head")) {
            Files.createSymbolicLink(bin.resolve(tool), Path.of("/usr/bin").resolve(tool));
        }
        Run run = run(List.of("/bin/sh", LAUNCHER.toString()), Map.of("PATH", bin.toString()));
        assertThat(run.output()).contains("no java found").contains("openjdk-17-jre-headless", "CETANE_JAVA");
        assertThat(run.code()).isEqualTo(69);
    }

    @Test
    void the_runtime_of_a_lambda_layer_is_the_last_it_looks_for() throws Exception {
        Path home = Files.createDirectories(directory.resolve("layer"));
        for (String part : List.of("bin", "lib")) {
            Files.createDirectories(home.resolve(part));
        }
        Path launcher = Files.copy(LAUNCHER, home.resolve("bin/cetane"));
        Files.createFile(home.resolve("lib/cetane-core-1.jar"));
        Path runtime = Files.createDirectories(home.resolve("runtime/bin"));
        Files.copy(javaThat("echo the layer\\'s"), runtime.resolve("java"));
        Files.writeString(home.resolve("runtime/release"), "JAVA_VERSION=\"25\"\n");
        Path tools = Files.createDirectories(directory.resolve("tools"));
        for (String tool : List.of("sh", "readlink", "sed", "head")) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin").resolve(tool));
        }
        assertThat(run(List.of("/bin/sh", launcher.toString()), Map.of("PATH", tools.toString()))
                        .output())
                .isEqualTo("the layer's\n");
        standInForJava();
        assertThat(run(List.of("/bin/sh", launcher.toString()), Map.of("CETANE_JAVA", java.toString()))
                        .output())
                .contains("dev.cetane.Cetane");
    }

    @Test
    void refuses_a_java_that_is_too_old_and_names_it() throws Exception {
        Path old = script("old-java", "echo 'openjdk version \"1.8.0_402\"' >&2");
        Run run = run(List.of(LAUNCHER.toString()), Map.of("CETANE_JAVA", old.toString()));
        assertThat(run.output())
                .isEqualTo("cetane: " + old
                        + " is Java 8, Cetane needs 17 or newer. Set CETANE_JAVA or JAVA_HOME to a newer one\n");
        assertThat(run.code()).isEqualTo(69);
    }

    @Test
    void refuses_a_java_that_is_not_there() throws Exception {
        Run run = run(List.of(LAUNCHER.toString()), Map.of("CETANE_JAVA", "/nowhere/java"));
        assertThat(run.output()).contains("CETANE_JAVA is /nowhere/java");
        assertThat(run.code()).isEqualTo(69);
    }

    @Test
    void as_process_1_exits_with_the_code_of_java() throws Exception {
        Path failing = javaThat("exit 42");
        assertThat(run(asProcess1(), Map.of("CETANE_JAVA", failing.toString())).code())
                .isEqualTo(42);
    }

    @Test
    void as_process_1_leaves_java_its_standard_input() throws Exception {
        Path reading = javaThat("read line; echo \"read $line\"");
        Process process = start(asProcess1(), Map.of("CETANE_JAVA", reading.toString()));
        process.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        assertThat(finish(process).output()).isEqualTo("read hello\n");
    }

    @Test
    void as_process_1_passes_signals_on_and_waits_for_the_orderly_end() throws Exception {
        // Each signal is sent once the one before it was seen, so none is merged with another.
        Path java = javaThat("""
                trap 'echo reload; kill -USR2 1' HUP
                trap 'echo again; kill -USR1 1' USR2
                trap 'echo log; kill -INT 1' USR1
                trap 'echo stop; exit 7' TERM
                kill -HUP 1
                while :; do read -r never <> "$FIFO"; done""");
        Path fifo = directory.resolve("fifo");
        assertThat(run(List.of("mkfifo", fifo.toString()), Map.of()).code()).isZero();
        Run run = run(asProcess1(), Map.of("CETANE_JAVA", java.toString(), "FIFO", fifo.toString()));
        assertThat(run.output()).isEqualTo("reload\nagain\nlog\nstop\n");
        assertThat(run.code()).isEqualTo(7);
    }

    @Test
    void as_process_1_reaps_the_orphans_it_inherits() throws Exception {
        // A dead orphan stays in /proc, as a zombie, until process 1 has reaped it.
        Path java = javaThat("""
                (sh -c 'echo $$ > "$PIDS"; exec sleep 0.2' &)
                until [ -s "$PIDS" ]; do sleep 0.01; done
                orphan=$(cat "$PIDS")
                for i in $(seq 500); do
                    [ -e /proc/$orphan ] || { echo reaped; exit 0; }
                    sleep 0.01
                done
                cat /proc/$orphan/status""");
        Run run = run(
                asProcess1(),
                Map.of(
                        "CETANE_JAVA",
                        java.toString(),
                        "PIDS",
                        directory.resolve("pids").toString()));
        assertThat(run.output()).isEqualTo("reaped\n");
    }

    /**
     * A namespace in which the launcher is process 1; without root, a user namespace around it. A shell cannot trap a signal that it
     * was started to ignore, as under nohup, so no disposition of this process is handed on.
     */
    private static List<String> asProcess1() throws IOException {
        List<String> command = new ArrayList<>(List.of("env", "--default-signal", "unshare"));
        boolean root = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        if (!root) {
            command.addAll(List.of("--user", "--map-root-user"));
        }
        command.addAll(List.of("--pid", "--fork", "--mount-proc", "--kill-child", LAUNCHER.toString()));
        return command;
    }

    private Path javaThat(String body) throws IOException {
        return script("java", "[ \"$1\" = -version ] && { echo 'openjdk version \"17.0.1\"' >&2; exit; }\n" + body);
    }

    private Path script(String name, String body) throws IOException {
        Path file = directory.resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    private Run run(List<String> command, Map<String, String> environment) throws Exception {
        Process process = start(command, environment);
        process.getOutputStream().close();
        return finish(process);
    }

    private Process start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_"));
        builder.environment().putAll(environment);
        return builder.redirectErrorStream(true).start();
    }

    private static Run finish(Process process) throws Exception {
        try {
            CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> {
                try {
                    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            String printed = output.get(30, TimeUnit.SECONDS);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return new Run(printed, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }

    private record Run(String output, int code) {}
}
