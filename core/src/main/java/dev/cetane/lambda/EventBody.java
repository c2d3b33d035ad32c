package dev.cetane.lambda;

import dev.cetane.cgi.FieldNames;
import dev.cetane.log.FileReason;
import dev.cetane.multipart.Delimiter;
import dev.cetane.multipart.FormLimits;
import dev.cetane.multipart.FormReader;
import dev.cetane.multipart.FormStorage;
import dev.cetane.multipart.PartHeadersTooLargeException;
import dev.cetane.protocol.BytePath;
import dev.cetane.protocol.FrameTooLargeException;
import dev.cetane.protocol.RequestWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of one invocation on its way to a worker: in the frame while it is short, else in a file; a multipart form is read as PHP
 * reads it, each uploaded file in a file of its own. Made on the loop's thread, written on the dispatching one. The event is in memory
 * as a whole, so nothing here waits for anything but the disk.
 */
final class EventBody {
    private static final int INLINE_BYTES = 16 * 1024;

    private final Path directory;
    private final String prefix;
    private final byte[] bytes;
    private final int length;
    private final List<Path> files = new ArrayList<>();
    private @Nullable Path file;
    private @Nullable ByteWriter fields;
    private @Nullable ByteWriter uploads;
    private @Nullable FormFiles formFiles;
    private String remark = "";

    private EventBody(Path directory, String prefix, byte[] bytes, int length) {
        this.directory = directory;
        this.prefix = prefix;
        this.bytes = bytes;
        this.length = length;
    }

    /** A body that the worker gets as it is. */
    static EventBody whole(Path directory, String requestId, byte[] bytes, int length) {
        return new EventBody(directory, "body-" + requestId, bytes, length);
    }

    /**
     * The body of a request.
     *
     * @param limits of the worker's PHP; null when it reads no forms of ours
     * @throws RefusedRequestException when the form, or the header of a part of it, is larger than PHP takes
     */
    static EventBody of(Path directory, String requestId, HttpEvent event, @Nullable FormLimits limits)
            throws RefusedRequestException {
        EventBody body = whole(directory, requestId, event.body(), event.body().length);
        String type = event.field(FieldNames.CONTENT_TYPE);
        if (limits != null && event.method().equals("POST") && Delimiter.isForm(type)) {
            Delimiter delimiter = Delimiter.of(type);
            if (limits.postMaxBytes() > 0 && body.length > limits.postMaxBytes()) {
                throw new RefusedRequestException(
                        413,
                        "the body of " + event.describe() + " has " + body.length
                                + " bytes, post_max_size of php.ini is " + limits.postMaxBytes());
            }
            if (delimiter != null) {
                try {
                    body.readForm(delimiter, limits);
                } catch (RefusedRequestException | RuntimeException e) {
                    body.discard();
                    throw e;
                }
            }
        }
        return body;
    }

    private void readForm(Delimiter delimiter, FormLimits limits) throws RefusedRequestException {
        ByteWriter text = new ByteWriter();
        ByteWriter list = new ByteWriter();
        FormReader reader = new FormReader(delimiter, limits, new Storage(text, list));
        try {
            reader.read(ByteBuffer.wrap(bytes, 0, length));
            reader.finish();
        } catch (PartHeadersTooLargeException e) {
            throw new RefusedRequestException(431, String.valueOf(e.getMessage()));
        }
        fields = text;
        uploads = list;
        remark = String.join(
                ", ", reader.notices().stream().map(Object::toString).toList());
    }

    /** What of the form is left out that PHP would warn of; empty when nothing is. */
    String remark() {
        return remark;
    }

    /**
     * Stores what is too large for the frame, before a worker is taken for it.
     *
     * @throws UncheckedIOException when it cannot be stored: there is no room
     */
    void store() {
        ByteWriter text = fields;
        ByteWriter list = uploads;
        if (text != null && list != null) {
            if (text.length() + list.length() > INLINE_BYTES) {
                storeForm(text, list);
            }
        } else if (length > INLINE_BYTES) {
            bodyFile();
        }
    }

