package dev.cetane.bench;

import dev.cetane.multipart.Delimiter;
import dev.cetane.multipart.FormLimits;
import dev.cetane.multipart.FormReader;
import dev.cetane.multipart.FormStorage;
import dev.cetane.multipart.PartHeadersTooLargeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
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
 * What reading a form costs without the disk: bodies that arrive in buffers of 64 KiB, as a connection reads them. A storage that drops
 * what it gets stands for the spool, which takes slices and copies nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class MultipartBenchmark {
    private static final String BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
    private static final int LARGE = 16 << 20;
    private static final int BUFFER = 64 * 1024;
    private static final FormLimits LIMITS = new FormLimits(0, 0, 1000, 1000, 2000, true);

    /** What the large file consists of: random bytes, lines of 70 letters, nothing but line feeds, or what nearly is the delimiter. */
    @Param({"random", "lines", "linefeeds", "near"})
    public String content = "";

    private final Delimiter delimiter =
            Objects.requireNonNull(Delimiter.of("multipart/form-data; boundary=" + BOUNDARY));
    private final Dropped storage = new Dropped();
    private ByteBuffer largeFile = ByteBuffer.allocate(0);
    private ByteBuffer largeField = ByteBuffer.allocate(0);
    private ByteBuffer fields = ByteBuffer.allocate(0);
    private ByteBuffer files = ByteBuffer.allocate(0);

    @Setup
    public void makeBodies() {
        byte[] bytes = new byte[LARGE];
        switch (content) {
            case "random" -> new Random(1).nextBytes(bytes);
            case "lines" -> fill(bytes, "x".repeat(70) + "\n");
            case "linefeeds" -> fill(bytes, "\n");
            default -> fill(bytes, "\r\n--" + BOUNDARY.substring(0, BOUNDARY.length() - 1));
        }
        largeFile = body(file("file", bytes));
        largeField = body(part("name=\"text\"", bytes));
        byte[][] twenty = new byte[20][];
        for (int i = 0; i < twenty.length; i++) {
            twenty[i] = part("name=\"field[" + i + "]\"", ("value " + i).getBytes(StandardCharsets.US_ASCII));
        }
        fields = body(twenty);
        byte[] photo = new byte[100_000];
        new Random(2).nextBytes(photo);
        files = body(file("a", photo), file("b", photo), file("c", photo));
    }

    /** A file of 16 MiB. */
    @Benchmark
    public long largeFile() throws PartHeadersTooLargeException {
        return read(largeFile);
    }

    /** A text field of 16 MiB, which is URL-encoded. */
    @Benchmark
    public long largeField() throws PartHeadersTooLargeException {
        return read(largeField);
    }

    /** 20 short text fields. */
    @Benchmark
    public long twentyFields() throws PartHeadersTooLargeException {
        return read(fields);
    }

    /** Three files of 100 kB. */
    @Benchmark
    public long threeFiles() throws PartHeadersTooLargeException {
        return read(files);
    }

    private long read(ByteBuffer body) throws PartHeadersTooLargeException {
        FormReader reader = new FormReader(delimiter, LIMITS, storage);
        ByteBuffer view = body.duplicate();
        int end = view.limit();
        for (int at = 0; at < end; at += BUFFER) {
            view.limit(Math.min(end, at + BUFFER)).position(at);
            reader.read(view);
        }
        reader.finish();
        return storage.bytes;
    }

    private static void fill(byte[] bytes, String pattern) {
        byte[] unit = pattern.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = unit[i % unit.length];
        }
    }

    private static byte[] file(String name, byte[] content) {
        return part("name=\"" + name + "\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg", content);
    }

    private static byte[] part(String parameters, byte[] content) {
        byte[] head = ("Content-Disposition: form-data; " + parameters + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        byte[] part = new byte[head.length + content.length];
        System.arraycopy(head, 0, part, 0, head.length);
        System.arraycopy(content, 0, part, head.length, content.length);
        return part;
    }

    private static ByteBuffer body(byte[]... parts) {
        byte[] before = ("--" + BOUNDARY + "\r\n").getBytes(StandardCharsets.US_ASCII);
        int length = 200;
        for (byte[] part : parts) {
            length += before.length + part.length + 2;
        }
        ByteBuffer body = ByteBuffer.allocateDirect(length);
        for (byte[] part : parts) {
            body.put(before).put(part).put((byte) '\r').put((byte) '\n');
        }
        return body.put(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII)).flip();
    }

    private static final class Dropped implements FormStorage {
        long bytes;

        @Override
        public void fields(ByteBuffer more) {
            bytes += more.remaining();
        }

        @Override
        public void files(ByteBuffer more) {
            bytes += more.remaining();
        }

        @Override
        public String beginUpload() {
            return "/spool/upload-1";
        }

        @Override
        public void upload(ByteBuffer more) {
            bytes += more.remaining();
        }

        @Override
        public void endUpload(boolean keep) {
            bytes += keep ? 1 : 0;
        }
    }
}
