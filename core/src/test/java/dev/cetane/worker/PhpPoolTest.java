package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The pool with real PHP processes: what its jobs see when they work and when they do not. */
final class PhpPoolTest {

    @Test
    void a_job_gets_its_answer_and_its_cost() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/");

            assertThat(job.calls()).containsExactly("head", "data", "end", "done");
            assertThat(job.head().status()).isEqualTo(200);
            assertThat(job.body()).isEqualTo("hello");
            assertThat(job.report().handlerMicros()).isEqualTo(100);
            assertThat(job.report().firstByteNanos()).isPositive();
        }
    }

    @Test
    void a_worker_serves_many_requests() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            for (int i = 1; i <= 100; i++) {
                assertThat(php.get("/count").body()).isEqualTo(Integer.toString(i));
            }
        }
    }

    @Test
    void a_worker_that_dies_before_the_head_fails_the_job_and_is_replaced() {
        try (PhpPool php = PhpPool.started(settings -> {})) {
            RecordingJob job = php.get("/die-before-head");

            assertThat(job.calls()).containsExactly("failed");
            assertThat(job.failureKind()).isEqualTo(WorkerException.Kind.CRASHED);
            assertThat(job.failure())
                    .hasMessageContaining("signal 9 (KILL)")
                    .hasMessageContaining("GET /die-before-head");
            assertThat(php.get("/").body()).isEqualTo("hello");
            assertThat(php.listener.told()).contains("stopped 1 CRASHED");
        }
    }
}
