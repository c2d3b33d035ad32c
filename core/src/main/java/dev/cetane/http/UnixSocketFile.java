package dev.cetane.http;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** The file of a Unix socket, before and after it is bound; the transport removes it when the socket is closed. Stateless. */
final class UnixSocketFile {
    private UnixSocketFile() {}

    /**
     * Makes room for a socket: removes one that nobody listens on any more.
     *
     * @throws IOException if somebody listens there, or if something else than a socket is there
     */
    static void claim(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isOther()) {
            throw new IOException(
                    "cannot listen on unix:" + path
                            + ": a file that is no socket is there; remove it, or choose another path with http.listen (--listen)");
        }
        if (answers(path)) {
            throw new IOException("cannot listen on unix:" + path
                    + ": another process listens there; stop it, or choose another path with http.listen (--listen)");
        }
        Files.delete(path);
    }

    /** Lets the owner and the group connect, nobody else. */
    static void openToGroup(Path path) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
    }

    private static boolean answers(Path path) {
        try (SocketChannel probe = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
