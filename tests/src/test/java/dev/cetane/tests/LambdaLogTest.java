package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import dev.cetane.tests.ServerLog.Line;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What CloudWatch gets of a function: lines that it can read, each with its invocation, and metrics in them. */
final class LambdaLogTest {
    private static RunningLambda.Starter app(String name) {
        return new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/lambda/" + name));
    }

    private static void run(Invocation invocation) {
        assertThat(invocation.await()).isNotNull();
    }

    private static List<JsonNode> metrics(RunningLambda lambda) {
        List<JsonNode> lines = new ArrayList<>();
        for (Line line : lambda.log().fromStart().all()) {
            if (line.json().has("_aws")) {
                assertThat(line.text())
                        .as("nothing stands before or behind it")
                        .startsWith("{")
                        .endsWith("}");
                lines.add(line.json());
            }
        }
        return lines;
    }

    private static List<JsonNode> awaitMetrics(RunningLambda lambda, int lines) {
        await(lines + " lines of metrics")
                .atMost(RunningCetane.PATIENCE)
                .until(() -> metrics(lambda).size() >= lines);
        return metrics(lambda);
    }

    /** By the specification of the embedded metric format. */
    private static void assertEmbedded(JsonNode line) {
        JsonNode aws = line.path("_aws");
        assertThat(Instant.ofEpochMilli(aws.path("Timestamp").asLong()))
                .isBetween(Instant.now().minusSeconds(3600), Instant.now().plusSeconds(60));
        assertThat(aws.path("CloudWatchMetrics")).hasSize(1);
        JsonNode directive = aws.path("CloudWatchMetrics").get(0);
        assertThat(directive.path("Namespace").asText()).isEqualTo("Cetane");
        assertThat(directive.path("Dimensions").toString()).isEqualTo("[[\"FunctionName\"]]");
        assertThat(line.path("FunctionName").isTextual()).isTrue();
        assertThat(directive.path("Metrics").size()).isBetween(1, 100);
        Set<String> units = Set.of("Milliseconds", "Bytes", "Count");
        for (JsonNode metric : directive.path("Metrics")) {
            JsonNode value = line.path(metric.path("Name").asText());
            assertThat(units).contains(metric.path("Unit").asText());
            assertThat(value.isNumber() || value.isArray())
                    .as(metric + " in " + line)
                    .isTrue();
            value.forEach(each -> assertThat(each.isNumber()).isTrue());
            assertThat(value.size()).isLessThanOrEqualTo(100);
        }
    }

    @Test
    void inJsonEachLineHasALevelAnRfc3339TimeAndTheIdOfTheInvocationThatRan() {
        try (RunningLambda lambda = app("goodbye.php").logged("JSON", "DEBUG").start()) {
            Invocation one = lambda.api.invoke(httpApi("/one", ""));
            run(one);
            Invocation fatal = lambda.api.invoke(httpApi("/memory", ""));
            run(fatal);
            Line printed = lambda.log().fromStart().awaitText("printed for /one");
            assertThat(printed.json().path("requestId").asText()).isEqualTo(one.id);
            assertThat(printed.json().path("level").asText()).isEqualTo("INFO");
            assertThat(Instant.parse(printed.json().path("timestamp").asText())).isAfter(Instant.EPOCH);
            Line why = lambda.log().fromStart().awaitText("Allowed memory size");
            assertThat(why.json().path("requestId").asText()).isEqualTo(fatal.id);
            Line stopped = lambda.log().fromStart().await("worker.stopped");
            assertThat(stopped.json().path("requestId").asText()).isIn(fatal.id, "");
            for (Line line : lambda.log().fromStart().all()) {
                assertThat(line.json().path("level").asText()).as(line.text()).isIn("DEBUG", "INFO", "WARN", "ERROR");
                assertThat(Instant.parse(line.json().path("timestamp").asText()))
                        .isAfter(Instant.EPOCH);
            }
        }
    }

