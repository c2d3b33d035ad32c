package dev.cetane.tests;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Clients that ask for one target without pause, each on a connection of its own, until they are told to stop. What they got is
 * guarded by the monitor.
 */
final class Load implements AutoCloseable {
    private final RunningCetane cetane;
    private final String target;
    private final List<Thread> clients = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * What came of one request.
     *
     * @param id the id that it was sent with, and that the log has
     * @param status 0 when no whole answer came
     * @param body of the answer, or what happened instead
     */
    record Result(String id, int status, String body) {}

    Load(RunningCetane cetane, int clientCount, String target) {
        this.cetane = cetane;
        this.target = target;
        for (int i = 0; i < clientCount; i++) {
            String name = "load-" + i;
            Thread client = new Thread(() -> ask(name), name);
            clients.add(client);
            client.start();
        }
    }

    /** Waits until that many more requests have got an answer. */
    synchronized Load awaitAnswers(int count) {
        long wanted = answers() + count;
        long deadline = System.nanoTime() + RunningCetane.PATIENCE.toNanos();
        while (answers() < wanted) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError("only " + answers() + " answers in time: " + results);
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
        return this;
    }

    /** Ends the load when each client has what it asked for last, and gives all that came. */
    List<Result> stop() {
        stopped = true;
        for (Thread client : clients) {
            try {
                client.join(RunningCetane.PATIENCE.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
            if (client.isAlive()) {
                throw new AssertionError("a request hangs:" + cetane.log().shown());
            }
        }
        synchronized (this) {
            return List.copyOf(results);
        }
    }

    @Override
    public void close() {
        stop();
    }

    private long answers() {
        return results.stream().filter(result -> result.status() == 200).count();
    }

    private void ask(String name) {
        RawClient connection = null;
        int number = 0;
        while (!stopped) {
            String id = name + "-" + number++;
            Result result;
            try {
                if (connection == null) {
                    connection = cetane.connect();
                }
                connection.send("GET " + target + " HTTP/1.1\r\nHost: test\r\nX-Request-Id: " + id + "\r\n\r\n");
                RawClient.Answer answer = connection.answer();
                result = new Result(id, answer.status(), answer.body());
                if (answer.field("connection").equals("close")) {
                    connection = closed(connection);
                }
            } catch (IOException e) {
                result = new Result(id, 0, e.toString());
                connection = closed(connection);
            }
            synchronized (this) {
                results.add(result);
                notifyAll();
            }
        }
        closed(connection);
    }

    private static RawClient closed(RawClient connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (IOException e) {
                // It was broken.
            }
        }
        return null;
    }
}
