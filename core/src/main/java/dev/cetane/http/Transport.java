package dev.cetane.http;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
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
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/** How sockets are driven: by epoll where its native library loads, else by the JDK's selectors. */
enum Transport {
    EPOLL {
        @Override
        IoHandlerFactory ioHandlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> tcpListener() {
            return EpollServerSocketChannel.class;
        }

        @Override
        Class<? extends ServerChannel> unixListener() {
            return EpollServerDomainSocketChannel.class;
        }

        @Override
        SocketAddress unixAddress(UnixDomainSocketAddress address) {
            return new DomainSocketAddress(address.getPath().toString());
        }
    },
    NIO {
        @Override
        IoHandlerFactory ioHandlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> tcpListener() {
            return NioServerSocketChannel.class;
        }

        @Override
        Class<? extends ServerChannel> unixListener() {
            return NioServerDomainSocketChannel.class;
        }

        @Override
        SocketAddress unixAddress(UnixDomainSocketAddress address) {
            return address;
        }
    };

    static Transport best() {
        return Epoll.isAvailable() ? EPOLL : NIO;
    }

    EventLoopGroup newLoops(int count) {
        return new MultiThreadIoEventLoopGroup(count, new DefaultThreadFactory("cetane-http"), ioHandlers());
    }

    abstract IoHandlerFactory ioHandlers();

    abstract Class<? extends ServerChannel> tcpListener();

    abstract Class<? extends ServerChannel> unixListener();

    abstract SocketAddress unixAddress(UnixDomainSocketAddress address);
}
