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
            String request = method + " " + target + " HTTP/1.0\r\n\r\n";
            ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
            while (out.hasRemaining()) {
                channel.write(out);
            }
            return parse(readAll(channel));
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED,
                    "instance " + RunDirectory.pidOf(instance) + " does not answer on its control socket: "
                            + e.getMessage(),
                    e);
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
