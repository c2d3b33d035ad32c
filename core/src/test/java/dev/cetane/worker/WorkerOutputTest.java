package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a worker prints becomes log lines. */
final class WorkerOutputTest {
    private static final int LINE_BYTES = 8192;

    private final ManualTicker ticker = new ManualTicker();
    private final RecordingLog log = new RecordingLog();

    @TempDir
    private Path directory;

    private WorkerOutput output;
    private OutputStream worker;

    @BeforeEach
    void open() throws Exception {
        open(ApplicationKind.WORKER);
    }

    private void open(ApplicationKind kind) throws Exception {
        Path fifo = directory.resolve("print" + kind);
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        PhpPool.Settings settings = new PhpPool.Settings();
        settings.outputLinesPerSecond = 3;
        output = new WorkerOutput(7, kind, fifo, settings.toConfig(), ticker, log);
        worker = Files.newOutputStream(fifo);
    }

    @AfterEach
    void close() throws IOException {
        worker.close();
        output.close();
    }

    private void print(String text) throws IOException {
        worker.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<String> lines() {
        return log.events("worker.output").stream()
                .map(RecordingLog.Event::message)
                .toList();
    }

    @Test
    void a_line_is_logged_when_it_is_complete() throws IOException {
        print("one\ntwo\nth");
        assertThat(output.take()).isTrue();
        assertThat(lines()).containsExactly("one", "two");
        print("ree\n");
        assertThat(output.take()).isTrue();

        assertThat(lines()).containsExactly("one", "two", "three");
        assertThat(output.take()).isFalse();
    }

    @Test
    void what_was_printed_during_a_request_carries_its_id() throws IOException {
        output.serving("r1");
        print("during\n");
        output.served();
        print("between\n");
        output.take();
        output.serving("r2");
        print("during the next\n");
        output.served();

        assertThat(log.events("worker.output"))
                .extracting(RecordingLog.Event::requestId)
                .containsExactly("r1", null, "r2");
    }

    @Test
    void a_line_at_the_limit_is_kept_whole_and_a_longer_one_is_cut() throws IOException {
        String longest = "x".repeat(LINE_BYTES);
        print(longest + "\n");
        print(longest + "yy\n");
        output.take();

        assertThat(lines()).containsExactly(longest, longest);
        assertThat(log.events("worker.output").get(0).field("cut_bytes")).isNull();
        assertThat(log.events("worker.output").get(1).field("cut_bytes")).isEqualTo(2L);
    }

    @Test
    void lines_above_the_rate_are_counted_and_dropped_until_the_next_second() throws IOException {
        print("1\n2\n3\n4\n5\n");
        output.take();
        assertThat(lines()).containsExactly("1", "2", "3");
        ticker.advance(Duration.ofSeconds(1));
        print("6\n");
        output.take();

        assertThat(lines()).containsExactly("1", "2", "3", "6");
        assertThat(log.events("worker.output-dropped").get(0).field("lines")).isEqualTo(2L);
    }

    @Test
    void the_last_lines_are_kept_for_the_message_of_a_crash_even_when_they_were_dropped() throws IOException {
        print("1\n2\n3\n4\nthe reason");

        assertThat(output.close()).endsWith("4 | the reason");
    }

    @Test
    void the_headers_that_php_cgi_prints_are_no_lines() throws Exception {
        open(ApplicationKind.FRONT_CONTROLLER);
        print("X-Powered-By: PHP/8.2.36\r\nContent-type: text/html; charset=UTF-8\r\n\r\nPHP Warning:  something\n");
        output.take();

        assertThat(lines()).containsExactly("PHP Warning:  something");
    }
}
