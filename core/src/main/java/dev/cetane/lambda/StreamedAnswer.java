package dev.cetane.lambda;

import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An answer that leaves as it is made: a POST in chunks on a connection of its own, which the API closes after it. What fails after the
 * beginning is said in trailers. Used by one thread at a time.
 */
final class StreamedAnswer {
    private static final String ERROR_TYPE = "Lambda-Runtime-Function-Error-Type";
    private static final String ERROR_BODY = "Lambda-Runtime-Function-Error-Body";
    private static final String HTTP_TYPE = "application/vnd.awslambda.http-integration-response";

    /** Ends the JSON before the body. */
    private static final byte[] SEPARATOR = new byte[8];

    private final ApiConnection connection;
    private final ByteWriter out = new ByteWriter();

    private StreamedAnswer(ApiConnection connection) {
        this.connection = connection;
    }

    /** Sends the head at once. */
    static StreamedAnswer begin(
            InetSocketAddress api, Ticker ticker, String requestId, @Nullable HttpEvent http, ResponseHead head)
            throws IOException {
        StreamedAnswer answer = new StreamedAnswer(new ApiConnection(api, ticker));
        ByteWriter out = answer.out;
        out.put("POST /2018-06-01/runtime/invocation/").put(requestId).put("/response HTTP/1.1\r\nHost: ");
        out.put(api.getHostString()).put(":").put(api.getPort());
        out.put("\r\nUser-Agent: cetane\r\nLambda-Runtime-Function-Response-Mode: streaming\r\nContent-Type: ");
        out.put(http == null ? contentType(head.headers()) : HTTP_TYPE);
        out.put("\r\nTransfer-Encoding: chunked\r\nTrailer: ")
                .put(ERROR_TYPE)
                .put(", ")
                .put(ERROR_BODY)
                .put("\r\n\r\n");
        if (http != null) {
            ByteWriter prelude = new ByteWriter();
            http.format().prelude(head.status(), head.headers(), prelude);
            prelude.put(SEPARATOR, 0, SEPARATOR.length);
            answer.chunk(ByteBuffer.wrap(prelude.array(), 0, prelude.length()));
        }
        answer.connection.send(out.array(), out.length(), SEPARATOR, 0);
        return answer;
    }

    private static String contentType(List<String> headers) {
        for (int i = 0; i < headers.size(); i += 2) {
            if (headers.get(i).equalsIgnoreCase("content-type")) {
                return headers.get(i + 1);
            }
        }
        return "application/json";
    }

    /** The next bytes of the body, sent at once. */
    void data(ByteBuffer bytes) throws IOException {
        if (bytes.hasRemaining()) {
            out.clear();
            chunk(bytes);
            connection.write(out.array(), 0, out.length());
        }
    }

    private void chunk(ByteBuffer bytes) {
        out.put(Integer.toHexString(bytes.remaining()).toLowerCase(Locale.ROOT)).put("\r\n");
        out.put(bytes);
        out.put("\r\n");
    }

    /** The answer is complete. */
    void end() throws IOException {
        out.clear();
        out.put("0\r\n\r\n");
        connection.write(out.array(), 0, out.length());
    }

    /** The answer will never be complete. */
    void fail(InvocationError error) throws IOException {
        out.clear();
        out.put("0\r\n").put(ERROR_TYPE).put(": ").put(error.type()).put("\r\n");
        out.put(ERROR_BODY)
                .put(": ")
                .put(Base64.getEncoder().encodeToString(error.json()))
                .put("\r\n\r\n");
        connection.write(out.array(), 0, out.length());
    }

    /**
     * Waits for what the API says.
     *
     * @param millis for how long; a caller who reads slowly is waited for here
     * @throws RuntimeApiException when it says nothing until then
     */
    Reply confirm(long millis) throws IOException {
        try (connection) {
            return connection.receive(millis);
        }
    }
}
