package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.balancer;
import static dev.cetane.tests.LambdaEvents.httpApi;
import static dev.cetane.tests.LambdaEvents.quoted;
import static dev.cetane.tests.LambdaEvents.rest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A front controller as a Lambda function: what PHP sees of events, and what the senders of events get. */
final class LambdaTest {
    private static RunningLambda lambda;

    @BeforeAll
    static void start() {
        lambda = new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/front-controller")).start();
    }

    @AfterAll
    static void stop() {
        lambda.close();
    }

    @Test
    void aRequestOfAnHttpApiLooksLikeOneUnderHttp() {
        JsonNode seen = lambda.body(httpApi(
                "GET",
                "/superglobals",
                "a=1&b.c=%20+&d[]=x",
                "\"headers\":{\"host\":\"shop.test\",\"x-forwarded-proto\":\"https\",\"x-forwarded-port\":\"443\",\"x-many\":\"1, 2\"},"
                        + "\"cookies\":[\"one=1\",\"two=a%3Db\",\"none\"],"));
        JsonNode server = seen.path("server");
        assertThat(server.path("REQUEST_METHOD").asText()).isEqualTo("GET");
        assertThat(server.path("REQUEST_URI").asText()).isEqualTo("/superglobals?a=1&b.c=%20+&d[]=x");
        assertThat(server.path("QUERY_STRING").asText()).isEqualTo("a=1&b.c=%20+&d[]=x");
        assertThat(server.path("SERVER_PROTOCOL").asText()).isEqualTo("HTTP/1.1");
        assertThat(server.path("REMOTE_ADDR").asText()).isEqualTo("203.0.113.7");
        assertThat(server.path("SERVER_NAME").asText()).isEqualTo("shop.test");
        assertThat(server.path("SERVER_PORT").asText()).isEqualTo("443");
        assertThat(server.path("HTTPS").asText()).isEqualTo("on");
        assertThat(server.path("HTTP_X_MANY").asText()).isEqualTo("1, 2");
        assertThat(seen.path("get").toString()).isEqualTo("{\"a\":\"1\",\"b_c\":\"  \",\"d\":[\"x\"]}");
        assertThat(seen.path("cookie").path("two").asText()).isEqualTo("a=b");
    }

    @Test
    void theContextsComeUnderTheNamesThatBrefGivesThem() {
        JsonNode server = lambda.body(httpApi("/superglobals", "")).path("server");
        JsonNode invocation =
                RunningCetane.json(server.path("LAMBDA_INVOCATION_CONTEXT").asText());
        assertThat(invocation.path("awsRequestId").asText())
                .isEqualTo(server.path("REQUEST_ID").asText());
        assertThat(invocation.path("invokedFunctionArn").asText()).endsWith(":function:shop");
        assertThat(invocation.path("deadlineMs").asLong()).isGreaterThan(1_700_000_000_000L);
        assertThat(invocation.path("traceId").asText()).startsWith("Root=");
        JsonNode context =
                RunningCetane.json(server.path("LAMBDA_REQUEST_CONTEXT").asText());
        assertThat(context.path("apiId").asText()).isEqualTo("api1");
        assertThat(server.path("_X_AMZN_TRACE_ID").asText()).startsWith("Root=");
    }

    @Test
    void aRequestOfARestApiKeepsItsParameters() {
        JsonNode seen = lambda.body(
                rest(
                        "GET",
                        "/superglobals",
                        "\"headers\":{\"Host\":\"shop.test\"},\"multiValueHeaders\":{\"Host\":[\"shop.test\"],\"X-Many\":[\"1\",\"2\"],\"Cookie\":[\"a=1\",\"b=2\"]},"
                                + "\"queryStringParameters\":{\"a[]\":\"2\",\"q\":\"x y&z\"},\"multiValueQueryStringParameters\":{\"a[]\":[\"1\",\"2\"],\"q\":[\"x y&z\"]},"));
        assertThat(seen.path("get").toString()).isEqualTo("{\"a\":[\"1\",\"2\"],\"q\":\"x y&z\"}");
        assertThat(seen.path("server").path("HTTP_X_MANY").asText()).isEqualTo("1, 2");
        assertThat(seen.path("server").path("REMOTE_ADDR").asText()).isEqualTo("203.0.113.8");
        assertThat(seen.path("cookie").toString()).isEqualTo("{\"a\":\"1\",\"b\":\"2\"}");
    }

