package dev.cetane.lambda;

import static dev.cetane.lambda.ScriptedApi.reply;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.lambda.ScriptedApi.Request;
import dev.cetane.log.RecordingLog;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of an answer, as a worker may give it: also of one that the PHP client would never let through. */
@Timeout(60)
final class InvocationJobTest {
    private static final String CONTEXT = "\"requestContext\":{\"http\":{\"method\":\"%s\",\"path\":\"/\"}}";
    private static final String BALANCER = "{\"httpMethod\":\"GET\",\"path\":\"/\",\"requestContext\":{\"elb\":{}}}";

    private final RecordingLog log = new RecordingLog();

    @TempDir
    private Path directory;

    private ScriptedApi script;
    private RuntimeApi api;

    @BeforeEach
    void start() throws IOException {
        script = new ScriptedApi(reply(202, "", "{}"), reply(202, "", "{}"));
        api = new RuntimeApi(script.address(), Ticker.system());
    }

    @AfterEach
    void stop() throws IOException {
        api.close();
        script.close();
    }

    private static String http(String method) {
        return "{" + CONTEXT.formatted(method) + "}";
    }

    private InvocationJob job(String event) {
        return job(event, false, false);
    }

    private InvocationJob job(String event, boolean stream, boolean debug) {
        LambdaConfig config = new LambdaConfig(
                script.address(),
                "on-demand",
                1,
                stream,
                Duration.ofMillis(500),
                "auto",
                Duration.ofSeconds(9),
                "",
                directory,
                debug);
        byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
        Invocation invocation = new Invocation("id-1", 0, "", "", "", "", "", "", bytes, bytes.length);
        try {
            HttpEvent http = new EventReader("auto").read(invocation).http();
            InvocationRequest request = new InvocationRequest(
                    invocation, http, EventBody.whole(directory, "id-1", bytes, 0), new CgiVariables("/index.php"));
            return new InvocationJob(
                    config,
                    request,
                    new TimeLimit(Duration.ZERO, "none"),
                    api,
                    Ticker.system(),
                    log,
                    new InvocationFigures(),
                    new InvocationJob.Buffers(new ByteWriter(), new ByteWriter()));
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }

    private static ResponseHead head(int status, String... headers) {
        return new ResponseHead(status, "", ResponseHead.UNKNOWN_LENGTH, List.of(headers));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(InvocationJob job, ResponseHead head, String body) {
        job.head(head);
        job.data(bytes(body));
        job.end();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nSet-Cookie: b=1", "a\nb", "a\rb", "a\0b"})
    void aHeaderFieldWithALineBreakIsA502AndNothingOfItLeaves(String value) throws InterruptedException {
        answer(job(http("GET")), head(200, "X-Bad", value), "secret");
        Request request = script.take();
        assertThat(request.body())
                .contains("\"statusCode\":502")
                .doesNotContain("X-Bad", "x-bad", "secret", "Set-Cookie");
        assertThat(log.events("request.invalid-answer"))
                .singleElement()
                .satisfies(event -> assertThat(event.message()).contains("X-Bad", "line break"));
        assertThat(script.requests()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "a\nb", "\u00e4"})
    void aHeaderFieldWhoseNameIsNoTokenIsA502(String name) throws InterruptedException {
        answer(job(http("GET")), head(200, name, "v"), "body");
        assertThat(script.take().body()).contains("\"statusCode\":502");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterimHeadIsNotTheAnswer(boolean stream) throws InterruptedException {
        InvocationJob job = job(http("GET"), stream, false);
        job.head(head(103, "Link", "</a.css>; rel=preload"));
        answer(job, head(201, "Content-Type", "text/plain"), "made");
        assertThat(script.take().body()).contains("\"statusCode\":201", "made").doesNotContain("preload");
    }

    @ParameterizedTest
    @CsvSource({"HEAD, 200", "GET, 204", "GET, 304"})
    void whatHasNoBodyByHttpHasNone(String method, int status) throws InterruptedException {
        answer(job(http(method)), head(status, "Content-Type", "text/plain"), "a body");
        assertThat(script.take().body()).contains("\"statusCode\":" + status, "\"body\":\"\"");
    }

    @Test
    void withoutAFieldThereIsAnObjectOfFieldsAllTheSame() throws InterruptedException {
        answer(job(http("GET")), head(204), "");
        assertThat(script.take().body())
                .isEqualTo("{\"statusCode\":204,\"headers\":{},\"isBase64Encoded\":false,\"body\":\"\"}");
    }

    @Test
    void aFileIsSentFromWhereItIsToBeginAndDeletedWhenThatIsAskedFor() throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("file"), "0123456789");
        InvocationJob job = job(http("GET"));
        job.head(head(200, "Content-Type", "text/plain"));
        job.file(file, 3, 4, false);
        assertThat(file).exists();
        job.file(file, 8, 1, true);
        job.end();
        assertThat(script.take().body()).contains("\"body\":\"34568\"");
        assertThat(file).doesNotExist();
    }

    @Test
    void aLoadBalancerGetsNoMoreThanAMegabyteAndAWordInsteadOfMore() throws InterruptedException {
        answer(job(BALANCER), head(200, "Content-Type", "text/plain"), "x".repeat(1_048_576 - 300));
        assertThat(script.take().body()).hasSizeBetween(1_048_000, 1_048_576);
        answer(job(BALANCER), head(200, "Content-Type", "text/plain"), "x".repeat(1_048_576));
        assertThat(script.take().body()).contains("\"statusCode\":500", "larger than this function can send");
        assertThat(log.events("request.answer-too-large")).hasSize(1);
    }

    // ---- streams ----

    @Test
    void aStreamHasItsPreludeInAChunkOfItsOwnAndEnds() throws InterruptedException {
        InvocationJob job = job(http("GET"), true, false);
        job.head(head(
                200,
                "Content-Type",
                "text/plain",
                "Content-Length",
                "3",
                "Connection",
                "close",
                "Transfer-Encoding",
                "x"));
        job.data(bytes(""));
        job.data(bytes("abc"));
        job.end();
        Request request = script.take();
        assertThat(request.head())
                .contains("Lambda-Runtime-Function-Response-Mode: streaming\r\n", "Transfer-Encoding: chunked\r\n")
                .contains("Trailer: Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body\r\n");
        String prelude = "{\"statusCode\":200,\"headers\":{\"content-type\":\"text/plain\"}}" + "\0".repeat(8);
        assertThat(request.body())
                .isEqualTo(Integer.toHexString(prelude.length()) + "\r\n" + prelude + "\r\n3\r\nabc\r\n0\r\n\r\n");
    }

    @Test
    void aStreamThatFailsSaysWhyInTrailersWithTheErrorInBase64() throws InterruptedException {
        InvocationJob job = job(http("GET"), true, false);
        job.head(head(200));
        job.failed(new WorkerException(WorkerException.Kind.CRASHED, "worker 1 has ended"));
        String body = script.take().body();
        assertThat(body).contains("\r\n0\r\nLambda-Runtime-Function-Error-Type: Runtime.ExitError\r\n");
        String error = body.replaceAll("(?s).*Error-Body: ([^\r]*)\r\n.*", "$1");
        assertThat(new String(java.util.Base64.getDecoder().decode(error), StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"errorMessage\":\"worker 1 has ended\",\"errorType\":\"Runtime.ExitError\",\"stackTrace\":[]}");
    }

    @Test
    void aLoadBalancerGetsNoStreamAndAnEventsErrorIsNone() throws InterruptedException {
        answer(job(BALANCER, true, false), head(200, "Content-Type", "text/plain"), "whole");
        assertThat(script.take().body()).contains("\"body\":\"whole\"");
        answer(job("{\"a\":1}", true, false), head(500, "Error-Type", "DomainException"), "{\"errorType\":\"x\"}");
        Request error = script.take();
        assertThat(error.head()).startsWith("POST /2018-06-01/runtime/invocation/id-1/error ");
        assertThat(error.head()).contains("Lambda-Runtime-Function-Error-Type: Function.DomainException\r\n");
        assertThat(error.body()).isEqualTo("{\"errorType\":\"x\"}");
    }

    @Test
    void theStreamOfAFunctionHasItsOwnTypeAndNoPrelude() throws InterruptedException {
        answer(job("{\"a\":1}", true, false), head(200, "Content-Type", "application/octet-stream"), "abc");
        Request request = script.take();
        assertThat(request.head()).contains("\r\nContent-Type: application/octet-stream\r\n");
        assertThat(request.body()).isEqualTo("3\r\nabc\r\n0\r\n\r\n");
    }

    // ---- failures ----

    @Test
    void whatTheApplicationSaysOfAFailureIsForDebuggingOnly() throws InterruptedException {
        WorkerException problem = new WorkerException(
                WorkerException.Kind.APPLICATION, "GET / has failed", "PDOException: the password is x", null);
        job(http("GET"), false, false).failed(problem);
        assertThat(script.take().body())
                .contains("\"statusCode\":500", "The application failed.")
                .doesNotContain("PDO");
        job(http("GET"), false, true).failed(problem);
        assertThat(script.take().body()).contains("\"statusCode\":500", "PDOException: the password is x");
    }

    @ParameterizedTest
    @CsvSource({
        "TIMED_OUT, Function.TimedOut",
        "CRASHED, Runtime.ExitError",
        "PROTOCOL, Runtime.ProtocolError",
        "APPLICATION, Function.Unhandled",
        "UNDELIVERABLE, Runtime.EventTooLarge",
        "OVERLOADED, Runtime.NoWorker"
    })
    void anEventThatFailsHasATypeThatTheApiTakes(WorkerException.Kind kind, String type) throws InterruptedException {
        job("{\"a\":1}").failed(new WorkerException(kind, "why"));
        assertThat(script.take().head()).contains("Lambda-Runtime-Function-Error-Type: " + type + "\r\n");
    }

    @Test
    void onlyTheFirstOfAnAnswerAndAFailureIsSent() throws IOException, InterruptedException {
        InvocationJob job = job(http("GET"));
        answer(job, head(200), "first");
        job.failed(new WorkerException(WorkerException.Kind.TIMED_OUT, "late"));
        assertThat(job.await(10_000)).isTrue();
        assertThat(Objects.requireNonNull(job.confirm(10_000)).status()).isEqualTo(202);
        InvocationJob other = job(http("GET"));
        other.failed(new WorkerException(WorkerException.Kind.TIMED_OUT, "first"));
        answer(other, head(200), "late");
        assertThat(Objects.requireNonNull(other.confirm(10_000)).status()).isEqualTo(202);
        assertThat(script.requests()).hasSize(2);
        assertThat(script.requests().get(1).body()).contains("\"statusCode\":504");
    }

    @Test
    void anErrorNeverHasMoreThanTheApiTakes() {
        assertThat(new InvocationError("Function.X", "m".repeat(100_000)).json())
                .hasSizeBetween(65_536, 66_000);
        byte[] large = new byte[(1 << 20) + 1];
        assertThat(new String(new InvocationError("Function.X", "", large).json(), StandardCharsets.UTF_8))
                .contains("more than 1 MB", "\"errorType\":\"Function.X\"");
        byte[] most = new byte[1 << 20];
        assertThat(new InvocationError("Function.X", "", most).json()).isSameAs(most);
    }
}
