package dev.cetane.trace;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code traceparent} as W3C Trace Context defines it, levels 1 and 2: its rules, and the values of the working group's own test suite. */
final class TraceParentTest {
    private static final String TRACE = "12345678901234567890123456789012";
    private static final String PARENT = "1234567890123456";

    @Test
    void the_specification_s_own_example() {
        assertThat(TraceParent.parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
                .isEqualTo(new TraceParent(0x4bf92f3577b34da6L, 0xa3ce929d0e0e4736L, 0x00f067aa0ba902b7L, 1));
        assertThat(TraceParent.parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
                        .flags())
                .isZero();
    }

    @Test
    void known_flags_are_kept_and_others_are_not() {
        assertThat(TraceParent.parse("00-" + TRACE + "-" + PARENT + "-03").flags())
                .isEqualTo(3);
        assertThat(TraceParent.parse("00-" + TRACE + "-" + PARENT + "-02").flags())
                .isEqualTo(2);
        assertThat(TraceParent.parse("00-" + TRACE + "-" + PARENT + "-ff").flags())
                .isEqualTo(3);
        assertThat(TraceParent.parse("00-" + TRACE + "-" + PARENT + "-fc").flags())
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cc-12345678901234567890123456789012-1234567890123456-01",
                "cc-12345678901234567890123456789012-1234567890123456-01-",
                "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
                "01-12345678901234567890123456789012-1234567890123456-01-what.the;future=will be/like",
                "fe-12345678901234567890123456789012-1234567890123456-09",
            })
    void a_future_version_is_read_as_far_as_it_is_known(String value) {
        TraceParent parsed = TraceParent.parse(value);
        assertThat(parsed.traceId()).isEqualTo(TRACE);
        assertThat(parsed.flags()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "00-12345678901234567890123456789012-1234567890123456",
                "00-12345678901234567890123456789012-1234567890123456-",
                "00-12345678901234567890123456789012-1234567890123456-1",
                "00-12345678901234567890123456789012-1234567890123456-001",
                "00-12345678901234567890123456789012-1234567890123456-.0",
                "00-12345678901234567890123456789012-1234567890123456-0.",
                "00-12345678901234567890123456789012-1234567890123456-0A",
                "00-12345678901234567890123456789012-1234567890123456-01.",
                "00-12345678901234567890123456789012-1234567890123456-01-",
                "00-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
                "cc-12345678901234567890123456789012-1234567890123456-01.what-the-future-will-be-like",
                "cc-12345678901234567890123456789012-1234567890123456-012",
                "ff-12345678901234567890123456789012-1234567890123456-01",
                ".0-12345678901234567890123456789012-1234567890123456-01",
                "0.-12345678901234567890123456789012-1234567890123456-01",
                "0-12345678901234567890123456789012-1234567890123456-01",
                "000-12345678901234567890123456789012-1234567890123456-01",
                "0000-12345678901234567890123456789012-1234567890123456-01",
                "0C-12345678901234567890123456789012-1234567890123456-01",
                "00-00000000000000000000000000000000-1234567890123456-01",
                "00-.2345678901234567890123456789012-1234567890123456-01",
                "00-1234567890123456789012345678901.-1234567890123456-01",
                "00-123456789012345678901234567890123-1234567890123456-01",
                "00-1234567890123456789012345678901-1234567890123456-01",
                "00-1234567890ABCDEF7890123456789012-1234567890123456-01",
                "00-12345678901234567890123456789012-0000000000000000-01",
                "00-12345678901234567890123456789012-.234567890123456-01",
                "00-12345678901234567890123456789012-123456789012345.-01",
                "00-12345678901234567890123456789012-12345678901234567-01",
                "00-12345678901234567890123456789012-123456789012345-01",
                "00-12345678901234567890123456789012-12345678901234AB-01",
                "00_12345678901234567890123456789012_1234567890123456_01",
                " 00-12345678901234567890123456789012-1234567890123456-01",
                "00-12345678901234567890123456789012-1234567890123456-01 ",
            })
    void everything_else_is_invalid(String value) {
        assertThat(TraceParent.parse(value)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"00-", "cc-"})
    void several_fields_are_none(String version) {
        String one = version + TRACE + "-" + PARENT + "-01";
        assertThat(TraceParent.parse(one + ", " + one)).isNull();
        assertThat(TraceParent.parse(one + "-more, " + one)).isNull();
        assertThat(TraceParent.parse("cc-" + TRACE + "-" + PARENT + "-01-more,x"))
                .isNull();
    }

    @Property
    void any_valid_one_is_read_and_its_id_written_as_it_came(
            @ForAll long high, @ForAll long low, @ForAll long parent, @ForAll @IntRange(max = 255) int flags) {
        String trace = String.format("%016x%016x", high, low);
        TraceParent parsed = TraceParent.parse(String.format("00-%s-%016x-%02x", trace, parent, flags));
        if ((high == 0 && low == 0) || parent == 0) {
            assertThat(parsed).isNull();
        } else {
            assertThat(parsed).isEqualTo(new TraceParent(high, low, parent, flags & 3));
            assertThat(parsed.traceId()).isEqualTo(trace);
        }
    }

    /** The grammar of the specification as an expression is the oracle. */
    @Property
    void what_is_read_is_what_the_grammar_allows(
            @ForAll @CharRange(from = '0', to = '1') @StringLength(2) String version,
            @ForAll @IntRange(min = 0, max = 54) int at,
            @ForAll char other) {
        StringBuilder value = new StringBuilder(version + "-" + TRACE + "-" + PARENT + "-01");
        value.setCharAt(at, other);
        String text = value.toString();
        boolean valid = text.matches("(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");
        assertThat(TraceParent.parse(text) != null).as(text).isEqualTo(valid);
    }
}
