package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code cetane lambda --local}: a function behind an emulator, asked as a developer would with curl. */
final class LambdaLocalTest {
    private static final Pattern URL = Pattern.compile("http://127\\.0\\.0\\.1:[0-9]+");

    private Path directory;
    private Process process;
    private String url;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = Files.createTempDirectory("cetane-local-");
    }

    @AfterEach
    void stop() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        RunningCetane.delete(directory);
    }

    private void start(Path application, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "env",
                "--default-signal",
                RunningCetane.LAUNCHER.toString(),
                "lambda",
                "--local",
                application.toString()));
        command.addAll(List.of("--listen", "127.0.0.1:0", "--set", "run-directory=" + directory.resolve("run")));
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("CETANE_"));
        process = builder.start();
        process.getOutputStream().close();
        ServerLog log = new ServerLog(process.getInputStream());
        Matcher matcher = URL.matcher(log.fromStart().await("lambda.local").message());
        assertThat(matcher.find()).isTrue();
        url = matcher.group();
    }

    private HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()
                .send(request.timeout(RunningCetane.PATIENCE).build(), BodyHandlers.ofByteArray());
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(url + path));
    }

    private Path script(String php) throws IOException {
        return Files.writeString(directory.resolve("worker.php"), "<?php\n" + php, StandardCharsets.UTF_8);
    }

    @Test
    void aRequestBecomesAnEventAndItsAnswerAnAnswer() throws Exception {
        start(script("""
                Cetane\\Worker::run(fn ($r) => new Cetane\\Response(
                    201,
                    ['Content-Type' => 'application/octet-stream', 'Set-Cookie' => ['a=1', 'b=2'], 'X-Path' => $r->path()],
                    $r->body() . "\\x00\\xFF",
                ));"""));
        byte[] body = {0, 1, (byte) 200};
        HttpResponse<byte[]> answer =
                send(to("/a%20b?x=1&x=2").POST(BodyPublishers.ofByteArray(body)).header("Cookie", "c=3"));
        assertThat(answer.statusCode()).isEqualTo(201);
        assertThat(answer.body()).isEqualTo(new byte[] {0, 1, (byte) 200, 0, (byte) 255});
        assertThat(answer.headers().allValues("Set-Cookie")).containsExactlyInAnyOrder("a=1", "b=2");
        assertThat(answer.headers().firstValue("X-Path").orElse("")).contains("a");
    }

    @Test
    void aFunctionIsInvokedAsWithTheEmulatorOfAws() throws Exception {
        start(RunningCetane.TESTS.resolve("apps/lambda/function.php"));
        String endpoint = "/2015-03-31/functions/function/invocations";
        HttpResponse<byte[]> answer = send(to(endpoint).POST(BodyPublishers.ofString("{\"do\":\"echo\",\"a\":[1]}")));
        JsonNode result = RunningCetane.json(new String(answer.body(), StandardCharsets.UTF_8));
        assertThat(result.path("event").path("a").path(0).asInt()).isEqualTo(1);
        assertThat(result.path("arn").asText()).contains(":function:");

        HttpResponse<byte[]> failed = send(to(endpoint).POST(BodyPublishers.ofString("{\"do\":\"throw\"}")));
        assertThat(failed.headers().firstValue("X-Amz-Function-Error")).hasValue("Unhandled");
        assertThat(new String(failed.body(), StandardCharsets.UTF_8)).contains("out of stock");

        HttpResponse<byte[]> event = send(to("/x?a=1"));
        assertThat(RunningCetane.json(new String(event.body(), StandardCharsets.UTF_8))
                        .path("event")
                        .path("rawQueryString")
                        .asText())
                .isEqualTo("a=1");
    }

    @Test
    void anAnswerIsStreamedWhereTheFunctionStreams() throws Exception {
        start(RunningCetane.TESTS.resolve("apps/lambda/stream.php"), "--set", "lambda.stream=true");
        HttpResponse<byte[]> answer = send(to("/pieces"));
        assertThat(answer.statusCode()).isEqualTo(202);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8)).isEqualTo("one\ntwo\nthree\n");
        assertThat(answer.headers().allValues("Set-Cookie")).containsExactlyInAnyOrder("a=1", "b=2");
        assertThat(send(to("/empty")).body()).isEmpty();
        assertThat(send(to("/pieces").method("HEAD", BodyPublishers.noBody())).statusCode())
                .isEqualTo(202);
    }
}
