package dev.cetane.http;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The two ends of one connection as {@code $_SERVER} names them, made once a connection. Immutable.
 *
 * @param remoteAddress IP address of the client, {@code unix:} on a Unix socket
 * @param remotePort empty on a Unix socket
 * @param serverAddress IP address that was connected to, {@code unix:} on a Unix socket
 * @param serverPort empty on a Unix socket
 * @param trusted whether it is a trusted proxy
 */
record Peer(String remoteAddress, String remotePort, String serverAddress, String serverPort, boolean trusted) {

    static Peer of(@Nullable SocketAddress remote, @Nullable SocketAddress local, TrustedProxies proxies) {
        return new Peer(address(remote), port(remote), address(local), port(local), proxies.trusts(remote));
    }

    private static String address(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet && inet.getAddress() != null
                ? NetUtil.toAddressString(inet.getAddress())
                : "unix:";
    }

    private static String port(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet ? Integer.toString(inet.getPort()) : "";
    }
}
