package dev.cetane.lambda;

import dev.cetane.lambda.ApiConnection.DeadConnectionException;
import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * An extension that wants no events: only where there is one does Lambda send SIGTERM before it ends an environment, so that workers
 * can run their shutdown code. It registers while the application boots, and then waits for ever for an event that does not come,
 * which Lambda takes for its being ready. On a thread of its own.
 */
final class ShutdownExtension {
    private static final String PATH = "/2020-01-01/extension/";
    private static final String BODY = "{\"events\":[]}";
    private static final int MOST_WAITS = 3;
    private static final long REGISTER_MILLIS = 2_000;

    private final InetSocketAddress api;
    private final Ticker ticker;
    private final EventLog log;
    private final CountDownLatch registered = new CountDownLatch(1);

    ShutdownExtension(InetSocketAddress api, Ticker ticker, EventLog log) {
        this.api = api;
        this.ticker = ticker;
        this.log = log;
    }

    void start() {
        Thread thread = new Thread(this::run, "cetane-extension");
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits until it is registered, or cannot be: Lambda takes no extension after the first {@code /next}. */
    void awaitRegistration() throws InterruptedException {
        registered.await(REGISTER_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void run() {
        try (ApiConnection connection = new ApiConnection(api, ticker)) {
            String identifier = register(connection);
            registered.countDown();
            // The connection does not outlive a snapshot.
            for (int attempt = 0; !identifier.isEmpty() && attempt < MOST_WAITS; attempt++) {
                try {
                    send(connection, "GET", "event/next", "Lambda-Extension-Identifier: " + identifier, "");
                    connection.receive(0);
                    return;
                } catch (DeadConnectionException e) {
                    log.log(Level.DEBUG, "lambda.extension-waits-again", null, String.valueOf(e.getMessage()));
                }
            }
        } catch (IOException e) {
            log.log(
                    Level.WARN,
                    "lambda.no-extension",
                    null,
                    "there is no extension any more (" + e.getMessage() + "): workers end without their shutdown code");
        } finally {
            registered.countDown();
        }
    }

    private String register(ApiConnection connection) throws IOException {
        send(connection, "POST", "register", "Lambda-Extension-Name: cetane", BODY);
        Reply reply = connection.receive(REGISTER_MILLIS);
        String identifier = reply.field("lambda-extension-identifier");
        if (reply.status() != 200 || identifier.isEmpty()) {
            log.log(
                    Level.INFO,
                    "lambda.no-extension",
                    null,
                    "no extension could be registered (" + reply.status() + " "
                            + reply.text().strip() + "): workers end without their shutdown code");
            return "";
        }
        return identifier;
    }

    private void send(ApiConnection connection, String method, String path, String header, String body)
            throws IOException {
        ByteWriter head = new ByteWriter();
        head.put(method).put(" ").put(PATH).put(path).put(" HTTP/1.1\r\nHost: ");
        head.put(api.getHostString()).put(":").put(api.getPort());
        head.put("\r\nContent-Type: application/json\r\nContent-Length: ").put(body.length());
        head.put("\r\n").put(header).put("\r\n\r\n").put(body);
        connection.send(head.array(), head.length(), new byte[0], 0);
    }
}
