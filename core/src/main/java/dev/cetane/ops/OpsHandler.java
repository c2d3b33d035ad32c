package dev.cetane.ops;

import dev.cetane.log.EventLog;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.timeout.IdleStateEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers the requests of one connection. Runs on the ops event loop. */
@SuppressWarnings(
        "FutureReturnValueIgnored") // A write or close that fails ends the connection, which is all there is to do.
final class OpsHandler extends SimpleChannelInboundHandler<HttpObject> {

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    /** What the connections of one listener share. */
    record Context(
            Door door,
            Metrics metrics,
            Supplier<PoolSnapshot> pool,
            Operator operator,
            Supplier<Instance> instance,
            Ticker ticker,
            EventLog log) {}

    /** Where a connection came from, and so what it may do. */
    enum Door {
        /** Read only; the Host field must name this machine, or a page in a browser could read it through DNS rebinding. */
        LOOPBACK,
        /** Read only. */
        NETWORK,
        /** Everything: only the instance's user can open it. */
        CONTROL
    }

    /** So that nobody holds a connection by sending its request byte by byte. */
    private static final int MAX_MINUTES = 5;

    private final Context context;
    private boolean waiting;
    private @Nullable ScheduledFuture<?> end;

    OpsHandler(Context context) {
        this.context = context;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext channel, HttpObject part) {
        if (part instanceof HttpRequest request) {
            read(channel, request);
        }
    }

