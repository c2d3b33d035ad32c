package dev.cetane.ops;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A connection above the limit: is told so, whatever it asks, and closed when it has read that, or a moment later. To close at once
 * would reset it, and a reset can destroy the answer. Runs on the ops event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write or close that fails has nothing left to close
final class Overload extends ChannelInboundHandlerAdapter {
    private static final int LINGER_MILLIS = 1_000;
    private static final String BODY = "Too many connections are open here; try again.\n";
    private static final ByteBuf ANSWER = Unpooled.unreleasableBuffer(Unpooled.directBuffer()
            .writeBytes(
                    ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
                                    + BODY.length() + "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + BODY)
                            .getBytes(StandardCharsets.US_ASCII))
            .asReadOnly());

    private boolean told;

    /** It may be refused when it is accepted, or later to make room. */
    @Override
    public void handlerAdded(ChannelHandlerContext channel) {
        if (channel.channel().isActive()) {
            tell(channel);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext channel) {
        tell(channel);
    }

    private void tell(ChannelHandlerContext channel) {
        if (told) {
            return;
        }
        told = true;
        channel.executor().schedule(() -> channel.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
        channel.writeAndFlush(ANSWER.duplicate()).addListener(written -> {
            if (channel.channel() instanceof DuplexChannel duplex) {
                duplex.shutdownOutput();
            } else {
                channel.close();
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext channel, Object message) {
        ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable cause) {
        channel.close();
    }
}
