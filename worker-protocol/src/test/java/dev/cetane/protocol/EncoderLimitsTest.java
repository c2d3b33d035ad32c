package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** At each limit is a golden frame; here is what lies above. REQUEST has a test of its own. */
final class EncoderLimitsTest {

    @Test
    void a_HELLO_one_byte_too_large_is_refused() {
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() ->
                        ControlFrames.hello(Hello.current(Map.of(), Map.of("PATH", "p".repeat(61_428 - 20 - 4 + 1)))))
                .withMessage("HELLO frame needs 61429 payload bytes or more, the limit is 61428");
    }

    @Test
    void HELLO_refuses_what_no_pair_list_can_hold() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ControlFrames.hello(Hello.current(Map.of("", "x"), Map.of())));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ControlFrames.hello(Hello.current(Map.of("script", "/a\0b"), Map.of())));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ControlFrames.hello(Hello.current(Map.of(), Map.of("N", "\u0100"))));
    }

    @Test
    void frames_of_a_worker_one_byte_too_large_are_refused() {
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() -> WorkerFrameEncoder.data(1, new byte[16_777_217]));
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() -> WorkerFrameEncoder.head(
                        1, new ResponseHead(200, "", 0, List.of("N", "v".repeat(65_524 - 12 - 3 + 1)))));
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() ->
                        WorkerFrameEncoder.ready(new Ready(1, Map.of("client", "c".repeat(65_524 - 10 - 6 + 1)))));
    }

    @Test
    void DATA_without_a_byte_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> WorkerFrameEncoder.data(1, new byte[0]));
    }

    @Test
    void messages_too_long_are_cut() {
        assertThat(WorkerFrameEncoder.log(1, 6, "m".repeat(70_000)).remaining()).isEqualTo(65_536);
        assertThat(WorkerFrameEncoder.error(1, new ErrorReport(ErrorReport.Kind.FATAL, "m".repeat(65_524)))
                        .remaining())
                .isEqualTo(65_536);
    }

    @Test
    void a_message_is_not_cut_inside_a_character() {
        byte[] frame = Frames.bytes(WorkerFrameEncoder.log(1, 6, "\u20ac".repeat(30_000)));
        String message = new String(frame, 13, frame.length - 13, StandardCharsets.UTF_8);
        assertThat(message).isEqualTo("\u20ac".repeat(21_841));
    }

    @Test
    void figures_above_their_field_are_written_as_its_largest() {
        Listener listener = Listener.terminating()
                .hears(WorkerFrameEncoder.done(1, new Done(Long.MAX_VALUE, 1L << 32, (1L << 32) - 1, 5, false)));
        assertThat(listener.heard.calls().get(3).content())
                .isEqualTo(new Done((1L << 32) - 1, (1L << 32) - 1, (1L << 32) - 1, 5, false));
    }
}
