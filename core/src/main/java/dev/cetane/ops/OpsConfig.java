package dev.cetane.ops;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The {@code ops} section of the configuration. Immutable.
 *
 * @param listen where health, metrics and the dashboard are served over TCP, null for nowhere; port 0 lets the system choose
 * @param controlSocket path of the control socket, in a directory of the instance's user
 * @param token what an action over TCP, and reading from elsewhere than loopback, has to present; null: neither is possible
 * @param readToken what reading from elsewhere than loopback may present in its place; null for no other
 */
public record OpsConfig(
        @Nullable InetSocketAddress listen,
        Path controlSocket,
        @Nullable String token,
        @Nullable String readToken) {

    /** Without tokens. */
    public OpsConfig(@Nullable InetSocketAddress listen, Path controlSocket) {
        this(listen, controlSocket, null, null);
    }

    /** The tokens stay out of logs. */
    @Override
    public String toString() {
        return "OpsConfig[listen=" + listen + ", controlSocket=" + controlSocket + "]";
    }
}
