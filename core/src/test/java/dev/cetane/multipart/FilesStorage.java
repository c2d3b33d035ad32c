package dev.cetane.multipart;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keeps texts in memory and uploads in a directory, at once; counts both. */
class FilesStorage implements FormStorage {
    private final Path directory;
    private final ByteArrayOutputStream fields = new ByteArrayOutputStream();
    private final ByteArrayOutputStream files = new ByteArrayOutputStream();
    private @Nullable FileChannel upload;
    private @Nullable Path path;
    private int begun;
    private int open;

    FilesStorage(Path directory) {
        this.directory = directory;
    }

    /** The body field of a REQUEST. */
    byte[] section() {
        return ByteBuffer.allocate(4 + fields.size() + files.size())
                .putInt(fields.size())
                .put(fields.toByteArray())
                .put(files.toByteArray())
                .array();
    }

    int textBytes() {
        return fields.size() + files.size();
    }

    int uploadsBegun() {
        return begun;
    }

    int uploadsOpen() {
        return open;
    }

    @Override
    public void fields(ByteBuffer bytes) {
        copy(bytes, fields);
    }

    @Override
    public void files(ByteBuffer bytes) {
        copy(bytes, files);
    }

    private static void copy(ByteBuffer bytes, ByteArrayOutputStream target) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        target.writeBytes(copy);
    }

    @Override
    public String beginUpload() {
        begun++;
        open++;
        try {
            Path file = Files.createTempDirectory(directory, "u").resolve("upload");
            path = file;
            upload = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return file.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void upload(ByteBuffer bytes) {
        if (upload == null || !bytes.hasRemaining()) {
            throw new AssertionError("no bytes, or none expected");
        }
        try {
            while (bytes.hasRemaining()) {
                upload.write(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void endUpload(boolean keep) {
        open--;
        if (upload == null || path == null) {
            throw new AssertionError("no upload has begun");
        }
        try {
            upload.close();
            if (!keep) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        upload = null;
        path = null;
    }
}
