package dev.cetane.lambda;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cetane.lambda.JsonReader.Span;
import dev.cetane.lambda.LocalInvocation.Answer;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Ticker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What stands before a function on a developer's machine: HTTP requests become events as an HTTP API makes them, and
 * {@code POST /2015-03-31/functions/NAME/invocations} invokes it with the body as the event, as AWS's emulator does. Thread-safe; each
 * request has a thread, which waits for its answer.
 */
public final class LocalFront implements AutoCloseable {
    /** Longer than an HTTP API waits; for what is invoked, Lambda's own limit. */
    private static final Duration HTTP_TIME = Duration.ofSeconds(30);

    private static final Duration INVOKE_TIME = Duration.ofMinutes(15);

    /** As Lambda's. */
    private static final int MAX_EVENT_BYTES = 6 * 1024 * 1024;

    private static final String HTTP_STREAM = "application/vnd.awslambda.http-integration-response";
    private static final int SEPARATOR_BYTES = 8;
    private static final int MAX_PRELUDE_BYTES = 1 << 20;

    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "cetane-local");
        thread.setDaemon(true);
        return thread;
    });
    private final LocalRuntimeApi api;
    private final HttpServer server;
    private final Ticker ticker;
    private final EventLog log;

    /** Starts listening. */
    public LocalFront(InetSocketAddress listen, Ticker ticker, EventLog log) throws IOException {
        this.ticker = ticker;
        this.log = log;
        api = new LocalRuntimeApi(threads, log);
        server = HttpServer.create(listen, 0);
        server.setExecutor(threads);
        server.createContext("/", this::request);
        server.start();
        InetSocketAddress address = server.getAddress();
        log.log(
                Level.INFO,
                "lambda.local",
                null,
                "http://" + address.getHostString() + ":" + address.getPort()
                        + "/ is the function's URL; events are taken by POST"
                        + " /2015-03-31/functions/function/invocations");
    }

    /** Where the runtime finds its API. */
    public InetSocketAddress runtimeApi() {
        return api.address();
    }

    private void request(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_EVENT_BYTES + 1);
            if (body.length > MAX_EVENT_BYTES) {
                exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
                reply(exchange, 413, "{\"message\":\"Request Too Long\"}");
                return;
            }
            if (exchange.getRequestURI().getPath().matches("/2015-03-31/functions/[^/]+/invocations")) {
                invoke(exchange, body);
            } else {
                http(exchange, body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (MalformedEventException e) {
            log.log(
                    Level.ERROR,
                    "lambda.local-malformed",
                    null,
                    "the function's answer is malformed: " + e.getMessage());
            reply(exchange, 502, "{\"message\":\"Internal Server Error\"}");
        }
    }

    /** Gives the event away and waits; null when time is up, which the client was told. */
    private @Nullable Answer answer(HttpExchange exchange, String id, byte[] event, Duration time)
            throws IOException, InterruptedException {
        LocalInvocation invocation =
                new LocalInvocation(id, event, ticker.now().plus(time).toEpochMilli(), new CompletableFuture<>());
        api.submit(invocation);
        try {
            return invocation.answer().get(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            api.giveUp(invocation);
            reply(exchange, 504, "{\"message\":\"Endpoint request timed out\"}");
            return null;
        }
    }

    private void invoke(HttpExchange exchange, byte[] event) throws IOException, InterruptedException {
        Answer answer = answer(
                exchange, UUID.randomUUID().toString(), event.length == 0 ? new byte[] {'{', '}'} : event, INVOKE_TIME);
        if (answer == null) {
            return;
        }
        try {
            if (answer.isError()) {
                exchange.getResponseHeaders().set("X-Amz-Function-Error", "Unhandled");
            }
            exchange.getResponseHeaders().set("Content-Type", answer.contentType());
            exchange.sendResponseHeaders(200, 0);
            answer.body().transferTo(exchange.getResponseBody());
        } finally {
            answer.taken().countDown();
        }
    }

    private void http(HttpExchange exchange, byte[] body)
            throws IOException, InterruptedException, MalformedEventException {
        String id = UUID.randomUUID().toString();
        Answer answer = answer(exchange, id, LocalEvent.json(exchange, body, id, ticker.now()), HTTP_TIME);
        if (answer == null) {
            return;
        }
        try {
            if (answer.isError()) {
                String error = new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
                log.log(Level.ERROR, "lambda.local-error", id, error);
                reply(exchange, 502, error);
            } else if (answer.isStreamed() && answer.contentType().startsWith(HTTP_STREAM)) {
                byte[] prelude = prelude(answer.body());
                send(exchange, HttpAnswer.of(prelude), answer.body());
            } else {
                HttpAnswer whole = HttpAnswer.of(answer.body().readAllBytes());
                send(exchange, whole, InputStream.nullInputStream());
            }
        } finally {
            answer.taken().countDown();
        }
    }

    /** Reads the JSON before a streamed body, and the NULs between them. */
    private static byte[] prelude(InputStream in) throws IOException, MalformedEventException {
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        int c = in.read();
        while (c > 0 && json.size() < MAX_PRELUDE_BYTES) {
            json.write(c);
            c = in.read();
        }
        if (c != 0 || in.readNBytes(SEPARATOR_BYTES - 1).length != SEPARATOR_BYTES - 1) {
            throw new MalformedEventException("a streamed answer without its head");
        }
        return json.toByteArray();
    }

    private static void send(HttpExchange exchange, HttpAnswer answer, InputStream more) throws IOException {
        answer.headers.forEach((name, value) -> {
            if (!name.equalsIgnoreCase("content-length")) {
                exchange.getResponseHeaders().set(name, value);
            }
        });
        answer.cookies.forEach(cookie -> exchange.getResponseHeaders().add("Set-Cookie", cookie));
        boolean isBodiless = exchange.getRequestMethod().equals("HEAD") || answer.status == 204 || answer.status == 304;
        exchange.sendResponseHeaders(answer.status, isBodiless ? -1 : 0);
        if (isBodiless) {
            more.transferTo(OutputStream.nullOutputStream());
            return;
        }
        OutputStream out = exchange.getResponseBody();
        out.write(answer.body);
        byte[] piece = new byte[8192];
        for (int count = more.read(piece); count >= 0; count = more.read(piece)) {
            out.write(piece, 0, count);
            out.flush();
        }
    }

    private static void reply(HttpExchange exchange, int status, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
        api.close();
        threads.shutdownNow();
    }

    /** An answer of a function as an HTTP API reads it: an object with a status, or anything else, which is then the body. */
    private static final class HttpAnswer {
        private int status = 200;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private final List<String> cookies = new ArrayList<>();
        private byte[] body = {};

        static HttpAnswer of(byte[] json) throws MalformedEventException {
            Span whole = new JsonReader(json, 0, json.length).whole();
            HttpAnswer answer = new HttpAnswer();
            boolean hasStatus = false;
            boolean isBase64 = false;
            if (whole.isObject()) {
                JsonReader object = whole.reader();
                object.beginObject();
                for (String name = object.nextName(); name != null; name = object.nextName()) {
                    Span value = object.span();
                    switch (name) {
                        case "statusCode" -> {
                            if (!value.raw().matches("[1-9][0-9]{2}")) {
                                throw new MalformedEventException("statusCode is " + value.raw());
                            }
                            answer.status = Integer.parseInt(value.raw());
                            hasStatus = true;
                        }
                        case "headers" -> answer.readHeaders(value);
                        case "cookies" -> answer.readCookies(value);
                        case "body" -> answer.body = value.isString() ? JsonReader.bytes(value) : new byte[0];
                        case "isBase64Encoded" -> isBase64 = value.isTrue();
                        default -> {}
                    }
                }
            }
            if (!hasStatus) {
                answer.headers.clear();
                answer.headers.put("content-type", "application/json");
                answer.body = json;
            } else if (isBase64) {
                answer.body = Base64.getDecoder().decode(answer.body);
            }
            return answer;
        }

        private void readHeaders(Span value) throws MalformedEventException {
            JsonReader object = value.reader();
            object.beginObject();
            for (String name = object.nextName(); name != null; name = object.nextName()) {
                String text = object.text();
                headers.put(name, text == null ? "" : text);
            }
        }

        private void readCookies(Span value) throws MalformedEventException {
            JsonReader array = value.reader();
            array.beginArray();
            while (array.nextElement()) {
                String text = array.text();
                cookies.add(text == null ? "" : text);
            }
        }
    }
}
