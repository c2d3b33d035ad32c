package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.RawClient.Answer;
import dev.cetane.http.ScriptedDispatcher.Running;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.JobTimes;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where the time of a request went, by a clock that the test moves. */
final class PhasesTest {
    private static final long MICRO = 1_000;

    private final ManualTicker ticker = new ManualTicker();
    private TestServer server;
    private EmbeddedChannel channel;

    /** The pool's side of one request: each phase takes as long as the test says. */
    private final class PoolTimes implements JobTimes {
        private final long submitted;
        private long queue;
        private long boot;
        private long dispatch;
        private long firstByte;
        private long toEnd;
        private long concluded;

        PoolTimes(long submitted) {
            this.submitted = submitted;
        }

        void concluded() {
            concluded = ticker.nanos();
        }

        @Override
        public long submittedNanos() {
            return submitted;
        }

        @Override
        public long concludedNanos() {
            return concluded;
        }

        @Override
        public JobReport report() {
            return new JobReport(3, queue, boot, dispatch, firstByte, toEnd, 0, 0, 0, 0);
        }
    }

    @BeforeEach
    void open() throws IOException {
        server = TestServer.start();
        channel = server.embedded(ticker);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        server.close();
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    @Test
    void the_phases_of_a_request_add_up_to_its_total() throws Exception {
        send("POST /slow?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na");
        ticker.advance(700 * MICRO);
        send("b");
        Running running = server.dispatcher.take();
        PoolTimes times = new PoolTimes(ticker.nanos());
        running.job.submitted(times);
        times.queue = 40 * MICRO;
        ticker.advance(times.queue);
        times.boot = 900 * MICRO;
        ticker.advance(times.boot);
        times.dispatch = 30 * MICRO;
        ticker.advance(times.dispatch);
        times.firstByte = 5_000 * MICRO;
        ticker.advance(times.firstByte);
        running.headOfLength(200, 5);
        times.toEnd = 250 * MICRO;
        ticker.advance(times.toEnd);
        running.data("hello");
        times.concluded();
        running.end();
        ticker.advance(110 * MICRO);
        channel.runPendingTasks();
        assertThat(TestServer.written(channel)).endsWith("hello");
        JobReport done = new JobReport(3, 40_000, 900_000, 30_000, 5_000_000, 250_000, 8_000, 5_100, 4_000, 1);
        ticker.advance(8_000 * MICRO);
        running.job.done(done);

        RequestReport report = server.counts.takeEnded();
        assertThat(report.describe()).isEqualTo("POST /slow?a=b");
        assertThat(report.status()).isEqualTo(200);
        assertThat(report.job()).isEqualTo(done);
        assertThat(report.receiveNanos()).isEqualTo(700 * MICRO);
        assertThat(report.transferNanos()).isEqualTo(110 * MICRO);
        assertThat(report.totalNanos()).isEqualTo(7_030 * MICRO);
        assertThat(Math.abs(report.totalNanos() - sum(report))).isLessThan(50 * MICRO);
    }

    @Test
    void a_failure_adds_up_too_and_keeps_the_status_that_the_client_got() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        Running running = server.dispatcher.take();
        PoolTimes times = new PoolTimes(ticker.nanos());
        running.job.submitted(times);
        times.queue = 500 * MICRO;
        ticker.advance(times.queue);
        times.concluded();
        running.failed(WorkerException.Kind.QUEUE_TIMEOUT);
        ticker.advance(20 * MICRO);
        channel.runPendingTasks();

        RequestReport report = server.counts.takeEnded();
        assertThat(report.status()).isEqualTo(503);
        assertThat(report.totalNanos()).isEqualTo(520 * MICRO).isEqualTo(sum(report));
    }

    @Test
    void a_client_that_left_first_is_told_of_when_the_worker_is_done() throws Exception {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        Running running = server.dispatcher.take();
        running.job.submitted(new PoolTimes(ticker.nanos()));
        ticker.advance(300 * MICRO);
        channel.close().syncUninterruptibly();
        assertThat(server.counts.now().abandoned()).isEqualTo(1);
        running.respond(200, "nobody reads it");

        RequestReport report = server.counts.takeEnded();
        assertThat(report.status()).isZero();
        assertThat(report.totalNanos()).isEqualTo(300 * MICRO);
    }

    @Test
    void the_head_says_where_the_time_went_to_whom_it_is_meant_for() throws Exception {
        assertThat(timing(ServerTiming.OFF, List.of("127.0.0.1"))).isEmpty();
        assertThat(timing(ServerTiming.TRUSTED, List.of())).isEmpty();
        String forAll = timing(ServerTiming.ON, List.of());
        assertThat(forAll)
                .matches("receive;dur=[0-9]+\\.[0-9]{3}, queue;dur=0\\.040, dispatch;dur=0\\.030, php;dur=5\\.000");
        assertThat(timing(ServerTiming.TRUSTED, List.of("127.0.0.1"))).endsWith("php;dur=5.000");
    }

    private String timing(ServerTiming mode, List<String> proxies) throws IOException {
        try (TestServer timed = TestServer.start(config -> {
                    config.serverTiming = mode;
                    config.trustedProxies = proxies;
                    return config;
                });
                RawClient client = timed.connect()) {
            timed.dispatcher.answer(job -> {
                PoolTimes times = new PoolTimes(Ticker.system().nanos());
                times.queue = 40 * MICRO;
                times.dispatch = 30 * MICRO;
                times.firstByte = 5_000 * MICRO;
                job.job.submitted(times);
                job.respond(200, "hello");
            });
            Answer answer = client.get("/").answer();
            return answer.fields().containsKey("server-timing") ? answer.field("server-timing") : "";
        }
    }

    private static long sum(RequestReport report) {
        JobReport job = report.job();
        return report.receiveNanos()
                + job.queueNanos()
                + job.bootNanos()
                + job.dispatchNanos()
                + job.firstByteNanos()
                + job.toEndNanos()
                + report.transferNanos();
    }
}
