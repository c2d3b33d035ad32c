package dev.cetane.tests;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The Lambda Runtime API as AWS documents it, over plain sockets: {@code /next} blocks until there is an event, an invocation has one
 * answer, and {@code /next} while an invocation runs gives the same event again. Faults are scripted. All state is guarded by its
 * monitor; each connection has a thread of its own.
 */
final class FakeRuntimeApi implements AutoCloseable {
    private static final int LARGEST_ANSWER = 6_291_556;
    private static final String PREFIX = "/2018-06-01/runtime/";
    private static final String EXTENSIONS = "/2020-01-01/extension/";

    private static final String EXTENSION = "11111111-2222-3333-4444-555555555555";

    private final ServerSocket server;
    private final List<Socket> connections = new ArrayList<>();
    private final ArrayDeque<Invocation> queue = new ArrayDeque<>();
    private final Map<String, Invocation> known = new LinkedHashMap<>();
    private final List<Call> calls = new ArrayList<>();
    private final ArrayDeque<Integer> answerStatus = new ArrayDeque<>();
    private final ArrayDeque<String> rawNext = new ArrayDeque<>();
    private final ArrayDeque<String> rawAnswers = new ArrayDeque<>();
    private final List<String> silent = new ArrayList<>();
    private final CompletableFuture<Call> initError = new CompletableFuture<>();
    private final CompletableFuture<Call> restoreError = new CompletableFuture<>();
    private final CompletableFuture<Void> snapshot = new CompletableFuture<>();
    private final boolean concurrent;
    private Invocation running;
    private boolean extensionsForbidden;
    private boolean restored;
    private boolean closed;
    private int connectionsDroppedAfterNext;
    private int answersDropped;

    FakeRuntimeApi() {
        this(false);
    }

    /** @param concurrent as with Managed Instances: several invocations run at once, and none is given twice */
    FakeRuntimeApi(boolean concurrent) {
        this.concurrent = concurrent;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        daemon(this::accept, "fake-runtime-api");
    }

    /**
     * One request that came.
     *
     * @param headers by names in lower case
     * @param trailers likewise
     * @param pieces the chunks it came in; empty when it had a length
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Call(
            String method,
            String path,
            Map<String, String> headers,
            byte[] body,
            Map<String, String> trailers,
            List<Integer> pieces) {
        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        boolean isError() {
            return path.endsWith("/error");
        }

        boolean isStreamed() {
            return headers.getOrDefault("lambda-runtime-function-response-mode", "")
                    .equals("streaming");
        }
    }

    /** One event and what became of it. Guarded by the API's monitor but for {@code outcome}. */
    static final class Invocation {
        final String id = UUID.randomUUID().toString();
        final CompletableFuture<Call> outcome = new CompletableFuture<>();
        final List<Call> answers = new ArrayList<>();
        private final byte[] event;
        private final long deadlineMillis;
        private final Map<String, String> headers;
        private int deliveries;

        Invocation(byte[] event, long deadlineMillis, Map<String, String> headers) {
            this.event = event;
            this.deadlineMillis = deadlineMillis;
            this.headers = headers;
        }

