package dev.cetane.lambda;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the JSON of an answer of 4.5 MB costs, about the largest that Lambda takes in base64. With C1 alone, as the bootstrap starts the
 * JVM; in the package of what it measures, which is nobody else's.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-XX:TieredStopAtLevel=1")
public class AnswerBenchmark {
    private static final int BYTES = 4_500_000;

    /** Random bytes, lines of text, HTML with quotes, or text of which each character has three bytes. */
    @Param({"binary", "lines", "html", "wide"})
    public String content = "";

    private final byte[] body = new byte[BYTES];
    private final ByteWriter out = new ByteWriter();
    private List<String> headers = List.of();

    @Setup
    public void makeBody() {
        headers = List.of("Content-Type", content.equals("binary") ? "image/png" : "text/html; charset=utf-8");
        switch (content) {
            case "binary" -> new Random(1).nextBytes(body);
            case "lines" -> fill("x".repeat(70) + "\n");
            case "html" -> fill("<a href=\"/orders/17\" class=\"row\">An order of three things</a>\n");
            default -> fill("\u20ac");
        }
    }

    private void fill(String text) {
        byte[] pattern = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < body.length; i++) {
            body[i] = pattern[i % pattern.length];
        }
    }

    @Benchmark
    public int answer() {
        out.clear();
        AnswerFormat.HTTP_API.write(200, "OK", headers, body, body.length, out);
        return out.length();
    }

    /** What arrives from a worker in pieces of 64 KiB is put together first. */
    @Benchmark
    public int collect() {
        out.clear();
        for (int at = 0; at < body.length; at += 65_536) {
            out.put(body, at, Math.min(65_536, body.length - at));
        }
        return out.length();
    }
}
