package dev.cetane.tests;

import static dev.cetane.tests.LambdaEvents.httpApi;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.cetane.tests.FakeRuntimeApi.Call;
import dev.cetane.tests.FakeRuntimeApi.Invocation;
import java.util.List;
import org.junit.jupiter.api.Test;

/** From the start of an environment to its end: snapshots, the freezer, SIGTERM, and an API that misbehaves. */
final class LambdaLifeTest {
    private static RunningLambda.Starter app(String name) {
        return new RunningLambda.Starter(RunningCetane.TESTS.resolve("apps/lambda/" + name));
    }

    private static String text(RunningLambda lambda, String path) {
        return lambda.answer(httpApi(path, "")).path("body").asText();
    }

    // ---- SnapStart ----

    @Test
    void aWorkerIsWarmedToldOfTheSnapshotAndOfItsRestoreBeforeTheFirstEvent() {
        try (RunningLambda lambda = app("snapshot.php")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .set("lambda.warm-request", "/warm?x=1")
                .start()) {
            lambda.api.awaitSnapshot();
            assertThat(lambda.api.calls())
                    .noneMatch(
                            call -> call.path().endsWith("/next") && call.path().contains("invocation"));
            lambda.api.restore();
            assertThat(text(lambda, "/first"))
                    .isEqualTo("booted /warm?x=1 before-2 before-1 after-1 after-2 seeded anew /first");
            lambda.log().fromStart().await("lambda.restored");
        }
    }

    @Test
    void anEnvironmentThatIsNoSnapshotTellsNobodyOfOne() {
        try (RunningLambda lambda = app("snapshot.php").start()) {
            assertThat(text(lambda, "/first")).isEqualTo("booted /first");
        }
    }

