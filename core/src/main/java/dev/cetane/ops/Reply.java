package dev.cetane.ops;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The answer to one request. Used once, on the ops event loop. */
@SuppressWarnings(
        "FutureReturnValueIgnored") // A write or close that fails ends the connection, which is all there is to do.
final class Reply {
    static final String TEXT = "text/plain; charset=utf-8";
    static final String JSON = "application/json";

    private final ChannelHandlerContext channel;
    private final HttpRequest request;
    private @Nullable ChannelFuture written;

    Reply(ChannelHandlerContext channel, HttpRequest request) {
        this.channel = channel;
        this.request = request;
    }

    ChannelHandlerContext channel() {
        return channel;
    }

    HttpRequest request() {
        return request;
    }

    void text(HttpResponseStatus status, String body) {
        send(status, TEXT, body);
    }

    void json(String body) {
        send(HttpResponseStatus.OK, JSON, body);
    }

    void send(HttpResponseStatus status, String type, String body) {
        send(response(status, type, body.getBytes(StandardCharsets.UTF_8)));
    }

    void send(FullHttpResponse response) {
        FullHttpResponse sent = response;
        if (request.method().equals(HttpMethod.HEAD)) {
            sent = response.replace(Unpooled.EMPTY_BUFFER);
            response.release();
        }
        boolean keepAlive = HttpUtil.isKeepAlive(request) && !request.method().equals(HttpMethod.POST);
        HttpUtil.setKeepAlive(sent, keepAlive);
        ChannelFuture sending = channel.writeAndFlush(sent);
        written = sending;
        if (!keepAlive) {
            sending.addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Whether it was given, and the system has not taken all of it. */
    boolean isUnderway() {
        ChannelFuture sending = written;
        return sending != null && !sending.isDone();
    }

    void refuse(Access.Refusal refusal) {
        FullHttpResponse response =
                response(refusal.status(), TEXT, refusal.message().getBytes(StandardCharsets.UTF_8));
        if (refusal.status().equals(HttpResponseStatus.UNAUTHORIZED)) {
            response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer realm=\"cetane\"");
        }
        send(response);
    }

    /** Answers what leaves the connection in a state that no further request can be read from. */
    void last(HttpResponseStatus status, String body) {
        HttpUtil.setKeepAlive(request, false);
        text(status, body);
    }

    static FullHttpResponse response(HttpResponseStatus status, String type, byte[] body) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        describe(response.headers(), type);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        return response;
    }

    /** What every answer says of itself: nobody keeps it, guesses its type, or shows it inside a page of another site. */
    static void describe(HttpHeaders headers, String type) {
        headers.set(HttpHeaderNames.CONTENT_TYPE, type)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set("x-content-type-options", "nosniff")
                .set("cross-origin-resource-policy", "same-origin");
    }
}