    /** A form too large for the frame, by the paths of its files; one that would be empty is none. */
    private record FormFiles(String fields, String uploads) {}

    private FormFiles storeForm(ByteWriter text, ByteWriter list) {
        FormFiles stored = formFiles;
        if (stored == null) {
            stored = new FormFiles(spooled("fields", text), spooled("files", list));
            formFiles = stored;
        }
        return stored;
    }

    /** Writes it behind the head. */
    void encode(RequestWriter out) {
        ByteWriter text = fields;
        ByteWriter list = uploads;
        if (text != null && list != null) {
            if (text.length() + list.length() <= INLINE_BYTES) {
                try {
                    out.form(
                            ByteBuffer.wrap(text.array(), 0, text.length()),
                            ByteBuffer.wrap(list.array(), 0, list.length()));
                    return;
                } catch (FrameTooLargeException e) {
                    // The head leaves it no room.
                }
            }
            FormFiles stored = storeForm(text, list);
            out.formFiles(stored.fields(), stored.uploads());
        } else if (length > 0) {
            if (length <= INLINE_BYTES) {
                try {
                    out.body(bytes, 0, length);
                    return;
                } catch (FrameTooLargeException e) {
                    // The head leaves it no room.
                }
            }
            out.bodyFile(bodyFile());
        }
    }

    private Path bodyFile() {
        Path written = file;
        if (written == null) {
            written = newFile("whole");
            write(written, bytes, length);
            file = written;
        }
        return written;
    }

    private String spooled(String name, ByteWriter text) {
        if (text.length() == 0) {
            return "";
        }
        Path target = newFile(name);
        write(target, text.array(), text.length());
        return BytePath.toText(target);
    }

    private Path newFile(String name) {
        Path target =
                directory.resolve(prefix + "-" + name + "-" + files.size()).toAbsolutePath();
        files.add(target);
        return target;
    }

    private static void write(Path target, byte[] bytes, int length) {
        try (OutputStream out = Files.newOutputStream(target)) {
            out.write(bytes, 0, length);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the request's body cannot be stored in " + target.getParent() + ": " + FileReason.of(e), e);
        }
    }

    /** Deletes the files, after the worker is done with them; what it has moved away is gone already. */
    void discard() {
        for (Path each : files) {
            try {
                Files.deleteIfExists(each);
            } catch (IOException e) {
                // It takes room in /tmp until the environment ends.
            }
        }
    }

    /** Where the form goes. */
    private final class Storage implements FormStorage {
        private final ByteWriter text;
        private final ByteWriter list;
        private @Nullable OutputStream upload;
        private @Nullable Path path;

        Storage(ByteWriter text, ByteWriter list) {
            this.text = text;
            this.list = list;
        }

        @Override
        public void fields(ByteBuffer more) {
            text.put(more);
        }

        @Override
        public void files(ByteBuffer more) {
            list.put(more);
        }

        @Override
        public String beginUpload() {
            Path begun = newFile("upload");
            path = begun;
            try {
                upload = Files.newOutputStream(begun);
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "an uploaded file cannot be stored in " + directory + ": " + FileReason.of(e), e);
            }
            return BytePath.toText(begun);
        }

        @Override
        public void upload(ByteBuffer more) {
            OutputStream out = upload;
            if (out == null) {
                throw new IllegalStateException("no upload has begun");
            }
            byte[] piece = new byte[more.remaining()];
            more.get(piece);
            try {
                out.write(piece);
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "an uploaded file cannot be stored in " + directory + ": " + FileReason.of(e), e);
            }
        }

        @Override
        public void endUpload(boolean keep) {
            OutputStream out = upload;
            Path ended = path;
            upload = null;
            path = null;
            try {
                if (out != null) {
                    out.close();
                }
                if (!keep && ended != null) {
                    Files.deleteIfExists(ended);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "an uploaded file cannot be stored in " + directory + ": " + FileReason.of(e), e);
            }
        }
    }
}
