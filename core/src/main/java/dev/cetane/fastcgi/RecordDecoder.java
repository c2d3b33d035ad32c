package dev.cetane.fastcgi;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Takes apart the records of the answers on one connection, whatever pieces they arrive in, and hands their content on without a copy.
 * {@link #begin} is called by the thread that sends a request, before it does; the rest belongs to the one that reads.
 */
public final class RecordDecoder {
    /** A good size for the buffer that is read into: with it a whole record fits. */
    public static final int BUFFER_BYTES = 64 * 1024;

    private final Handler handler;
    private volatile boolean running;

    /** Type of the record whose content comes, 0 between records. */
    private int type;

    private int content;
    private int padding;

    /** What is being decoded, and what of it has been handed on. */
    private @Nullable ByteBuffer input;

    /** Hears what arrives. Buffers are valid during the call only, and taken whole. */
    public interface Handler {

        /** The next bytes of the answer: its head, then its body. */
        void stdout(ByteBuffer bytes) throws FastCgiException;

        /** The next bytes of what PHP reports; not always whole lines. */
        void stderr(ByteBuffer bytes);

        /** The request is done; the next may have begun when this returns. */
        void end() throws FastCgiException;
    }

    public RecordDecoder(Handler handler) {
        this.handler = handler;
    }

    /** A request is about to be sent: from now on records may come. */
    public void begin() {
        running = true;
    }

    /**
     * Takes what is there; the start of a record that is not yet whole enough stays in the buffer.
     *
     * @throws FastCgiException for a record that must not come
     */
    public void decode(ByteBuffer in) throws FastCgiException {
        input = in;
        while (true) {
            if (type != 0) {
                if (!takeContent(in)) {
                    return;
                }
            } else if (in.remaining() < FastCgi.HEADER_BYTES) {
                return;
            } else {
                takeHeader(in);
            }
        }
    }

    /**
     * Called within {@link Handler#stdout}: how many bytes of the answer follow its argument, if all of them and the end of the request are in the
     * buffer already; else -1.
     */
    public long restOfAnswer() {
        ByteBuffer in = input;
        if (in == null || type != FastCgi.STDOUT || content > 0) {
            return -1;
        }
        long sum = 0;
        int at = in.position() + padding;
        while (at + FastCgi.HEADER_BYTES <= in.limit()) {
            int next = in.get(at + 1);
            int length = in.getShort(at + 4) & 0xFFFF;
            if (next == FastCgi.END_REQUEST) {
                return sum;
            }
            if (next == FastCgi.STDOUT) {
                sum += length;
            }
            at += FastCgi.HEADER_BYTES + length + (in.get(at + 6) & 0xFF);
        }
        return -1;
    }

    private void takeHeader(ByteBuffer in) throws FastCgiException {
        int version = in.get() & 0xFF;
        int recordType = in.get() & 0xFF;
        int id = in.getShort() & 0xFFFF;
        content = in.getShort() & 0xFFFF;
        padding = in.get() & 0xFF;
        in.get();
        if (version != FastCgi.VERSION) {
            throw new FastCgiException("a record of version " + version + " came, 1 is spoken");
        }
        if (recordType != FastCgi.STDOUT && recordType != FastCgi.STDERR && recordType != FastCgi.END_REQUEST) {
            throw new FastCgiException("a record of type " + recordType + " came, which is not for clients");
        }
        if (!running || id != FastCgi.REQUEST_ID) {
            throw new FastCgiException("a record of request " + id + " came, "
                    + (running ? FastCgi.REQUEST_ID + " is the one that runs" : "none runs"));
        }
        if (recordType == FastCgi.END_REQUEST && content != FastCgi.END_REQUEST_BYTES) {
            throw new FastCgiException("a record that ends a request came with " + content + " bytes, it has "
                    + FastCgi.END_REQUEST_BYTES);
        }
        type = recordType;
    }

    /** Returns whether the record is whole. */
    private boolean takeContent(ByteBuffer in) throws FastCgiException {
        if (type == FastCgi.END_REQUEST) {
            return takeEnd(in);
        }
        int available = Math.min(content, in.remaining());
        if (available > 0) {
            ByteBuffer part = in.slice(in.position(), available);
            in.position(in.position() + available);
            content -= available;
            if (type == FastCgi.STDOUT) {
                handler.stdout(part);
            } else {
                handler.stderr(part);
            }
        }
        return content == 0 && skipPadding(in);
    }

    private boolean takeEnd(ByteBuffer in) throws FastCgiException {
        if (in.remaining() < content + padding) {
            return false;
        }
        int protocolStatus = in.get(in.position() + 4) & 0xFF;
        in.position(in.position() + content + padding);
        type = 0;
        if (protocolStatus != FastCgi.REQUEST_COMPLETE) {
            throw new FastCgiException("the request was refused with protocol status " + protocolStatus);
        }
        running = false;
        handler.end();
        return true;
    }

    private boolean skipPadding(ByteBuffer in) {
        int skipped = Math.min(padding, in.remaining());
        in.position(in.position() + skipped);
        padding -= skipped;
        if (padding > 0) {
            return false;
        }
        type = 0;
        return true;
    }
}
