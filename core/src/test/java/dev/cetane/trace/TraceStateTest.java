package dev.cetane.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code tracestate} as W3C Trace Context defines it, level 2: its rules, and the values of the working group's own test suite. */
final class TraceStateTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "congo=t61rcWkgMzE",
                "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
                "foo=1,bar=2",
                "foo@=1,bar=2",
                "foo@@bar=1,bar=2",
                "foo@bar@baz=1,bar=2",
                "0foo=1",
                "abcdefghijklmnopqrstuvwxyz0123456789_-*/@a-z0-9_-*/= !\"#$%&'()*+-./0123456789:;<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
                "foo=1,foo=2",
            })
    void a_valid_list_is_passed_on_as_it_is(String list) {
        assertThat(TraceState.accept(list)).isEqualTo(list);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "foo=1 \t , \t bar=2, \t baz=3>foo=1,bar=2,baz=3",
                "foo=1\t \t,\t \tbar=2,\t \tbaz=3>foo=1,bar=2,baz=3",
                " foo=1>foo=1",
                "foo=1\t>foo=1",
                "foo=1, >foo=1",
                ", foo=1>foo=1",
                "foo=1,,bar=2>foo=1,bar=2",
                "foo=  two words>foo=  two words",
            })
    void empty_entries_and_spaces_around_others_are_left_out(String list, String passedOn) {
        assertThat(TraceState.accept(list)).isEqualTo(passedOn);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                ",",
                " , \t,",
                "foo",
                "foo=",
                "=1",
                "foo =1",
                "FOO=1",
                "foo.bar=1",
                "@foo=1,bar=2",
                "_foo=1",
                "foo=bar=baz",
                "foo=,bar=3",
                "foo=1,bar",
                "foo=\u00fc",
                "foo=a\tb",
                "foo=a\rb",
                "foo=a\nb",
                "foo=a\u0000b",
                "foo=a\u007fb",
            })
    void a_list_with_a_malformed_entry_or_none_is_dropped(String list) {
        assertThat(TraceState.accept(list)).isNull();
    }

    @Test
    void a_list_has_32_entries_at_most() {
        assertThat(TraceState.accept(list(32))).isEqualTo(list(32));
        assertThat(TraceState.accept(list(32) + ", ,")).isEqualTo(list(32));
        assertThat(TraceState.accept(list(33))).isNull();
    }

    @Test
    void keys_and_values_have_256_characters_at_most() {
        String key = "z".repeat(256);
        assertThat(TraceState.accept("foo=1," + key + "=1")).isEqualTo("foo=1," + key + "=1");
        assertThat(TraceState.accept("foo=1,z" + key + "=1")).isNull();
        assertThat(TraceState.accept("foo=" + key)).isEqualTo("foo=" + key);
        assertThat(TraceState.accept("foo=z" + key)).isNull();
    }

    @Test
    void of_more_than_512_characters_the_long_entries_are_left_out_first_and_then_the_last_ones() {
        String exactly = "a=" + "x".repeat(253) + ",b=" + "y".repeat(254);
        assertThat(exactly).hasSize(512);
        assertThat(TraceState.accept(exactly)).isEqualTo(exactly);
        assertThat(TraceState.accept(exactly + ",c=1")).isEqualTo("c=1");

        String entry = "=" + "x".repeat(126);
        assertThat(TraceState.accept("a" + entry + ",b" + entry + ",c" + entry + ",d" + entry + ",e=1"))
                .isEqualTo("a" + entry + ",b" + entry + ",c" + entry);
        assertThat(TraceState.accept(exactly + "z")).isNull();
    }

    @Property
    void what_is_passed_on_is_short_and_made_of_the_entries_that_came(
            @ForAll List<@IntRange(min = 1, max = 200) Integer> lengths) {
        List<String> entries = new ArrayList<>();
        lengths.forEach(length -> entries.add("k" + entries.size() + "=" + "v".repeat(length)));
        String accepted = TraceState.accept(String.join(" , ", entries));
        if (entries.isEmpty() || entries.size() > 32) {
            assertThat(accepted).isNull();
        } else if (accepted != null) {
            assertThat(accepted.length()).isBetween(1, TraceState.MOST_LENGTH);
            assertThat(entries).containsSubsequence(List.of(accepted.split(",")));
        } else {
            assertThat(entries).allMatch(entry -> entry.length() > 128);
        }
    }

    @Property
    void nothing_that_is_passed_on_can_end_a_line_or_hold_a_control_character(
            @ForAll @StringLength(max = 12) @Chars({'a', '=', ',', ' ', '\r', '\n', '\t', '\0', '1', '\u0085'})
                    String list) {
        String accepted = TraceState.accept(list);
        if (accepted != null) {
            assertThat(accepted).matches("[ -~]+");
        }
    }

    private static String list(int entries) {
        return IntStream.rangeClosed(1, entries)
                .mapToObj(i -> "bar" + i + "=" + i)
                .collect(Collectors.joining(","));
    }
}
