package dev.cetane.http;

import dev.cetane.log.EventLog;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Last handler of a listening socket: says in the log that it cannot accept. Netty tries again after a second, and until then connections wait
 * in the kernel's queue. On the listener's event loop.
 */
public final class AcceptFailures extends ChannelInboundHandlerAdapter {
    private final String name;
    private final EventLog log;

    /** @param name of the address, for people */
    public AcceptFailures(String name, EventLog log) {
        this.name = name;
        this.log = log;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext listener, Throwable cause) {
        log.log(
                EventLog.Level.WARN,
                "http.accept-failed",
                null,
                "no connection can be accepted on " + name + ": " + reason(cause)
                        + "; tried again each second. Raise the limit of open files (ulimit -n, LimitNOFILE), or lower"
                        + " http.max-connections");
    }

    /** Netty puts the system call before what went wrong. */
    public static String reason(Throwable cause) {
        return String.valueOf(cause.getMessage())
                .replaceFirst("^[a-z]+\\(\\.\\.\\) failed with error\\([-0-9]+\\): ", "");
    }
}
