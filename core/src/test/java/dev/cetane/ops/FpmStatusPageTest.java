package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.worker.JobReport;
import dev.cetane.worker.WorkerState;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The figures of php-fpm's status page; that it has php-fpm's fields is compared with a real one, end to end. */
final class FpmStatusPageTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");
    private static final Instance INSTANCE =
            new Instance("1.2.3", 42, "/srv/app (laravel)", List.of("http://127.0.0.1:8080"), NOW.minusSeconds(100));

    private final LastReports last = new LastReports();

    @Test
    void processes_are_the_workers_that_are_idle_or_busy() {
        FpmStatus status = status(WorkerState.IDLE, WorkerState.BUSY, WorkerState.STARTING, WorkerState.RETIRING);
        assertThat(status.page("json").text())
                .isEqualTo(
                        "{\"pool\":\"cetane\",\"process manager\":\"static\",\"start time\":1767322945,"
                                + "\"start since\":100,\"accepted conn\":18,\"listen queue\":0,\"max listen queue\":9,"
                                + "\"listen queue len\":128,\"idle processes\":1,\"active processes\":1,\"total processes\":2,"
                                + "\"max active processes\":4,\"max children reached\":0,\"slow requests\":3,\"memory peak\":0}\n");
    }

    @Test
    void an_idle_process_has_the_cost_of_its_last_request_and_a_busy_one_the_request_and_its_time() {
        last.keep(new JobReport(1, 9, 9, 1_000_000, 5_000_000, 2_000_000, 2_000_000, 0, 5_000, 2_097_152));
        String full =
                status(WorkerState.IDLE, WorkerState.BUSY).page("json&full").text();
        assertThat(full)
                .contains(
                        "{\"pid\":1001,\"state\":\"Idle\",\"start time\":1767322983,\"start since\":62,\"requests\":10,"
                                + "\"request duration\":10000,\"request method\":\"-\",\"request uri\":\"-\","
                                + "\"content length\":0,\"user\":\"-\",\"script\":\"-\",\"last request cpu\":50.00,"
                                + "\"last request memory\":2097152}")
                .contains("{\"pid\":1002,\"state\":\"Running\",\"start time\":1767322983,\"start since\":62,"
                        + "\"requests\":21,\"request duration\":2500000,\"request method\":\"GET\","
                        + "\"request uri\":\"/\\u001b[2J\",\"content length\":0,\"user\":\"-\",\"script\":\"-\","
                        + "\"last request cpu\":0.00,\"last request memory\":0}")
                .contains("\"memory peak\":2097152");
    }

    @Test
    void what_a_client_has_sent_can_neither_steer_a_terminal_nor_break_xml() {
        FpmStatus status = status(WorkerState.BUSY);
        assertThat(status.page("full").text()).contains("request URI:          /?[2J\n");
        assertThat(status.page("xml&full").text()).contains("<request-uri>/?[2J</request-uri>");
    }

    @Test
    void a_worker_whose_id_shares_a_place_with_a_newer_one_has_no_last_request() {
        last.keep(new JobReport(1, 0, 0, 1, 1, 1, 1, 1, 1, 5));
        last.keep(new JobReport(1025, 0, 0, 1, 1, 1, 1, 1, 1, 4));
        assertThat(last.of(1)).isNull();
        assertThat(last.of(1025)).isNotNull();
        assertThat(last.mostMemoryBytes()).isEqualTo(5);
    }

    private FpmStatus status(WorkerState... states) {
        return new FpmStatus(INSTANCE, Pools.of(states), new FpmStatus.Figures(17, 3, last), NOW);
    }
}
