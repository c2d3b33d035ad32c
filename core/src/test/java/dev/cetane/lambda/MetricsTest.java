package dev.cetane.lambda;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.RetireReason;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerEnd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lines of CloudWatch's embedded metric format: which there are, and what stands in them. */
final class MetricsTest {
    private static final Ticker CLOCK = new Ticker() {
        @Override
        public long nanos() {
            return 0;
        }

        @Override
        public Instant now() {
            return Instant.parse("2026-01-31T12:00:09.007Z");
        }
    };

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private Metrics metrics(MetricsConfig.Mode mode, int every) {
        return new Metrics(new MetricsConfig(mode, every, "shop", "7", "Some CPU"), out, CLOCK);
    }

    private static Invocation invocation(String id) {
        return new Invocation(id, 0, "", "Root=1-2", "", "", "", "", new byte[0], 0);
    }

    private static InvocationFigures figures(String failure) {
        InvocationFigures figures = new InvocationFigures();
        figures.fetchNanos = 5_000;
        figures.convertNanos = 50_000;
        figures.encodeNanos = 500_000;
        figures.sendNanos = 12_005_000;
        figures.failure = failure;
        figures.report = new JobReport(1, 1_000_000, 2_000_000, 3_000, 4_000_000, 5_000_000, 6_000_000, 7_007, 0, 4096);
        return figures;
    }

    private static WorkerEnd end(RetireReason reason) {
        return new WorkerEnd(1, 2, 1, reason, true, "exit code 0", 1, 0, null, null, null, "");
    }

    private List<JsonNode> lines() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : out.toString(StandardCharsets.UTF_8).lines().toList()) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines;
    }

    @Test
    void timesAreMillisecondsWithEachOfTheirThreePlaces() throws IOException {
        metrics(MetricsConfig.Mode.SAMPLED, 1).record(invocation("a"), figures(""));
        String line = out.toString(StandardCharsets.UTF_8);
        assertThat(line)
                .contains("\"Fetch\":0.005,\"Convert\":0.050,\"Queue\":3.000,\"Php\":9.003,\"Handler\":7.007,"
                        + "\"Encode\":0.500,\"Send\":12.005,\"Terminate\":6.000,\"WorkerPeakMemory\":4096");
        assertThat(lines().get(0).at("/_aws/Timestamp").asLong()).isEqualTo(1_769_860_809_007L);
    }

    @Test
    void aFailureStandsInItsOwnLineAlone() throws IOException {
        Metrics metrics = metrics(MetricsConfig.Mode.SAMPLED, 1);
        metrics.record(invocation("a"), figures("Runtime.Crashed"));
        metrics.record(invocation("b"), figures(""));
        assertThat(lines().get(0).path("failure").asText()).isEqualTo("Runtime.Crashed");
        assertThat(lines().get(0).path("Failures").asInt()).isEqualTo(1);
        assertThat(lines().get(1).has("failure")).isFalse();
        assertThat(lines().get(1).path("Failures").asInt()).isZero();
    }

    @Test
    void onlyTheFirstInvocationIsTheOneOfTheColdStart() throws IOException {
        Metrics metrics = metrics(MetricsConfig.Mode.SAMPLED, 1);
        metrics.initialised(1_500_000);
        metrics.record(invocation("a"), figures(""));
        metrics.record(invocation("b"), figures(""));
        assertThat(lines().get(0).path("ColdStarts").asInt()).isEqualTo(1);
        assertThat(lines().get(0).path("Init").asDouble()).isEqualTo(1.5);
        assertThat(lines().get(1).path("ColdStarts").asInt()).isZero();
        assertThat(lines().get(1).has("Init")).isFalse();
    }

    @Test
    void workersThatLeaveBecauseTheEnvironmentEndsAreNoRestarts() throws IOException {
        Metrics metrics = metrics(MetricsConfig.Mode.SAMPLED, 1);
        metrics.stopped(end(RetireReason.DRAIN));
        metrics.stopped(end(RetireReason.TIMED_OUT));
        metrics.record(invocation("a"), figures(""));
        metrics.record(invocation("b"), figures(""));
        assertThat(lines().get(0).path("WorkerRestarts").asInt()).isEqualTo(1);
        assertThat(lines().get(0).path("WorkerRestartsTimedOut").asInt()).isEqualTo(1);
        assertThat(lines().get(0).has("WorkerRestartsDrain")).isFalse();
        assertThat(lines().get(1).path("WorkerRestarts").asInt()).isZero();
    }

    @Test
    void gatheredValuesShareALineAndTheEndWritesTheRest() throws IOException {
        Metrics metrics = metrics(MetricsConfig.Mode.AGGREGATED, 2);
        for (String id : List.of("a", "b", "c")) {
            metrics.record(invocation(id), figures(""));
        }
        metrics.flush();
        metrics.flush();
        assertThat(lines()).hasSize(2);
        assertThat(lines().get(0).path("Fetch")).hasToString("[0.005,0.005]");
        assertThat(lines().get(0).path("requestId").asText()).isEqualTo("b");
        assertThat(lines().get(1).path("Fetch").asDouble()).isEqualTo(0.005);
        assertThat(lines().get(1).path("requestId").asText()).isEqualTo("c");
    }

    @Test
    void withASampleFailuresHaveTheirLineAllTheSame() throws IOException {
        Metrics metrics = metrics(MetricsConfig.Mode.SAMPLED, 3);
        for (String id : List.of("a", "b", "c", "d")) {
            metrics.record(invocation(id), figures(id.equals("b") ? "Runtime.Crashed" : ""));
        }
        assertThat(lines()).extracting(line -> line.path("requestId").asText()).containsExactly("a", "b", "d");
    }

    @Test
    void theContextHasWhatTheApiHasSaid() throws IOException {
        Invocation invocation = new Invocation(
                "id",
                12,
                "arn:aws:lambda:f",
                "Root=1-2",
                "{\"a\":1}",
                "{\"b\":\"\u00e9\"}",
                "tenant-1",
                "",
                new byte[0],
                0);
        JsonNode context = new ObjectMapper().readTree(invocation.context().getBytes(StandardCharsets.ISO_8859_1));
        assertThat(context.path("awsRequestId").asText()).isEqualTo("id");
        assertThat(context.path("deadlineMs").asLong()).isEqualTo(12);
        assertThat(context.path("invokedFunctionArn").asText()).isEqualTo("arn:aws:lambda:f");
        assertThat(context.path("traceId").asText()).isEqualTo("Root=1-2");
        assertThat(context.path("clientContext").asText()).isEqualTo("{\"a\":1}");
        assertThat(context.path("cognitoIdentity").asText()).isEqualTo("{\"b\":\"\u00e9\"}");
        assertThat(context.path("tenantId").asText()).isEqualTo("tenant-1");
    }
}
