package dev.cetane.http;

import dev.cetane.worker.Ticker;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The {@code Date} field of answers, made anew once a second. Thread-safe: two threads may make the same value at a second's turn. */
final class HttpDate {
    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final Ticker ticker;
    private volatile @Nullable Line current;

    HttpDate(Ticker ticker) {
        this.ticker = ticker;
    }

    /** {@code Date: …} with its line end. Not to be changed. */
    byte[] line() {
        long nanos = ticker.nanos();
        Line line = current;
        if (line == null || nanos - line.validUntilNanos >= 0) {
            Instant now = ticker.now();
            byte[] bytes = ("Date: " + FORMAT.format(now) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            line = new Line(bytes, nanos + TimeUnit.SECONDS.toNanos(1) - now.get(ChronoField.NANO_OF_SECOND));
            current = line;
        }
        return line.bytes;
    }

    private static final class Line {
        final byte[] bytes;
        final long validUntilNanos;

        Line(byte[] bytes, long validUntilNanos) {
            this.bytes = bytes;
            this.validUntilNanos = validUntilNanos;
        }
    }
}
