package dev.cetane.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request: in memory while it is short, else in a {@link SpoolFile}. Filled on the connection's event loop; once it
 * is complete, safe to hand to another thread.
 */
final class RequestBody {
    private static final byte[] NONE = {};

    private final SpoolDirectory spool;
    private final Runnable changed;
    private final int inlineLimit;
    private final long promised;
    private byte[] inline = NONE;
    private int inlineBytes;
    private @Nullable SpoolFile file;
    private long length;

    /**
     * @param inlineLimit longest body that is kept in memory
     * @param promised length that the head promised, or {@link RequestHead#NO_BODY}
     * @param changed called by any thread when {@link #saturated}, {@link #complete} or {@link #failure} may have changed
     */
    RequestBody(SpoolDirectory spool, int inlineLimit, long promised, Runnable changed) {
        this.spool = spool;
        this.inlineLimit = inlineLimit;
        this.promised = promised;
        this.changed = changed;
    }

    /** Adds bytes; takes the buffer over. */
    void append(ByteBuf bytes) {
        int count = bytes.readableBytes();
        length += count;
        if (file != null) {
            file.append(bytes);
        } else if (Math.max(length, promised) > inlineLimit) {
            file = spool.newFile(changed);
            if (inlineBytes > 0) {
                file.append(Unpooled.wrappedBuffer(inline, 0, inlineBytes));
                inline = NONE;
            }
            file.append(bytes);
        } else {
            if (inline.length < length) {
                // As much as has arrived, not as much as was promised: a promise costs the client nothing.
                int room = Math.max((int) length, Math.min(2 * inline.length, inlineLimit));
                inline = Arrays.copyOf(inline, room);
            }
            bytes.readBytes(inline, inlineBytes, count);
            inlineBytes += count;
            bytes.release();
        }
    }

    /** Nothing more is appended. */
    void finish() {
        if (file != null) {
            file.finish();
        }
    }

    /** Bytes that have arrived. */
    long length() {
        return length;
    }

    /** Whether the disk lags so far behind that nothing more should be read. */
    boolean saturated() {
        return file != null && file.saturated();
    }

    /** Whether the body can be given to a worker; only after {@link #finish}. */
    boolean complete() {
        return file == null || file.stored();
    }

    /** Why the body could not be stored, or null. */
    @Nullable
    IOException failure() {
        return file == null ? null : file.failure();
    }

    /** The body when it is in memory: the first {@link #length} bytes of this array. */
    byte[] bytes() {
        return inline;
    }

    /** Where the body is when it is on disk, else null. */
    @Nullable
    Path path() {
        return file == null ? null : file.path();
    }

    /** Deletes the file if there is one. From any thread, once the body is complete. */
    void discard() {
        if (file != null) {
            file.discard();
        }
    }
}
