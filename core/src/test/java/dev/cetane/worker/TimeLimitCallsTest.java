package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.protocol.MalformedCallException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The call that gives a request another time limit, PROTOCOL.md §9.4. */
final class TimeLimitCallsTest {
    private final RecordingCaller caller = new RecordingCaller(1, false);

    private static ByteBuffer asking(long millis) {
        return ByteBuffer.allocate(5).put((byte) 0x30).putInt((int) millis).flip();
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "90000, 90000", "3600000, 3600000", "3600001, 3600000", "4294967295, 3600000", "0, 3600000"})
    void grantsWhatIsAskedForUpToTheMost(long asked, long granted) {
        new TimeLimitCalls(Duration.ofHours(1)).call(caller, asking(asked));
        assertThat(caller.limit.time()).isEqualTo(Duration.ofMillis(granted));
        assertThat(ByteBuffer.wrap(caller.reply).get()).isZero();
        assertThat(ByteBuffer.wrap(caller.reply).getInt(1)).isEqualTo((int) granted);
    }

    @Test
    void refusesWhereTheConfigurationGivesNoSuchRight() {
        new TimeLimitCalls(Duration.ZERO).call(caller, asking(1));
        assertThat(caller.limit).isNull();
        assertThat(caller.reply[0]).isEqualTo((byte) 5);
        assertThat(new String(caller.reply, StandardCharsets.UTF_8)).contains("pool.longest-request is 0");
    }

    @Test
    void refusesWhereNoRequestRuns() {
        RecordingCaller withoutRequest = new RecordingCaller(1, true);
        new TimeLimitCalls(Duration.ofHours(1)).call(withoutRequest, asking(1));
        assertThat(new String(withoutRequest.reply, StandardCharsets.UTF_8)).contains("no request runs");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 6, 100})
    void isOfOneLength(int bytes) {
        ByteBuffer call = ByteBuffer.allocate(bytes).put(0, (byte) 0x30);
        assertThatThrownBy(() -> new TimeLimitCalls(Duration.ofHours(1)).call(caller, call))
                .isInstanceOf(MalformedCallException.class)
                .hasMessageContaining(bytes + " bytes");
        assertThat(caller.replies).isZero();
    }
}
