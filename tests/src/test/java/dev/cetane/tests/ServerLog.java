package dev.cetane.tests;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** What an instance has printed, line by line, and waiting for a line. Guarded by its monitor; a thread of its own reads. */
final class ServerLog {
    private static final long TIMEOUT_SECONDS = 30;
    private static final int SHOWN_LINES = 60;

    private final ObjectMapper mapper = new ObjectMapper();
    private final List<Line> lines = new ArrayList<>();
    private boolean ended;
    private boolean stopped;

    ServerLog(InputStream output) {
        Thread reader = new Thread(() -> read(output), "server-log");
        reader.setDaemon(true);
        reader.start();
    }

    /** One line: an event, or text that something else has printed, whose fields are all empty. */
    record Line(String text, JsonNode json) {
        String event() {
            return json.path("event").asText();
        }

        String level() {
            return json.path("level").asText();
        }

        String message() {
            return json.path("message").asText();
        }

        /** Id of the request that it belongs to, or empty. */
        String request() {
            return json.path(json.has("requestId") ? "requestId" : "request").asText();
        }

        JsonNode field(String name) {
            return json.path("fields").path(name);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** The lines from a place on. */
    record Tail(ServerLog log, int from) {
        Line await(String event) {
            return await(event, line -> true);
        }

        Line await(String event, Predicate<Line> wanted) {
            return log.await(from, event, line -> line.event().equals(event) && wanted.test(line));
        }

        /** Waits for an event that belongs to a request. */
        Line await(String event, String request) {
            return await(event, line -> line.request().equals(request));
        }

        /** Waits for a line that holds a text, for logs that are not JSON. */
        Line awaitText(String text) {
            return log.await(from, text, line -> line.text().contains(text));
        }

        /** The events of this name that have come so far. */
        List<Line> all(String event) {
            return log.copy(from).stream()
                    .filter(line -> line.event().equals(event))
                    .toList();
        }

        List<Line> all() {
            return log.copy(from);
        }
    }

    Tail fromStart() {
        return new Tail(this, 0);
    }

    synchronized Tail fromHere() {
        return new Tail(this, lines.size());
    }

    /** The last lines, for the message of a failure. */
    synchronized String shown() {
        StringBuilder text = new StringBuilder();
        for (Line line : lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())) {
            text.append("\n    ").append(line.text());
        }
        return text.toString();
    }

    /** Waits until the process has closed its output. */
    synchronized void awaitEnd() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!ended) {
            waitUntil(deadline, "the end of the output");
        }
    }

    private synchronized List<Line> copy(int from) {
        return List.copyOf(lines.subList(from, lines.size()));
    }

    private synchronized Line await(int from, String what, Predicate<Line> wanted) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        int next = from;
        while (true) {
            for (; next < lines.size(); next++) {
                if (wanted.test(lines.get(next))) {
                    return lines.get(next);
                }
            }
            if (ended) {
                throw new AssertionError("the instance ended without the event " + what + ":" + shown());
            }
            try {
                waitUntil(deadline, "the event " + what);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
    }

    @SuppressWarnings("WaitNotInLoop") // the callers loop
    private void waitUntil(long deadline, String what) throws InterruptedException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
            throw new AssertionError(what + " has not come within " + TIMEOUT_SECONDS + " s:" + shown());
        }
        wait(left);
    }

    private void read(InputStream output) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8))) {
            for (String text = reader.readLine(); text != null; text = reader.readLine()) {
                add(new Line(text, parse(text)));
                awaitReading();
            }
        } catch (IOException e) {
            add(new Line("the output could not be read: " + e, MissingNode.getInstance()));
        } finally {
            synchronized (this) {
                ended = true;
                notifyAll();
            }
        }
    }

    private synchronized void awaitReading() throws IOException {
        while (stopped) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new InterruptedIOException("interrupted");
            }
        }
    }

    /** Has the process write into a pipe that nobody reads, but for what has been read ahead. */
    synchronized void stopReading() {
        stopped = true;
    }

    synchronized void readOn() {
        stopped = false;
        notifyAll();
    }

    private synchronized void add(Line line) {
        lines.add(line);
        notifyAll();
    }

    private JsonNode parse(String text) {
        try {
            return text.startsWith("{") ? mapper.readTree(text) : MissingNode.getInstance();
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }
}
