package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class NegotiationTest {

    @Test
    void the_highest_common_version_is_chosen() {
        assertThat(Agreement.choose(offer(1, 3, ""), 1, 1, Set.of()).version()).isEqualTo(1);
        assertThat(Agreement.choose(offer(1, 3, ""), 2, 7, Set.of()).version()).isEqualTo(3);
        assertThat(Agreement.choose(offer(1, 3, ""), 3, 3, Set.of()).version()).isEqualTo(3);
    }

    @Test
    void ranges_without_a_common_version_are_refused_with_both_in_the_message() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Agreement.choose(offer(2, 3, ""), 1, 1, Set.of()))
                .withMessage("the supervisor speaks versions 2 to 3, this worker 1 to 1");
        assertThatIllegalArgumentException().isThrownBy(() -> Agreement.choose(offer(2, 3, ""), 4, 5, Set.of()));
    }

    @Test
    void what_both_sides_can_do_is_on() {
        assertThat(Agreement.choose(offer(1, 1, "task file"), 1, 1, Set.of(Capability.FILE, Capability.PING))
                        .capabilities())
                .containsExactly(Capability.FILE);
    }

    @Test
    void unknown_capabilities_on_offer_are_ignored() {
        assertThat(offer(1, 1, "file flight").capabilities()).containsExactly(Capability.FILE);
        assertThat(offer(1, 1, "").capabilities()).isEmpty();
        assertThat(offer(1, 1, " ").capabilities()).isEmpty();
        assertThat(offer(1, 1, "FILE").capabilities()).isEmpty();
    }

    @Test
    void capabilities_are_written_as_they_are_read() {
        Set<Capability> some = Set.of(Capability.SNAPSHOT, Capability.FILE);
        assertThat(Capability.format(some)).isEqualTo("file snapshot");
        assertThat(Capability.parse("file snapshot")).isEqualTo(some);
        assertThat(Capability.format(Set.of())).isEmpty();
    }

    @Test
    void a_range_of_versions_has_to_lie_in_its_field() {
        assertThatIllegalArgumentException().isThrownBy(() -> offer(0, 1, ""));
        assertThatIllegalArgumentException().isThrownBy(() -> offer(2, 1, ""));
        assertThatIllegalArgumentException().isThrownBy(() -> offer(1, 65_536, ""));
        assertThat(offer(65_535, 65_535, "").lowestVersion()).isEqualTo(65_535);
    }

    private static Hello offer(int lowest, int highest, String capabilities) {
        return new Hello(lowest, highest, Map.of("capabilities", capabilities), Map.of());
    }
}
