package dev.cetane.shared;

import dev.cetane.worker.Caller;
import java.nio.ByteBuffer;

/** A reply while it grows: in the worker's frame as long as it fits into one, else in an array. Belongs to the thread that replies. */
final class ReplyBuffer {
    private final Caller caller;
    private final int start;
    private ByteBuffer buffer;
    private boolean inFrame = true;

    ReplyBuffer(Caller caller) {
        this.caller = caller;
        buffer = caller.begin();
        start = buffer.position();
    }

    /** The buffer, with room for so many bytes behind its position. */
    ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            int used = size();
            ByteBuffer larger = ByteBuffer.allocate(Math.max(2 * used, used + bytes));
            larger.put(buffer.duplicate().limit(buffer.position()).position(inFrame ? start : 0));
            buffer = larger;
            inFrame = false;
        }
        return buffer;
    }

    int size() {
        return buffer.position() - (inFrame ? start : 0);
    }

    /** Puts an integer at this place of the reply. */
    void setInt(int at, int value) {
        buffer.putInt(at + (inFrame ? start : 0), value);
    }

    void setByte(int at, byte value) {
        buffer.put(at + (inFrame ? start : 0), value);
    }

    /** Forgets what is behind this place. */
    void cutTo(int size) {
        buffer.position(size + (inFrame ? start : 0));
    }

    void send() {
        if (inFrame) {
            caller.reply();
        } else {
            caller.reply(buffer.flip());
        }
    }
}