        Call await() {
            try {
                return outcome.get(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new AssertionError("invocation " + id + " was not answered", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    // ---- what a test scripts ----

    Invocation invoke(String event) {
        return invoke(event, 30_000, Map.of());
    }

    /** @param headers further headers of {@code /next} */
    synchronized Invocation invoke(String event, long millis, Map<String, String> headers) {
        Invocation invocation =
                new Invocation(event.getBytes(StandardCharsets.UTF_8), System.currentTimeMillis() + millis, headers);
        queue.addLast(invocation);
        known.put(invocation.id, invocation);
        notifyAll();
        return invocation;
    }

    /** The next answers get these statuses in place of 202. */
    synchronized void answerNextWith(int... statuses) {
        for (int status : statuses) {
            answerStatus.addLast(status);
        }
    }

    /** Closes every connection that is open and waits for an event, as a sandbox that was frozen long finds it. */
    synchronized void dropConnections() {
        for (Socket connection : connections) {
            close(connection);
        }
        connections.clear();
    }

    /** Closes the connection as soon as it has given the next event. */
    synchronized void dropAfterNext() {
        connectionsDroppedAfterNext++;
    }

    /** Reads the next answer, closes the connection and says nothing, so that the answer comes twice. */
    synchronized void dropAnswer() {
        answersDropped++;
    }

    /** Takes no extensions any more. */
    synchronized void forbidExtensions() {
        extensionsForbidden = true;
    }

    synchronized int deliveries(Invocation invocation) {
        return invocation.deliveries;
    }

    synchronized List<Call> answers(Invocation invocation) {
        return List.copyOf(invocation.answers);
    }

    synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    /** The next calls of {@code /next} get these bytes and then the end of the connection; the event stays where it is. */
    synchronized void replyToNext(String... raw) {
        rawNext.addAll(List.of(raw));
    }

    /** The next answers get these bytes and then the end of the connection. */
    synchronized void replyToAnswers(String... raw) {
        rawAnswers.addAll(List.of(raw));
    }

    /** Calls whose path ends so are read, and nothing is said to them. */
    synchronized void sayNothingTo(String end) {
        silent.add(end);
    }

    /** Those that wait for a word get it now. */
    synchronized void speakAgain() {
        silent.clear();
        notifyAll();
    }

    /** Ends the wait between snapshot and restore. */
    synchronized void restore() {
        restored = true;
        notifyAll();
    }

    void awaitSnapshot() {
        get(snapshot, "restore/next");
    }

    Call awaitInitError() {
        return get(initError, "init/error");
    }

    Call awaitRestoreError() {
        return get(restoreError, "restore/error");
    }

    private static <T> T get(CompletableFuture<T> future, String what) {
        try {
            return future.get(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("no " + what + " came", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    // ---- the server ----

    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                connection.setTcpNoDelay(true);
                synchronized (this) {
                    connections.add(connection);
                }
                daemon(() -> serve(connection), "fake-runtime-api-connection");
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            OutputStream out = connection.getOutputStream();
            while (true) {
                Call call = read(in);
                if (call == null) {
                    return;
                }
                synchronized (this) {
                    calls.add(call);
                    while (!closed && silent.stream().anyMatch(call.path()::endsWith)) {
                        wait();
                    }
                }
                if (call.path().startsWith(EXTENSIONS)) {
                    if (!extension(call, out)) {
                        return;
                    }
                    continue;
                }
                String path = call.path().substring(PREFIX.length());
                boolean open = switch (path) {
                    case "invocation/next" -> next(connection, out);
                    case "init/error" -> report(initError, call, out);
                    case "restore/next" -> restoreNext(out);
                    case "restore/error" -> report(restoreError, call, out);
                    default -> answer(call, path, out);
                };
                if (!open || call.isStreamed()) {
                    return;
                }
            }
        } catch (IOException | InterruptedException e) {
            // The other side is gone, or the test is over.
        }
    }

    /** Registers it, unless the test forbids it, and lets it wait for events for ever. */
    private boolean extension(Call call, OutputStream out) throws IOException, InterruptedException {
        String path = call.path().substring(EXTENSIONS.length());
        if (path.equals("register") && !extensionsForbidden) {
            out.write(("HTTP/1.1 200 OK\r\nLambda-Extension-Identifier: " + EXTENSION
                            + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                    .getBytes(StandardCharsets.ISO_8859_1));
            return true;
        }
        if (path.equals("event/next") && EXTENSION.equals(call.headers().get("lambda-extension-identifier"))) {
            synchronized (this) {
                while (!closed) {
                    wait();
                }
            }
            return false;
        }
        reply(out, 403, "{\"errorMessage\":\"no\",\"errorType\":\"Extension.Forbidden\"}");
        return true;
    }

    private boolean next(Socket connection, OutputStream out) throws IOException, InterruptedException {
        Invocation invocation;
        boolean drop;
        String raw;
        synchronized (this) {
            raw = rawNext.pollFirst();
        }
        if (raw != null) {
            out.write(raw.getBytes(StandardCharsets.ISO_8859_1));
            return false;
        }
        synchronized (this) {
            invocation = concurrent ? null : running();
            while (invocation == null) {
                if (!connections.contains(connection)) {
                    return false;
                }
                invocation = queue.pollFirst();
                if (invocation == null) {
                    wait();
                }
            }
            invocation.deliveries++;
            running = invocation;
            drop = connectionsDroppedAfterNext > 0;
            connectionsDroppedAfterNext -= drop ? 1 : 0;
        }
        StringBuilder head = new StringBuilder("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
        head.append("Lambda-Runtime-Aws-Request-Id: ").append(invocation.id).append("\r\n");
        head.append("Lambda-Runtime-Deadline-Ms: ")
                .append(invocation.deadlineMillis)
                .append("\r\n");
        head.append("Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:eu-west-1:123456789012:function:shop\r\n");
        head.append("Lambda-Runtime-Trace-Id: Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0\r\n");
        invocation.headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        head.append("Content-Length: ").append(invocation.event.length).append("\r\n\r\n");
        out.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        out.write(invocation.event);
        return !drop;
    }

    /** The invocation that was given out and has no answer. */
    private Invocation running() {
        return running != null && running.answers.isEmpty() ? running : null;
    }

    private static boolean report(CompletableFuture<Call> future, Call call, OutputStream out) throws IOException {
        reply(out, 202, "{\"status\":\"OK\"}");
        future.complete(call);
        return true;
    }

    /** Blocks from the snapshot to the restore. */
    private boolean restoreNext(OutputStream out) throws IOException, InterruptedException {
        snapshot.complete(null);
        synchronized (this) {
            while (!restored && !closed) {
                wait();
            }
        }
        reply(out, 200, "{}");
        return true;
    }

    private boolean answer(Call call, String path, OutputStream out) throws IOException {
        String[] parts = path.split("/", -1);
        Invocation invocation;
        int status = 202;
        boolean drop;
        String raw;
        synchronized (this) {
            invocation = parts.length == 3 ? known.get(parts[1]) : null;
            if (invocation == null) {
                status = 400;
            } else if (!invocation.answers.isEmpty()) {
                status = 403;
            } else if (!answerStatus.isEmpty()) {
                status = answerStatus.removeFirst();
            } else if (call.body().length > LARGEST_ANSWER && !call.isStreamed()) {
                status = 413;
            }
            if (invocation != null) {
                invocation.answers.add(call);
            }
            drop = answersDropped > 0;
            answersDropped -= drop ? 1 : 0;
            raw = rawAnswers.pollFirst();
        }
        if (raw != null) {
            out.write(raw.getBytes(StandardCharsets.ISO_8859_1));
            drop = true;
        } else if (!drop) {
            reply(
                    out,
                    status,
                    status == 202
                            ? "{\"status\":\"OK\"}"
                            : "{\"errorMessage\":\"as the test wants it\",\"errorType\":\"Scripted\"}");
        }
        if (invocation != null) {
            invocation.outcome.complete(call);
        }
        return !drop;
    }

    private static void reply(OutputStream out, int status, String json) throws IOException {
        String head = "HTTP/1.1 " + status + " Any\r\nContent-Type: application/json\r\nContent-Length: "
                + json.length() + "\r\n\r\n";
        out.write((head + json).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Call read(InputStream in) throws IOException {
        String line = line(in);
        if (line == null) {
            return null;
        }
        String[] words = line.split(" ", -1);
        Map<String, String> headers = fields(in);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        List<Integer> pieces = new ArrayList<>();
        Map<String, String> trailers = Map.of();
        if (headers.getOrDefault("transfer-encoding", "").equals("chunked")) {
            while (true) {
                String size = line(in);
                if (size == null) {
                    throw new IOException("the body was cut");
                }
                int count = Integer.parseInt(size, 16);
                if (count == 0) {
                    trailers = fields(in);
                    break;
                }
                pieces.add(count);
                body.write(in.readNBytes(count));
                if (!"".equals(line(in))) {
                    throw new IOException("a chunk does not end where it said");
                }
            }
        } else {
            int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
            body.write(in.readNBytes(length));
        }
        return new Call(words[0], words[1], headers, body.toByteArray(), trailers, pieces);
    }

    private static Map<String, String> fields(InputStream in) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            fields.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return fields;
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b == '\n') {
                String text = line.toString(StandardCharsets.ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(b);
        }
        return null;
    }

    private static void daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        synchronized (this) {
            closed = true;
            dropConnections();
            notifyAll();
        }
    }
}
