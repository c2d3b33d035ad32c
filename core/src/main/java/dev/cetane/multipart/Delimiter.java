package dev.cetane.multipart;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What stands between the parts of a body: a line feed, two hyphens and the boundary that the {@code Content-Type} names. Immutable.
 *
 * <p>The line feed occurs in it only once, as its first byte. So a search is a search for line feeds, and no byte is looked at twice
 * whatever the boundary and the body are.
 */
public final class Delimiter {
    /** What PHP reads at a time; a line of a part's head that is longer counts as several lines. */
    private static final int PHP_BUFFER_BYTES = 5 * 1024;

    /** PHP does not read a body whose boundary is longer. */
    private static final int MAX_BOUNDARY_BYTES = PHP_BUFFER_BYTES - 4;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long LINE_FEEDS = ONES * '\n';

    private final byte[] bytes;

    private Delimiter(String boundary) {
        bytes = ("\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Whether PHP takes a body of this type for a multipart form, with or without a usable boundary. */
    public static boolean isForm(String contentType) {
        int end = 0;
        while (end < contentType.length() && ";, ".indexOf(contentType.charAt(end)) < 0) {
            end++;
        }
        return contentType.substring(0, end).equalsIgnoreCase("multipart/form-data");
    }

    /**
     * The delimiter that a {@code Content-Type} names, one char per byte; null when PHP finds none in it, and so leaves the body alone.
     */
    public static @Nullable Delimiter of(String contentType) {
        int name = contentType.indexOf("boundary");
        if (name < 0) {
            name = contentType.toLowerCase(Locale.ROOT).indexOf("boundary");
        }
        int equals = name < 0 ? -1 : contentType.indexOf('=', name);
        if (equals < 0) {
            return null;
        }
        int start = equals + 1;
        int end = start;
        if (contentType.startsWith("\"", start)) {
            start++;
            end = contentType.indexOf('"', start);
            if (end < 0) {
                return null;
            }
        } else {
            while (end < contentType.length() && contentType.charAt(end) != ',' && contentType.charAt(end) != ';') {
                end++;
            }
        }
        return end - start > MAX_BOUNDARY_BYTES ? null : new Delimiter(contentType.substring(start, end));
    }

    int length() {
        return bytes.length;
    }

    byte at(int index) {
        return bytes[index];
    }

    /** Copies what stands behind the line feed. */
    void copyLine(byte[] target) {
        System.arraycopy(bytes, 1, target, 0, bytes.length - 1);
    }

    /** Whether the first {@code length} bytes of this line are the delimiter's; a NUL ends a line as it ends a string of C. */
    boolean isLine(byte[] line, int length) {
        int wanted = bytes.length - 1;
        if (length < wanted || (length > wanted && line[wanted] != 0)) {
            return false;
        }
        for (int i = 0; i < wanted; i++) {
            if (line[i] != bytes[i + 1]) {
                return false;
            }
        }
        return true;
    }

    /** Where PHP cuts lines of a part's head. */
    int longestLine() {
        return Math.max(PHP_BUFFER_BYTES, bytes.length - 3 + 6);
    }

    /** How many bytes from this index on are the delimiter's, up to the buffer's limit; the first is known to be. */
    int matches(ByteBuffer in, int from) {
        int most = Math.min(bytes.length, in.limit() - from);
        int matched = 1;
        while (matched < most && in.get(from + matched) == bytes[matched]) {
            matched++;
        }
        return matched;
    }

    /** The index of the first line feed at or behind {@code from}, -1 when there is none before {@code to}. */
    static int lineFeed(ByteBuffer in, int from, int to) {
        int i = from;
        if (i < to && in.get(i) == '\n') {
            return i;
        }
        for (; i <= to - 32; i += 32) {
            long found = lineFeeds(in, i) | lineFeeds(in, i + 8) | lineFeeds(in, i + 16) | lineFeeds(in, i + 24);
            if (found != 0) {
                break;
            }
        }
        for (; i <= to - 8; i += 8) {
            long found = lineFeeds(in, i);
            if (found != 0) {
                return i + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        for (; i < to; i++) {
            if (in.get(i) == '\n') {
                return i;
            }
        }
        return -1;
    }

    /** The high bit of each byte that is a line feed; bits behind the first one may be wrong. */
    private static long lineFeeds(ByteBuffer in, int index) {
        long zeros = (long) LONGS.get(in, index) ^ LINE_FEEDS;
        return (zeros - ONES) & ~zeros & HIGHS;
    }
}
