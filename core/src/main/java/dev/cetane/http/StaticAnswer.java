package dev.cetane.http;

import dev.cetane.files.FileReply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link StaticFiles} found: a file's answer, ready to be written, or {@link #NONE}, or {@link #FAILED}. Made on a thread of those, then of the
 * connection's event loop. Whoever has it writes its bytes or {@linkplain #release releases} them.
 */
final class StaticAnswer {
    /** There is no such file. */
    static final StaticAnswer NONE = new StaticAnswer(null, null, null);

    /** There is one, and it cannot be sent. */
    static final StaticAnswer FAILED = new StaticAnswer(null, null, null);

    private final @Nullable FileReply reply;
    private final @Nullable ByteBuf bytes;
    private final @Nullable FilePart file;

    /** At most one of {@code bytes} and {@code file}, none when the answer has no body. */
    StaticAnswer(@Nullable FileReply reply, @Nullable ByteBuf bytes, @Nullable FilePart file) {
        this.reply = reply;
        this.bytes = bytes;
        this.file = file;
    }

    int status() {
        return reply == null ? 0 : reply.status();
    }

    /** What follows the head when it is not in memory. */
    @Nullable
    FilePart file() {
        return file;
    }

    /** The head, and the body where that is in memory, which this releases. */
    ByteBuf encode(ByteBufAllocator allocator, boolean close, boolean keepAlive, byte[] date) {
        if (reply == null) {
            throw new IllegalStateException("there is no file to answer with");
        }
        ByteBuf out = allocator.directBuffer(512 + (bytes == null ? 0 : bytes.readableBytes()));
        ByteBufUtil.writeAscii(out, "HTTP/1.1 " + reply.status() + " " + reply.reason() + "\r\n");
        List<String> fields = reply.fields();
        for (int i = 0; i < fields.size(); i += 2) {
            ByteBufUtil.writeAscii(out, fields.get(i));
            out.writeShort(':' << 8 | ' ');
            ByteBufUtil.writeAscii(out, fields.get(i + 1));
            out.writeShort('\r' << 8 | '\n');
        }
        out.writeBytes(date);
        if (close) {
            ByteBufUtil.writeAscii(out, "Connection: close\r\n");
        } else if (keepAlive) {
            ByteBufUtil.writeAscii(out, "Connection: keep-alive\r\n");
        }
        out.writeShort('\r' << 8 | '\n');
        if (bytes != null) {
            out.writeBytes(bytes);
            bytes.release();
        }
        return out;
    }

    void release() {
        if (bytes != null) {
            bytes.release();
        }
        if (file != null) {
            file.release();
        }
    }
}
