package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Each event of {@code tests/events}, by what PHP sees of it ({@code sees}, {@code absent}) or by what its sender gets for an answer of
 * PHP's ({@code answer}, {@code gives}).
 */
final class LambdaEventTest {
    private static final Path EVENTS = RunningCetane.TESTS.resolve("events");
    private static final ObjectMapper JSON = new ObjectMapper();

    /** One for each set of settings. */
    private static final Map<String, RunningLambda> RUNNING = new HashMap<>();

    @AfterAll
    static void stop() {
        RUNNING.values().forEach(RunningLambda::close);
    }

    private static RunningLambda lambda(JsonNode settings) {
        return RUNNING.computeIfAbsent(settings.toString(), text -> {
            RunningLambda.Starter starter =
                    new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/lambda/events/index.php"));
            settings.properties()
                    .forEach(setting ->
                            starter.set(setting.getKey(), setting.getValue().asText()));
            return starter.start();
        });
    }

    @TestFactory
    List<DynamicTest> events() throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.list(EVENTS)) {
            files = found.sorted().toList();
        }
        List<DynamicTest> tests = new ArrayList<>();
        for (Path file : files) {
            JsonNode fixture = read(file);
            String name = file.getFileName().toString().replace(".json", "");
            tests.add(DynamicTest.dynamicTest(name + ": " + fixture.path("row").asText(), () -> check(fixture)));
        }
        return tests;
    }

    private static JsonNode read(Path file) throws IOException {
        return JSON.readTree(Files.readString(file, StandardCharsets.UTF_8));
    }

    private static void check(JsonNode fixture) {
        RunningLambda lambda = lambda(fixture.path("settings"));
        if (fixture.has("answer")) {
            String wanted = Base64.getEncoder()
                    .encodeToString(fixture.path("answer").toString().getBytes(StandardCharsets.UTF_8));
            String event = fixture.path("event").toString();
            assertThat(event).contains("@ANSWER@");
            JsonNode given = lambda.answer(event.replace("@ANSWER@", wanted));
            assertThat(given).isEqualTo(fixture.path("gives"));
            return;
        }
        JsonNode seen = lambda.body(fixture.path("event").toString());
        fixture.path("sees").properties().forEach(each -> expect(seen, each.getKey(), each.getValue()));
        for (JsonNode absent : fixture.path("absent")) {
            assertThat(at(seen, absent.asText()).isMissingNode())
                    .as(absent.asText())
                    .isTrue();
        }
    }

    /** Of {@code server} only what is named; of all others the whole. */
    private static void expect(JsonNode seen, String path, JsonNode expected) {
        if (path.equals("server")) {
            expected.properties()
                    .forEach(variable -> assertThat(seen.path("server").path(variable.getKey()))
                            .as(variable.getKey())
                            .isEqualTo(variable.getValue()));
        } else if (path.startsWith("json:")) {
            String text = at(seen, path.substring("json:".length())).asText();
            assertThat(RunningCetane.json(text)).as(path).isEqualTo(expected);
        } else if (path.startsWith("contains:")) {
            String text = at(seen, path.substring("contains:".length())).asText();
            expected.forEach(part -> assertThat(text).contains(part.asText()));
        } else {
            assertThat(at(seen, path)).as(path).isEqualTo(expected);
        }
    }

    private static JsonNode at(JsonNode seen, String path) {
        return seen.at("/" + path.replace('.', '/'));
    }
}
