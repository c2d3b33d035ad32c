package dev.cetane.tests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One run of a command to its end. */
final class Command {
    private final List<String> words;
    private final Map<String, String> environment = new LinkedHashMap<>();
    private Path directory = Path.of("/");

    private Command(List<String> words) {
        this.words = words;
    }

    /** What a command has printed, and its exit code. */
    record Run(int code, String out, String err) {}

    static Command cetane(String... arguments) {
        List<String> words = new ArrayList<>(List.of(RunningCetane.LAUNCHER.toString()));
        words.addAll(List.of(arguments));
        return new Command(words);
    }

    static Command of(String... words) {
        return new Command(List.of(words));
    }

    Command environment(String name, String value) {
        environment.put(name, value);
        return this;
    }

    Command in(Path workingDirectory) {
        directory = workingDirectory;
        return this;
    }

    Run run() {
        try {
            Path out = Files.createTempFile("cetane-e2e-", ".out");
            Path err = Files.createTempFile("cetane-e2e-", ".err");
            ProcessBuilder builder = new ProcessBuilder(words)
                    .directory(directory.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_") || name.startsWith("XDG_"));
            builder.environment().put("CETANE_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
            builder.environment().putAll(environment);
            Process process = builder.start();
            process.getOutputStream().close();
            boolean ended = process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.destroyForcibly();
            String printed = Files.readString(out, StandardCharsets.UTF_8);
            String complained = Files.readString(err, StandardCharsets.UTF_8);
            Files.delete(out);
            Files.delete(err);
            if (!ended) {
                throw new AssertionError(words + " has not ended; it printed: " + printed + complained);
            }
            return new Run(process.exitValue(), printed, complained);
        } catch (IOException e) {
            throw new AssertionError(words + " could not be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
