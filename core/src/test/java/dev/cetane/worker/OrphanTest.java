package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A supervisor that is killed leaves no worker behind. */
@Timeout(60)
final class OrphanTest {

    /** The supervisor: two workers, one of them busy for an hour. */
    static final class Main {
        private Main() {}

        public static void main(String[] arguments) {
            PhpPool php = PhpPool.started(settings -> settings.workers = 2);
            php.listener.await("booted 1");
            php.listener.await("booted 2");
            php.submit("/hang");
            php.pool.snapshot().workers().forEach(worker -> System.out.println("pid " + worker.pid()));
            System.out.println("ready");
        }
    }

    @Test
    void idle_and_busy_workers_end_when_the_supervisor_is_killed(@TempDir Path directory) throws Exception {
        Process supervisor = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-Djava.io.tmpdir=" + directory,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        List<Long> workers = new ArrayList<>();
        try (BufferedReader lines = supervisor.inputReader(StandardCharsets.UTF_8)) {
            String line = lines.readLine();
            while (line != null && !line.equals("ready")) {
                if (line.startsWith("pid ")) {
                    workers.add(Long.parseLong(line.substring(4)));
                }
                line = lines.readLine();
            }
            assertThat(line).isEqualTo("ready");
        } finally {
            supervisor.destroyForcibly();
        }

        assertThat(workers).hasSize(2);
        workers.forEach(PhpPool::awaitEnd);
    }
}
