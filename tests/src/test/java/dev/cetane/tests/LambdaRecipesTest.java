package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** The recipes of {@code share/lambda}, as far as a machine without AWS can tell: against AWS's limits, and against what Cetane brings. */
final class LambdaRecipesTest {
    private static final Path SHARE =
            RunningCetane.LAUNCHER.resolve("../../share/lambda").normalize();
    private static final Path CLIENT =
            RunningCetane.LAUNCHER.resolve("../../php").normalize();

    /** AWS's quotas: API Gateway waits no longer for an HTTP API's function; seconds, MB. */
    private static final int HTTP_API_SECONDS = 30;

    private static String text(String name) throws IOException {
        return Files.readString(SHARE.resolve(name), StandardCharsets.UTF_8);
    }

    /** A YAML file as JSON; CloudFormation's short forms become objects with the tag as their only name. */
    private static JsonNode yaml(String name) throws IOException {
        Map<Tag, ConstructNode> tags = new HashMap<>();
        for (String tag : List.of("!Ref", "!GetAtt", "!Sub")) {
            tags.put(new Tag(tag), new ConstructNode() {
                @Override
                public Object construct(Node node) {
                    return Map.of(tag, ((ScalarNode) node).getValue());
                }
            });
        }
        LoadSettings settings = LoadSettings.builder()
                .setTagConstructors(tags)
                .setAllowDuplicateKeys(false)
                .build();
        return new ObjectMapper().valueToTree(new Load(settings).loadFromString(text(name)));
    }

    private static int sane(JsonNode function, JsonNode defaults, String name, int least, int most) {
        JsonNode value = function.has(name) ? function.path(name) : defaults.path(name);
        assertThat(value.isInt()).as(name).isTrue();
        assertThat(value.asInt()).as(name).isBetween(least, most);
        return value.asInt();
    }

    /** A handler is the application's directory, or a file whose one line the recipe tells where it is not Laravel's own. */
    private static void assertHandler(String handler, String recipe) {
        if (handler.equals(".")) {
            return;
        }
        assertThat(RunningCetane.TESTS.resolve("apps/lambda-laravel/" + handler))
                .as("tried by LambdaLaravelTest")
                .exists();
        assertThat(recipe).contains(handler);
    }

    @Test
    void theTemplateForSamStaysWithinAwssLimitsAndNamesWhatIsThere() throws IOException {
        JsonNode template = yaml("template.yaml");
        JsonNode defaults = template.at("/Globals/Function");
        JsonNode resources = template.path("Resources");
        assertThat(defaults.path("Runtime").asText()).isEqualTo("provided.al2023");
        assertThat(defaults.path("Layers").size()).isBetween(1, 5);
        Set<String> names = new TreeSet<>(List.of("AWS::Region", "ServerlessHttpApi"));
        template.path("Parameters").fieldNames().forEachRemaining(names::add);
        resources.fieldNames().forEachRemaining(names::add);
        for (String used : used(template)) {
            assertThat(names).as("what the template refers to").contains(used);
        }
        String recipe = text("template.yaml");
        resources.properties().forEach(each -> {
            JsonNode function = each.getValue().path("Properties");
            if (!each.getValue().path("Type").asText().equals("AWS::Serverless::Function")) {
                return;
            }
            assertHandler(function.path("Handler").asText(), recipe);
            sane(function, defaults, "MemorySize", 128, 10_240);
            int seconds = sane(function, defaults, "Timeout", 1, 900);
            function.path("Events").forEach(event -> {
                if (event.path("Type").asText().equals("HttpApi")) {
                    assertThat(seconds).isLessThan(HTTP_API_SECONDS);
                } else {
                    assertThat(event.at("/Properties/FunctionResponseTypes/0").asText())
                            .isEqualTo("ReportBatchItemFailures");
                    String queue =
                            event.at("/Properties/Queue/!GetAtt").asText().replace(".Arn", "");
                    assertThat(resources
                                    .at("/" + queue + "/Properties/VisibilityTimeout")
                                    .asInt())
                            .as("AWS asks for six times the function's time-out")
                            .isGreaterThanOrEqualTo(6 * seconds);
                }
            });
        });
    }

