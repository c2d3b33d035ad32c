package dev.cetane.http;

import io.netty.channel.DefaultFileRegion;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** A part of a file that is sent without being read into memory, and is deleted afterwards if the worker says so. */
final class FilePart extends DefaultFileRegion {
    private final Path file;
    private final @Nullable SpoolDirectory deleter;

    private FilePart(FileChannel channel, Path file, long offset, long length, @Nullable SpoolDirectory deleter) {
        super(channel, offset, length);
        this.file = file;
        this.deleter = deleter;
    }

    /**
     * Opens the file; blocks on the disk.
     *
     * @param deleter deletes the file once the part is released; null keeps it
     * @throws IOException if it is no regular file, is not readable, or is shorter than the part's end
     */
    static FilePart open(Path file, long offset, long length, @Nullable SpoolDirectory deleter) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("it is missing, not readable or no regular file");
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            long size = channel.size();
            if (offset < 0 || length < 0 || offset > size - length) {
                throw new IOException(
                        "bytes " + offset + " to " + (offset + length) + " were asked for and it has " + size);
            }
            return new FilePart(channel, file, offset, length, deleter);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Takes the open channel over; whoever opened it has checked that the part is there. */
    static FilePart of(FileChannel channel, Path file, long offset, long length) {
        return new FilePart(channel, file, offset, length, null);
    }

    /** Whether the file has become shorter than the part's end. Looks at the disk, so for a transfer that failed only. */
    boolean cutOff() {
        try {
            return Files.size(file) < position() + count();
        } catch (IOException e) {
            return true;
        }
    }

    Path path() {
        return file;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        if (deleter != null) {
            deleter.delete(file);
        }
    }
}
