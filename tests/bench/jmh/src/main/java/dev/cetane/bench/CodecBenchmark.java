package dev.cetane.bench;

import dev.cetane.protocol.Done;
import dev.cetane.protocol.FrameDecoder;
import dev.cetane.protocol.Hello;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.RequestEncoder;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.protocol.Turn;
import dev.cetane.protocol.WorkerFrameEncoder;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the protocol costs the supervisor for one request: the head it encodes and the answer it decodes. Sampled, as the median
 * does not mind what else the machine does.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CodecBenchmark {

    /** 20 entries with 3 cookies, as a browser's GET makes them. */
    private static final String[] SERVER = {
        "REQUEST_METHOD", "GET",
        "REQUEST_URI", "/products/42?sort=price&page=3&utm_source=newsletter",
        "QUERY_STRING", "sort=price&page=3&utm_source=newsletter",
        "SERVER_PROTOCOL", "HTTP/1.1",
        "REMOTE_ADDR", "192.0.2.17",
        "REMOTE_PORT", "51422",
        "SERVER_NAME", "shop.example.com",
        "HTTP_HOST", "shop.example.com",
        "HTTP_USER_AGENT",
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
        "HTTP_ACCEPT", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "HTTP_ACCEPT_LANGUAGE", "en-GB,en;q=0.9,de;q=0.8",
        "HTTP_ACCEPT_ENCODING", "gzip, deflate, br",
        "HTTP_CACHE_CONTROL", "max-age=0",
        "HTTP_REFERER", "https://shop.example.com/products?sort=price&page=2",
        "HTTP_SEC_FETCH_DEST", "document",
        "HTTP_SEC_FETCH_MODE", "navigate",
        "HTTP_SEC_FETCH_SITE", "same-origin",
        "HTTP_UPGRADE_INSECURE_REQUESTS", "1",
        "HTTP_X_REQUEST_ID", "01HF7YAT4TB6VX9Z0W3Q8K5N2M",
        "HTTP_COOKIE",
                "XSRF-TOKEN=eyJpdiI6IkZ0Y2p0bG9nS0pRPT0iLCJ2YWx1ZSI6Ik1qQXlNekV4TVRRaWZRPT0iLCJtYWMiOiI5ZjJjIn0; "
                        + "shop_session=eyJpdiI6InpYQ1dGN0lUb3c9PSIsInZhbHVlIjoiTlRZM09EazVNVEl6TkRVMiIsIm1hYyI6IjBhIn0; theme=dark",
    };

    private static final List<String> HEADERS = List.of(
            "Content-Type", "text/html; charset=UTF-8",
            "Cache-Control", "no-cache, private",
            "Date", "Tue, 14 Nov 2023 22:13:20 GMT",
            "X-Frame-Options", "SAMEORIGIN",
            "X-Content-Type-Options", "nosniff",
            "Vary", "Accept-Encoding",
            "Set-Cookie",
                    "XSRF-TOKEN=eyJpdiI6IkZ0Y2p0bG9nS0pRPT0iLCJ2YWx1ZSI6Ik1qQXlNekV4TVRRaWZRPT0i; path=/; samesite=lax",
            "Set-Cookie",
                    "shop_session=eyJpdiI6InpYQ1dGN0lUb3c9PSIsInZhbHVlIjoiTlRZM09EazVNVEl6TkRVMiI; path=/; httponly");

    private final RequestEncoder encoder = new RequestEncoder();
    private final Turn turn = new Turn(Hello.current(Map.of(), Map.of()));
    private final Sink sink = new Sink();
    private final FrameDecoder decoder = new FrameDecoder(turn, sink);
    private final ByteBuffer answer = ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES);
    private int uncachedAt;
    private int round;

    /** Makes the worker idle and lays out an answer of HEAD, 512 bytes of DATA, END and DONE. */
    @Setup
    public void boot() {
        decoder.decode(WorkerFrameEncoder.ready(new Ready(1, Map.of())));
        ByteBuffer head = WorkerFrameEncoder.head(1, new ResponseHead(200, "OK", 512, HEADERS));
        // The last chars of the session cookie change with every answer, as they do in Laravel.
        uncachedAt = head.remaining() - "; path=/; httponly".length() - 8;
        answer.put(head)
                .put(WorkerFrameEncoder.data(1, new byte[512]))
                .put(WorkerFrameEncoder.end(1))
                .put(WorkerFrameEncoder.done(1, new Done(500, 20, 480, 4_194_304, false)))
                .flip();
    }

    /** One REQUEST frame of 20 entries, about 1.2 kB. */
    @Benchmark
    public ByteBuffer encodeRequest() {
        encoder.begin(7, 1_700_000_000.5, 30_000);
        for (int i = 0; i < SERVER.length; i += 2) {
            encoder.server(SERVER[i], SERVER[i + 1]);
        }
        return encoder.finish();
    }

    /** A whole answer: HEAD with 8 fields, DATA, END, DONE. */
    @Benchmark
    public Sink decodeAnswer() {
        int number = turn.nextRequest();
        turn.begin(number);
        answer.rewind();
        for (int at = 0; at < answer.limit(); at += 12 + answer.getInt(at + 4)) {
            answer.putInt(at + 8, number);
        }
        round++;
        for (int i = 0; i < 8; i++) {
            answer.put(uncachedAt + i, (byte) ('a' + ((round >>> (4 * i)) & 15)));
        }
        decoder.decode(answer);
        return sink;
    }
}
