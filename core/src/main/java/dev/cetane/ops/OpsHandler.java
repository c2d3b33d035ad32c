package dev.cetane.ops;

import dev.cetane.log.EventLog;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.timeout.IdleStateEvent;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection: takes its requests to the routes, and bounds its life. Runs on the ops event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // A close that fails has nothing left to close.
final class OpsHandler extends SimpleChannelInboundHandler<HttpObject> {

    /** So that nobody holds a connection by sending its request byte by byte. */
    private static final int MAX_MINUTES = 5;

    private final Routes routes;
    private final EventLog log;
    private boolean busy;
    private @Nullable ScheduledFuture<?> end;

    OpsHandler(Routes routes, EventLog log) {
        this.routes = routes;
        this.log = log;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext channel, HttpObject part) {
        if (!(part instanceof HttpRequest request)) {
            return;
        }
        Reply reply = new Reply(channel, request);
        if (request.decoderResult().isFailure()) {
            reply.last(HttpResponseStatus.BAD_REQUEST, "This is no HTTP request.\n");
        } else if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
            reply.last(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "No request here has a body.\n");
        } else if (busy) {
            // The answer to the one before is not written yet, and this one's would come in front of it.
            channel.close();
        } else {
            routes.take(reply, this);
        }
    }

    /** An answer takes its time: the connection is not idle while it does. */
    void busy(boolean now) {
        busy = now;
    }

    @Override
    public void channelActive(ChannelHandlerContext channel) {
        end = channel.executor().schedule(() -> closeUnlessBusy(channel), MAX_MINUTES, TimeUnit.MINUTES);
    }

    @Override
    public void channelInactive(ChannelHandlerContext channel) {
        if (end != null) {
            end.cancel(false);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext channel, Object event) {
        if (event instanceof IdleStateEvent) {
            closeUnlessBusy(channel);
        }
    }

    /** A reload may take as long as its boots do, and who watches may go on. */
    private void closeUnlessBusy(ChannelHandlerContext channel) {
        if (!busy) {
            channel.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable cause) {
        log.log(EventLog.Level.DEBUG, "ops.connection-failed", null, String.valueOf(cause));
        channel.close();
    }
}
