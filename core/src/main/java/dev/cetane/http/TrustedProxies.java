package dev.cetane.http;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The networks whose word about the client is taken ({@code http.trusted-proxies}). Immutable. */
final class TrustedProxies {
    /** The entry that trusts whoever connects to a Unix socket. */
    private static final String UNIX = "unix:";

    private final List<Network> networks = new ArrayList<>();
    private final boolean unix;

    /**
     * @param entries networks as {@code 10.0.0.0/8} or {@code fd00::/8}, single addresses, or {@code unix:}
     * @throws IllegalArgumentException if an entry is none of these
     */
    TrustedProxies(List<String> entries) {
        boolean unixTrusted = false;
        for (String entry : entries) {
            if (entry.equals(UNIX)) {
                unixTrusted = true;
            } else {
                networks.add(Network.parse(entry));
            }
        }
        this.unix = unixTrusted;
    }

    boolean trusts(@Nullable SocketAddress peer) {
        if (peer instanceof InetSocketAddress inet) {
            InetAddress address = inet.getAddress();
            return address != null && !networks.isEmpty() && trusts(address.getAddress());
        }
        return unix;
    }

    /** Whether the address, as text without port, is one of a trusted proxy; false if it is no address. */
    boolean trusts(String address) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
        return bytes != null && trusts(bytes);
    }

    private boolean trusts(byte[] address) {
        for (Network network : networks) {
            if (network.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private static final class Network {
        private final byte[] prefix;
        private final int bits;

        private Network(byte[] prefix, int bits) {
            this.prefix = prefix;
            this.bits = bits;
        }

        static Network parse(String entry) {
            int slash = entry.indexOf('/');
            byte[] prefix = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? entry : entry.substring(0, slash));
            if (prefix == null) {
                throw invalid(entry);
            }
            int bits = prefix.length * 8;
            if (slash >= 0) {
                try {
                    bits = Integer.parseInt(entry.substring(slash + 1));
                } catch (NumberFormatException e) {
                    throw invalid(entry);
                }
            }
            if (bits < 0 || bits > prefix.length * 8) {
                throw invalid(entry);
            }
            return new Network(prefix, bits);
        }

        boolean contains(byte[] address) {
            if (address.length != prefix.length) {
                return false;
            }
            int whole = bits / 8;
            for (int i = 0; i < whole; i++) {
                if (address[i] != prefix[i]) {
                    return false;
                }
            }
            int rest = bits % 8;
            return rest == 0 || ((address[whole] ^ prefix[whole]) & 0xFF) >>> (8 - rest) == 0;
        }

        private static IllegalArgumentException invalid(String entry) {
            return new IllegalArgumentException("http.trusted-proxies: '" + entry
                    + "' is no network; write 10.0.0.0/8, fd00::/8, a single address, or unix: for Unix sockets");
        }
    }
}
