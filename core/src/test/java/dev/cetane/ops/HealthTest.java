package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.worker.WorkerState;
import org.junit.jupiter.api.Test;

final class HealthTest {

    @Test
    void aPoolWithAnIdleWorkerIsReady() {
        assertThat(Health.of(Pools.of(WorkerState.IDLE, WorkerState.STARTING)))
                .isEqualTo(new Health(true, "1 idle, 0 busy, 0 waiting"));
    }

    @Test
    void aBusyPoolIsReadyUntilItsQueueIsFull() {
        assertThat(Health.of(Pools.queued(9, 10, WorkerState.BUSY)))
                .isEqualTo(new Health(true, "0 idle, 1 busy, 9 waiting"));
        assertThat(Health.of(Pools.queued(10, 10, WorkerState.BUSY)))
                .isEqualTo(new Health(false, "the queue is full (10 wait)"));
    }

    @Test
    void aBusyPoolWithoutAQueueIsReady() {
        assertThat(Health.of(Pools.queued(0, 0, WorkerState.BUSY)).ready()).isTrue();
    }

    @Test
    void aBootingPoolIsNotReady() {
        assertThat(Health.of(Pools.of(WorkerState.STARTING))).isEqualTo(new Health(false, "booting"));
    }

    @Test
    void aDeadPoolIsNotReadyAndDoesNotSayWhatTheApplicationSaid() {
        assertThat(Health.of(Pools.of())).isEqualTo(new Health(false, "no worker is up"));
        assertThat(Health.of(Pools.bootFailed("PHP Fatal error in /srv/app.php")))
                .isEqualTo(new Health(false, "no worker is up, the last boot failed"));
    }

    @Test
    void aWorkerThatLeavesDoesNotCount() {
        assertThat(Health.of(Pools.of(WorkerState.RETIRING, WorkerState.STOPPED))
                        .ready())
                .isFalse();
    }

    @Test
    void aDrainingPoolIsNotReady() {
        assertThat(Health.of(Pools.draining(WorkerState.IDLE))).isEqualTo(new Health(false, "draining"));
    }
}
