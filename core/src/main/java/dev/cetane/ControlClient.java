package dev.cetane;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Asks a running instance over its control socket, with HTTP/1.0. Used by the main thread of a command; it waits. */
final class ControlClient {

    private static final int MAX_ANSWER_BYTES = 16 << 20;

    /** One answer; {@code body} is for people or machines, as was asked. */
    record Answer(int status, String body) {
        boolean isSuccess() {
            return status / 100 == 2;
        }
    }

    private final Path instance;

    private ControlClient(Path instance) {
        this.instance = instance;
    }

    /**
     * Finds the instance that runs.
     *
     * @param bases run directories to look in
     * @param pid which one, null when there is only one
     * @throws CommandException when none runs, or several do and none was named
     */
    static ControlClient find(List<Path> bases, @Nullable Long pid) {
        List<Path> running = new ArrayList<>();
        for (Path base : bases) {
            for (Path instance : RunDirectory.instances(base)) {
                boolean wanted = pid == null || RunDirectory.pidOf(instance) == pid;
                if (wanted && isRunning(instance)) {
                    running.add(instance);
                }
            }
        }
        if (running.isEmpty()) {
            String which = pid == null ? "no instance" : "no instance with process id " + pid;
            String where = bases.stream().map(Path::toString).collect(Collectors.joining(" and "));
            throw new CommandException(
                    CommandException.NOT_RUNNING,
                    which + " runs for this user (looked in " + where
                            + "). Start one with cetane serve, or name its --run-directory");
        }
        if (running.size() > 1) {
            String pids = running.stream()
                    .map(instance -> "\n  --instance " + RunDirectory.pidOf(instance))
                    .collect(Collectors.joining());
            throw new CommandException(
                    CommandException.WRONG_USE, running.size() + " instances run, name one of them:" + pids);
        }
        return new ControlClient(running.get(0));
    }

    /** Asks and waits for the answer, which for a reload takes as long as its boots. */
    Answer ask(String method, String target) {
        try (SocketChannel channel = SocketChannel.open(socket(instance))) {
            send(channel, method, target);
            return parse(readAll(channel));
        } catch (IOException e) {
            throw silent(e);
        }
    }

    private static void send(SocketChannel channel, String method, String target) throws IOException {
        String request = method + " " + target + " HTTP/1.0\r\n\r\n";
        ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    private CommandException silent(IOException e) {
        return new CommandException(
                CommandException.FAILED,
                "instance " + RunDirectory.pidOf(instance) + " does not answer on its control socket: "
                        + e.getMessage(),
                e);
    }

    /** Asks for pages that come as long as somebody takes them. */
    Pages pages(String target) {
        try {
            SocketChannel channel = SocketChannel.open(socket(instance));
            send(channel, "GET", target);
            return new Pages(channel);
        } catch (IOException e) {
            throw silent(e);
        }
    }

    /** Pages of text, each ended by a form feed. Read by one thread; {@link #close} by any. */
    static final class Pages implements AutoCloseable {
        private static final int MAX_PAGE_BYTES = 1 << 20;

        private final SocketChannel channel;
        private final ByteBuffer in = ByteBuffer.allocate(8_192).limit(0);
        private boolean begun;

        private Pages(SocketChannel channel) {
            this.channel = channel;
        }

        /**
         * Waits for the next page; null when there is none any more.
         *
         * @throws CommandException when the instance refuses
         */
        @Nullable
        String next() {
            try {
                if (!begun) {
                    begun = true;
                    begin();
                }
                ByteArrayOutputStream page = new ByteArrayOutputStream(4_096);
                for (int b = read(); b >= 0 && page.size() < MAX_PAGE_BYTES; b = read()) {
                    if (b == '\f') {
                        return page.toString(StandardCharsets.UTF_8);
                    }
                    page.write(b);
                }
            } catch (IOException e) {
                // Closed by somebody else, or the instance is gone.
                return null;
            }
            return null;
        }

        /** Reads the head of the answer; of one that is no success, all. */
        private void begin() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int b = read();
                if (b < 0) {
                    throw new IOException("the answer was cut");
                }
                head.append((char) b);
            }
            if (!head.toString().startsWith("HTTP/1.1 200 ")) {
                ByteArrayOutputStream reason = new ByteArrayOutputStream();
                for (int b = read(); b >= 0 && reason.size() < MAX_PAGE_BYTES; b = read()) {
                    reason.write(b);
                }
                throw new CommandException(
                        CommandException.FAILED,
                        reason.toString(StandardCharsets.UTF_8).strip());
            }
        }

        private int read() throws IOException {
            if (!in.hasRemaining()) {
                in.clear();
                int read = channel.read(in);
                in.flip();
                if (read < 0) {
                    return -1;
                }
            }
            return in.get() & 0xff;
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                // It is gone either way.
                return;
            }
        }
    }

    /** Waits until the instance's process has ended. */
    void awaitEnd() {
        try (FileChannel lock = FileChannel.open(instance.resolve(RunDirectory.LOCK), StandardOpenOption.WRITE)) {
            lock.lock();
        } catch (IOException e) {
            // The file is gone, and so is the instance.
            return;
        }
    }

    private static boolean isRunning(Path instance) {
        try (SocketChannel channel = SocketChannel.open(socket(instance))) {
            return channel.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static UnixDomainSocketAddress socket(Path instance) {
        return UnixDomainSocketAddress.of(instance.resolve(RunDirectory.CONTROL_SOCKET));
    }

    private static String readAll(SocketChannel channel) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        ByteBuffer in = ByteBuffer.allocate(8_192);
        while (channel.read(in) >= 0) {
            answer.write(in.array(), 0, in.position());
            in.clear();
            if (answer.size() > MAX_ANSWER_BYTES) {
                throw new IOException("the answer is longer than 16 MiB");
            }
        }
        return answer.toString(StandardCharsets.UTF_8);
    }

    private static Answer parse(String answer) throws IOException {
        int head = answer.indexOf("\r\n\r\n");
        if (!answer.matches("(?s)HTTP/1\\.[01] [0-9]{3}.*") || head < 0) {
            throw new IOException("the answer was cut");
        }
        return new Answer(Integer.parseInt(answer.substring(9, 12)), answer.substring(head + 4));
    }
}
