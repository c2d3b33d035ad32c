package dev.cetane.http;

import dev.cetane.files.Glob;
import dev.cetane.files.StaticFilesConfig;
import dev.cetane.files.StaticRoot;
import dev.cetane.log.RecordingLog;
import dev.cetane.trace.Tracer;
import dev.cetane.worker.Ticker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A real server on a port of the system's choice, over a {@link ScriptedDispatcher}. */
final class TestServer implements AutoCloseable {
    final ScriptedDispatcher dispatcher = new ScriptedDispatcher();
    final RecordingLog log = new RecordingLog();
    final CountingListener counts = new CountingListener();
    final Path spool;
    final HttpServer server;
    final FrontDoor door;

    private TestServer(TestConfig config) throws IOException {
        spool = config.spool;
        server = HttpServer.start(
                config.build(),
                dispatcher,
                log,
                Ticker.system(),
                counts,
                "/index.php",
                config.files == null ? null : () -> config.files,
                config.scripts == null ? null : () -> config.scripts,
                config.closedPaths,
                config.tracer,
                config.debug,
                config.transport);
        door = server.door();
    }

    static TestServer start() throws IOException {
        return start(config -> config);
    }

    static TestServer start(UnaryOperator<TestConfig> settings) throws IOException {
        return new TestServer(settings.apply(new TestConfig()));
    }

    RawClient connect() throws IOException {
        return new RawClient(address());
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.addresses().get(0);
    }

    /** A connection without a socket, over the same dispatcher, on the calling thread. */
    EmbeddedChannel embedded() {
        return embedded(door.ticker());
    }

    /** The same with another clock; its timers run when the test says so. */
    EmbeddedChannel embedded(Ticker ticker) {
        FrontDoor timed = new FrontDoor(
                door.config(),
                door.dispatcher(),
                door.log(),
                ticker,
                door.listener(),
                door.spool(),
                door.forms(),
                door.proxies(),
                door.variables(),
                new HttpDate(ticker),
                door.connections(),
                door.files(),
                door.scripts(),
                door.closed(),
                door.tracer(),
                door.debug());
        RequestDecoder decoder =
                new RequestDecoder(door.config().maxUriBytes(), door.config().maxHeaderBytes(), ticker);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline().addLast(decoder, new ExchangeHandler(timed, decoder));
        channel.pipeline().fireChannelActive();
        return channel;
    }

    /** What was written to it so far. */
    static String written(EmbeddedChannel channel) {
        StringBuilder out = new StringBuilder();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            out.append(bytes.toString(StandardCharsets.ISO_8859_1));
            bytes.release();
        }
        return out.toString();
    }

    /** Bodies in the spool. */
    List<String> spooled() {
        String[] names =
                spool.toFile().list((directory, name) -> name.startsWith("body-") || name.startsWith("upload-"));
        return names == null ? List.of() : List.of(names);
    }

    @Override
    public void close() {
        server.close();
        dispatcher.close();
        reportLeaks();
    }

    /** Makes the leak detector tell of buffers that nobody released: it does so when others are allocated after a collection. */
    static void reportLeaks() {
        System.gc();
        for (int i = 0; i < 8; i++) {
            ByteBuf buffer = ByteBufAllocator.DEFAULT.directBuffer(16);
            buffer.release();
        }
    }

    /** Settings with the defaults of the product, and what tests change of them. */
    static final class TestConfig {
        List<SocketAddress> listen = List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        int maxConnections = 100;
        int maxUriBytes = 8 * 1024;
        int maxHeaderBytes = 16 * 1024;
        long maxBodyBytes = 32L << 20;
        int inlineBodyBytes = 16 * 1024;
        Path spool = newDirectory();
        Duration headerTimeout = Duration.ofSeconds(10);
        Duration bodyTimeout = Duration.ofSeconds(30);
        Duration idleTimeout = Duration.ofSeconds(60);
        Duration writeTimeout = Duration.ofSeconds(30);
        int responseBufferBytes = 1 << 20;
        List<String> trustedProxies = List.of();
        boolean accessLog;
        ServerTiming serverTiming = ServerTiming.OFF;
        Map<String, Duration> routeTimeouts = Map.of();
        List<String> closedPaths = List.of();
        Tracer tracer;
        StaticRoot files;
        Path scripts;
        StaticFilesConfig filesConfig = new StaticFilesConfig(
                StaticFilesConfig.Serve.AUTO,
                List.of("*.sql", "cetane.yaml"),
                List.of("storage/app/public"),
                true,
                List.of(Glob.of("/build/assets/*-????????.*")),
                Duration.ZERO);
        boolean debug;
        Transport transport = Transport.best();

        HttpConfig build() {
            return new HttpConfig(
                    listen,
                    128,
                    maxConnections,
                    maxUriBytes,
                    maxHeaderBytes,
                    maxBodyBytes,
                    inlineBodyBytes,
                    spool,
                    headerTimeout,
                    bodyTimeout,
                    idleTimeout,
                    writeTimeout,
                    responseBufferBytes,
                    trustedProxies,
                    accessLog,
                    serverTiming,
                    Duration.ofSeconds(10),
                    RouteTimeouts.of(routeTimeouts),
                    filesConfig);
        }

        private static Path newDirectory() {
            try {
                Path directory = Files.createTempDirectory("cetane-http-test");
                directory.toFile().deleteOnExit();
                return directory;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
