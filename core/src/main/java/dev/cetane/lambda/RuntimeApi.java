package dev.cetane.lambda;

import dev.cetane.lambda.ApiConnection.DeadConnectionException;
import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The calls of the Lambda Runtime API that one loop makes, one after the other, on one connection. A call whose connection turns out to
 * have died before its answer is made once more on a new one. Used by one thread at a time: the loop's, and between {@link #post} and
 * {@link #confirm} nobody's.
 */
final class RuntimeApi implements AutoCloseable {
    /** The API takes no larger answer. */
    static final int MAX_ANSWER_BYTES = 6 * 1024 * 1024 + 100;

    /** For what the API says of an answer that it has: it is a process of the same machine. */
    static final long CONFIRM_MILLIS = 10_000;

    /** For its word on an error after which the process exits. */
    private static final long REPORT_MILLIS = 2_000;

    private static final String VERSION = "/2018-06-01/runtime/";

    private final String host;
    private final ApiConnection connection;
    private final ByteWriter head = new ByteWriter();
    private byte[] sentBody = {};
    private int sentBodyLength;
    private boolean waiting;
    private boolean retriable;

    RuntimeApi(InetSocketAddress address, Ticker ticker) {
        host = address.getHostString() + ":" + address.getPort();
        connection = new ApiConnection(address, ticker);
    }

    /** When the first bytes of the last answer came. */
    long receivedSinceNanos() {
        return connection.receivedSinceNanos();
    }

    /**
     * Waits for the next invocation, for as long as it takes.
     *
     * @throws RuntimeApiException when the API says that this environment is to end, or cannot be understood
     * @throws IOException when it cannot be reached
     */
    Invocation next() throws IOException {
        request("GET", "invocation/next");
        head.put("\r\n");
        Reply reply = call(new byte[0], 0, 0);
        if (reply.status() != 200) {
            throw new RuntimeApiException("the Runtime API answered /next with " + reply.status() + " " + reply.text());
        }
        return Invocation.of(reply);
    }

    /**
     * Sends the answer of an invocation and does not wait for what the API says of it, which {@link #confirm} does. The bytes must not
     * change until then.
     */
    void post(String requestId, String contentType, byte[] body, int length) throws IOException {
        request("POST", "invocation/" + requestId + "/response");
        begin(contentType, body, length);
    }

    /** The same for the error that an invocation ends with. */
    void postError(String requestId, InvocationError error) throws IOException {
        byte[] json = error.json();
        request("POST", "invocation/" + requestId + "/error");
        errorType(error);
        begin("application/json", json, json.length);
    }

    /**
     * Waits for what the API says of the last {@link #post}; null when there was none.
     *
     * @throws RuntimeApiException when it says nothing for {@link #CONFIRM_MILLIS}, or what is no HTTP
     */
    @Nullable
    Reply confirm() throws IOException {
        if (!waiting) {
            return null;
        }
        waiting = false;
        try {
            return connection.receive(CONFIRM_MILLIS);
        } catch (DeadConnectionException e) {
            return again(e);
        }
    }

    /**
     * Waits until the environment was made a snapshot of and is restored from it: here the snapshot is taken.
     *
     * @throws RuntimeApiException when the API does not know of snapshots
     */
    void restoreNext() throws IOException {
        request("GET", "restore/next");
        head.put("\r\n");
        Reply reply = call(new byte[0], 0, 0);
        if (reply.status() != 200) {
            throw new RuntimeApiException(
                    "the Runtime API answered /restore/next with " + reply.status() + " " + reply.text());
        }
    }

    /** Why this environment cannot serve: the last call before the process exits. */
    Reply initError(InvocationError error) throws IOException {
        return report("init/error", error);
    }

    /** Why it cannot serve after it was restored; the last call likewise. */
    Reply restoreError(InvocationError error) throws IOException {
        return report("restore/error", error);
    }

    private Reply report(String path, InvocationError error) throws IOException {
        byte[] json = error.json();
        request("POST", path);
        errorType(error);
        lengthAndType("application/json", json.length);
        return call(json, json.length, REPORT_MILLIS);
    }

    private void begin(String contentType, byte[] body, int length) throws IOException {
        lengthAndType(contentType, length);
        sentBody = body;
        sentBodyLength = length;
        boolean reused = connection.isOpen();
        try {
            connection.send(room(length), head.length(), body, length);
        } catch (DeadConnectionException e) {
            connection.send(head.array(), head.length(), body, length);
            reused = false;
        }
        retriable = reused;
        waiting = true;
    }

    private Reply again(DeadConnectionException cause) throws IOException {
        if (!retriable) {
            throw cause;
        }
        connection.send(head.array(), head.length(), sentBody, sentBodyLength);
        return connection.receive(CONFIRM_MILLIS);
    }

    private Reply call(byte[] body, int length, long millis) throws IOException {
        waiting = false;
        boolean reused = connection.isOpen();
        try {
            connection.send(room(length), head.length(), body, length);
            return connection.receive(millis);
        } catch (DeadConnectionException e) {
            if (!reused) {
                throw e;
            }
            connection.send(head.array(), head.length(), body, length);
            return connection.receive(millis);
        }
    }

    /** The head's array with room behind it for a short body, so that both leave in one write. */
    private byte[] room(int bodyLength) {
        if (bodyLength > 0 && bodyLength <= 16 * 1024) {
            head.reserve(bodyLength);
        }
        return head.array();
    }

    private void request(String method, String path) {
        head.clear();
        head.put(method)
                .put(" ")
                .put(VERSION)
                .put(path)
                .put(" HTTP/1.1\r\nHost: ")
                .put(host)
                .put("\r\nUser-Agent: cetane\r\n");
    }

    private void errorType(InvocationError error) {
        head.put("Lambda-Runtime-Function-Error-Type: ").put(error.type()).put("\r\n");
    }

    private void lengthAndType(String contentType, int length) {
        head.put("Content-Type: ")
                .put(contentType)
                .put("\r\nContent-Length: ")
                .put(length)
                .put("\r\n\r\n");
    }

    @Override
    public void close() {
        connection.close();
    }
}
