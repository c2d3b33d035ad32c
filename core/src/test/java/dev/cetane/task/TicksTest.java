package dev.cetane.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.worker.JobReport;
import org.junit.jupiter.api.Test;

final class TicksTest {
    private static final JobReport REPORT = new JobReport(4, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    private final ScriptedPool pool = new ScriptedPool();
    private final Ticks ticks = new Ticks(pool);

    @Test
    void a_worker_is_woken_once_a_second_and_always_the_same() {
        pool.idleWorker = 4;
        ticks.start();
        for (int second = 1; second <= 3; second++) {
            pool.advance(Ticks.PERIOD_NANOS);
            assertThat(pool.offered).hasSize(second);
            pool.offered.get(second - 1).done(REPORT);
        }
        assertThat(pool.wanted).containsExactly(0, 4, 4);
    }

    @Test
    void there_is_no_second_tick_while_one_runs() {
        pool.idleWorker = 4;
        ticks.start();
        pool.advance(5 * Ticks.PERIOD_NANOS);
        assertThat(pool.offered).hasSize(1);
        pool.offered.get(0).done(REPORT);
        pool.advance(Ticks.PERIOD_NANOS);
        assertThat(pool.offered).hasSize(2);
    }

    @Test
    void a_busy_worker_is_asked_again_and_after_ten_seconds_the_tick_waits_in_line() {
        ticks.start();
        pool.advance(Ticks.PERIOD_NANOS);
        assertThat(pool.wanted).hasSize(1);
        pool.advance(Ticks.RETRY_NANOS);
        assertThat(pool.wanted).hasSize(2);
        pool.advance(8 * Ticks.PERIOD_NANOS);
        assertThat(pool.submitted).isEmpty();
        pool.advance(3 * Ticks.PERIOD_NANOS);
        assertThat(pool.submitted).hasSize(1);
    }

    @Test
    void a_client_that_wants_no_ticks_gets_none() {
        pool.idleWorker = 4;
        pool.capabilities = "call task";
        ticks.start();
        pool.advance(3 * Ticks.PERIOD_NANOS);
        assertThat(pool.wanted).isEmpty();
    }

    @Test
    void after_the_stop_no_tick_begins() {
        pool.idleWorker = 4;
        ticks.start();
        pool.advance(Ticks.PERIOD_NANOS);
        pool.offered.get(0).done(REPORT);
        ticks.stop();
        pool.advance(3 * Ticks.PERIOD_NANOS);
        assertThat(pool.offered).hasSize(1);
    }
}
