package dev.cetane.worker;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;

/** Measures what it costs to talk to another process through pipes, without any PHP: {@code cat} is at the other end. On the calling thread. */
public final class PipeProbe {
    private static final int ROUND_TRIPS = 2000;
    private static final int FRAME_BYTES = 1024;

    private PipeProbe() {}

    /** Median of the times that a frame takes there and back, nanoseconds. */
    public static long roundTripNanos(Ticker ticker) throws IOException {
        Process cat = new ProcessBuilder("cat")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (OutputStream to = cat.getOutputStream();
                InputStream from = cat.getInputStream()) {
            byte[] frame = new byte[FRAME_BYTES];
            long[] nanos = new long[ROUND_TRIPS];
            for (int i = 0; i < nanos.length; i++) {
                long start = ticker.nanos();
                to.write(frame);
                to.flush();
                if (from.readNBytes(frame, 0, frame.length) < frame.length) {
                    throw new EOFException("cat has ended");
                }
                nanos[i] = ticker.nanos() - start;
            }
            Arrays.sort(nanos);
            return nanos[nanos.length / 2];
        } finally {
            cat.destroyForcibly();
        }
    }
}
