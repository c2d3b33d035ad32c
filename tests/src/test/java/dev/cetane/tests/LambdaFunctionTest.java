package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static dev.cetane.tests.LambdaEvents.rest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions for events that are no HTTP requests: {@code tests/apps/lambda/function.php}. */
final class LambdaFunctionTest {
    private static RunningLambda lambda;

    /** Takes HTTP events only. */
    private static RunningLambda requests;

    private static RunningLambda.Starter app(String name) {
        return new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/lambda/" + name));
    }

    @BeforeAll
    static void start() {
        lambda = app("function.php").start();
        requests = app("events/index.php").start();
    }

    @AfterAll
    static void stop() {
        lambda.close();
        requests.close();
    }

    private static JsonNode result(String event) {
        Call call = lambda.api.invoke(event).await();
        assertThat(call.isError()).as(call.text()).isFalse();
        return RunningCetane.json(call.text());
    }

    @Test
    void aFunctionGetsTheEventAndItsContext() {
        Invocation invocation = lambda.api.invoke(
                "{\"do\":\"echo\",\"nested\":{\"list\":[1,2.0,null,\"\u00e4\"]}}",
                30_000,
                Map.of(
                        "Lambda-Runtime-Aws-Tenant-Id",
                        "blue",
                        "Lambda-Runtime-Client-Context",
                        "{\"custom\":{\"a\":1}}"));
        JsonNode result = RunningCetane.json(invocation.await().text());
        assertThat(result.path("event").toString()).contains("\"list\":[1,2.0,null,\"\u00e4\"]");
        assertThat(result.path("requestId").asText()).isEqualTo(invocation.id);
        assertThat(result.path("tenant").asText()).isEqualTo("blue");
        assertThat(result.path("client").path("custom").path("a").asInt()).isEqualTo(1);
        assertThat(result.path("remaining").asInt()).isBetween(1, 30_000);
        assertThat(result.path("arn").asText()).endsWith(":shop");
    }

    @Test
    void aFunctionTakesHttpEventsAsTheyAre() {
        assertThat(result(httpApi("/x", "a=1"))
                        .path("event")
                        .path("rawQueryString")
                        .asText())
                .isEqualTo("a=1");
    }

    @Test
    void aPsr15HandlerGetsRequestsWithTheAttributesOfTheirEventsAndAFunctionBesideItTheRest() {
        try (RunningLambda both = app("psr15.php").start()) {
            Invocation order = both.api.invoke(rest(
                    "GET", "/orders/7", "\"pathParameters\":{\"id\":\"7\"},\"queryStringParameters\":{\"a\":\"1\"},"));
            JsonNode answer = RunningCetane.json(order.await().text());
            assertThat(answer.path("statusCode").asInt()).as(answer.toString()).isEqualTo(201);
            assertThat(answer.toString()).contains("[\"a=1\",\"b=2\"]");
            JsonNode seen = RunningCetane.json(answer.path("body").asText());
            assertThat(seen.path("id").asText()).isEqualTo("7");
            assertThat(seen.path("stage").asText()).isEqualTo("prod");
            assertThat(seen.path("requestId").asText()).isEqualTo(order.id);
            assertThat(seen.path("remaining").asInt()).isBetween(1, 30_000);
            assertThat(seen.path("query").toString()).isEqualTo("{\"a\":\"1\"}");

            Invocation other = both.api.invoke("{\"detail-type\":\"Order Placed\",\"detail\":{}}");
            assertThat(other.await().text()).isEqualTo("[\"Order Placed\",\"" + other.id + "\"]");
            assertThat(RunningCetane.json(both.answer(rest("GET", "/orders", ""))
                                    .path("body")
                                    .asText())
                            .path("id")
                            .isNull())
                    .as("of the request before")
                    .isTrue();
        }
    }

