package dev.cetane.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.trace.TracingConfig.Audience;
import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

/** Where a request stands in a trace. */
final class TracerTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SAMPLED = "00-" + TRACE + "-00f067aa0ba902b7-01";
    private static final String UNSAMPLED = "00-" + TRACE + "-00f067aa0ba902b7-00";

    private static Tracer tracer(Audience accept, Audience answer, double ratio) {
        return new Tracer(new TracingConfig(true, accept, answer, ratio, null));
    }

    private final Tracer tracer = tracer(Audience.ALL, Audience.ALL, 1);

    @Test
    void a_caller_s_trace_is_continued_below_the_caller_s_span() {
        TraceContext trace = tracer.begin(SAMPLED, "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE", false);
        assertThat(trace.traceId()).isEqualTo(TRACE);
        assertThat(trace.parentId()).isEqualTo(0x00f067aa0ba902b7L);
        assertThat(trace.spanId()).matches("[0-9a-f]{16}").isNotEqualTo("00f067aa0ba902b7");
        assertThat(trace.traceState()).isEqualTo("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    }

    @Test
    void php_is_given_a_span_of_its_own_and_the_client_is_told_the_request_s() {
        TraceContext trace = tracer.begin(SAMPLED, null, false);
        assertThat(trace.traceParent()).matches("00-" + TRACE + "-[0-9a-f]{16}-01");
        TraceParent seenByPhp = TraceParent.parse(trace.traceParent());
        assertThat(seenByPhp.parentId()).isEqualTo(trace.phpSpan()).isNotEqualTo(trace.span());
        assertThat(tracer.answer(trace, false)).isEqualTo("trace;desc=00-" + TRACE + "-" + trace.spanId() + "-01");
    }

    @Test
    void flags_are_the_caller_s_as_far_as_they_are_known() {
        assertThat(tracer.begin(UNSAMPLED, null, false).sampled()).isFalse();
        assertThat(tracer.begin(SAMPLED, null, false).sampled()).isTrue();
        // The random flag must be what it was: the trace's id is not ours.
        assertThat(tracer.begin(UNSAMPLED, null, false).traceParent()).endsWith("-00");
        assertThat(tracer.begin(SAMPLED.replaceAll("01$", "ff"), null, false).traceParent())
                .endsWith("-03");
    }

    @Test
    void without_a_valid_parent_a_trace_begins_and_the_tracestate_is_nobody_s() {
        for (String parent :
                new String[] {null, "", "nonsense", SAMPLED + ", " + SAMPLED, SAMPLED.replace("00-4", "ff-4")}) {
            TraceContext trace = tracer.begin(parent, "congo=t61rcWkgMzE", false);
            assertThat(trace.traceId()).matches("[0-9a-f]{32}").isNotEqualTo(TRACE);
            assertThat(trace.parentId()).isZero();
            assertThat(trace.traceState()).isNull();
            // Sampled, and its id is random.
            assertThat(trace.traceParent()).endsWith("-03");
            assertThat(TraceParent.parse(trace.traceParent()).traceId()).isEqualTo(trace.traceId());
        }
    }

    @Test
    void only_those_who_are_believed_have_their_trace_continued() {
        Tracer careful = tracer(Audience.TRUSTED, Audience.ALL, 1);
        assertThat(careful.begin(SAMPLED, "a=1", true).traceId()).isEqualTo(TRACE);
        TraceContext stranger = careful.begin(SAMPLED, "a=1", false);
        assertThat(stranger.traceId()).isNotEqualTo(TRACE);
        assertThat(stranger.traceState()).isNull();
        assertThat(tracer(Audience.NONE, Audience.ALL, 1)
                        .begin(SAMPLED, null, true)
                        .traceId())
                .isNotEqualTo(TRACE);
    }

    @Test
    void only_those_who_are_meant_are_answered() {
        TraceContext trace = tracer.begin(null, null, false);
        assertThat(tracer(Audience.ALL, Audience.NONE, 1).answer(trace, true)).isNull();
        assertThat(tracer(Audience.ALL, Audience.TRUSTED, 1).answer(trace, false))
                .isNull();
        assertThat(tracer(Audience.ALL, Audience.TRUSTED, 1).answer(trace, true))
                .startsWith("trace;desc=00-");
    }

    @Test
    void a_stranger_s_wish_to_be_recorded_does_not_count() {
        Tracer never = tracer(Audience.TRUSTED, Audience.ALL, 0);
        assertThat(never.begin(SAMPLED, null, false).sampled()).isFalse();
        assertThat(never.begin(SAMPLED, null, true).sampled()).isTrue();
    }

    @Test
    void nothing_is_recorded_where_nothing_is_exported() {
        assertThat(tracer.records(tracer.begin(SAMPLED, null, false))).isFalse();
        assertThat(tracer.count(SpanFate.SENT)).isZero();
    }

    @Test
    void ids_do_not_repeat() {
        Set<String> ids = new HashSet<>();
        int count = 10_000;
        for (int i = 0; i < count; i++) {
            TraceContext trace = tracer.begin(null, null, false);
            ids.add(trace.traceId());
            ids.add(trace.spanId());
            ids.add(Hex.span(trace.phpSpan()));
        }
        assertThat(ids).hasSize(3 * count);
    }

    /** The same decision wherever it is made: OpenTelemetry's consistent sampling takes ids from a threshold on, of their lower 56 bits. */
    @Property(tries = 200)
    void of_new_traces_those_are_recorded_whose_random_part_is_high_enough(
            @ForAll @DoubleRange(min = 0, max = 1) double ratio) {
        Tracer some = tracer(Audience.ALL, Audience.ALL, ratio);
        for (int i = 0; i < 50; i++) {
            TraceContext trace = some.begin(null, null, false);
            double random = Long.parseLong(trace.traceId().substring(18), 16) / Math.pow(2, 56);
            assertThat(trace.sampled()).isEqualTo(random >= 1 - ratio);
        }
    }
}
