package dev.cetane.http;

import dev.cetane.multipart.Delimiter;
import dev.cetane.multipart.FormLimits;
import dev.cetane.multipart.FormReader;
import dev.cetane.multipart.FormStorage;
import dev.cetane.multipart.PartHeadersTooLargeException;
import dev.cetane.protocol.BytePath;
import dev.cetane.protocol.RequestWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The body of a multipart form, read as it arrives: each uploaded file in a {@link SpoolFile} of its own, the text fields and the list
 * of files in memory while they are short, else in files too.
 *
 * <p>Content of files is not copied: what the spool writes are slices of the buffers that the connection has read.
 */
final class FormBody extends RequestBody implements FormStorage {
    /** So much of a section that is in a file is gathered before it is written. */
    private static final int GATHERED_BYTES = 8 * 1024;

    private final SpoolDirectory spool;
    private final Runnable changed;
    private final SpoolBacklog backlog = new SpoolBacklog();
    private final int inlineLimit;
    private final FormReader reader;
    private final Section fields = new Section();
    private final Section files = new Section();

    /** Every file of the request. */
    private final List<SpoolFile> spooled = new ArrayList<>();

    /** Those that may not be stored yet, in the order in which they were begun. */
    private final ArrayDeque<SpoolFile> pending = new ArrayDeque<>();

    private @Nullable SpoolFile upload;

    // What the reader is looking at: the buffer, its view of it, and what to add to an index of the view for one of the
    // buffer.
    private ByteBuf input = Unpooled.EMPTY_BUFFER;
    private @Nullable ByteBuffer view;
    private int shift;

    /**
     * @param inlineLimit most bytes of text fields and list of files that are kept in memory
     * @param changed called by any thread when {@link #saturated}, {@link #complete} or {@link #failure} may have changed
     */
    FormBody(SpoolDirectory spool, int inlineLimit, Delimiter delimiter, FormLimits limits, Runnable changed) {
        this.spool = spool;
        this.inlineLimit = inlineLimit;
        this.changed = changed;
        this.reader = new FormReader(delimiter, limits, this);
    }

    @Override
    void take(ByteBuf bytes) throws RefusedException {
        input = bytes;
        try {
            int index = bytes.readerIndex();
            for (ByteBuffer part : bytes.nioBuffers()) {
                view = part;
                shift = index - part.position();
                index += part.remaining();
                reader.read(part);
            }
        } catch (PartHeadersTooLargeException e) {
            throw new RefusedException(HttpFailure.FIELDS_TOO_LARGE, String.valueOf(e.getMessage()));
        } finally {
            input = Unpooled.EMPTY_BUFFER;
            view = null;
            bytes.release();
        }
    }

    @Override
    void finish() {
        reader.finish();
        if (fields.isInFile() || files.isInFile() || fields.length() + files.length() + Integer.BYTES > inlineLimit) {
            fields.moveToFile();
            files.moveToFile();
        }
    }

    @Override
    boolean saturated() {
        return backlog.saturated();
    }

    @Override
    boolean complete() {
        while (!pending.isEmpty() && pending.getFirst().stored()) {
            pending.removeFirst();
        }
        return pending.isEmpty();
    }

    @Override
    @Nullable
    IOException failure() {
        return complete() ? null : pending.getFirst().failure();
    }

    @Override
    @Nullable
    String remark() {
        return reader.notices().isEmpty()
                ? null
                : reader.notices().stream().map(Object::toString).collect(Collectors.joining(", "));
    }

    @Override
    void encode(RequestWriter out) {
        if (fields.isInFile() || files.isInFile()) {
            out.formFiles(fields.path(), files.path());
        } else {
            out.form(fields.content(), files.content());
        }
    }

    @Override
    void discard() {
        spooled.forEach(SpoolFile::discard);
    }

    // ---- what the reader finds ----

    @Override
    public void fields(ByteBuffer bytes) {
        fields.append(bytes);
    }

    @Override
    public void files(ByteBuffer bytes) {
        files.append(bytes);
    }

    @Override
    public String beginUpload() {
        SpoolFile begun = begin(spool.newUpload(backlog, changed));
        upload = begun;
        return BytePath.toText(begun.path());
    }

    @Override
    @SuppressWarnings(
            "ReferenceEquality") // only of the very buffer that is being read can a slice be retained instead of copied
    public void upload(ByteBuffer bytes) {
        running()
                .append(
                        bytes == view
                                ? input.retainedSlice(shift + bytes.position(), bytes.remaining())
                                : Unpooled.copiedBuffer(bytes));
    }

    @Override
    public void endUpload(boolean keep) {
        if (keep) {
            running().finish();
        } else {
            running().discard();
            pending.remove(running());
        }
        upload = null;
    }

    private SpoolFile running() {
        SpoolFile begun = upload;
        if (begun == null) {
            throw new IllegalStateException("no upload has begun");
        }
        return begun;
    }

    private SpoolFile begin(SpoolFile file) {
        spooled.add(file);
        pending.addLast(file);
        return file;
    }

    /** One of the two texts of PROTOCOL.md §4.2.1. */
    private final class Section {
        private byte[] bytes = {};
        private int count;
        private @Nullable SpoolFile file;

        void append(ByteBuffer more) {
            int limit = file == null ? Math.max(inlineLimit, 1) : GATHERED_BYTES;
            while (more.hasRemaining()) {
                if (count == limit) {
                    flush();
                    limit = GATHERED_BYTES;
                }
                int taken = Math.min(more.remaining(), limit - count);
                if (bytes.length < count + taken) {
                    bytes = Arrays.copyOf(bytes, Math.min(limit, Math.max(count + taken, 2 * bytes.length)));
                }
                more.get(bytes, count, taken);
                count += taken;
            }
        }

        boolean isInFile() {
            return file != null;
        }

        /** Bytes, while it is in memory. */
        long length() {
            return count;
        }

        ByteBuffer content() {
            return ByteBuffer.wrap(bytes, 0, count);
        }

        /** The path as the worker gets it, empty when the section is. */
        String path() {
            return file == null ? "" : BytePath.toText(file.path());
        }

        void moveToFile() {
            if (count > 0) {
                flush();
            }
            if (file != null) {
                file.finish();
            }
        }

        private void flush() {
            SpoolFile target = file;
            if (target == null) {
                target = begin(spool.newBody(backlog, changed));
                file = target;
            }
            target.append(Unpooled.wrappedBuffer(bytes, 0, count));
            bytes = new byte[GATHERED_BYTES];
            count = 0;
        }
    }
}
