package dev.cetane.lambda;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cetane.lambda.LocalInvocation.Answer;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The Lambda Runtime API for a runtime on this machine: hands out what {@link #submit} gives, one event after the other to each caller of
 * {@code /next}, and completes it with what is posted. Extensions may register and hear nothing. Thread-safe; each call has a thread.
 */
final class LocalRuntimeApi implements AutoCloseable {
    private static final String RUNTIME = "/2018-06-01/runtime/";
    private static final String EXTENSION = "/2020-01-01/extension/";
    private static final int MAX_INIT_ERROR_BYTES = 1 << 20;
    private static final String FUNCTION_ARN = "arn:aws:lambda:local:000000000000:function:function";

    private final HttpServer server;
    private final EventLog log;
    private final BlockingQueue<LocalInvocation> queue = new LinkedBlockingQueue<>();
    private final Map<String, LocalInvocation> running = new ConcurrentHashMap<>();

    LocalRuntimeApi(ExecutorService threads, EventLog log) throws IOException {
        this.log = log;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::call);
        server.start();
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    void submit(LocalInvocation invocation) {
        queue.add(invocation);
    }

    /** Forgets an invocation whose client waits no more; an answer that comes yet is refused. */
    void giveUp(LocalInvocation invocation) {
        queue.remove(invocation);
        running.remove(invocation.id());
    }

    private void call(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (path.equals(RUNTIME + "invocation/next")) {
                next(exchange);
            } else if (path.startsWith(RUNTIME + "invocation/")) {
                answer(exchange, path.substring((RUNTIME + "invocation/").length()));
            } else if (path.equals(RUNTIME + "init/error")) {
                initError(exchange);
            } else if (path.equals(EXTENSION + "register")) {
                exchange.getResponseHeaders().set("Lambda-Extension-Identifier", "local");
                reply(exchange, 200, "{}");
            } else if (path.equals(EXTENSION + "event/next")) {
                new CountDownLatch(1).await();
            } else {
                reply(exchange, 404, "{\"errorType\":\"NotFound\"}");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void next(HttpExchange exchange) throws IOException, InterruptedException {
        LocalInvocation invocation = queue.take();
        running.put(invocation.id(), invocation);
        exchange.getResponseHeaders().set("Lambda-Runtime-Aws-Request-Id", invocation.id());
        exchange.getResponseHeaders().set("Lambda-Runtime-Deadline-Ms", Long.toString(invocation.deadlineMillis()));
        exchange.getResponseHeaders().set("Lambda-Runtime-Invoked-Function-Arn", FUNCTION_ARN);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, invocation.event().length);
        exchange.getResponseBody().write(invocation.event());
    }

    private void answer(HttpExchange exchange, String idAndKind) throws IOException, InterruptedException {
        int slash = idAndKind.indexOf('/');
        LocalInvocation invocation = running.remove(slash < 0 ? idAndKind : idAndKind.substring(0, slash));
        if (invocation == null) {
            exchange.getRequestBody().readAllBytes();
            reply(exchange, 400, "{\"errorType\":\"InvalidRequestID\"}");
            return;
        }
        String mode = header(exchange, "Lambda-Runtime-Function-Response-Mode");
        Answer answer = new Answer(
                idAndKind.endsWith("/error"),
                mode.equals("streaming"),
                header(exchange, "Content-Type"),
                exchange.getRequestBody(),
                new CountDownLatch(1));
        if (invocation.answer().complete(answer)) {
            answer.taken().await();
        }
        reply(exchange, 202, "{\"status\":\"OK\"}");
    }

    private void initError(HttpExchange exchange) throws IOException {
        byte[] error = exchange.getRequestBody().readNBytes(MAX_INIT_ERROR_BYTES);
        log.log(
                Level.ERROR,
                "lambda.local-init-error",
                null,
                "the function cannot start: " + new String(error, StandardCharsets.UTF_8));
        reply(exchange, 202, "{\"status\":\"OK\"}");
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
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
    }
}
