package dev.cetane.http;

import dev.cetane.protocol.RequestWriter;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request on its way to a worker. Filled on the connection's event loop; once it is complete, safe to hand to another
 * thread.
 */
abstract class RequestBody {
    private long length;

    /**
     * Adds bytes; takes the buffer over, also when it throws.
     *
     * @throws RefusedException if a body like this is not taken
     */
    final void append(ByteBuf bytes) throws RefusedException {
        length += bytes.readableBytes();
        take(bytes);
    }

    /** As {@link #append}, {@link #length} includes them already. */
    abstract void take(ByteBuf bytes) throws RefusedException;

    /** Nothing more is appended. */
    abstract void finish();

    /** Bytes that have arrived. */
    final long length() {
        return length;
    }

    /** Whether the disk lags so far behind that nothing more should be read. */
    abstract boolean saturated();

    /** Whether the body can be given to a worker; only after {@link #finish}. On the event loop. */
    abstract boolean complete();

    /** Why the body could not be stored, or null. On the event loop. */
    abstract @Nullable IOException failure();

    /** What of the body is left out that PHP would warn of, null when nothing is; only after {@link #finish}. */
    @Nullable
    String remark() {
        return null;
    }

    /** Writes it into the request's frame. */
    abstract void encode(RequestWriter out);

    /** Deletes the files if there are any. From any thread, once the body is complete; before that on the event loop. */
    abstract void discard();
}
