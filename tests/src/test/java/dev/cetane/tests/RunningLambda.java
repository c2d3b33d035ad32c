package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A real {@code cetane lambda} beside a {@link FakeRuntimeApi}. Its end is checked: no process of it remains. Used by one test's thread. */
final class RunningLambda implements AutoCloseable {
    private static final Path BOOTSTRAP =
            RunningCetane.LAUNCHER.resolve("../../share/lambda/bootstrap").normalize();

    final FakeRuntimeApi api;
    private final Process process;
    private final Path directory;
    private final ServerLog log;

    private RunningLambda(FakeRuntimeApi api, Process process, Path directory) {
        this.api = api;
        this.process = process;
        this.directory = directory;
        this.log = new ServerLog(process.getInputStream());
    }

    /** How it is to be started. */
    static final class Starter {
        private final Path application;
        private final Map<String, String> settings = new LinkedHashMap<>();
        private final Map<String, String> environment = new LinkedHashMap<>();
        private String javaOptions = "-ea -XX:TieredStopAtLevel=1";
        private boolean concurrent;
        private boolean bootstrapped;
        private boolean ownLog;

        Starter(Path application) {
            this.application = application;
        }

        Starter set(String key, Object value) {
            settings.put(key, value.toString());
            return this;
        }

        Starter environment(String name, String value) {
            environment.put(name, value);
            return this;
        }

        Starter javaOptions(String options) {
            javaOptions += " " + options;
            return this;
        }

        /** The environment as Lambda makes it for Managed Instances, but for the number of slots. */
        Starter managed(int slots) {
            return concurrency(slots).environment("AWS_LAMBDA_INITIALIZATION_TYPE", "lambda-managed-instances");
        }

        /** The log as Lambda asks for it, and not as these tests want it. */
        Starter logged(String format, String level) {
            ownLog = true;
            return environment("AWS_LAMBDA_LOG_FORMAT", format).environment("AWS_LAMBDA_LOG_LEVEL", level);
        }

        Starter concurrency(int slots) {
            concurrent = true;
            return environment("AWS_LAMBDA_MAX_CONCURRENCY", Integer.toString(slots));
        }

        /** By the layer's bootstrap, which takes no settings but variables. */
        Starter bootstrapped() {
            bootstrapped = true;
            return this;
        }

        RunningLambda start() {
            return start(api -> {});
        }

        /** @param script what the API does, said before anything can call it */
        RunningLambda start(Consumer<FakeRuntimeApi> script) {
            try {
                FakeRuntimeApi api = new FakeRuntimeApi(concurrent);
                script.accept(api);
                Path directory = Files.createTempDirectory("cetane-lambda-");
                List<String> command = new ArrayList<>(List.of("env", "--default-signal"));
                if (bootstrapped) {
                    command.add(BOOTSTRAP.toString());
                } else {
                    command.addAll(List.of(RunningCetane.LAUNCHER.toString(), "lambda"));
                }
                if (!ownLog) {
                    settings.put("log.format", "json");
                }
                settings.put("run-directory", directory.resolve("run").toString());
                if (!bootstrapped) {
                    settings.forEach((key, value) -> command.addAll(List.of("--set", key + "=" + value)));
                }
                ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
                builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_"));
                builder.environment().put("CETANE_JAVA_OPTIONS", javaOptions);
                builder.environment().put("AWS_LAMBDA_RUNTIME_API", api.address());
                builder.environment().put("LAMBDA_TASK_ROOT", String.valueOf(application.getParent()));
                builder.environment().put("_HANDLER", String.valueOf(application.getFileName()));
                if (!ownLog) {
                    builder.environment().put("CETANE_LOG_FORMAT", "json");
                }
                builder.environment().put("MARK", directory.toString());
                builder.environment().putAll(environment);
                Process process = builder.start();
                process.getOutputStream().close();
                return new RunningLambda(api, process, directory);
            } catch (IOException e) {
                throw new AssertionError("the runtime could not be started", e);
            }
        }
    }

    /** The answer to an event of an HTTP sender, as JSON. */
    JsonNode answer(String event) {
        FakeRuntimeApi.Call call = api.invoke(event).await();
        assertThat(call.isError()).as("an error: " + call.text() + log.shown()).isFalse();
        return RunningCetane.json(call.text());
    }

    /** The body of that answer, as JSON. */
    JsonNode body(String event) {
        JsonNode answer = answer(event);
        assertThat(answer.path("statusCode").asInt()).as(answer.toString()).isEqualTo(200);
        return RunningCetane.json(answer.path("body").asText());
    }

    ServerLog log() {
        return log;
    }

    /** Of this runtime alone; where it keeps what it needs for a while. */
    Path directory() {
        return directory;
    }

    long pid() {
        return process.pid();
    }

    /** Processes of this runtime but for the supervisor. */
    List<Long> processes() {
        return Processes.mentioning(directory.toString()).stream()
                .filter(pid -> pid != process.pid())
                .toList();
    }

    void signal(String name) {
        Processes.signal(process.pid(), name);
    }

    /** Stops all processes where they are, as the sandbox is between invocations. */
    void freeze() {
        processes().forEach(each -> Processes.signal(each, "STOP"));
        signal("STOP");
    }

    void thaw() {
        signal("CONT");
        processes().forEach(each -> Processes.signal(each, "CONT"));
    }

    int awaitExit() {
        try {
            if (!process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the runtime has not ended:" + log.shown());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        try {
            process.destroy();
            awaitExit();
            await("no process remains").atMost(RunningCetane.PATIENCE).until(this::processes, List::isEmpty);
        } finally {
            process.destroyForcibly();
            api.close();
            RunningCetane.delete(directory);
        }
    }
}
