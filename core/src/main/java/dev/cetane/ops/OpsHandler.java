package dev.cetane.ops;

import dev.cetane.log.EventLog;
import dev.cetane.worker.Ticker;
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

/**
 * One connection: takes its requests to the routes, and bounds its life. Who asks and does not read the answers, or asks for many things at once,
 * is disconnected: it would hold memory, or the loop that health is answered on. Runs on the ops event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // A close that fails has nothing left to close.
final class OpsHandler extends SimpleChannelInboundHandler<HttpObject> {

    /** So that nobody holds a connection by sending its request byte by byte. */
    private static final int MAX_MINUTES = 5;

    /** Most requests that are taken out of what has come at once. */
    private static final int MOST_AT_ONCE = 8;

    private final Routes routes;
    private final Ticker ticker;
    private final EventLog log;
    private long askedNanos;
    private boolean busy;
    private int atOnce;
    private @Nullable Reply before;
    private @Nullable ScheduledFuture<?> end;

    OpsHandler(Routes routes, Ticker ticker, EventLog log) {
        this.routes = routes;
        this.ticker = ticker;
        this.log = log;
        askedNanos = ticker.nanos();
    }

    /** For how long it has asked for nothing, with all answered; 0 while an answer is on its way. */
    long idleNanos() {
        return isAnswering() ? 0 : ticker.nanos() - askedNanos;
    }

    /** Whether it has had an answer: a client takes its end for that of a connection that was kept. */
    boolean hasAnswered() {
        return before != null;
    }

    private boolean isAnswering() {
        return busy || (before != null && before.isUnderway());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext channel, HttpObject part) {
        if (!(part instanceof HttpRequest request) || !channel.channel().isActive()) {
            return;
        }
        // The answer to the one before is not written yet, and this one's would come in front of it or behind it in
        // memory.
        if (isAnswering() || ++atOnce > MOST_AT_ONCE) {
            channel.close();
            return;
        }
        Reply reply = new Reply(channel, request);
        before = reply;
        askedNanos = ticker.nanos();
        if (request.decoderResult().isFailure()) {
            reply.last(HttpResponseStatus.BAD_REQUEST, "This is no HTTP request.\n");
        } else if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
            reply.last(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "No request here has a body.\n");
        } else {
            routes.take(reply, this);
        }
    }

    /** An answer takes its time: the connection is not idle while it does. */
    void busy(boolean now) {
        busy = now;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext channel) {
        atOnce = 0;
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
