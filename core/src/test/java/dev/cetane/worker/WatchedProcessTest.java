package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WatchedProcessTest {

    @Test
    void a_process_is_known_by_its_parent_and_its_start() {
        WatchedProcess self = WatchedProcess.of(ProcessHandle.current().pid());
        assertThat(self).isNotNull();
        assertThat(self.parent())
                .isEqualTo(ProcessHandle.current().parent().orElseThrow().pid());
        assertThat(self.isAlive()).isTrue();
        assertThat(new WatchedProcess(self.pid(), self.parent(), self.startTicks() + 1).isAlive())
                .as("a later process of the same number")
                .isFalse();
        assertThat(WatchedProcess.privateMemoryBytes(self.pid())).isPositive();
    }

    @Test
    void one_that_has_ended_is_none_also_before_its_parent_has_collected_it() throws Exception {
        // The shell becomes a sleep, which collects nobody.
        Process parent = new ProcessBuilder("sh", "-c", "true & exec sleep 600").start();
        try {
            long child = child(parent);
            while (WatchedProcess.of(child) != null) {
                Thread.onSpinWait();
            }
            assertThat(ProcessHandle.of(child)).as("a zombie").isPresent();
        } finally {
            parent.destroyForcibly().waitFor();
        }
        assertThat(WatchedProcess.of(parent.pid())).isNull();
    }

    @Test
    void the_signal_that_ends_a_process_is_known_until_its_parent_has_collected_it() throws Exception {
        Process parent = new ProcessBuilder("sh", "-c", "sleep 600 & exec sleep 600").start();
        try {
            WatchedProcess child = WatchedProcess.of(child(parent));
            assertThat(child).isNotNull();
            assertThat(child.endingSignal()).as("while it runs").isZero();
            new ProcessBuilder("kill", "-s", "SEGV", Long.toString(child.pid()))
                    .start()
                    .waitFor();
            while (child.isAlive()) {
                Thread.onSpinWait();
            }
            assertThat(child.endingSignal()).isEqualTo(11);
            assertThat(new WatchedProcess(child.pid(), child.parent(), child.startTicks() + 1).endingSignal())
                    .as("of a later process of the same number")
                    .isZero();
        } finally {
            parent.destroyForcibly().waitFor();
        }
    }

    @Test
    void a_kill_takes_along_what_the_process_has_started() throws Exception {
        Process parent = new ProcessBuilder("sh", "-c", "sleep 600 & wait").start();
        WatchedProcess watched = WatchedProcess.of(parent.pid());
        assertThat(watched).isNotNull();
        long child = child(parent);
        watched.kill();
        assertThat(parent.waitFor(30, TimeUnit.SECONDS)).isTrue();
        while (WatchedProcess.of(child) != null) {
            Thread.onSpinWait();
        }
        assertThat(watched.isAlive()).isFalse();
    }

    private static long child(Process parent) {
        while (true) {
            var child = parent.children().findFirst();
            if (child.isPresent()) {
                return child.get().pid();
            }
            assertThat(parent.isAlive()).isTrue();
            Thread.onSpinWait();
        }
    }
}
