package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.WorkerException.Kind;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One job's times, and who may be inside its sink. */
final class ExchangeTest {
    private static final ResponseHead HEAD = new ResponseHead(200, "", -1, List.of());

    private final ManualTicker ticker = new ManualTicker();
    private final RecordingListener listener = new RecordingListener();
    private final WorkerException failure = new WorkerException(Kind.TIMED_OUT, "over its time");
    private final long start = ticker.nanos();

    private Exchange exchange(Job job) {
        return new Exchange(job, listener, ticker);
    }

    @Test
    void each_phase_has_its_time() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.assigned(7, start + 1);
        exchange.sent(start + 3);
        exchange.head(HEAD, start + 6);
        exchange.end(start + 10);
        exchange.done(1, 2, 3, start + 15);

        assertThat(job.report()).isEqualTo(new JobReport(7, 1, 0, 2, 3, 4, 5, 1, 2, 3));
    }

    @Test
    void the_wait_for_a_worker_that_boots_is_told_from_the_wait_before_its_boot() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.assigned(7, start + 100);
        exchange.awaitedBoot(start + 30);
        exchange.sent(start + 101);
        exchange.head(HEAD, start + 102);
        exchange.end(start + 103);
        exchange.done(0, 0, 0, start + 104);

        assertThat(job.report()).isEqualTo(new JobReport(7, 30, 70, 1, 1, 1, 1, 0, 0, 0));
    }

    @Test
    void a_boot_that_began_before_the_request_came_counts_from_there() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.assigned(7, start + 100);
        exchange.awaitedBoot(start - 50);
        exchange.head(HEAD, start + 102);

        assertThat(exchange.report().queueNanos()).isZero();
        assertThat(exchange.report().bootNanos()).isEqualTo(100);
    }

    @Test
    void what_a_failure_has_prevented_ends_with_it() {
        Exchange refused = exchange(new RecordingJob("/"));
        refused.reject(failure, start + 40);
        assertThat(refused.report()).isEqualTo(new JobReport(0, 40, 0, 0, 0, 0, 0, 0, 0, 0));

        Exchange crashed = exchange(new RecordingJob("/"));
        crashed.assigned(7, start + 1);
        crashed.sent(start + 3);
        crashed.conclude(failure, start + 50);
        assertThat(crashed.report()).isEqualTo(new JobReport(7, 1, 0, 2, 47, 0, 0, 0, 0, 0));
        assertThat(crashed.concludedNanos()).isEqualTo(start + 50);

        Exchange cut = exchange(new RecordingJob("/"));
        cut.assigned(7, start + 1);
        cut.sent(start + 3);
        cut.head(HEAD, start + 6);
        cut.conclude(failure, start + 50);
        assertThat(cut.report()).isEqualTo(new JobReport(7, 1, 0, 2, 3, 44, 0, 0, 0, 0));
    }

    @Test
    void an_answer_that_overtakes_the_return_of_the_write_makes_no_time_negative() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.assigned(7, start + 1);
        exchange.sent(start + 2);
        exchange.head(HEAD, start + 6);
        exchange.sent(start + 9);
        exchange.end(start + 10);
        exchange.done(0, 0, 0, start + 15);

        assertThat(job.report().dispatchNanos()).isEqualTo(5);
        assertThat(job.report().firstByteNanos()).isZero();
    }

    @Test
    void a_failure_that_comes_while_the_reader_is_in_the_sink_is_told_when_it_comes_out() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        job.whenData(bytes -> {
            exchange.conclude(failure, ticker.nanos());
            exchange.conclude(failure, ticker.nanos());
            assertThat(job.calls()).containsExactly("head", "data");
            assertThat(exchange.inSink()).isTrue();
        });
        exchange.head(HEAD, start);
        exchange.data(ByteBuffer.allocate(1), ticker);

        assertThat(job.calls()).containsExactly("head", "data", "failed");
        assertThat(exchange.inSink()).isFalse();
    }

    @Test
    void nothing_reaches_a_job_that_has_ended() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.conclude(failure, ticker.nanos());
        exchange.head(HEAD, start);
        exchange.data(ByteBuffer.allocate(1), ticker);
        exchange.end(start);
        exchange.done(0, 0, 0, start);
        exchange.conclude(failure, ticker.nanos());

        assertThat(job.calls()).containsExactly("failed");
        assertThat(listener.told()).containsExactly("failed TIMED_OUT");
    }

    @Test
    void a_failure_after_a_complete_answer_completes_the_job() {
        RecordingJob job = new RecordingJob("/");
        Exchange exchange = exchange(job);
        exchange.head(HEAD, start);
        exchange.end(start);
        exchange.conclude(failure, ticker.nanos());

        assertThat(job.calls()).containsExactly("head", "end", "done");
        assertThat(listener.told()).containsExactly("completed");
    }
}