    private void read(ChannelHandlerContext channel, HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            refuse(channel, request, HttpResponseStatus.BAD_REQUEST, "This is no HTTP request.\n");
            return;
        }
        if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
            refuse(channel, request, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "No request here has a body.\n");
            return;
        }
        if (!isHostAllowed(request)) {
            answer(
                    channel,
                    request,
                    HttpResponseStatus.FORBIDDEN,
                    TEXT,
                    "This address answers to localhost and to IP addresses only, not to other host names.\n");
            return;
        }
        int question = request.uri().indexOf('?');
        String path = question < 0 ? request.uri() : request.uri().substring(0, question);
        String query = question < 0 ? "" : request.uri().substring(question + 1);
        if (context.door() == Door.CONTROL && control(channel, request, path, query)) {
            return;
        }
        switch (path) {
            case "/health/live" -> live(channel, request);
            case "/health/ready" -> ready(channel, request);
            case "/metrics" -> {
                if (isRead(channel, request)) {
                    answer(
                            channel,
                            request,
                            HttpResponseStatus.OK,
                            PROMETHEUS,
                            context.metrics().scrape());
                }
            }
            default ->
                answer(
                        channel,
                        request,
                        HttpResponseStatus.NOT_FOUND,
                        TEXT,
                        "There are /health/live, /health/ready and /metrics here.\n");
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext channel) {
        end = channel.executor().schedule(() -> closeUnlessWaiting(channel), MAX_MINUTES, TimeUnit.MINUTES);
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
            closeUnlessWaiting(channel);
        }
    }

    /** A reload may take as long as its boots do. */
    private void closeUnlessWaiting(ChannelHandlerContext channel) {
        if (!waiting) {
            channel.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable cause) {
        context.log().log(EventLog.Level.DEBUG, "ops.connection-failed", null, String.valueOf(cause));
        channel.close();
    }

    private boolean control(ChannelHandlerContext channel, HttpRequest request, String path, String query) {
        if (path.startsWith("/workers/") && path.endsWith("/recycle")) {
            recycle(channel, request, path.substring("/workers/".length(), path.length() - "/recycle".length()));
            return true;
        }
        switch (path) {
            case "/status", "/workers" -> status(channel, request, path, query.equals("json"));
            case "/reload" -> reload(channel, request);
            case "/stop" -> {
                if (isAction(channel, request)) {
                    context.operator().stop(query.equals("now"));
                    answer(channel, request, HttpResponseStatus.ACCEPTED, TEXT, "Stopping.\n");
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void live(ChannelHandlerContext channel, HttpRequest request) {
        if (isRead(channel, request)) {
            // Asking the pool proves that its lock is not held for ever.
            PoolSnapshot pool = context.pool().get();
            health(channel, request, new Health(true, pool.draining() ? "draining" : "alive"));
        }
    }

    private void ready(ChannelHandlerContext channel, HttpRequest request) {
        if (isRead(channel, request)) {
            health(channel, request, Health.of(context.pool().get()));
        }
    }

    private void health(ChannelHandlerContext channel, HttpRequest request, Health health) {
        HttpResponseStatus status = health.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        String accept = request.headers().get(HttpHeaderNames.ACCEPT, "");
        if (accept.contains(JSON)) {
            StringBuilder json = new StringBuilder("{");
            StatusPage.field(json, "status", health.ready() ? "ok" : "unavailable");
            StatusPage.field(json, "reason", health.reason());
            answer(channel, request, status, JSON, json.append("}\n").toString());
        } else {
            String word = health.ready() ? "ok: " : "unavailable: ";
            answer(channel, request, status, TEXT, word + health.reason() + "\n");
        }
    }

    private void status(ChannelHandlerContext channel, HttpRequest request, String path, boolean json) {
        if (!isRead(channel, request)) {
            return;
        }
        StatusPage page = new StatusPage(
                context.instance().get(), context.pool().get(), context.ticker().now());
        String body = path.equals("/status")
                ? json ? page.statusJson() : page.statusText()
                : json ? page.workersJson() : page.workersText();
        answer(channel, request, HttpResponseStatus.OK, json ? JSON : TEXT, body);
    }

    private void reload(ChannelHandlerContext channel, HttpRequest request) {
        if (!isAction(channel, request)) {
            return;
        }
        waiting = true;
        context.operator()
                .reload()
                .whenComplete((generation, failure) -> channel.executor().execute(() -> {
                    waiting = false;
                    if (failure == null) {
                        String text = "Generation " + generation + " serves.\n";
                        answer(channel, request, HttpResponseStatus.OK, TEXT, text);
                    } else {
                        answer(channel, request, HttpResponseStatus.CONFLICT, TEXT, message(failure) + "\n");
                    }
                }));
    }

    private void recycle(ChannelHandlerContext channel, HttpRequest request, String id) {
        if (!isAction(channel, request)) {
            return;
        }
        boolean found = id.matches("[0-9]{1,9}") && context.operator().recycle(Integer.parseInt(id));
        answer(
                channel,
                request,
                found ? HttpResponseStatus.ACCEPTED : HttpResponseStatus.NOT_FOUND,
                TEXT,
                found
                        ? "Worker " + id + " is being replaced.\n"
                        : "There is no such worker, or it is leaving already.\n");
    }

    private static String message(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return String.valueOf(cause.getMessage());
    }

    private boolean isRead(ChannelHandlerContext channel, HttpRequest request) {
        return isMethod(channel, request, List.of(HttpMethod.GET, HttpMethod.HEAD));
    }

    private boolean isAction(ChannelHandlerContext channel, HttpRequest request) {
        return isMethod(channel, request, List.of(HttpMethod.POST));
    }

    private boolean isMethod(ChannelHandlerContext channel, HttpRequest request, List<HttpMethod> allowed) {
        if (allowed.contains(request.method())) {
            return true;
        }
        FullHttpResponse response = response(HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, "Not with this method.\n");
        response.headers()
                .set(
                        HttpHeaderNames.ALLOW,
                        String.join(", ", allowed.stream().map(HttpMethod::name).toList()));
        send(channel, request, response);
        return false;
    }

    private boolean isHostAllowed(HttpRequest request) {
        if (context.door() != Door.LOOPBACK) {
            return true;
        }
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        if (hosts.isEmpty()) {
            // A browser always sends it.
            return request.protocolVersion().equals(HttpVersion.HTTP_1_0);
        }
        return hosts.size() == 1 && isThisMachine(hosts.get(0));
    }

    private static boolean isThisMachine(String host) {
        String name = host.replaceFirst(":[0-9]{1,5}$", "");
        return name.equalsIgnoreCase("localhost")
                || name.matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}")
                || name.matches("\\[[0-9A-Fa-f:.]+]");
    }

    /** Answers what leaves the connection in a state that no further request can be read from. */
    private static void refuse(
            ChannelHandlerContext channel, HttpRequest request, HttpResponseStatus status, String body) {
        HttpUtil.setKeepAlive(request, false);
        answer(channel, request, status, TEXT, body);
    }

    private static void answer(
            ChannelHandlerContext channel, HttpRequest request, HttpResponseStatus status, String type, String body) {
        send(channel, request, response(status, type, body));
    }

    private static FullHttpResponse response(HttpResponseStatus status, String type, String body) {
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8)));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, type)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
        return response;
    }

    private static void send(ChannelHandlerContext channel, HttpRequest request, FullHttpResponse response) {
        FullHttpResponse sent = response;
        if (request.method().equals(HttpMethod.HEAD)) {
            sent = response.replace(Unpooled.EMPTY_BUFFER);
            response.release();
        }
        boolean keepAlive = HttpUtil.isKeepAlive(request) && !request.method().equals(HttpMethod.POST);
        HttpUtil.setKeepAlive(sent, keepAlive);
        if (keepAlive) {
            channel.writeAndFlush(sent, channel.voidPromise());
        } else {
            channel.writeAndFlush(sent).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
