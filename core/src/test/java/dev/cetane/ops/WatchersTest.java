package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.log.RecordingLog;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerState;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Those who watch share one sample a second, and none of them can hold up the others. */
final class WatchersTest {
    private final AtomicInteger samplers = new AtomicInteger();
    private final AtomicInteger samples = new AtomicInteger();
    private final RecordingLog log = new RecordingLog();
    private final Metrics metrics = new Metrics(() -> Pools.of(WorkerState.IDLE), Ticker.system(), "1");
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final Watchers watchers = new Watchers(this::sampler, log);

    private Sampler sampler() {
        samplers.incrementAndGet();
        return new Sampler(
                metrics,
                () -> {
                    samples.incrementAndGet();
                    return Pools.of(WorkerState.IDLE);
                },
                () -> new Instance("1", 1, "/srv/app", List.of(), Instant.EPOCH),
                Ticker.system());
    }

    @AfterEach
    void close() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** The first of them is the one whose clock moves. */
    private EmbeddedChannel watch() {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        channel.freezeTime();
        channels.add(channel);
        Reply reply = new Reply(
                channel.pipeline().firstContext(),
                new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/events"));
        watchers.open(reply, new DashboardEvents.Stream(new DashboardEvents()));
        return channel;
    }

    private void secondPasses() {
        channels.get(0).advanceTimeBy(1, TimeUnit.SECONDS);
        channels.get(0).runScheduledPendingTasks();
    }

    private static String read(EmbeddedChannel channel) {
        StringBuilder text = new StringBuilder();
        for (Object part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            if (part instanceof HttpContent content) {
                ByteBuf bytes = content.content();
                text.append(bytes.toString(StandardCharsets.UTF_8));
                bytes.release();
            }
        }
        return text.toString();
    }

    @Test
    void all_watch_the_same_sample_and_nobody_takes_one_when_nobody_watches() {
        EmbeddedChannel one = watch();
        EmbeddedChannel other = watch();
        assertThat(one.<HttpResponse>readOutbound().headers().get("content-type"))
                .isEqualTo("text/event-stream; charset=utf-8");
        assertThat(read(one)).startsWith("event: sample\ndata: {").contains("event: slow\n", "event: ends\n");
        assertThat(read(other)).startsWith("event: sample\ndata: {");
        int before = samples.get();
        secondPasses();
        assertThat(samples.get()).isEqualTo(before + 1);
        assertThat(read(one)).startsWith("event: sample\ndata: {").doesNotContain("event: slow");
        assertThat(read(other)).startsWith("event: sample\ndata: {");

        other.close().syncUninterruptibly();
        secondPasses();
        assertThat(samples.get()).isEqualTo(before + 2);
        one.close().syncUninterruptibly();
        secondPasses();
        assertThat(samples.get()).isEqualTo(before + 2);
        assertThat(watchers.count()).isZero();

        watch();
        assertThat(samplers.get()).isEqualTo(2);
    }

    @Test
    void who_does_not_read_is_dropped_and_the_others_go_on() {
        EmbeddedChannel reading = watch();
        EmbeddedChannel stalled = watch();
        read(reading);
        read(stalled);
        stalled.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        for (int i = 0; i < 5; i++) {
            secondPasses();
            assertThat(read(reading)).startsWith("event: sample");
            assertThat(stalled.isOpen()).isTrue();
            assertThat(read(stalled)).isEmpty();
        }
        secondPasses();
        assertThat(stalled.isOpen()).isFalse();
        assertThat(read(reading)).startsWith("event: sample");
        assertThat(watchers.count()).isEqualTo(1);
        assertThat(log.events()).anySatisfy(event -> assertThat(event.event()).isEqualTo("ops.watcher-dropped"));
    }

    @Test
    void one_more_than_may_watch_is_told_so() {
        for (int i = 0; i < Watchers.MOST; i++) {
            watch();
        }
        EmbeddedChannel refused = watch();
        FullHttpResponse answer = refused.readOutbound();
        assertThat(answer.status().code()).isEqualTo(503);
        answer.release();
        assertThat(watchers.count()).isEqualTo(Watchers.MOST);
        channels.get(3).close().syncUninterruptibly();
        assertThat(read(watch())).startsWith("event: sample");
    }
}
