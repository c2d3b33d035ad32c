package dev.cetane.tests;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * One page in a real, headless Chromium, driven over the DevTools protocol. It collects what goes to the console as an error, and each
 * response with a status of 400 or more. Used by one test's thread.
 */
final class Browser implements AutoCloseable {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Process process;
    private final Path profile;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private final AtomicInteger ids = new AtomicInteger();

    private Browser(Process process, Path profile, URI page) throws IOException {
        this.process = process;
        this.profile = profile;
        try {
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(page, new Listener())
                    .get(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IOException("the browser cannot be reached", e);
        }
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            call(domain + ".enable", MAPPER.createObjectNode());
        }
    }

    static Browser start() throws IOException {
        Path profile = Files.createTempDirectory("cetane-browser-");
        Process process = new ProcessBuilder(
                        "chromium",
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(profile.resolve("output").toFile())
                .start();
        try {
            Path port = profile.resolve("DevToolsActivePort");
            await("Chromium listens")
                    .atMost(RunningCetane.PATIENCE)
                    .until(() -> Files.exists(port) && Files.readAllLines(port).size() == 2);
            String base = "http://127.0.0.1:" + Files.readAllLines(port).get(0);
            String page = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(base + "/json/new?about:blank"))
                                    .PUT(HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
            return new Browser(
                    process,
                    profile,
                    URI.create(
                            MAPPER.readTree(page).path("webSocketDebuggerUrl").asText()));
        } catch (IOException | RuntimeException e) {
            end(process, profile);
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            end(process, profile);
            throw new IOException("interrupted", e);
        }
    }

    /** Takes the messages apart: answers to their calls, events to the problems. */
    private final class Listener implements WebSocket.Listener {
        private final StringBuilder message = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
            message.append(data);
            if (last) {
                try {
                    take(MAPPER.readTree(message.toString()));
                } catch (IOException e) {
                    problems.add("unreadable message: " + e);
                }
                message.setLength(0);
            }
            webSocket.request(1);
            return CompletableFuture.completedFuture(null);
        }

        private void take(JsonNode what) {
            CompletableFuture<JsonNode> waiting =
                    what.has("id") ? pending.remove(what.path("id").asInt()) : null;
            if (waiting != null) {
                waiting.complete(what);
                return;
            }
            JsonNode about = what.path("params");
            switch (what.path("method").asText()) {
                case "Runtime.exceptionThrown" ->
                    problems.add(
                            about.at("/exceptionDetails/exception/description").asText());
                case "Runtime.consoleAPICalled" -> {
                    if (List.of("error", "warning", "assert")
                            .contains(about.path("type").asText())) {
                        problems.add("console: " + about.path("args"));
                    }
                }
                case "Log.entryAdded" -> {
                    if (about.at("/entry/level").asText().equals("error")) {
                        problems.add(about.at("/entry/text").asText() + " "
                                + about.at("/entry/url").asText());
                    }
                }
                default -> {}
            }
        }
    }

    private JsonNode call(String method, ObjectNode parameters) {
        int id = ids.incrementAndGet();
        ObjectNode message = MAPPER.createObjectNode();
        message.put("id", id);
        message.put("method", method);
        message.set("params", parameters);
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(id, answer);
        try {
            socket.sendText(message.toString(), true).get(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            JsonNode got = answer.get(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (got.has("error")) {
                throw new AssertionError(method + ": " + got.path("error"));
            }
            return got.path("result");
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(method + " was not answered", e);
        }
    }

    Browser open(String url) {
        call("Page.navigate", MAPPER.createObjectNode().put("url", url));
        return this;
    }

    /** Size of the window, and what the system prefers. */
    Browser looks(int width, int height, boolean dark) {
        call(
                "Emulation.setDeviceMetricsOverride",
                MAPPER.createObjectNode()
                        .put("width", width)
                        .put("height", height)
                        .put("deviceScaleFactor", 1)
                        .put("mobile", width < 600));
        ObjectNode media = MAPPER.createObjectNode();
        media.putArray("features")
                .addObject()
                .put("name", "prefers-color-scheme")
                .put("value", dark ? "dark" : "light");
        call("Emulation.setEmulatedMedia", media);
        return this;
    }

    /** The value of an expression in the page; promises are awaited. */
    JsonNode evaluate(String expression) {
        JsonNode result = call(
                "Runtime.evaluate",
                MAPPER.createObjectNode()
                        .put("expression", expression)
                        .put("awaitPromise", true)
                        .put("returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + result.path("exceptionDetails"));
        }
        return result.at("/result/value");
    }

    /** The text of the first element that the selector finds, empty when there is none. */
    String text(String selector) {
        return evaluate("document.querySelector('" + selector + "')?.innerText ?? ''")
                .asText();
    }

    /** Waits until an expression is true in the page. */
    Browser until(String what, String expression) {
        await(what)
                .atMost(RunningCetane.PATIENCE)
                .failFast(() -> problems.stream().anyMatch(problem -> problem.contains("SyntaxError")))
                .until(() -> evaluate("Boolean(" + expression + ")").asBoolean());
        return this;
    }

    /** Types, as a person at the keyboard does. */
    Browser type(String text) {
        call("Input.insertText", MAPPER.createObjectNode().put("text", text));
        return this;
    }

    Browser press(String key, int code) {
        for (String type : List.of("keyDown", "keyUp")) {
            ObjectNode event = MAPPER.createObjectNode()
                    .put("type", type)
                    .put("key", key)
                    .put("code", key)
                    .put("windowsVirtualKeyCode", code);
            if (key.equals("Enter") && type.equals("keyDown")) {
                event.put("text", "\r");
            }
            call("Input.dispatchKeyEvent", event);
        }
        return this;
    }

    /** A picture of the window, or of the whole page. */
    void screenshot(Path file, boolean wholePage) throws IOException {
        JsonNode picture = call(
                "Page.captureScreenshot",
                MAPPER.createObjectNode().put("format", "png").put("captureBeyondViewport", wholePage));
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode(picture.path("data").asText()));
    }

    /** A test begins: what went wrong in others is not its own. */
    void forgetProblems() {
        problems.clear();
    }

    /** What went wrong in the page so far. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        end(process, profile);
    }

    private static void end(Process process, Path profile) throws IOException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.onExit().join();
        await("the profile can be removed")
                .atMost(RunningCetane.PATIENCE)
                .ignoreExceptions()
                .until(() -> {
                    if (Files.exists(profile)) {
                        try (Stream<Path> files = Files.walk(profile)) {
                            for (Path file :
                                    files.sorted(Comparator.reverseOrder()).toList()) {
                                Files.delete(file);
                            }
                        }
                    }
                    return true;
                });
    }
}
