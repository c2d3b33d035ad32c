package dev.cetane.http;

import dev.cetane.files.StaticRoot;
import dev.cetane.log.EventLog;
import dev.cetane.trace.Tracer;
import dev.cetane.worker.Dispatcher;
import dev.cetane.worker.Ticker;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP server: listens on TCP and Unix sockets and serves connections until it is drained or closed. Started and stopped by one
 * thread, which waits; everything else runs on its event loops, {@code cetane-http-N}.
 */
public final class HttpServer implements AutoCloseable {
    /** PHP needs the CPUs more: one loop keeps several of them busy, and one that has more to do at each waking wakes up less often. */
    private static final int CPUS_PER_EVENT_LOOP = 4;

    private final FrontDoor door;
    private final Transport transport;
    private final EventLoopGroup loops;
    private final List<Channel> listeners = new ArrayList<>();
    private final List<SocketAddress> addresses = new ArrayList<>();

    private HttpServer(FrontDoor door, Transport transport) {
        this.door = door;
        this.transport = transport;
        int cpus = Runtime.getRuntime().availableProcessors();
        this.loops = transport.newLoops((cpus + CPUS_PER_EVENT_LOOP - 1) / CPUS_PER_EVENT_LOOP);
    }

    /**
     * Makes the spool directory, binds every address of {@code config} and serves.
     *
     * @param scriptName path of the front controller as a client would ask for it, {@code /index.php}
     * @param files where the document root is, asked about once a second; null: no files are served
     * @param scripts document root of an application whose scripts answer by their paths; null where the front controller answers all
     * @param closedPaths paths that no client may reach, without slashes at their ends; nor any that ends with one
     * @param tracer gives requests their place in a trace; null where they have none. Closed by whoever made it
     * @param debug whether the application's error messages may go to clients
     * @throws IOException if an address cannot be bound or bodies cannot be spooled: the message names which, why, and the next step
     * @throws IllegalArgumentException if {@code http.trusted-proxies} has an entry that is no network
     */
    public static HttpServer start(
            HttpConfig config,
            Dispatcher dispatcher,
            EventLog log,
            Ticker ticker,
            HttpListener listener,
            String scriptName,
            @Nullable Supplier<StaticRoot> files,
            @Nullable Supplier<Path> scripts,
            List<String> closedPaths,
            @Nullable Tracer tracer,
            boolean debug)
            throws IOException {
        return start(
                config,
                dispatcher,
                log,
                ticker,
                listener,
                scriptName,
                files,
                scripts,
                closedPaths,
                tracer,
                debug,
                Transport.best());
    }

    static HttpServer start(
            HttpConfig config,
            Dispatcher dispatcher,
            EventLog log,
            Ticker ticker,
            HttpListener listener,
            String scriptName,
            @Nullable Supplier<StaticRoot> files,
            @Nullable Supplier<Path> scripts,
            List<String> closedPaths,
            @Nullable Tracer tracer,
            boolean debug,
            Transport transport)
            throws IOException {
        TrustedProxies proxies = new TrustedProxies(config.trustedProxies());
        HttpDate date = new HttpDate(ticker);
        Connections connections = new Connections(config.maxConnections());
        SpoolDirectory spool = SpoolDirectory.open(config.spoolDirectory());
        HttpServer server = new HttpServer(
                new FrontDoor(
                        config,
                        dispatcher,
                        log,
                        ticker,
                        listener,
                        spool,
                        new FormRules(dispatcher),
                        proxies,
                        new ServerVariables(scriptName, proxies),
                        date,
                        connections,
                        files == null ? null : new StaticFiles(config.files(), files, log, ticker, date, connections),
                        scripts == null ? null : new ScriptFinder(scripts, scriptName, ticker, connections, date),
                        new ClosedPaths(closedPaths),
                        tracer,
                        debug),
                transport);
        try {
            for (SocketAddress address : config.listen()) {
                server.bind(address);
            }
            return server;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    FrontDoor door() {
        return door;
    }

    /** The addresses that are bound, with the port that the system gave for port 0. */
    public List<SocketAddress> addresses() {
        return List.copyOf(addresses);
    }

    /** Closes the listening sockets: nobody can connect any more, open connections go on. */
    public void stopAccepting() {
        for (Channel channel : listeners) {
            channel.close().awaitUninterruptibly();
        }
        listeners.clear();
    }

    /**
     * Stops accepting, closes idle connections at once and the others when their exchange has ended, and waits for that.
     *
     * @return false if connections are still open after {@code grace}; {@link #close} ends them
     */
    public boolean drain(Duration grace) throws InterruptedException {
        stopAccepting();
        door.connections().drain();
        return door.connections().awaitNone(grace.toNanos(), door.ticker());
    }

    /** Ends everything at once: listening sockets, connections, event loops, and the spool directory. Further calls do nothing. */
    @Override
    public void close() {
        stopAccepting();
        door.connections().close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        StaticFiles files = door.files();
        if (files != null) {
            files.close();
        }
        ScriptFinder scripts = door.scripts();
        if (scripts != null) {
            scripts.close();
        }
        door.spool().close();
    }

    private void bind(SocketAddress address) throws IOException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .option(ChannelOption.SO_BACKLOG, door.config().backlog())
                .childHandler(new Pipeline(door));
        if (address instanceof UnixDomainSocketAddress unix) {
            UnixSocketFile.claim(unix.getPath());
            bootstrap.channel(transport.unixListener());
            listeners.add(bound(bootstrap, transport.unixAddress(unix), "unix:" + unix.getPath(), door.log()));
            UnixSocketFile.openToGroup(unix.getPath());
            addresses.add(unix);
        } else if (address instanceof InetSocketAddress inet) {
            bootstrap
                    .channel(transport.tcpListener())
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .childOption(ChannelOption.TCP_NODELAY, true);
            Channel channel = bound(bootstrap, inet, inet.getHostString() + ":" + inet.getPort(), door.log());
            listeners.add(channel);
            addresses.add(channel.localAddress());
        } else {
            throw new IllegalArgumentException(
                    "http.listen: " + address + " is neither a TCP nor a Unix socket address");
        }
    }

    private static Channel bound(ServerBootstrap bootstrap, SocketAddress address, String name, EventLog log)
            throws IOException {
        var bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            Throwable cause = bound.cause();
            throw new IOException(
                    "cannot listen on " + name + ": " + (cause == null ? "unknown" : AcceptFailures.reason(cause))
                            + "; stop what listens there, or choose another address with http.listen (--listen)",
                    cause);
        }
        bound.channel().pipeline().addLast(new AcceptFailures(name, log));
        return bound.channel();
    }

    /** Sets up a connection. */
    private static final class Pipeline extends ChannelInitializer<Channel> {
        private final FrontDoor door;

        Pipeline(FrontDoor door) {
            this.door = door;
        }

        @Override
        protected void initChannel(Channel channel) {
            RequestDecoder decoder = new RequestDecoder(
                    door.config().maxUriBytes(), door.config().maxHeaderBytes(), door.ticker());
            channel.pipeline().addLast(decoder, new ExchangeHandler(door, decoder));
        }
    }
}