    @Test
    void eventsOfAWebSocketAreAFunctionsBusiness() {
        for (String type : List.of("CONNECT", "MESSAGE", "DISCONNECT")) {
            JsonNode event = result(
                            "{\"requestContext\":{\"eventType\":\"" + type
                                    + "\",\"connectionId\":\"c=\",\"routeKey\":\"$default\",\"domainName\":\"w.execute-api.eu-west-1.amazonaws.com\","
                                    + "\"stage\":\"prod\",\"apiId\":\"w\"},\"headers\":{\"Host\":\"w\"},\"body\":\"hello\",\"isBase64Encoded\":false}")
                    .path("event");
            assertThat(event.path("requestContext").path("eventType").asText()).isEqualTo(type);
            assertThat(event.path("body").asText()).isEqualTo("hello");
        }
    }

    /** One record or event of each source that AWS documents, cut down to what tells it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"Records\":[{\"EventSource\":\"aws:sns\",\"Sns\":{\"Message\":\"m\"}}]}",
                "{\"Records\":[{\"eventSource\":\"aws:s3\",\"s3\":{\"object\":{\"key\":\"a+b%2B\",\"size\":1024}}}]}",
                "{\"Records\":[{\"eventSource\":\"aws:dynamodb\",\"dynamodb\":{\"Keys\":{\"Id\":{\"N\":\"101\"}}}}]}",
                "{\"Records\":[{\"eventSource\":\"aws:kinesis\",\"kinesis\":{\"data\":\"SGVsbG8=\"}}]}",
                "{\"eventSource\":\"aws:kafka\",\"records\":{\"t-0\":[{\"offset\":15,\"value\":\"SGVsbG8=\"}]}}",
                "{\"detail-type\":\"Scheduled Event\",\"source\":\"aws.events\",\"detail\":{\"a\":[1,2.5]}}"
            })
    void anEventOfAnySourceReachesAFunctionAsItCameAndIsAnErrorForAnApplicationThatTakesRequestsOnly(String event) {
        assertThat(result(event).path("event")).isEqualTo(RunningCetane.json(event));
        Call refused = requests.api.invoke(event).await();
        assertThat(refused.headers().get("lambda-runtime-function-error-type")).isEqualTo("Function.UnexpectedEvent");
    }

    @Test
    void aTextIsAnEventToo() {
        assertThat(result("\"just text\"").path("event").asText()).isEqualTo("just text");
    }

    @Test
    void aLargeEventArrivesWhole() {
        String large = "x".repeat(300_000);
        assertThat(result("{\"do\":\"length\",\"text\":\"" + large + "\"}").asInt())
                .isEqualTo(large.length());
    }

    @Test
    void anExceptionIsTheInvocationsErrorAndTheWorkerLives() {
        int pid = result("{\"do\":\"pid\"}").asInt();
        Call call = lambda.api.invoke("{\"do\":\"throw\"}").await();
        assertThat(call.isError()).isTrue();
        assertThat(call.headers().get("lambda-runtime-function-error-type")).isEqualTo("Function.DomainException");
        JsonNode error = RunningCetane.json(call.text());
        assertThat(error.path("errorType").asText()).isEqualTo("DomainException");
        assertThat(error.path("errorMessage").asText()).isEqualTo("out of stock");
        assertThat(error.path("stackTrace").size()).isGreaterThan(0);
        assertThat(error.path("previous").path("errorMessage").asText()).isEqualTo("the cause");
        assertThat(result("{\"do\":\"pid\"}").asInt()).isEqualTo(pid);
    }

    @Test
    void anExitAndAnEndlessLoopAreErrorsAtOnceAndOnce() {
        Invocation exit = lambda.api.invoke("{\"do\":\"exit\"}");
        assertThat(exit.await().isError()).isTrue();
        Invocation hang = lambda.api.invoke("{\"do\":\"hang\"}", 1_500, Map.of());
        Call late = hang.await();
        assertThat(late.headers().get("lambda-runtime-function-error-type")).isEqualTo("Function.TimedOut");
        assertThat(result("{\"do\":\"pid\"}").asInt()).isPositive();
        for (Invocation invocation : List.of(exit, hang)) {
            assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        }
    }

    @Test
    void theMarginIsTakenOffTheTimeThatAnInvocationHas() {
        try (RunningLambda impatient =
                app("function.php").set("lambda.timeout-margin", "1m").start()) {
            Invocation hang = impatient.api.invoke("{\"do\":\"hang\"}", 61_000, Map.of());
            assertThat(hang.await().headers().get("lambda-runtime-function-error-type"))
                    .as("long before its end")
                    .isEqualTo("Function.TimedOut");
            assertThat(impatient
                            .api
                            .invoke("{\"do\":\"pid\"}", 90_000, Map.of())
                            .await()
                            .isError())
                    .isFalse();
        }
    }

    @Test
    void ofABatchOnlyTheMessagesThatFailedComeAgain() {
        try (RunningLambda queue = app("queue.php").start()) {
            Call call = queue.api.invoke("""
                            {"Records":[
                             {"messageId":"m1","body":"good","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q"},
                             {"messageId":"m2","body":"bad","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q"},
                             {"messageId":"m3","body":"good","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q"}]}""").await();
            assertThat(call.text()).isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"m2\"}]}");
            Call fifo = queue.api.invoke("""
                            {"Records":[
                             {"messageId":"m1","body":"bad","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q.fifo"},
                             {"messageId":"m2","body":"good","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q.fifo"}]}""").await();
            assertThat(fifo.text())
                    .isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"m1\"},{\"itemIdentifier\":\"m2\"}]}");
        }
    }

    @Test
    void aStreamLeavesAsItIsMade() {
        try (RunningLambda streaming =
                app("stream.php").set("lambda.stream", true).start()) {
            Call call = streaming.api.invoke(httpApi("/pieces", "")).await();
            assertThat(call.isStreamed()).isTrue();
            assertThat(call.headers().get("content-type"))
                    .isEqualTo("application/vnd.awslambda.http-integration-response");
            String text = call.text();
            int end = text.indexOf("\0\0\0\0\0\0\0\0");
            JsonNode prelude = RunningCetane.json(text.substring(0, end));
            assertThat(prelude.path("statusCode").asInt()).isEqualTo(202);
            assertThat(prelude.path("headers").path("content-type").asText()).isEqualTo("text/plain");
            assertThat(prelude.path("cookies").size()).isEqualTo(2);
            assertThat(prelude.toString()).doesNotContain("content-length").doesNotContain("transfer-encoding");
            assertThat(text.substring(end + 8)).isEqualTo("one\ntwo\nthree\n");
            assertThat(call.pieces()).hasSize(4);
            assertThat(call.trailers()).isEmpty();

            Call empty = streaming.api.invoke(httpApi("/empty", "")).await();
            assertThat(empty.text()).endsWith("\0\0\0\0\0\0\0\0");

            Call broken = streaming.api.invoke(httpApi("/broken", "")).await();
            assertThat(broken.text()).endsWith("begun\n");
            assertThat(broken.trailers())
                    .containsKeys("lambda-runtime-function-error-type", "lambda-runtime-function-error-body");
        }
    }

    @Test
    void withManagedInstancesEachSlotHasAWorkerOfItsOwn() {
        try (RunningLambda many = app("function.php").concurrency(3).start()) {
            List<Invocation> invocations = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                invocations.add(many.api.invoke("{\"do\":\"wait\"}"));
            }
            await("all three run at once")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> invocations.stream().allMatch(each -> many.api.deliveries(each) == 1));
            Set<String> pids = new HashSet<>();
            for (Invocation invocation : invocations) {
                pids.add(invocation.await().text());
            }
            assertThat(pids).hasSize(3);
            Invocation late = many.api.invoke("{\"do\":\"hang\"}", 1_500, Map.of());
            Invocation other = many.api.invoke("{\"do\":\"pid\"}");
            assertThat(other.await().isError()).isFalse();
            assertThat(late.await().isError()).isTrue();
        }
    }
}
