package dev.cetane.http;

import dev.cetane.protocol.RequestWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A body that the worker gets as it came: in memory while it is short, else in a {@link SpoolFile}. */
final class WholeBody extends RequestBody {
    private static final byte[] NONE = {};

    private final SpoolDirectory spool;
    private final Runnable changed;
    private final SpoolBacklog backlog = new SpoolBacklog();
    private final int inlineLimit;
    private final long promised;
    private byte[] inline = NONE;
    private int inlineBytes;
    private @Nullable SpoolFile file;

    /**
     * @param inlineLimit longest body that is kept in memory
     * @param promised length that the head promised, or {@link RequestHead#NO_BODY}
     * @param changed called by any thread when {@link #saturated}, {@link #complete} or {@link #failure} may have changed
     */
    WholeBody(SpoolDirectory spool, int inlineLimit, long promised, Runnable changed) {
        this.spool = spool;
        this.inlineLimit = inlineLimit;
        this.promised = promised;
        this.changed = changed;
    }

    @Override
    void take(ByteBuf bytes) {
        int count = bytes.readableBytes();
        if (file != null) {
            file.append(bytes);
        } else if (Math.max(length(), promised) > inlineLimit) {
            file = spool.newBody(backlog, changed);
            if (inlineBytes > 0) {
                file.append(Unpooled.wrappedBuffer(inline, 0, inlineBytes));
                inline = NONE;
            }
            file.append(bytes);
        } else {
            int length = inlineBytes + count;
            if (inline.length < length) {
                // As much as has arrived, not as much as was promised: a promise costs the client nothing.
                inline = Arrays.copyOf(inline, Math.max(length, Math.min(2 * inline.length, inlineLimit)));
            }
            bytes.readBytes(inline, inlineBytes, count);
            inlineBytes = length;
            bytes.release();
        }
    }

    @Override
    void finish() {
        if (file != null) {
            file.finish();
        }
    }

    @Override
    boolean saturated() {
        return backlog.saturated();
    }

    @Override
    boolean complete() {
        return file == null || file.stored();
    }

    @Override
    @Nullable
    IOException failure() {
        return file == null ? null : file.failure();
    }

    @Override
    void encode(RequestWriter out) {
        if (file == null) {
            out.body(inline, 0, inlineBytes);
        } else {
            out.bodyFile(file.path());
        }
    }

    @Override
    void discard() {
        if (file != null) {
            file.discard();
        }
    }
}
