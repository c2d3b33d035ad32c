package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static dev.cetane.tests.LambdaEvents.quoted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Much of everything: large bodies, many invocations, many at once. */
final class LambdaLoadTest {
    /** {@code -Dcetane.lambda.soak=100000} is the long run. */
    private static final int SOAK = Integer.getInteger("cetane.lambda.soak", 3_000);

    private static final int KILL_EACH = 500;

    private static RunningLambda.Starter app(String name) {
        return new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/lambda/" + name));
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(7).nextBytes(bytes);
        return bytes;
    }

    // ---- large ----

    @Test
    void anUploadAndADownloadOf4MegabytesArriveByteForByteAndLeaveNoFile() throws IOException {
        // As base64 it is as much as an event can have.
        byte[] file = random(4_500_000);
        String form = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n"
                + new String(file, StandardCharsets.ISO_8859_1) + "\r\n--B--\r\n";
        try (RunningLambda lambda =
                app("large.php").set("app.ini.upload_max_filesize", "6M").start()) {
            JsonNode answer = lambda.answer(httpApi(
                    "POST",
                    "/echo",
                    "",
                    "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"multipart/form-data; boundary=B\"},\"x\":\"base64\",\"body\":\""
                            + Base64.getEncoder().encodeToString(form.getBytes(StandardCharsets.ISO_8859_1)) + "\","));
            assertThat(answer.path("statusCode").asInt())
                    .as(answer.path("body").asText())
                    .isEqualTo(200);
            assertThat(answer.path("isBase64Encoded").asBoolean()).isTrue();
            assertThat(Base64.getDecoder().decode(answer.path("body").asText())).isEqualTo(file);
            JsonNode raw = lambda.answer(httpApi(
                    "PUT",
                    "/echo",
                    "",
                    "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"application/octet-stream\"},\"x\":\"base64\",\"body\":\""
                            + Base64.getEncoder().encodeToString(file) + "\","));
            assertThat(Base64.getDecoder().decode(raw.path("body").asText())).isEqualTo(file);
            lambda.answer(httpApi("/", ""));
            try (Stream<Path> left = Files.walk(lambda.directory())) {
                assertThat(left.filter(Files::isRegularFile)
                                .map(path -> path.getFileName().toString()))
                        .noneMatch(name -> name.contains("body-"));
            }
        }
    }

    @Test
    void aDownloadOf5MegabytesLeavesAsAStreamWhole() {
        byte[] file = random(5 << 20);
        try (RunningLambda lambda = app("large.php").set("lambda.stream", true).start()) {
            Call call = lambda.api
                    .invoke(httpApi("/random", "seed=7&bytes=" + file.length))
                    .await();
            assertThat(call.isStreamed()).isTrue();
            byte[] body = call.body();
            int end = new String(body, StandardCharsets.ISO_8859_1).indexOf("\0\0\0\0\0\0\0\0") + 8;
            assertThat(body.length - end).isEqualTo(file.length);
        }
    }

