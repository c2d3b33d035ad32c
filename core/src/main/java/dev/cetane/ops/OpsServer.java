package dev.cetane.ops;

import dev.cetane.http.AcceptFailures;
import dev.cetane.log.EventLog;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves health and metrics over TCP, and the same and the operator's actions over the control socket. All of it runs on one event
 * loop of its own, {@code cetane-ops}, so that it answers while the HTTP side is busy. Started and closed by the main thread.
 */
public final class OpsServer implements AutoCloseable {

    private static final int MAX_CONNECTIONS = 64;

    /** Connections above that are told so; more of those are closed at once. */
    private static final int MAX_REFUSED = 1_024;

    /** A connection that has asked for nothing for so long is closed where another one needs its place. */
    private static final long IDLE_ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int BACKLOG = 1_024;
    private static final int IDLE_SECONDS = 30;
    private static final int MAX_LINE_BYTES = 4_096;
    private static final int MAX_HEADER_BYTES = 16_384;
    private static final int MAX_CHUNK_BYTES = 1_024;

    private final OpsConfig config;
    private final Routes.Context context;
    private final EventLog log;
    private final EventLoopGroup loop;
    private final boolean epoll = Epoll.isAvailable();
    private final List<Channel> listeners = new ArrayList<>();
    private @Nullable InetSocketAddress address;

    /**
     * A server that does not listen yet.
     *
     * @param pool asked on the event loop for each answer
     * @param operator does what the control socket, or the dashboard, asks for
     * @param configuration as it is in force, secrets masked
     */
    public OpsServer(
            OpsConfig config,
            Metrics metrics,
            Supplier<PoolSnapshot> pool,
            Operator operator,
            Supplier<Instance> instance,
            List<ConfigEntry> configuration,
            Ticker ticker,
            EventLog log) {
        this.config = config;
        this.context = new Routes.Context(
                metrics,
                pool,
                operator,
                instance,
                ticker,
                new DashboardPage(),
                new DashboardEvents(),
                new Watchers(() -> new Sampler(metrics, pool, instance, ticker), log),
                configuration);
        this.log = log;
        this.loop = new MultiThreadIoEventLoopGroup(
                1,
                new DefaultThreadFactory("cetane-ops", true),
                epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    }

    /**
     * Listens.
     *
     * @throws IOException naming the address, when it is taken or may not be bound
     */
    public void bind() throws IOException {
        SocketAddress control = epoll
                ? new DomainSocketAddress(config.controlSocket().toFile())
                : UnixDomainSocketAddress.of(config.controlSocket());
        listen(
                epoll ? EpollServerDomainSocketChannel.class : NioServerDomainSocketChannel.class,
                control,
                Access.Door.CONTROL,
                "the control socket " + config.controlSocket());
        InetSocketAddress listen = config.listen();
        if (listen != null) {
            boolean loopback =
                    listen.getAddress() != null && listen.getAddress().isLoopbackAddress();
            Channel channel = listen(
                    epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class,
                    listen,
                    loopback ? Access.Door.LOOPBACK : Access.Door.NETWORK,
                    "ops.listen " + listen.getHostString() + ":" + listen.getPort());
            address = (InetSocketAddress) channel.localAddress();
        }
    }

    /** The TCP address it is bound to, null when {@code ops.listen} is off or {@link #bind} was not called. */
    public @Nullable InetSocketAddress address() {
        return address;
    }

    /** Stops listening and ends the event loop; answers on their way get a second. */
    @Override
    public void close() {
        listeners.forEach(listener -> listener.close().syncUninterruptibly());
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Channel listen(Class<? extends ServerChannel> type, SocketAddress where, Access.Door door, String name)
            throws IOException {
        Routes routes = new Routes(new Access(door, config), context);
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop)
                .channel(type)
                .childHandler(new Connections(routes, context.ticker(), log));
        if (where instanceof InetSocketAddress) {
            bootstrap.option(ChannelOption.SO_REUSEADDR, true).option(ChannelOption.SO_BACKLOG, BACKLOG);
        }
        var bound = bootstrap.bind(where).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    name + " cannot be bound: " + AcceptFailures.reason(bound.cause())
                            + "; stop what listens there, or choose another address with ops.listen (--ops)",
                    bound.cause());
        }
        bound.channel().pipeline().addLast(new AcceptFailures(name, log));
        listeners.add(bound.channel());
        return bound.channel();
    }

    /** Sets up the connections of one listener, of which a few may be open at once. Runs on the ops event loop. */
    private static final class Connections extends ChannelInitializer<Channel> {
        private final Routes routes;
        private final Ticker ticker;
        private final EventLog log;
        private final Map<Channel, OpsHandler> open = new HashMap<>();
        private int refused;

        Connections(Routes routes, Ticker ticker, EventLog log) {
            this.routes = routes;
            this.ticker = ticker;
            this.log = log;
        }

        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // a close that fails has nothing left to close
        protected void initChannel(Channel channel) {
            if (open.size() >= MAX_CONNECTIONS && !closeIdlest()) {
                refuse(channel);
                return;
            }
            OpsHandler handler = new OpsHandler(routes, ticker, log);
            open.put(channel, handler);
            channel.closeFuture().addListener(closed -> open.remove(channel));
            channel.pipeline()
                    .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS))
                    .addLast(new HttpServerCodec(MAX_LINE_BYTES, MAX_HEADER_BYTES, MAX_CHUNK_BYTES))
                    .addLast(handler);
        }

        /** Who holds connections open cannot keep others out: the one that has asked for nothing for longest makes room. */
        @SuppressWarnings("FutureReturnValueIgnored") // a close that fails has nothing left to close
        private boolean closeIdlest() {
            Channel idlest = null;
            long longest = IDLE_ENOUGH_NANOS;
            for (Map.Entry<Channel, OpsHandler> connection : open.entrySet()) {
                long idle = connection.getValue().idleNanos();
                if (idle >= longest) {
                    longest = idle;
                    idlest = connection.getKey();
                }
            }
            if (idlest == null) {
                return false;
            }
            OpsHandler handler = open.remove(idlest);
            if (handler != null && handler.hasAnswered()) {
                idlest.close();
            } else {
                refuse(idlest);
            }
            return true;
        }

        @SuppressWarnings("FutureReturnValueIgnored")
        private void refuse(Channel channel) {
            if (refused >= MAX_REFUSED) {
                channel.close();
                return;
            }
            refused++;
            channel.closeFuture().addListener(closed -> refused--);
            channel.pipeline().addFirst(new Overload());
        }
    }
}
