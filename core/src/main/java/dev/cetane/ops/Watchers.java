package dev.cetane.ops;

import dev.cetane.log.EventLog;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Those who watch: open dashboards and {@code cetane top}. One sample a second is taken for all of them together, and none while nobody
 * watches. On the ops event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write that fails ends in channelInactive
final class Watchers {
    /** Most of them at once. */
    static final int MOST = 32;

    private static final long INTERVAL_MILLIS = 1_000;

    /** Who has not read what it was sent for so many samples is dropped. */
    private static final int MOST_MISSED = 5;

    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 * 1024, 128 * 1024);

    private static final class Watcher {
        private final ChannelHandlerContext channel;
        private final Feed feed;
        private int missed;

        Watcher(ChannelHandlerContext channel, Feed feed) {
            this.channel = channel;
            this.feed = feed;
        }
    }

    private final Supplier<Sampler> samplers;
    private final EventLog log;
    private final List<Watcher> watchers = new ArrayList<>();
    private @Nullable Sampler sampler;
    private @Nullable ScheduledFuture<?> ticking;
    private @Nullable Sample last;

    /** @param samplers makes one when somebody begins to watch */
    Watchers(Supplier<Sampler> samplers, EventLog log) {
        this.samplers = samplers;
        this.log = log;
    }

    /** Answers with a stream that goes on until the client leaves. False when it was answered otherwise. */
    boolean open(Reply reply, Feed feed) {
        ChannelHandlerContext channel = reply.channel();
        if (watchers.size() >= MOST) {
            reply.last(
                    HttpResponseStatus.SERVICE_UNAVAILABLE,
                    MOST + " dashboards and cetane top are open already; close one.\n");
            return false;
        }
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        Reply.describe(head.headers(), feed.type());
        head.headers().set(HttpHeaderNames.CONNECTION, "close").set("x-accel-buffering", "no");
        HttpUtil.setTransferEncodingChunked(
                head, reply.request().protocolVersion().isKeepAliveDefault());
        if (reply.request().method().equals(HttpMethod.HEAD)) {
            channel.writeAndFlush(head).addListener(ChannelFutureListener.CLOSE);
            return false;
        }
        channel.channel().config().setWriteBufferWaterMark(WATER_MARK);
        channel.write(head);
        Watcher watcher = new Watcher(channel, feed);
        watchers.add(watcher);
        channel.channel().closeFuture().addListener(closed -> leave(watcher));
        Sample first = last;
        if (first == null || sampler == null) {
            sampler = samplers.get();
            first = sampler.first();
            last = first;
            ticking = channel.executor()
                    .scheduleAtFixedRate(this::tick, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
        }
        send(watcher, first);
        return true;
    }

    /** How many watch. */
    int count() {
        return watchers.size();
    }

    private void leave(Watcher watcher) {
        watchers.remove(watcher);
        if (watchers.isEmpty() && sampler != null && ticking != null) {
            ticking.cancel(false);
            sampler.close();
            sampler = null;
            ticking = null;
            last = null;
        }
    }

    private void tick() {
        Sampler taking = sampler;
        if (taking == null) {
            return;
        }
        try {
            Sample sample = taking.take();
            last = sample;
            for (Watcher watcher : List.copyOf(watchers)) {
                send(watcher, sample);
            }
        } catch (RuntimeException e) {
            // Thrown on, it would end all further samples without a word.
            log.log(EventLog.Level.ERROR, "ops.sample-failed", null, "a sample for the dashboard failed: " + e);
        }
    }

    private void send(Watcher watcher, Sample sample) {
        ChannelHandlerContext channel = watcher.channel;
        if (!channel.channel().isWritable()) {
            if (++watcher.missed > MOST_MISSED) {
                log.log(
                        EventLog.Level.INFO,
                        "ops.watcher-dropped",
                        null,
                        "a dashboard was disconnected: it has read nothing for " + MOST_MISSED + " samples");
                channel.close();
            }
            return;
        }
        watcher.missed = 0;
        byte[] part = watcher.feed.next(sample).getBytes(StandardCharsets.UTF_8);
        channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(part)));
    }
}