    @Test
    void anAnswerOfAsMuchAsTheApiTakesIsGivenAndOneByteMoreIsAnError() {
        try (RunningLambda lambda = app("function.php").start()) {
            int most = 6_291_556 - 2;
            Call whole = lambda.api
                    .invoke("{\"do\":\"large\",\"bytes\":" + most + "}")
                    .await();
            assertThat(whole.isError()).isFalse();
            assertThat(whole.body()).hasSize(6_291_556);
            Invocation above = lambda.api.invoke("{\"do\":\"large\",\"bytes\":" + (most + 1) + "}");
            assertThat(above.await().isError()).isTrue();
            assertThat(above.await().headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Function.ResponseSizeTooLarge");
            assertThat(lambda.api.answers(above)).hasSize(1);
            lambda.log().fromStart().await("request.answer-too-large", above.id);
            assertThat(lambda.api.invoke("{\"do\":\"pid\"}").await().isError()).isFalse();
        }
    }

    @Test
    void aFormThatPhpDoesNotTakeIs413() {
        try (RunningLambda lambda =
                app("events/index.php").set("app.ini.post_max_size", "1K").start()) {
            Invocation large = lambda.api.invoke(httpApi(
                    "POST",
                    "/",
                    "",
                    "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"multipart/form-data; boundary=B\"},\"body\":\""
                            + "x".repeat(2000) + "\","));
            JsonNode answer = RunningCetane.json(large.await().text());
            assertThat(answer.path("statusCode").asInt()).isEqualTo(413);
            assertThat(lambda.log()
                            .fromStart()
                            .await("request.refused", large.id)
                            .message())
                    .contains("post_max_size");
            assertThat(lambda.answer(httpApi("/", "")).path("statusCode").asInt())
                    .isEqualTo(200);
        }
    }

    @Test
    void whatIsLeftOutOfAFormIsLogged() {
        String file = "--B\r\nContent-Disposition: form-data; name=\"f[]\"; filename=\"a\"\r\n\r\nx\r\n";
        try (RunningLambda lambda =
                app("events/index.php").set("app.ini.max_file_uploads", 1).start()) {
            Invocation invocation = lambda.api.invoke(httpApi(
                    "POST",
                    "/",
                    "",
                    "\"headers\":{\"host\":\"shop.test\",\"content-type\":\"multipart/form-data; boundary=B\"},\"body\":"
                            + quoted(file + file + "--B--\r\n") + ","));
            assertThat(invocation.await().isError()).isFalse();
            assertThat(lambda.log()
                            .fromStart()
                            .await("request.form-cut", invocation.id)
                            .message())
                    .contains("max_file_uploads");
        }
    }

    @Test
    void aBodyForWhichThereIsNoRoomIsOneErrorAndTheLoopGoesOn() {
        String form = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nx\r\n--B--\r\n";
        try (RunningLambda lambda = app("events/index.php").start()) {
            lambda.body(httpApi("/", ""));
            RunningCetane.delete(lambda.directory().resolve("run"));
            for (String more : List.of(
                    "\"headers\":{\"content-type\":\"multipart/form-data; boundary=B\"},\"body\":" + quoted(form) + ",",
                    "\"headers\":{\"content-type\":\"text/plain\"},\"body\":\"" + "x".repeat(100_000) + "\",")) {
                Invocation invocation = lambda.api.invoke(httpApi("POST", "/", "", more));
                Call call = invocation.await();
                assertThat(call.isError()).as(call.text()).isTrue();
                assertThat(call.headers().get("lambda-runtime-function-error-type"))
                        .isEqualTo("Runtime.NoSpace");
                assertThat(call.text()).contains("cannot be stored");
                assertThat(lambda.api.answers(invocation)).hasSize(1);
                assertThat(lambda.answer(httpApi("/", "")).path("statusCode").asInt())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void headersAboveWhatApiGatewayTakesAreLogged() {
        String wanted = Base64.getEncoder()
                .encodeToString(("{\"headers\":[[\"X-Large\",\"" + "v".repeat(11_000) + "\"]],\"body\":\"x\"}")
                        .getBytes(StandardCharsets.UTF_8));
        try (RunningLambda lambda = app("events/index.php").start()) {
            Invocation invocation = lambda.api.invoke(
                    httpApi("GET", "/", "", "\"headers\":{\"host\":\"shop.test\",\"x-answer\":\"" + wanted + "\"},"));
            assertThat(invocation.await().isError()).isFalse();
            lambda.log().fromStart().await("request.large-headers", invocation.id);
        }
    }

    // ---- many at once ----

    @Test
    void sixteenSlotsServeSixteenAtOnceAndALateOneLosesItsWorkerAlone() {
        int slots = 16;
        try (RunningLambda lambda = app("function.php").managed(slots).start()) {
            await("all have booted")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> lambda.log().fromStart().all("worker.ready").size() == slots);
            List<Invocation> invocations = new ArrayList<>();
            for (int i = 0; i < slots; i++) {
                invocations.add(lambda.api.invoke("{\"do\":\"wait\"}"));
            }
            Set<String> pids = new HashSet<>();
            for (Invocation invocation : invocations) {
                Call call = invocation.await();
                assertThat(call.isError()).as(call.text()).isFalse();
                pids.add(call.text());
            }
            assertThat(pids).hasSize(slots);

            Invocation hanging = lambda.api.invoke("{\"do\":\"hang\"}", 1_500, Map.of());
            List<Invocation> others = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                others.add(lambda.api.invoke("{\"do\":\"pid\"}"));
            }
            for (Invocation other : others) {
                assertThat(other.await().isError()).isFalse();
                assertThat(lambda.api.deliveries(other)).isEqualTo(1);
                assertThat(lambda.api.answers(other)).hasSize(1);
                assertThat(other.await().text()).isIn(pids);
            }
            assertThat(hanging.await().headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Function.TimedOut");
            assertThat(lambda.api.answers(hanging)).hasSize(1);
        }
    }

    @Test
    void aWorkerWhoseAnswerCameTooLateIsReplaced() {
        try (RunningLambda lambda = app("function.php").managed(2).start()) {
            lambda.api.answerNextWith(410);
            String late = lambda.api.invoke("{\"do\":\"pid\"}").await().text();
            assertThat(lambda.log().fromStart().await("invocation.late").message())
                    .contains("is replaced");
            lambda.log()
                    .fromStart()
                    .await("worker.stopped", line -> line.message().contains("pid " + late));
            for (int i = 0; i < 4; i++) {
                assertThat(lambda.api.invoke("{\"do\":\"pid\"}").await().text()).isNotEqualTo(late);
            }
        }
    }

    // ---- many ----

    @Test
    void eachOfManyInvocationsIsAnsweredOnceThoughWorkersAreKilledBetweenAndDuringThem() {
        try (RunningLambda lambda = app("function.php").start()) {
            String pid = lambda.api.invoke("{\"do\":\"pid\"}").await().text();
            Set<String> pids = new TreeSet<>(Set.of(pid));
            int failed = 0;
            for (int i = 1; i <= SOAK; i++) {
                boolean during = i % (2 * KILL_EACH) == 0;
                Invocation invocation = lambda.api.invoke(during ? "{\"do\":\"hang\"}" : "{\"do\":\"pid\"}");
                if (during) {
                    await("it is delivered")
                            .atMost(RunningCetane.PATIENCE)
                            .until(() -> lambda.api.deliveries(invocation) == 1);
                    Processes.signal(Long.parseLong(pid), "KILL");
                }
                Call call = invocation.await();
                if (call.isError()) {
                    failed++;
                } else {
                    pid = call.text();
                    pids.add(pid);
                }
                assertThat(call.isError())
                        .as("invocation " + i + ": " + call.text())
                        .isEqualTo(during);
                assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
                assertThat(lambda.api.answers(invocation)).hasSize(1);
                if (i % KILL_EACH == 0 && !during) {
                    String killed = pid;
                    ServerLog.Tail tail = lambda.log().fromHere();
                    Processes.signal(Long.parseLong(pid), "KILL");
                    tail.await("worker.stopped", line -> line.message().contains("pid " + killed));
                }
            }
            assertThat(failed).isEqualTo(SOAK / (2 * KILL_EACH));
            assertThat(pids).hasSizeGreaterThanOrEqualTo(SOAK / KILL_EACH);
        }
    }
}
