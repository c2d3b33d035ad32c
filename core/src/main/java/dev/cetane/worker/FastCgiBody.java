package dev.cetane.worker;

import dev.cetane.fastcgi.StdinRecords;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Sends a request's body from its file, on a thread of its own: PHP takes it when it likes, and may answer meanwhile. The kernel copies from the file to the
 * socket.
 */
final class FastCgiBody {
    private final Path file;
    private final SocketChannel to;
    private final EventLog log;
    private final Thread thread;

    FastCgiBody(int workerId, Path file, SocketChannel to, EventLog log) {
        this.file = file;
        this.to = to;
        this.log = log;
        thread = new Thread(this::send, "cetane-body-" + workerId);
        thread.setDaemon(true);
    }

    /** The records before the body have been written. */
    void start() {
        thread.start();
    }

    /** Whether all of it has been taken; waits a little for the last bit. Reader thread. */
    boolean sent(long mostMillis) {
        try {
            thread.join(mostMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // An answer may even overtake the start.
        return thread.getState() == Thread.State.TERMINATED;
    }

    private void send() {
        try (FileChannel from = FileChannel.open(file)) {
            StdinRecords.send(from, to);
        } catch (IOException e) {
            // The child is gone, which the reader notices too, or must go: it waits for a body that cannot be sent.
            log.log(Level.DEBUG, "worker.body-not-sent", null, "the body in " + file + " was not sent whole: " + e);
            try {
                to.close();
            } catch (IOException closed) {
                log.log(Level.WARN, "worker.close-failed", null, "a connection to PHP: " + closed.getMessage());
            }
        }
    }
}