    @Test
    void aHookThatFailsBeforeTheSnapshotIsAnInitError() {
        try (RunningLambda lambda = app("snapshot.php")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .environment("FAILING_HOOK", "before-1")
                .start()) {
            assertThat(lambda.api.awaitInitError().text()).contains("the hook before-1 fails");
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void aHookThatFailsAfterARestoreIsARestoreError() {
        try (RunningLambda lambda = app("snapshot.php")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .environment("FAILING_HOOK", "after-1")
                .start()) {
            lambda.api.awaitSnapshot();
            lambda.api.restore();
            Call error = lambda.api.awaitRestoreError();
            assertThat(error.text()).contains("the hook after-1 fails");
            assertThat(error.headers().get("lambda-runtime-function-error-type"))
                    .isEqualTo("Runtime.RestoreHookFailed");
            assertThat(lambda.awaitExit()).isEqualTo(64);
        }
    }

    // ---- SIGTERM ----

    @Test
    void anExtensionWithoutEventsIsRegisteredBeforeTheFirstInvocationAndSigtermRunsTheWorkersShutdownCode() {
        try (RunningLambda lambda = app("goodbye.php").start()) {
            assertThat(text(lambda, "/")).isEqualTo("hi");
            List<Call> calls = lambda.api.calls();
            List<String> paths = calls.stream().map(Call::path).toList();
            int registered = paths.indexOf("/2020-01-01/extension/register");
            assertThat(registered).isBetween(0, paths.indexOf("/2018-06-01/runtime/invocation/next") - 1);
            assertThat(calls.get(registered).text()).isEqualTo("{\"events\":[]}");
            assertThat(calls.get(registered).headers()).containsKey("lambda-extension-name");
            await("it waits for events, which says that it is ready")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> lambda.api.calls().stream()
                            .anyMatch(call -> call.path().equals("/2020-01-01/extension/event/next")));
            lambda.signal("TERM");
            assertThat(lambda.awaitExit()).isZero();
            lambda.log().fromStart().awaitText("goodbye from the shutdown function");
        }
    }

    @Test
    void sigtermEndsARuntimeWhateverItWaitsFor() {
        try (RunningLambda lambda = app("snapshot.php")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .start()) {
            lambda.api.awaitSnapshot();
            lambda.signal("TERM");
            assertThat(lambda.awaitExit()).as("for its restore").isZero();
        }
        try (RunningLambda lambda = app("goodbye.php").start(api -> api.sayNothingTo("/response"))) {
            lambda.api.invoke(httpApi("/", ""));
            awaitCall(lambda, "/response");
            lambda.signal("TERM");
            assertThat(lambda.awaitExit()).as("for word of an answer").isZero();
            assertThat(lambda.log().fromStart().all())
                    .noneMatch(line -> line.text().contains("lambda.ended"));
        }
        try (RunningLambda lambda = app("boot.php").start()) {
            lambda.log().fromStart().awaitText("booting");
            lambda.signal("TERM");
            assertThat(lambda.awaitExit()).as("for the boot").isZero();
            assertThat(lambda.api.calls()).noneMatch(call -> call.path().endsWith("/init/error"));
        }
    }

    private static void awaitCall(RunningLambda lambda, String end) {
        await("a call of " + end)
                .atMost(RunningCetane.PATIENCE)
                .until(() ->
                        lambda.api.calls().stream().anyMatch(call -> call.path().endsWith(end)));
    }

    @Test
    void anApiThatTakesNoExtensionsIsServedAllTheSame() {
        try (RunningLambda lambda = app("goodbye.php").start(FakeRuntimeApi::forbidExtensions)) {
            assertThat(text(lambda, "/")).isEqualTo("hi");
            assertThat(lambda.log().fromStart().await("lambda.no-extension").message())
                    .contains("403");
        }
    }

    // ---- the freezer ----

    @Test
    void aSandboxThatIsFrozenBetweenInvocationsAndThawedWithDeadConnectionsGoesOn() {
        try (RunningLambda lambda = app("goodbye.php").start()) {
            for (int i = 0; i < 3; i++) {
                assertThat(text(lambda, "/" + i)).isEqualTo("hi");
                lambda.freeze();
                lambda.api.dropConnections();
                Invocation invocation = lambda.api.invoke(httpApi("/frozen", ""));
                lambda.thaw();
                assertThat(invocation.await().isError()).isFalse();
                assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
                assertThat(lambda.api.answers(invocation)).hasSize(1);
            }
        }
    }

    // ---- an API that misbehaves ----

    @Test
    void whateverIsWrongWithTheAnswerToNextEndsTheProcessSoThatLambdaStartsAfresh() {
        for (String raw : List.of(
                "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}",
                "SSH-2.0-OpenSSH\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\nContent-Length: 200\r\n\r\n{\"cut",
                "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: ../init/error\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\nContent-Length: 99999999999\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")) {
            try (RunningLambda lambda = app("goodbye.php").start(api -> api.replyToNext(raw))) {
                assertThat(lambda.awaitExit()).as(raw).isEqualTo(1);
                lambda.log().fromStart().await("lambda.ended");
            }
        }
    }

    @Test
    void whateverIsWrongWithTheReplyToAnAnswerEndsTheProcessAndTheAnswerWasGivenOnce() {
        for (String raw : List.of(
                "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}",
                "garbage\r\n\r\n",
                "HTTP/1.1 202 Accepted\r\nContent-Length: 20\r\n\r\n{")) {
            try (RunningLambda lambda = app("goodbye.php").start(api -> api.replyToAnswers(raw))) {
                Invocation invocation = lambda.api.invoke(httpApi("/", ""));
                assertThat(lambda.awaitExit()).as(raw).isEqualTo(1);
                assertThat(lambda.api.answers(invocation)).hasSize(1);
            }
        }
    }

    @Test
    void anApiThatSaysNothingOfAnAnswerEndsTheProcessSoThatLambdaStartsAfresh() {
        try (RunningLambda lambda = app("goodbye.php").start(api -> api.sayNothingTo("/response"))) {
            lambda.api.invoke(httpApi("/", ""));
            assertThat(lambda.awaitExit()).isEqualTo(1);
            assertThat(lambda.log().fromStart().await("lambda.ended").message()).contains("has not answered within");
            assertThat(lambda.api.calls().stream().filter(call -> call.path().endsWith("/response")))
                    .hasSize(1);
        }
    }

    @Test
    void ofTheSlotsOfManyOneWhoseAnswerNobodySpeaksOfServesAgain() {
        try (RunningLambda lambda = app("function.php").managed(2).start(api -> api.sayNothingTo("/response"))) {
            lambda.api.invoke("{\"do\":\"pid\"}");
            assertThat(lambda.log().fromStart().await("lambda.slot-pauses").message())
                    .contains("has not answered within");
            lambda.api.speakAgain();
            for (int i = 0; i < 4; i++) {
                assertThat(lambda.api.invoke("{\"do\":\"pid\"}").await().isError())
                        .isFalse();
            }
        }
    }

    @Test
    void anInitErrorThatTheApiSaysNothingOfEndsTheProcessAllTheSame() {
        try (RunningLambda lambda = app("missing.php").start(api -> api.sayNothingTo("/init/error"))) {
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
        try (RunningLambda lambda = app("snapshot.php")
                .environment("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
                .environment("FAILING_HOOK", "before-1")
                .start(api -> api.sayNothingTo("/init/error"))) {
            assertThat(lambda.awaitExit()).isEqualTo(1);
        }
    }

    @Test
    void anApiThatSaysNothingToAnExtensionIsServedAllTheSame() {
        try (RunningLambda lambda = app("goodbye.php").start(api -> api.sayNothingTo("/extension/register"))) {
            assertThat(text(lambda, "/")).isEqualTo("hi");
            lambda.log().fromStart().await("lambda.no-extension");
        }
    }

    @Test
    void anInvocationWithoutADeadlineHasAsMuchTimeAsItTakes() {
        String event = "{\"do\":\"wait\"}";
        String raw = "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: endless\r\nContent-Length: " + event.length()
                + "\r\n\r\n" + event;
        try (RunningLambda lambda = app("function.php").start(api -> api.replyToNext(raw))) {
            assertThat(lambda.log()
                            .fromStart()
                            .await("invocation.refused", "endless")
                            .message())
                    .as("the API never gave it")
                    .contains("400");
            assertThat(lambda.api.calls())
                    .filteredOn(call -> call.path().contains("/endless/"))
                    .allMatch(call -> call.path().endsWith("/response"))
                    .isNotEmpty();
        }
    }

    @Test
    void aSlotOfManyTriesAgainWhenNextFails() {
        try (RunningLambda lambda = app("function.php")
                .managed(2)
                .start(api -> api.replyToNext(
                        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}", "garbage", "", ""))) {
            List<Invocation> invocations = List.of(
                    lambda.api.invoke("{\"do\":\"wait\"}"),
                    lambda.api.invoke("{\"do\":\"wait\"}"),
                    lambda.api.invoke("{\"do\":\"wait\"}"));
            for (Invocation invocation : invocations) {
                assertThat(invocation.await().isError()).isFalse();
                assertThat(lambda.api.deliveries(invocation)).isEqualTo(1);
            }
            lambda.log()
                    .fromStart()
                    .await("lambda.slot-pauses", line -> line.message().endsWith("tries again in 200 ms"));
        }
    }
}
