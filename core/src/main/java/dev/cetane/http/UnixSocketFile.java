package dev.cetane.http;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** The file of a Unix socket: claimed before it is bound, opened to the group afterwards, removed at the end. For one thread. */
final class UnixSocketFile {
    private final Path path;
    private @Nullable Object key;

    private UnixSocketFile(Path path) {
        this.path = path;
    }

    /**
     * Makes room for a socket: removes one that nobody listens on any more.
     *
     * @throws IOException if somebody listens there, or if something else than a socket is there
     */
    static UnixSocketFile claim(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .isOther()) {
                throw new IOException(
                        "cannot listen on unix:" + path
                                + ": a file that is no socket is there; remove it, or choose another path with http.listen (--listen)");
            }
            if (answers(path)) {
                throw new IOException(
                        "cannot listen on unix:" + path
                                + ": another process listens there; stop it, or choose another path with http.listen (--listen)");
            }
            Files.delete(path);
        }
        return new UnixSocketFile(path);
    }

    Path path() {
        return path;
    }

    /** Lets the owner and the group connect, nobody else. */
    void bound() throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
        key = fileKey();
    }

    /** Removes the file if it is still the one that was bound. */
    void remove() {
        try {
            if (key != null && key.equals(fileKey())) {
                Files.delete(path);
            }
        } catch (IOException e) {
            // Gone already, or the next start removes it.
        }
    }

    private @Nullable Object fileKey() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }

    private static boolean answers(Path path) {
        try (SocketChannel probe = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