    /** Names of parameters and resources that are referred to. */
    private static Set<String> used(JsonNode node) {
        Set<String> used = new TreeSet<>();
        if (node.size() == 1 && node.has("!Ref")) {
            used.add(node.path("!Ref").asText());
        } else if (node.size() == 1 && node.has("!GetAtt")) {
            used.add(node.path("!GetAtt").asText().split("\\.", 2)[0]);
        } else if (node.size() == 1 && node.has("!Sub")) {
            Matcher names =
                    Pattern.compile("\\$\\{([^}]+)}").matcher(node.path("!Sub").asText());
            while (names.find()) {
                used.add(names.group(1));
            }
        }
        node.forEach(child -> used.addAll(used(child)));
        return used;
    }

    @Test
    void theServerlessFrameworksFileDoesLikewise() throws IOException {
        JsonNode service = yaml("serverless.yml");
        JsonNode provider = service.path("provider");
        assertThat(provider.path("name").asText()).isEqualTo("aws");
        assertThat(provider.path("runtime").asText()).isEqualTo("provided.al2023");
        String recipe = text("serverless.yml");
        assertThat(service.path("functions")).isNotEmpty();
        for (JsonNode function : service.path("functions")) {
            assertHandler(function.path("handler").asText(), recipe);
            assertThat(function.path("layers").size()).isBetween(1, 5);
            sane(function, provider, "memorySize", 128, 10_240);
            int seconds = sane(function, provider, "timeout", 1, 900);
            for (JsonNode event : function.path("events")) {
                if (event.has("httpApi")) {
                    assertThat(seconds).isLessThan(HTTP_API_SECONDS);
                } else {
                    assertThat(event.at("/sqs/functionResponseType").asText()).isEqualTo("ReportBatchItemFailures");
                }
            }
        }
        JsonNode sam = yaml("template.yaml").at("/Globals/Function");
        assertThat(provider.path("memorySize")).isEqualTo(sam.path("MemorySize"));
        assertThat(provider.path("timeout")).isEqualTo(sam.path("Timeout"));
    }

    @Test
    void theHandlersThatRecipesTellOfAreClassesOfTheClient() throws IOException {
        Matcher classes = Pattern.compile("new Cetane\\\\([A-Za-z\\\\]+)\\(").matcher(text("template.yaml"));
        int found = 0;
        for (; classes.find(); found++) {
            assertThat(CLIENT.resolve("src/" + classes.group(1).replace('\\', '/') + ".php"))
                    .exists();
        }
        assertThat(found).isEqualTo(2);
    }

    @Test
    void theImageBuildsItsLayerWithWhatTheDistributionHasAndStartsIt() throws IOException {
        String recipe = text("Dockerfile");
        Matcher build = Pattern.compile("/dist/(\\S+) /opt\\b").matcher(recipe);
        assertThat(build.find()).isTrue();
        assertThat(SHARE.resolve("../..").resolve(build.group(1)).normalize()).isExecutable();
        assertThat(recipe).contains("COPY --from=layer /opt /opt\n", "ENTRYPOINT [\"/opt/bootstrap\"]\n");
        assertThat(text("build-layer")).contains("cp \"$here/bootstrap\" \"$target/bootstrap\"");
        Matcher root = Pattern.compile("LAMBDA_TASK_ROOT=(\\S+)").matcher(recipe);
        assertThat(root.find()).isTrue();
        assertThat(recipe).contains("WORKDIR " + root.group(1) + "\n", "COPY . " + root.group(1) + "\n");
    }

    @Test
    void theRolesPolicyIsOneAndAllowsWhatAJobNeeds() throws IOException {
        JsonNode policy = RunningCetane.json(text("iam-policy.json"));
        assertThat(policy.path("Version").asText()).isEqualTo("2012-10-17");
        Set<String> actions = new TreeSet<>();
        for (JsonNode statement : policy.path("Statement")) {
            assertThat(statement.path("Effect").asText()).isEqualTo("Allow");
            assertThat(statement.path("Sid").asText()).matches("[A-Za-z0-9]+");
            assertThat(statement.path("Resource").asText()).startsWith("arn:aws:");
            statement.path("Action").forEach(action -> actions.add(action.asText()));
        }
        assertThat(actions).allMatch(action -> action.matches("[a-z0-9]+:[A-Z][A-Za-z]+"));
        assertThat(actions)
                .contains(
                        "sqs:ReceiveMessage",
                        "sqs:DeleteMessage",
                        "sqs:GetQueueAttributes",
                        "sqs:ChangeMessageVisibility",
                        "logs:PutLogEvents");
    }

    @Test
    void theReadmeTellsOfEachFile() throws IOException {
        String readme = text("README.md");
        try (Stream<Path> files = Files.list(SHARE)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                assertThat(name.equals("README.md") || readme.contains(name))
                        .as(name)
                        .isTrue();
            }
        }
    }
}