    @Test
    void theQueryOfALoadBalancerIsNotEncodedAgain() {
        JsonNode seen = lambda.body(balancer(
                "/superglobals",
                "\"headers\":{\"host\":\"shop.test\",\"x-forwarded-for\":\"198.51.100.1, 203.0.113.9\",\"x-forwarded-proto\":\"http\"},"
                        + "\"queryStringParameters\":{\"q\":\"a%20b%26c\"},"));
        assertThat(seen.path("get").path("q").asText()).isEqualTo("a b&c");
        assertThat(seen.path("server").path("REMOTE_ADDR").asText()).isEqualTo("203.0.113.9");
        assertThat(seen.path("server").path("REQUEST_SCHEME").asText()).isEqualTo("http");
    }

    @Test
    void aBodyArrivesWhole() {
        byte[] body = new byte[700_000];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) ((i * 31) >> 3);
        }
        JsonNode seen = lambda.body(httpApi(
                "POST",
                "/input",
                "",
                "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"application/octet-stream\",\"x-sent\":\"base64\",\"content-length\":\"3\"},"
                        + "\"x\":\"base64\",\"body\":\"" + Base64.getEncoder().encodeToString(body) + "\","));
        assertThat(seen.path("length").asInt()).isEqualTo(body.length);
    }

    @Test
    void aFormIsRead() {
        JsonNode seen = lambda.body(
                httpApi(
                        "POST",
                        "/superglobals",
                        "",
                        "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"application/x-www-form-urlencoded\"},\"body\":\"a=1&b%5B%5D=0\","));
        assertThat(seen.path("post").toString()).isEqualTo("{\"a\":\"1\",\"b\":[\"0\"]}");
        assertThat(seen.path("server").path("CONTENT_LENGTH").asText()).isEqualTo("13");
        JsonNode multipart = lambda.body(httpApi(
                "POST",
                "/superglobals",
                "",
                "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"multipart/form-data; boundary=B\"},\"body\":"
                        + quoted("--B\r\nContent-Disposition: form-data; name=\"x[y]\"\r\n\r\nvalue\r\n--B--\r\n")
                        + ","));
        assertThat(multipart.path("post").toString()).isEqualTo("{\"x\":{\"y\":\"value\"}}");
    }

    @Test
    void aBodyOfOneZeroIsABody() {
        JsonNode seen = lambda.body(
                httpApi("POST", "/input", "", "\"headers\":{\"content-type\":\"text/plain\"},\"body\":\"0\","));
        assertThat(seen.path("length").asInt()).isEqualTo(1);
    }

    @Test
    void eachSenderGetsItsOwnKindOfAnswer() {
        JsonNode http = lambda.answer(httpApi("/answer", ""));
        assertThat(http.path("statusCode").asInt()).isEqualTo(418);
        assertThat(http.path("body").asText()).isEqualTo("short and stout");
        assertThat(http.path("isBase64Encoded").asBoolean()).isFalse();
        assertThat(http.path("cookies").size()).isEqualTo(2);
        assertThat(http.path("headers").path("x-twice").asText()).isEqualTo("one, two");
        assertThat(http.path("headers").has("set-cookie")).isFalse();

        JsonNode multi = lambda.answer(rest("GET", "/answer", "\"multiValueHeaders\":{\"Host\":[\"shop.test\"]},"));
        assertThat(multi.path("multiValueHeaders").path("set-cookie").size()).isEqualTo(2);
        assertThat(multi.has("headers")).isFalse();

        JsonNode single = lambda.answer(balancer("/answer", "\"headers\":{\"host\":\"shop.test\"},"));
        assertThat(single.path("statusDescription").asText()).startsWith("418");
        assertThat(single.path("headers").has("set-cookie")).isTrue();
        assertThat(single.path("headers").has("Set-cookie")).isTrue();
        assertThat(single.has("multiValueHeaders")).isFalse();
    }

    @Test
    void whatIsNoTextIsSentInBase64() {
        JsonNode answer = lambda.answer(httpApi("/big", "mb=1"));
        assertThat(answer.path("isBase64Encoded").asBoolean()).isTrue();
        byte[] body = Base64.getDecoder().decode(answer.path("body").asText());
        assertThat(body).hasSize(1 << 20);
        assertThat(body[65536]).isEqualTo((byte) 'B');
    }

    @Test
    void anAnswerThatIsTooLargeIsAnErrorThatPeopleCanRead() {
        Invocation invocation = lambda.api.invoke(httpApi("/big", "mb=7"));
        JsonNode answer = RunningCetane.json(invocation.await().text());
        assertThat(answer.path("statusCode").asInt()).isEqualTo(500);
        assertThat(answer.path("body").asText()).contains("larger than this function can send");
        assertThat(lambda.log()
                        .fromStart()
                        .await("request.answer-too-large", invocation.id)
                        .message())
                .contains("lambda.stream");
        assertThat(lambda.answer(httpApi("/die", "")).path("statusCode").asInt())
                .isEqualTo(200);
    }

    @Test
    void anExitIsAnAnswer() {
        assertThat(lambda.answer(httpApi("/die", "")).path("body").asText()).isEqualTo("printed by die");
        assertThat(lambda.answer(httpApi("/exit", "status=202"))
                        .path("statusCode")
                        .asInt())
                .isEqualTo(202);
    }

    @Test
    void anExceptionIsA500AndTheWorkerLives() {
        String pid = lambda.answer(httpApi("/pid", "")).path("body").asText();
        JsonNode answer = lambda.answer(httpApi("/exception", ""));
        assertThat(answer.path("statusCode").asInt()).isEqualTo(500);
        assertThat(answer.toString()).doesNotContain("secret");
        assertThat(lambda.answer(httpApi("/pid", "")).path("body").asText()).isEqualTo(pid);
    }

    @Test
    void anEventThatIsNoRequestIsAnErrorThatSaysSo() {
        Call call = lambda.api
                .invoke("{\"Records\":[{\"eventSource\":\"aws:sqs\",\"messageId\":\"1\",\"body\":\"x\"}]}")
                .await();
        assertThat(call.isError()).isTrue();
        assertThat(call.text()).contains("HTTP requests only");
        assertThat(call.headers().get("lambda-runtime-function-error-type")).isEqualTo("Function.UnexpectedEvent");
    }

    @Test
    void garbageIsOneErrorAndTheLoopGoesOn() {
        for (String event : List.of(
                "",
                "{",
                "[1,",
                "{\"a\":\"\\x\"}",
                httpApi("POST", "/input", "", "\"headers\":{},\"x\":\"base64\",\"body\":\"!!!\","),
                httpApi("GET", "/%zz/../..", "", "\"headers\":{},"),
                httpApi("GET", "/", "", "\"headers\":{\"x-bad\":\"a\\nb\"},"))) {
            Invocation invocation = lambda.api.invoke(event);
            Call call = invocation.await();
            assertThat(call.isError()).as(event + " -> " + call.text()).isTrue();
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        }
        assertThat(lambda.answer(httpApi("/die", "")).path("statusCode").asInt())
                .isEqualTo(200);
    }

    @Test
    void aWarmerIsToldThatItIsWarm() {
        assertThat(lambda.api.invoke("{\"warmer\":true}").await().text()).isEqualTo("\"Lambda is warm\"");
    }

    @Test
    void theWarmersOfVaporAreKnownToo() {
        for (String event : List.of("{\"vaporWarmer\":true,\"concurrency\":2}", "{\"vaporWarmerPing\":true}")) {
            assertThat(lambda.api.invoke(event).await().text()).isEqualTo("\"Lambda is warm\"");
        }
        assertThat(lambda.api.invoke("{\"warmer\":false}").await().isError()).isTrue();
    }

    @Test
    void aConnectionThatDiedWhileTheSandboxWasFrozenIsOpenedAnew() {
        lambda.answer(httpApi("/die", ""));
        lambda.api.dropConnections();
        assertThat(lambda.answer(httpApi("/die", "")).path("statusCode").asInt())
                .isEqualTo(200);
    }

    @Test
    void anAnswerOnADeadConnectionIsSentOnceMore() {
        lambda.api.dropAfterNext();
        Invocation invocation = lambda.api.invoke(httpApi("/die", ""));
        assertThat(invocation.await().isError()).isFalse();
        assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
        assertThat(lambda.api.answers(invocation)).hasSize(1);
    }

    @Test
    void whatTheApiSaysOfAnAnswerDoesNotStopTheLoop() {
        Map<Integer, String> events = Map.of(
                400, "invocation.refused",
                403, "invocation.refused",
                410, "invocation.late",
                413, "invocation.too-large");
        events.forEach((status, event) -> {
            lambda.api.answerNextWith(status);
            Invocation invocation = lambda.api.invoke(httpApi("/die", ""));
            invocation.await();
            lambda.log().fromStart().await(event, invocation.id);
            assertThat(lambda.answer(httpApi("/die", "")).path("statusCode").asInt())
                    .isEqualTo(200);
            assertThat(lambda.api.answers(invocation)).hasSize(1);
        });
    }

    @Test
    void aWorkerThatIsKilledIsAnsweredForOnceAndTheNextEventHasANewOne() {
        int pid =
                Integer.parseInt(lambda.answer(httpApi("/pid", "")).path("body").asText());
        Invocation invocation = lambda.api.invoke(httpApi("/stream", "signals=/nonexistent"));
        await("it is delivered").atMost(RunningCetane.PATIENCE).until(() -> lambda.api.deliveries(invocation) == 1);
        Processes.signal(pid, "KILL");
        JsonNode answer = RunningCetane.json(invocation.await().text());
        assertThat(answer.path("statusCode").asInt()).isEqualTo(502);
        assertThat(lambda.answer(httpApi("/pid", "")).path("body").asText()).isNotEqualTo(Integer.toString(pid));
        assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
        assertThat(lambda.api.answers(invocation)).hasSize(1);
    }

    @Test
    void anInvocationIsGivenUpBeforeItsDeadline() {
        long begun = System.currentTimeMillis();
        Invocation invocation = lambda.api.invoke(httpApi("/stream", "signals=/nonexistent"), 1_500, Map.of());
        JsonNode answer = RunningCetane.json(invocation.await().text());
        assertThat(answer.path("statusCode").asInt()).isEqualTo(504);
        assertThat(System.currentTimeMillis() - begun).isGreaterThan(500);
        assertThat(lambda.answer(httpApi("/die", "")).path("statusCode").asInt())
                .isEqualTo(200);
        assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
        assertThat(lambda.api.answers(invocation)).hasSize(1);
    }

    @Test
    void anApplicationThatCannotBootIsAnInitErrorWithPhpsOwnMessage() throws IOException {
        Path directory = Files.createTempDirectory("cetane-broken-");
        Path script = directory.resolve("worker.php");
        Files.writeString(script, "<?php\nthrow new LogicException('no database here');\n", StandardCharsets.UTF_8);
        try (RunningLambda broken = new RunningLambda.Starter(script).start()) {
            Call call = broken.api.awaitInitError();
            assertThat(call.text()).contains("no database here");
            assertThat(call.headers().get("lambda-runtime-function-error-type")).isEqualTo("Runtime.InitError");
            assertThat(broken.awaitExit()).isEqualTo(1);
        } finally {
            RunningCetane.delete(directory);
        }
    }
}