    @Test
    void whatHappensBetweenInvocationsHasTheIdOfNone() {
        try (RunningLambda lambda = app("function.php").logged("JSON", "INFO").start()) {
            String pid = lambda.api.invoke("{\"do\":\"pid\"}").await().text();
            await("the next is asked for")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> lambda.api.calls().stream()
                                    .filter(call -> call.path().endsWith("/invocation/next"))
                                    .count()
                            == 2);
            Processes.signal(Long.parseLong(pid), "KILL");
            assertThat(lambda.log()
                            .fromStart()
                            .await("worker.stopped")
                            .json()
                            .path("requestId")
                            .asText())
                    .isEmpty();
        }
    }

    @Test
    void inTextEachLineHasTheIdToo() {
        try (RunningLambda lambda = app("goodbye.php").logged("Text", "INFO").start()) {
            Invocation one = lambda.api.invoke(httpApi("/one", ""));
            run(one);
            assertThat(lambda.log().fromStart().awaitText("printed for /one").text())
                    .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z INFO  .*")
                    .contains("[" + one.id + "]");
        }
    }

    @Test
    void aLevelOfLambdasLeavesOutWhatIsLess() {
        try (RunningLambda lambda = app("goodbye.php").logged("JSON", "FATAL").start()) {
            run(lambda.api.invoke(httpApi("/one", "")));
            Invocation garbage = lambda.api.invoke("{");
            run(garbage);
            assertThat(lambda.log()
                            .fromStart()
                            .await("invocation.failed")
                            .json()
                            .path("level")
                            .asText())
                    .isEqualTo("ERROR");
            assertThat(lambda.log().fromStart().all())
                    .allMatch(line -> line.json().path("level").asText().equals("ERROR"));
        }
    }

    @Test
    void onManagedInstancesTheLogIsJsonWhateverIsAskedFor() {
        try (RunningLambda lambda =
                app("function.php").logged("Text", "INFO").managed(2).start()) {
            run(lambda.api.invoke("{\"do\":\"pid\"}"));
            lambda.log().fromStart().await("lambda.started");
            assertThat(lambda.log().fromStart().all())
                    .allMatch(line -> line.json().isObject());
        }
    }

    @Test
    void theCpuIsLoggedAtTheColdStart() throws IOException {
        String cpuinfo = Files.readString(Path.of("/proc/cpuinfo"), StandardCharsets.ISO_8859_1);
        try (RunningLambda lambda = app("goodbye.php").start()) {
            String cpu = lambda.log()
                    .fromStart()
                    .await("lambda.started")
                    .field("cpu")
                    .asText();
            assertThat(cpu).isNotEmpty();
            if (cpuinfo.contains("model name")) {
                assertThat(cpuinfo).contains(cpu);
            }
        }
    }

    @Test
    void eachInvocationHasOneLineOfMetricsWithItsPhases() {
        try (RunningLambda lambda = app("function.php")
                .environment("AWS_LAMBDA_FUNCTION_NAME", "shop")
                .environment("AWS_LAMBDA_FUNCTION_VERSION", "7")
                .set("lambda.metrics", "sampled")
                .start()) {
            Invocation first = lambda.api.invoke("{\"do\":\"wait\"}");
            run(first);
            Invocation second = lambda.api.invoke("{\"do\":\"pid\"}");
            run(second);
            Invocation third = lambda.api.invoke("{\"do\":\"exit\"}");
            run(third);
            Invocation fourth = lambda.api.invoke("{\"do\":\"pid\"}");
            run(fourth);
            List<JsonNode> lines = awaitMetrics(lambda, 4);
            lines.forEach(LambdaLogTest::assertEmbedded);
            assertThat(lines).hasSize(4);
            JsonNode cold = lines.get(0);
            assertThat(cold.path("FunctionName").asText()).isEqualTo("shop");
            assertThat(cold.path("functionVersion").asText()).isEqualTo("7");
            assertThat(cold.path("requestId").asText()).isEqualTo(first.id);
            assertThat(cold.path("traceId").asText()).startsWith("Root=");
            assertThat(cold.path("cpu").asText())
                    .isEqualTo(lambda.log()
                            .fromStart()
                            .await("lambda.started")
                            .field("cpu")
                            .asText());
            assertThat(cold.path("ColdStarts").asInt()).isEqualTo(1);
            assertThat(cold.path("Init").asDouble()).isPositive();
            assertThat(cold.path("Php").asDouble()).isGreaterThan(299);
            assertThat(cold.path("Handler").asDouble())
                    .as("a part of it")
                    .isGreaterThan(299)
                    .isLessThan(cold.path("Php").asDouble());
            assertThat(cold.path("WorkerPeakMemory").asLong()).isGreaterThan(100_000);
            assertThat(cold.path("Send").asDouble()).isPositive();
            assertThat(cold.path("Convert").asDouble()).isPositive();
            assertThat(lines.get(1).path("ColdStarts").asInt()).isZero();
            assertThat(lines.get(1).has("Init")).isFalse();
            assertThat(lines.get(1).path("Php").asDouble()).isLessThan(299);
            assertThat(lines.get(2).path("Failures").asInt()).isEqualTo(1);
            assertThat(lines.get(2).path("failure").asText()).isEqualTo("Function.Unhandled");
            assertThat(lines.get(3).path("WorkerRestarts").asInt()
                            + lines.get(2).path("WorkerRestarts").asInt())
                    .isEqualTo(1);
            assertThat(lines.get(2).toString() + lines.get(3)).contains("\"WorkerRestartsCrashed\":1");
        }
    }

    @Test
    void severalInvocationsShareALineAndTheRestIsWrittenAtTheEnd() {
        try (RunningLambda lambda = app("function.php")
                .set("lambda.metrics", "aggregated")
                .set("lambda.metrics-every", 3)
                .start()) {
            for (int i = 0; i < 4; i++) {
                run(lambda.api.invoke("{\"do\":\"pid\"}"));
            }
            JsonNode line = awaitMetrics(lambda, 1).get(0);
            assertEmbedded(line);
            assertThat(line.path("Php").size()).isEqualTo(3);
            assertThat(line.path("ColdStarts").toString()).isEqualTo("[1,0,0]");
            lambda.signal("TERM");
            assertThat(lambda.awaitExit()).isZero();
            List<JsonNode> lines = awaitMetrics(lambda, 2);
            assertThat(lines).hasSize(2);
            assertEmbedded(lines.get(1));
            assertThat(lines.get(1).path("Php").isNumber()).isTrue();
        }
    }

    @Test
    void aSampleLeavesOutTheOthersButNoFailure() {
        try (RunningLambda lambda = app("function.php")
                .set("lambda.metrics", "sampled")
                .set("lambda.metrics-every", 3)
                .start()) {
            Set<String> expected = new TreeSet<>();
            for (int i = 0; i < 7; i++) {
                Invocation invocation =
                        lambda.api.invoke(i == 4 ? "{\"do\":\"throw\"}" : "{\"do\":\"pid\"}", 30_000, Map.of());
                run(invocation);
                if (i % 3 == 0 || i == 4) {
                    expected.add(invocation.id);
                }
            }
            Set<String> written = new TreeSet<>();
            awaitMetrics(lambda, 4)
                    .forEach(line -> written.add(line.path("requestId").asText()));
            assertThat(written).isEqualTo(expected);
        }
    }
}
