package dev.cetane.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A regular file as it was when it was found. Immutable.
 *
 * @param path without symbolic links
 * @param size in bytes
 * @param key tells this file from another one that takes its name
 */
public record FoundFile(
        Path path, long size, FileTime modified, @Nullable Object key) {

    /** What is at a path that has no symbolic links; null when that is no regular file. */
    static @Nullable FoundFile at(Path path) throws IOException {
        BasicFileAttributes attributes =
                Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        // Opening anything else, a FIFO or a device, could wait for ever or do something.
        return attributes.isRegularFile()
                ? new FoundFile(path, attributes.size(), attributes.lastModifiedTime(), attributes.fileKey())
                : null;
    }

    /**
     * Opens it for reading. Waits for the disk.
     *
     * @throws NoSuchFileException if the name stands for another file by now, or for a changed one
     */
    public FileChannel open() throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        try {
            // The same before and after: so it was what was opened in between, and validators and content belong
            // together.
            FoundFile now = at(path);
            if (now == null || !Objects.equals(now, this)) {
                throw new NoSuchFileException(path.toString(), null, "it has just changed");
            }
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }
}
