package dev.cetane.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class QueuedOutputTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String KILOBYTE = "x".repeat(1023) + "\n";

    private final Pipe pipe = new Pipe();
    private final QueuedOutput output = new QueuedOutput(pipe);
    private final List<Long> dropped = new ArrayList<>();

    /** Takes nothing while it is closed; then all. */
    private static final class Pipe extends OutputStream {
        private final Semaphore open = new Semaphore(0);
        private final CountDownLatch reached = new CountDownLatch(1);
        private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        private final List<Integer> writes = new ArrayList<>();
        private boolean broken;

        @Override
        public void write(int single) {
            throw new AssertionError("a line is one write");
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            reached.countDown();
            open.acquireUninterruptibly();
            open.release();
            synchronized (this) {
                if (broken) {
                    throw new IOException("Broken pipe");
                }
                writes.add(length);
                taken.write(bytes, from, length);
            }
        }

        synchronized String text() {
            return taken.toString(StandardCharsets.UTF_8);
        }

        synchronized void mend(boolean whole) {
            broken = !whole;
        }

        void awaitWrite() throws InterruptedException {
            assertThat(reached.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    private void log(String line) throws IOException {
        output.write(line.getBytes(StandardCharsets.UTF_8));
    }

    private void start() {
        output.start(count -> {
            dropped.add(count);
            byte[] line = (count + " dropped\n").getBytes(StandardCharsets.UTF_8);
            output.write(line, 0, line.length);
        });
    }

    @AfterEach
    void open() {
        pipe.open.release();
    }

    @Test
    void linesComeOutInTheirOrder() throws IOException {
        start();
        pipe.open.release();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            log("line " + i + "\n");
            all.append("line ").append(i).append('\n');
        }
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.text()).isEqualTo(all.toString());
    }

    @Test
    void nobodyWaitsForAnOutputThatTakesNothingAndWhatWaitsIsWrittenTogether() throws Exception {
        start();
        log("first\n");
        pipe.awaitWrite();
        for (int i = 0; i < 200; i++) {
            log(KILOBYTE);
        }
        pipe.open.release();
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.text()).isEqualTo("first\n" + KILOBYTE.repeat(200));
        assertThat(pipe.writes).containsExactly(6, 64 * 1024, 64 * 1024, 64 * 1024, 8 * 1024);
        assertThat(dropped).isEmpty();
    }

    @Test
    void linesThatFindTheQueueFullAreDroppedCountedAndToldOfOnce() throws Exception {
        start();
        log("first\n");
        pipe.awaitWrite();
        int fit = QueuedOutput.MOST_BYTES / (1024 + 32);
        for (int i = 0; i < fit + 7; i++) {
            log(KILOBYTE);
        }
        pipe.open.release();
        await().atMost(PATIENCE).until(() -> pipe.text().endsWith("7 dropped\n"));
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.text()).isEqualTo("first\n" + KILOBYTE.repeat(fit) + "7 dropped\n");
        log("next\n");
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.text()).endsWith("7 dropped\nnext\n");
        assertThat(dropped).containsExactly(7L);
    }

    @Test
    void aLineLargerThanAWriteGoesByItself() throws Exception {
        start();
        log("first\n");
        pipe.awaitWrite();
        log("y".repeat(100_000) + "\n");
        log("last\n");
        pipe.open.release();
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.writes).containsExactly(6, 100_001, 5);
    }

    @Test
    void theEndWaitsNoLongerThanItMay() throws Exception {
        start();
        log("first\n");
        pipe.awaitWrite();
        assertThat(output.awaitWritten(Duration.ofMillis(1))).isFalse();
        Thread.currentThread().interrupt();
        assertThat(output.awaitWritten(PATIENCE)).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anOutputThatFailsCostsItsLinesAlone() throws IOException {
        start();
        pipe.open.release();
        pipe.mend(false);
        log("lost\n");
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        pipe.mend(true);
        log("seen\n");
        assertThat(output.awaitWritten(PATIENCE)).isTrue();
        assertThat(pipe.text()).isEqualTo("seen\n");
    }
}
