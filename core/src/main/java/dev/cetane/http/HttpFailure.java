package dev.cetane.http;

import dev.cetane.worker.WorkerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The answers that the front door gives by itself: the one table of failures, their status and what the client may read. */
enum HttpFailure {
    BAD_REQUEST(400, "Bad Request", "The request is not valid HTTP/1.1."),
    NOT_FOUND(404, "Not Found", "There is nothing at this address."),
    METHOD_NOT_ALLOWED(405, "Method Not Allowed", "This method is not served here."),
    REQUEST_TIMEOUT(408, "Request Timeout", "The request did not arrive in time."),
    BODY_TOO_LARGE(413, "Content Too Large", "The request's body is larger than this server accepts."),
    TARGET_TOO_LONG(414, "URI Too Long", "The request's target is longer than this server accepts."),
    EXPECTATION_FAILED(417, "Expectation Failed", "Only 100-continue can be expected."),
    FIELDS_TOO_LARGE(
            431, "Request Header Fields Too Large", "The request's header fields are larger than this server accepts."),
    APPLICATION_FAILED(500, "Internal Server Error", "The application failed to answer this request."),
    CODING_NOT_IMPLEMENTED(501, "Not Implemented", "The only transfer coding served here is chunked."),
    WORKER_FAILED(502, "Bad Gateway", "The application's worker failed while it served this request."),
    BUSY(503, "Service Unavailable", "The server is busy. Please try again in a moment."),
    WORKER_TIMED_OUT(504, "Gateway Timeout", "The application took too long to answer this request."),
    VERSION_NOT_SUPPORTED(505, "HTTP Version Not Supported", "Only HTTP/1.1 and HTTP/1.0 are served here."),
    STORAGE_FAILED(507, "Insufficient Storage", "The request's body could not be stored.");

    /** What a client that was refused for load waits before it tries again, in seconds. */
    private static final int RETRY_AFTER_SECONDS = 1;

    private final int status;
    private final String reason;
    private final String text;

    HttpFailure(int status, String reason, String text) {
        this.status = status;
        this.reason = reason;
        this.text = text;
    }

    /** How a failed job is answered; null when nobody is there to read an answer. */
    static @Nullable HttpFailure of(WorkerException.Kind kind) {
        return switch (kind) {
            case OVERLOADED, QUEUE_TIMEOUT, DRAINING -> BUSY;
            case TIMED_OUT -> WORKER_TIMED_OUT;
            case CRASHED, PROTOCOL, BOOT_FAILED -> WORKER_FAILED;
            case APPLICATION -> APPLICATION_FAILED;
            case UNDELIVERABLE -> FIELDS_TOO_LARGE;
            case CANCELLED -> null;
        };
    }

    int status() {
        return status;
    }

    /**
     * The complete answer.
     *
     * @param requestId named in the text, so that the client's report leads to the log
     * @param detail more about the cause, for debug mode only; else null
     * @param timing value of {@code Server-Timing}; null for none
     * @param headOnly whether the request's method was HEAD
     * @param close whether the connection ends with this answer
     * @param keepAlive whether the client, by HTTP/1.0, must be told that the connection stays
     */
    ByteBuf encode(
            ByteBufAllocator allocator,
            String requestId,
            @Nullable String detail,
            @Nullable String timing,
            boolean headOnly,
            boolean close,
            boolean keepAlive,
            byte[] date) {
        StringBuilder body = new StringBuilder(128)
                .append(status)
                .append(' ')
                .append(reason)
                .append("\n\n")
                .append(text)
                .append("\nRequest: ")
                .append(requestId)
                .append('\n');
        if (detail != null) {
            body.append('\n').append(detail).append('\n');
        }
        byte[] bodyBytes = body.toString().getBytes(StandardCharsets.UTF_8);
        StringBuilder head = new StringBuilder(256)
                .append("HTTP/1.1 ")
                .append(status)
                .append(' ')
                .append(reason)
                .append(
                        "\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: ")
                .append(bodyBytes.length)
                .append("\r\n");
        if (this == BUSY) {
            head.append("Retry-After: ").append(RETRY_AFTER_SECONDS).append("\r\n");
        } else if (this == METHOD_NOT_ALLOWED) {
            head.append("Allow: ").append(ALLOWED_METHODS).append("\r\n");
        }
        if (timing != null) {
            head.append("Server-Timing: ").append(timing).append("\r\n");
        }
        if (close) {
            head.append("Connection: close\r\n");
        } else if (keepAlive) {
            head.append("Connection: keep-alive\r\n");
        }
        ByteBuf out = allocator.directBuffer(head.length() + date.length + 2 + bodyBytes.length);
        ByteBufUtil.writeAscii(out, head);
        out.writeBytes(date).writeByte('\r').writeByte('\n');
        if (!headOnly) {
            out.writeBytes(bodyBytes);
        }
        return out;
    }

    /** The {@code Allow} field: the common methods; others reach the application too. */
    static final String ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
}
