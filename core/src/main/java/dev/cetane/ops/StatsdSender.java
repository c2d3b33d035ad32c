package dev.cetane.ops;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends lines by UDP, many in a datagram. {@link #offer} may be called on a request's path: it neither waits nor makes a system call. The
 * thread {@code cetane-statsd} sends; while it is behind by more than the queue holds, lines are lost, as StatsD loses them.
 */
final class StatsdSender implements AutoCloseable {
    private static final int QUEUE_LINES = 16_384;
    /** Fits the MTU of Ethernet, so that nothing is fragmented. */
    private static final int DATAGRAM_BYTES = 1_432;

    private static final int LAST_SECONDS = 1;
    private static final String END = "";

    private final InetSocketAddress server;
    private final DatagramChannel channel;
    private final EventLog log;
    private final ArrayBlockingQueue<String> queue = new ArrayBlockingQueue<>(QUEUE_LINES);
    private final AtomicBoolean lossLogged = new AtomicBoolean();
    private final Thread thread = new Thread(this::send, "cetane-statsd");

    // Of the thread alone.
    private final ByteBuffer datagram = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
    private boolean failureLogged;

    private StatsdSender(InetSocketAddress server, DatagramChannel channel, EventLog log) {
        this.server = server;
        this.channel = channel;
        this.log = log;
    }

    static StatsdSender start(InetSocketAddress server, EventLog log) {
        try {
            StatsdSender sender = new StatsdSender(server, DatagramChannel.open(), log);
            sender.thread.setDaemon(true);
            sender.thread.start();
            return sender;
        } catch (IOException e) {
            throw new UncheckedIOException("no UDP socket for metrics.statsd", e);
        }
    }

    /** Any thread. */
    void offer(String line) {
        if (!queue.offer(line) && lossLogged.compareAndSet(false, true)) {
            log.log(
                    Level.WARN,
                    "statsd.behind",
                    null,
                    "More is measured than can be sent to metrics.statsd: some of it is lost. This is not reported again");
        }
    }

    private void send() {
        try {
            String line = queue.take();
            while (!line.equals(END)) {
                put(line);
                @Nullable String next = queue.poll();
                if (next == null) {
                    flush();
                    next = queue.take();
                }
                line = next;
            }
            flush();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void put(String line) {
        byte[] bytes = line.strip().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > DATAGRAM_BYTES) {
            return;
        }
        if (datagram.position() > 0) {
            if (datagram.remaining() <= bytes.length) {
                flush();
            } else {
                datagram.put((byte) '\n');
            }
        }
        datagram.put(bytes);
    }

    private void flush() {
        if (datagram.position() == 0) {
            return;
        }
        datagram.flip();
        try {
            channel.send(datagram, server);
        } catch (IOException e) {
            if (!failureLogged) {
                failureLogged = true;
                log.log(
                        Level.WARN,
                        "statsd.failed",
                        null,
                        "Metrics can't be sent to metrics.statsd " + server + ": " + e.getMessage()
                                + ". It goes on trying; this is not reported again");
            }
        }
        datagram.clear();
    }

    /** Sends what is left, within a second. */
    @Override
    public void close() {
        try {
            if (queue.offer(END, LAST_SECONDS, TimeUnit.SECONDS)) {
                thread.join(TimeUnit.SECONDS.toMillis(LAST_SECONDS));
            }
            channel.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // It was of no use any more.
            return;
        }
    }
}
