package dev.cetane.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class EventLogTest {

    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-01-31T12:00:09.007Z"));

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final EventLog text = new TextEventLog(out, EventLog.Level.INFO, CLOCK, false);
    private final EventLog json = new JsonEventLog(out, EventLog.Level.INFO, CLOCK);

    @Test
    void aTextLineHoldsTimeLevelEventMessageRequestAndFields() {
        text.log(
                EventLog.Level.WARN,
                "worker.stopped",
                "r1",
                "Worker 2 has left",
                "worker",
                2,
                "reason",
                "max requests");

        assertThat(written())
                .isEqualTo("2026-01-31T12:00:09.007Z WARN  worker.stopped: Worker 2 has left [r1]"
                        + " worker=2 reason=\"max requests\"\n");
    }

    @Test
    void aJsonLineHoldsTimeLevelEventMessageRequestAndFields() throws IOException {
        json.log(
                EventLog.Level.ERROR,
                "worker.stopped",
                "r1",
                "Worker \"2\"",
                "worker",
                2,
                "busy",
                true,
                "reason",
                "a\\b");

        assertThat(written())
                .isEqualTo("{\"time\":\"2026-01-31T12:00:09.007Z\",\"level\":\"error\",\"event\":\"worker.stopped\","
                        + "\"message\":\"Worker \\\"2\\\"\",\"request\":\"r1\","
                        + "\"fields\":{\"worker\":2,\"busy\":true,\"reason\":\"a\\\\b\"}}\n");
        assertThat(new ObjectMapper()
                        .readTree(written())
                        .get("fields")
                        .get("reason")
                        .asText())
                .isEqualTo("a\\b");
    }

    @Test
    void whatIsBelowTheLevelIsNotWritten() {
        text.log(EventLog.Level.DEBUG, "a", null, "b");
        json.log(EventLog.Level.DEBUG, "a", null, "b");

        assertThat(written()).isEmpty();
        assertThat(text.enabled(EventLog.Level.DEBUG)).isFalse();
        assertThat(json.enabled(EventLog.Level.INFO)).isTrue();
    }

    @Test
    void aMessageCannotForgeALineNorMoveATerminalsCursor() {
        text.log(EventLog.Level.INFO, "php", null, "one\ntwo\r\u001b[2J\u0085\u2028\u202Eevil\0", "k", "a\nb");

        assertThat(written())
                .isEqualTo("2026-01-31T12:00:09.007Z INFO  php: one\\ntwo\\r\\u001b[2J\\u0085\\u2028\\u202eevil\\u0000"
                        + " k=a\\nb\n");
    }

    @Test
    void colourIsForTheLevelOnly() {
        new TextEventLog(out, EventLog.Level.INFO, CLOCK, true).log(EventLog.Level.ERROR, "a", null, "b");

        assertThat(written()).isEqualTo("2026-01-31T12:00:09.007Z \u001b[31mERROR\u001b[0m a: b\n");
    }

    @Test
    void halfAPairOfSurrogatesBecomesAReplacementCharacter() throws IOException {
        json.log(EventLog.Level.INFO, "a", null, "x\ud83dy \ud83d\ude00");

        assertThat(new ObjectMapper().readTree(written()).get("message").asText())
                .isEqualTo("x\ufffdy \ud83d\ude00");
    }

    @Test
    void lengthsAreBoundedAndTheRestIsCounted() throws IOException {
        json.log(EventLog.Level.INFO, "a", null, "m".repeat(65_537), "k", "v".repeat(4_099));

        JsonNode line = new ObjectMapper().readTree(written());
        assertThat(line.get("message").asText()).isEqualTo("m".repeat(65_536) + "… (1 more)");
        assertThat(line.get("fields").get("k").asText()).isEqualTo("v".repeat(4_096) + "… (3 more)");
    }

    @Test
    void aLineIsOneWrite() {
        List<Integer> writes = new ArrayList<>();
        OutputStream counting = new OutputStream() {
            @Override
            public void write(int b) {
                writes.add(1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                writes.add(length);
            }
        };

        new JsonEventLog(counting, EventLog.Level.INFO, CLOCK).log(EventLog.Level.INFO, "a", null, "b", "c", "d");

        assertThat(writes).hasSize(1);
    }

    @Test
    void aReaderThatIsGoneDoesNotStopTheLogger() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };

        new TextEventLog(closed, EventLog.Level.INFO, CLOCK, false).log(EventLog.Level.INFO, "a", null, "b");

        assertThat(written()).isEmpty();
    }

    @Property(tries = 300)
    void whateverIsLoggedIsOneLineOfJson(@ForAll String event, @ForAll String message, @ForAll String value)
            throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        new JsonEventLog(line, EventLog.Level.INFO, CLOCK).log(EventLog.Level.INFO, event, value, message, "k", value);

        String written = line.toString(StandardCharsets.UTF_8);
        assertThat(written.chars().filter(c -> c < ' ').count()).isEqualTo(1);
        assertThat(new ObjectMapper().readTree(written).size()).isEqualTo(6);
    }

    private String written() {
        return out.toString(StandardCharsets.UTF_8);
    }
}
