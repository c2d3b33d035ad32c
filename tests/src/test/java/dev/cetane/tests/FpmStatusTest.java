package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code /status} of the ops port beside php-fpm's own: the same fields of the same types in the same order. */
@Timeout(180)
final class FpmStatusTest {
    /** What php-fpm has since 8.4, and an older one doesn't. */
    private static final String SINCE_8_4 = "memory peak";

    private static FpmServer fpm;
    private static RunningCetane cetane;

    @BeforeAll
    static void startBoth() throws IOException {
        var application = RunningCetane.TESTS.resolve("apps/fpm-status");
        fpm = FpmServer.start(application, Map.of(), Map.of(), "127.0.0.1/32");
        cetane = new RunningCetane.Starter(application).workers(2).start();
        for (int i = 0; i < 3; i++) {
            assertThat(cetane.get("/").body()).isEqualTo("hello");
            fpm("/");
        }
        cetane.awaitStatus("idle", status -> status.at("/workers/idle").asInt() == 2);
    }

    @AfterAll
    static void stopBoth() throws IOException {
        if (cetane != null) {
            cetane.close();
        }
        if (fpm != null) {
            fpm.close();
        }
    }

    @Test
    void the_json_has_the_fields_of_php_fpm_with_their_types_in_their_order() throws IOException {
        assertThat(types(ours("?json"))).isEqualTo(types(RunningCetane.json(fpm("/status?json"))));
    }

    @Test
    void the_full_json_has_those_of_each_process_too() throws IOException {
        JsonNode ours = ours("?json&full");
        JsonNode theirs = RunningCetane.json(fpm("/status?json&full"));
        assertThat(types(ours)).isEqualTo(types(theirs));
        assertThat(ours.path("processes")).hasSize(2);
        for (JsonNode process : ours.path("processes")) {
            assertThat(types(process)).isEqualTo(types(theirs.path("processes").path(0)));
        }
        assertThat(ours.path("processes").findValuesAsText("pid"))
                .containsExactlyElementsOf(
                        cetane.workerPids().stream().map(String::valueOf).toList());
    }

    @Test
    void the_figures_are_those_of_the_pool() {
        JsonNode status = ours("?json&full");
        assertThat(status.path("accepted conn").asInt()).isGreaterThanOrEqualTo(3);
        assertThat(status.path("total processes").asInt()).isEqualTo(2);
        assertThat(status.path("idle processes").asInt()).isEqualTo(2);
        assertThat(status.path("max active processes").asInt()).isPositive();
        assertThat(status.path("listen queue len").asInt())
                .isEqualTo(cetane.status().at("/queue/limit").asInt());
        assertThat(status.path("memory peak").asLong()).isGreaterThan(100_000);
        long served = 0;
        for (JsonNode process : status.path("processes")) {
            served += process.path("requests").asLong();
        }
        assertThat(served).isEqualTo(status.path("accepted conn").asLong());
    }

    @Test
    void the_plain_text_has_the_same_lines() throws IOException {
        for (String query : List.of("", "?full")) {
            assertThat(names(cetane.ops("/status" + query).body(), "^([a-zA-Z ]+): +\\S.*$", "$1"))
                    .as(query)
                    .isEqualTo(names(fpm("/status" + query), "^([a-zA-Z ]+): +\\S.*$", "$1"));
        }
        assertThat(column(cetane.ops("/status").body())).isEqualTo(column(fpm("/status")));
    }

    @Test
    void the_other_forms_have_the_same_names() throws IOException {
        for (String query : List.of("?xml", "?xml&full")) {
            assertThat(names(cetane.ops("/status" + query).body(), ">[^<]*<", "><"))
                    .as(query)
                    .isEqualTo(names(fpm("/status" + query), ">[^<]*<", "><"));
        }
        assertThat(types(cetane.ops("/status?openmetrics").body())).containsAll(types(fpm("/status?openmetrics")));
        assertThat(cetane.ops("/status?openmetrics").headers().firstValue("content-type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/openmetrics-text"));
    }

    private static JsonNode ours(String query) {
        return RunningCetane.json(cetane.ops("/status" + query));
    }

    private static String fpm(String target) throws IOException {
        try (RawClient client = new RawClient(fpm.address())) {
            RawClient.Answer answer = client.get(target).answer();
            assertThat(answer.status()).as(fpm.printed()).isEqualTo(200);
            return answer.body();
        }
    }

    private static List<Map.Entry<String, JsonNodeType>> types(JsonNode object) {
        Map<String, JsonNodeType> types = new LinkedHashMap<>();
        object.properties()
                .forEach(field -> types.put(field.getKey(), field.getValue().getNodeType()));
        types.remove(SINCE_8_4);
        return List.copyOf(types.entrySet());
    }

    /** The lines of OpenMetrics that say of which type a metric is. */
    private static List<String> types(String openMetrics) {
        return openMetrics.lines().filter(line -> line.startsWith("# TYPE ")).toList();
    }

    private static List<String> names(String text, String pattern, String name) {
        return text.lines()
                .map(line -> line.replaceAll(pattern, name))
                .filter(line -> !line.contains(SINCE_8_4) && !line.contains(SINCE_8_4.replace(' ', '-')))
                .distinct()
                .toList();
    }

    /** Where the values begin. */
    private static int column(String text) {
        return text.indexOf("static") - text.indexOf("process manager");
    }
}
