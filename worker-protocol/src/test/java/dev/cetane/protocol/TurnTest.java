package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the supervisor asks of a turn; what a worker may send is in the golden conversations. */
final class TurnTest {

    @Test
    void a_worker_is_idle_from_READY_to_the_request_and_again_after_DONE() {
        Listener listener = Listener.booting();
        assertThat(listener.turn.idle()).isFalse();
        listener.hears(WorkerFrameEncoder.ready(Listener.ANSWER));
        assertThat(listener.turn.idle()).isTrue();
        listener.turn.begin(1);
        assertThat(listener.turn.idle()).isFalse();
        listener.hears(WorkerFrameEncoder.head(1, Frames.head(200, 0)), WorkerFrameEncoder.end(1));
        assertThat(listener.turn.idle()).isFalse();
        listener.hears(Frames.done(1));
        assertThat(listener.turn.idle()).isTrue();
    }

    @Test
    void a_worker_that_said_LAST_is_leaving_and_gets_no_request() {
        Listener listener = Listener.terminating().hears(Frames.last(1));
        assertThat(listener.turn.leaving()).isTrue();
        assertThat(listener.turn.idle()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> listener.turn.begin(2));
    }

    @Test
    void a_worker_whose_boot_failed_is_leaving() {
        Listener listener = Listener.booting()
                .hears(WorkerFrameEncoder.error(0, new ErrorReport(ErrorReport.Kind.BOOT, "no database")));
        assertThat(listener.turn.leaving()).isTrue();
    }

    @Test
    void a_request_may_only_begin_while_the_worker_is_idle() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Listener.booting().turn.begin(1));
        assertThatIllegalStateException()
                .isThrownBy(() -> Listener.waiting().turn.begin(2));
        assertThatIllegalStateException()
                .isThrownBy(() -> Listener.answering(0).turn.begin(2));
        assertThatIllegalStateException()
                .isThrownBy(() -> Listener.terminating().turn.begin(2));
    }

    @Test
    void requests_have_the_numbers_1_2_3() {
        Listener listener = Listener.idle();
        assertThat(listener.turn.nextRequest()).isEqualTo(1);
        assertThatIllegalStateException().isThrownBy(() -> listener.turn.begin(0));
        assertThatIllegalStateException().isThrownBy(() -> listener.turn.begin(2));
        listener.turn.begin(1);
        assertThat(listener.turn.nextRequest()).isEqualTo(2);
    }

    @Test
    void after_the_highest_number_comes_1() {
        assertThat(Turn.numberAfter(0xFFFF_FFFE)).isEqualTo(0xFFFF_FFFF);
        assertThat(Turn.numberAfter(0xFFFF_FFFF)).isEqualTo(1);
        assertThat(Turn.numberAfter(0x7FFF_FFFF)).isEqualTo(0x8000_0000);
    }

    @Test
    void what_was_agreed_on_is_known_after_READY() {
        Listener listener = Listener.booting();
        assertThat(listener.turn.agreement()).isNull();
        listener.hears(WorkerFrameEncoder.ready(Listener.ANSWER));
        Agreement agreement = Objects.requireNonNull(listener.turn.agreement());
        assertThat(agreement).isEqualTo(new Agreement(1, Set.of(Capability.FILE, Capability.CALL, Capability.METRICS)));
        assertThat(agreement.has(Capability.FILE)).isTrue();
        assertThat(agreement.has(Capability.TASK)).isFalse();
    }

    @Test
    void a_worker_may_take_up_less_than_was_offered() {
        Listener listener = Listener.booting().hears(WorkerFrameEncoder.ready(new Ready(1, Map.of())));
        assertThat(Objects.requireNonNull(listener.turn.agreement()).capabilities())
                .isEmpty();
    }

    @Test
    void a_call_is_pending_from_its_last_frame_to_its_reply() {
        Listener listener = Listener.waiting();
        assertThat(listener.turn.calling()).isFalse();
        assertThatIllegalStateException().isThrownBy(listener.turn::replied);
        listener.hears(WorkerFrameEncoder.call(1, new byte[1], true));
        assertThat(listener.turn.calling()).isFalse();
        listener.hears(WorkerFrameEncoder.call(1, new byte[1], false));
        assertThat(listener.turn.calling()).isTrue();
        listener.turn.replied();
        assertThat(listener.turn.calling()).isFalse();
        assertThatIllegalStateException().isThrownBy(listener.turn::replied);
        listener.hears(WorkerFrameEncoder.head(1, Frames.head(200, 0)), WorkerFrameEncoder.end(1));
        listener.hears(WorkerFrameEncoder.call(1, new byte[1], false));
        assertThat(listener.turn.calling()).isTrue();
    }
}
