package dev.cetane.trace;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.cetane.worker.Ticker;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPOutputStream;

/**
 * Posts messages to an OTLP collector, one at a time: OTLP 1.x over HTTP, in protobuf. Of the exporter's thread; what waits for the network are the
 * JDK's threads. Every wait ends at the time-out, and no more of an answer is kept than is needed.
 */
final class CollectorClient {
    private static final int MOST_BODY_BYTES = 16 * 1024;
    private static final int MOST_PROBLEM_CHARS = 200;

    /** No collector makes it wait longer. */
    private static final Duration MOST_PAUSE = Duration.ofMinutes(1);

    private final TracingConfig.Export config;
    private final Ticker ticker;
    private final HttpClient http;
    private final HttpRequest.Builder template;

    CollectorClient(TracingConfig.Export config, String version, Ticker ticker) {
        this.config = config;
        this.ticker = ticker;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(config.timeout())
                .build();
        this.template = HttpRequest.newBuilder(config.collector())
                .timeout(config.timeout())
                .setHeader("User-Agent", "cetane/" + version)
                .setHeader("Content-Type", "application/x-protobuf");
        config.headers().forEach(template::setHeader);
        if (config.gzip()) {
            template.setHeader("Content-Encoding", "gzip");
        }
    }

    /**
     * What came of a message.
     *
     * @param taken whether the collector has it
     * @param mayRetry whether it may be sent again later
     * @param pauseNanos how long not to send before that, as far as the collector says so; 0
     * @param rejectedSpans how many of a message that it has taken it has not kept
     * @param problem what was wrong, for people; empty
     */
    record Reply(boolean taken, boolean mayRetry, long pauseNanos, long rejectedSpans, String problem) {}

    Reply post(byte[] message) throws InterruptedException {
        byte[] body = config.gzip() ? gzip(message) : message;
        HttpRequest request = template.copy()
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        CompletableFuture<HttpResponse<byte[]>> pending =
                http.sendAsync(request, head -> new LimitedBody(MOST_BODY_BYTES));
        try {
            // The request's own time-out ends with the head of the answer.
            return reply(pending.get(config.timeout().toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return late();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof HttpTimeoutException) {
                return late();
            }
            String why = cause.getMessage();
            return later(0, cause.getClass().getSimpleName() + (why == null ? "" : ": " + why));
        } finally {
            pending.cancel(true);
        }
    }

    private Reply late() {
        return later(0, "no answer within tracing.timeout (" + config.timeout().toMillis() + " ms)");
    }

    private Reply reply(HttpResponse<byte[]> response) {
        int status = response.statusCode();
        if (status / 100 == 2) {
            return taken(response.body());
        }
        String problem = "it answered " + status;
        return switch (status) {
            case 429, 502, 503, 504 ->
                later(pauseNanos(response.headers().firstValue("Retry-After").orElse("")), problem);
            default -> new Reply(false, false, 0, 0, problem);
        };
    }

    /** It may have taken a part only; an answer that is none of OTLP's counts as all. */
    private static Reply taken(byte[] body) {
        try {
            ExportTracePartialSuccess partly =
                    ExportTraceServiceResponse.parseFrom(body).getPartialSuccess();
            String why = partly.getErrorMessage();
            return new Reply(
                    true,
                    false,
                    0,
                    Math.max(0, partly.getRejectedSpans()),
                    "it has rejected spans: " + why.substring(0, Math.min(MOST_PROBLEM_CHARS, why.length())));
        } catch (InvalidProtocolBufferException e) {
            return new Reply(true, false, 0, 0, "");
        }
    }

    private static Reply later(long pauseNanos, String problem) {
        return new Reply(false, true, pauseNanos, 0, problem);
    }

    /** RFC 9110, 10.2.3: seconds or a date; 0 for neither. */
    private long pauseNanos(String retryAfter) {
        Duration pause;
        if (retryAfter.matches("[0-9]{1,9}")) {
            pause = Duration.ofSeconds(Long.parseLong(retryAfter));
        } else {
            try {
                pause = Duration.between(
                        ticker.now(),
                        ZonedDateTime.parse(retryAfter, DateTimeFormatter.RFC_1123_DATE_TIME)
                                .toInstant());
            } catch (DateTimeParseException e) {
                return 0;
            }
        }
        return pause.isNegative() ? 0 : (pause.compareTo(MOST_PAUSE) < 0 ? pause : MOST_PAUSE).toNanos();
    }

    private static byte[] gzip(byte[] message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(message.length / 4);
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(message);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
