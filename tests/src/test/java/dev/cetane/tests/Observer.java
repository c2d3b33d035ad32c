package dev.cetane.tests;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to one server, over a connection that it keeps as long as the server does, and writes down what a client sees: names
 * such as {@code status}, {@code field content-type}, {@code body} and, where the body is a dump, {@code $_GET["a"]}. One thread.
 */
final class Observer implements AutoCloseable {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int LONG_BODY = 20_000;

    private final InetSocketAddress address;
    private final Path scripts;
    private @Nullable RawClient connection;

    Observer(InetSocketAddress address, Path scripts) {
        this.address = address;
        this.scripts = scripts;
    }

    Map<String, String> observe(OracleCase.Step step) throws IOException {
        boolean reused = connection != null;
        try {
            return exchange(step);
        } catch (SocketException e) {
            close();
            if (reused) {
                // The server has closed a connection that it had kept: that says nothing about this request.
                return exchange(step);
            }
            return Map.of("status", "none: the connection was reset");
        } catch (IOException e) {
            close();
            return Map.of("status", "none: " + e.getMessage());
        }
    }

    private Map<String, String> exchange(OracleCase.Step step) throws IOException {
        RawClient client = connection == null ? new RawClient(address) : connection;
        connection = client;
        client.send(step.request());
        Map<String, String> seen = new LinkedHashMap<>();
        RawClient.Answer head = client.head();
        for (int interim = 1; head.status() < 200; head = client.head(), interim++) {
            seen.put("interim " + interim, head.status() + fields(head));
        }
        seen.put("status", (head.status() + " " + head.reason()).strip());
        head.fields().forEach((name, value) -> seen.put("field " + name, text(step.masked(value))));
        String body = "";
        boolean cut = false;
        boolean hasBody =
                head.status() != 204 && head.status() != 304 && !step.method().equals("HEAD");
        if (hasBody) {
            try {
                body = body(client, head, step);
            } catch (RawClient.CutException e) {
                body = e.before();
                cut = true;
            }
        }
        boolean toEnd = hasBody
                && !head.fields().containsKey("content-length")
                && !head.fields().containsKey("transfer-encoding");
        boolean closes =
                cut || toEnd || step.leaves() || head.field("connection").equalsIgnoreCase("close");
        seen.put("connection", cut ? "cut" : closes ? "closed" : "kept");
        if (closes) {
            close();
        }
        observeBody(step.masked(body), seen);
        return seen;
    }

    /** Reads the body; of a script that waits, first the part that it has to have sent before. */
    private String body(RawClient client, RawClient.Answer head, OracleCase.Step step) throws IOException {
        if (step.awaited().isEmpty()) {
            return client.body(head);
        }
        String first = "";
        while (!first.contains(step.awaited())) {
            String chunk = client.chunk();
            if (chunk.isEmpty()) {
                return "whole before it was awaited: " + first;
            }
            first += chunk;
        }
        // The flush() that has sent it may still be under way, and would notice that the client leaves.
        Path waits = scripts.resolve("waits");
        await("the script waits").atMost(RunningCetane.PATIENCE).until(() -> Files.deleteIfExists(waits));
        if (step.leaves()) {
            close();
        }
        Files.writeString(scripts.resolve("go"), "");
        if (step.leaves()) {
            return first;
        }
        return first + "[awaited]" + client.body(head);
    }

    private static void observeBody(String body, Map<String, String> seen) throws IOException {
        JsonNode leaves = dump(body);
        if (leaves == null) {
            seen.put(
                    "body", body.length() > LONG_BODY ? body.length() + " bytes, hash " + body.hashCode() : text(body));
            return;
        }
        Map<String, List<String>> order = new LinkedHashMap<>();
        for (JsonNode leaf : leaves) {
            String path = leaf.path(0).asText();
            seen.put(path, leaf.path(1).asText() + " " + leaf.path(2).asText());
            order.computeIfAbsent(path.replaceFirst("(?<=.)\\[.*", ""), section -> new ArrayList<>())
                    .add(path);
        }
        order.forEach((section, paths) -> {
            if (paths.size() > 1 && section.matches("\\$_(GET|POST|COOKIE|FILES|REQUEST)")) {
                seen.put("order of " + section, String.join(" ", paths));
            }
        });
    }

    private static @Nullable JsonNode dump(String body) throws IOException {
        if (!body.startsWith("{\"oracle\":")) {
            return null;
        }
        try {
            return MAPPER.readTree(body).path("oracle");
        } catch (JsonProcessingException e) {
            throw new IOException("a dump that is no JSON: " + body, e);
        }
    }

    private static String fields(RawClient.Answer head) {
        StringBuilder fields = new StringBuilder();
        head.fields()
                .forEach((name, value) ->
                        fields.append(' ').append(name).append(": ").append(text(value)));
        return fields.toString();
    }

    /** Readable on one line. */
    private static String text(String latin1) {
        StringBuilder text = new StringBuilder(latin1.length());
        for (int i = 0; i < latin1.length(); i++) {
            char c = latin1.charAt(i);
            if (c == '\n') {
                text.append("\\n");
            } else if (c < ' ' || c >= 127) {
                text.append(String.format("\\x%02X", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }

    @Override
    public void close() throws IOException {
        RawClient open = connection;
        connection = null;
        if (open != null) {
            open.close();
        }
    }
}
