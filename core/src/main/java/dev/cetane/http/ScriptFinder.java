package dev.cetane.http;

import dev.cetane.cgi.Script;
import dev.cetane.protocol.BytePath;
import dev.cetane.worker.Ticker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the PHP file that a request to a classic application is for, as nginx does with {@code try_files $uri $uri/ /index.php}: the script that the path
 * names, up to a {@code .php} that ends one of its segments; else {@code index.php} of the directory; else the front controller, if there is one.
 * {@link #take} runs on event loops; the disk is looked at on {@code cetane-scripts}, and what was found is believed for a second.
 *
 * <p>A script is a regular file whose name ends with {@code .php}, below the document root by its path (symbolic links are followed), and no segment of
 * which starts with a dot. So an uploaded {@code photo.jpg} never runs as {@code photo.jpg/x.php}.
 */
final class ScriptFinder implements AutoCloseable {
    private static final String INDEX = "index.php";
    private static final String EXTENSION = ".php";
    private static final String WELL_KNOWN = "/.well-known/";
    private static final long BELIEVED_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_REMEMBERED = 4096;

    /** A client may ask for many long paths, and memory is not theirs. */
    private static final int LONGEST_REMEMBERED = 200;

    private static final String UNRESERVED = "-._~!$&'()*+,;=:@/";

    private static final Match NOTHING = new Match(null, false);
    private static final Match DIRECTORY = new Match(null, true);

    private final Supplier<Path> documentRoot;
    private final String frontController;
    private final Ticker ticker;
    private final Connections connections;
    private final HttpDate date;
    private final ThreadPoolExecutor thread;
    private final ConcurrentHashMap<String, Remembered> remembered = new ConcurrentHashMap<>();

    /** What a path is for: a script, a directory whose path lacks the slash at the end, or nothing. */
    private record Match(@Nullable Script script, boolean directory) {}

    private record Remembered(Match match, long untilNanos) {}

    /**
     * @param documentRoot absolute, asked for with each look at the disk
     * @param frontController path as a client would ask for it, {@code /index.php}; it need not be there
     */
    ScriptFinder(
            Supplier<Path> documentRoot,
            String frontController,
            Ticker ticker,
            Connections connections,
            HttpDate date) {
        this.documentRoot = documentRoot;
        this.frontController = frontController;
        this.ticker = ticker;
        this.connections = connections;
        this.date = date;
        thread = new ThreadPoolExecutor(
                1,
                1,
                1,
                TimeUnit.MINUTES,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory("cetane-scripts", true));
        thread.allowCoreThreadTimeOut(true);
    }

    /** Has the connection run the script, or answers for it when there is none; at once or later. On its event loop. */
    void take(RequestHead head, ExchangeHandler connection, ChannelHandlerContext context) {
        String path = head.path();
        Remembered known = remembered.get(path);
        if (known != null && known.untilNanos - ticker.nanos() > 0) {
            found(known.match, head, connection, context);
            return;
        }
        try {
            thread.execute(() -> {
                Match match = look(path);
                context.executor().execute(() -> found(match, head, connection, context));
            });
        } catch (RejectedExecutionException e) {
            // The server closes, and the connection with it.
        }
    }

    private void found(Match match, RequestHead head, ExchangeHandler connection, ChannelHandlerContext context) {
        if (!connection.awaits(head)) {
            return;
        }
        if (match.script != null) {
            connection.dispatch(head, match.script);
        } else if (match.directory) {
            boolean close = !head.keepAlive() || connections.draining();
            connection.answer(redirect(head, close, context), 301, close);
        } else {
            connection.answerFailure(HttpFailure.NOT_FOUND, head, null);
        }
    }

    private Match look(String path) {
        Match match = find(path);
        if (path.length() <= LONGEST_REMEMBERED && !match.equals(NOTHING)) {
            if (remembered.size() >= MOST_REMEMBERED) {
                remembered.clear();
            }
            remembered.put(path, new Remembered(match, ticker.nanos() + BELIEVED_NANOS));
        }
        return match;
    }

    private Match find(String path) {
        if (path.contains("/.") && (!path.startsWith(WELL_KNOWN) || path.indexOf("/.", 1) >= 0)) {
            return NOTHING;
        }
        String root = BytePath.toText(documentRoot.get());
        int end = endOfScript(path);
        if (end > 0) {
            // What names a script that is not there is no page of the application's.
            return isFile(root, path.substring(0, end))
                    ? new Match(new Script(path.substring(0, end), path.substring(end)), false)
                    : NOTHING;
        }
        if (path.endsWith("/")) {
            if (isFile(root, path + INDEX)) {
                return new Match(new Script(path + INDEX, ""), false);
            }
        } else if (isFile(root, path + "/" + INDEX)) {
            return DIRECTORY;
        }
        return isFile(root, frontController) ? new Match(new Script(frontController, ""), false) : NOTHING;
    }

    /** Where the first segment ends that has a name with the extension, 0 when none has. */
    private static int endOfScript(String path) {
        for (int at = path.indexOf(EXTENSION, 2); at >= 0; at = path.indexOf(EXTENSION, at + 1)) {
            int end = at + EXTENSION.length();
            if (path.charAt(at - 1) != '/' && (end == path.length() || path.charAt(end) == '/')) {
                return end;
            }
        }
        return 0;
    }

    private static boolean isFile(String root, String path) {
        try {
            return Files.isRegularFile(BytePath.of(root + path));
        } catch (IllegalArgumentException e) {
            // No path that the operating system could have.
            return false;
        }
    }

    /** Relative links of the index are for the path with the slash. */
    private ByteBuf redirect(RequestHead head, boolean close, ChannelHandlerContext context) {
        StringBuilder location = new StringBuilder();
        // The path, not the target: a target that begins with two slashes would lead to another host.
        for (byte b : head.path().getBytes(StandardCharsets.ISO_8859_1)) {
            boolean plain = (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z');
            if (plain || (b > 0 && UNRESERVED.indexOf(b) >= 0)) {
                location.append((char) b);
            } else {
                location.append('%')
                        .append(Character.forDigit((b >> 4) & 15, 16))
                        .append(Character.forDigit(b & 15, 16));
            }
        }
        location.append('/');
        if (!head.query().isEmpty()) {
            location.append('?').append(head.query());
        }
        ByteBuf out = context.alloc().directBuffer(256);
        ByteBufUtil.writeAscii(out, "HTTP/1.1 301 Moved Permanently\r\nLocation: ");
        out.writeCharSequence(location, StandardCharsets.ISO_8859_1);
        ByteBufUtil.writeAscii(out, "\r\nContent-Length: 0\r\n");
        if (close) {
            ByteBufUtil.writeAscii(out, "Connection: close\r\n");
        } else if (!head.http11()) {
            ByteBufUtil.writeAscii(out, "Connection: keep-alive\r\n");
        }
        out.writeBytes(date.line());
        ByteBufUtil.writeAscii(out, "\r\n");
        return out;
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
