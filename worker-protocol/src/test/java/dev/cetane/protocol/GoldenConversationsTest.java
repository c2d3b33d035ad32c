package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cetane.protocol.RecordedCalls.Call;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

final class GoldenConversationsTest {
    /** What begins an exchange. */
    private static final Set<FrameType> STARTING = EnumSet.of(
            FrameType.REQUEST,
            FrameType.EVENT,
            FrameType.TASK,
            FrameType.TICK,
            FrameType.CHECKPOINT,
            FrameType.RESTORED);

    @TestFactory
    Stream<DynamicTest> a_conversation_is_heard_as_it_is_written_down() {
        return supervised()
                .map(vector ->
                        DynamicTest.dynamicTest(vector.getKey(), () -> follow(vector.getValue(), Integer.MAX_VALUE)));
    }

    @TestFactory
    Stream<DynamicTest> a_conversation_is_the_same_when_it_comes_byte_by_byte() {
        return supervised().map(vector -> DynamicTest.dynamicTest(vector.getKey(), () -> follow(vector.getValue(), 1)));
    }

    /** Those in which the supervisor keeps to the rules. */
    private static Stream<Map.Entry<String, JsonNode>> supervised() {
        return Vectors.load("conversations").entrySet().stream()
                .filter(vector -> !vector.getKey().startsWith("supervisor-"));
    }

    private static void follow(JsonNode conversation, int pieceBytes) {
        JsonNode steps = conversation.get("steps");
        Hello offer = Vectors.hello(steps.get(0).get("frames").get(0));
        Listener listener = new Listener(offer, ByteBuffer.allocate(FrameDecoder.BUFFER_BYTES));
        List<Call> expected = new ArrayList<>();
        for (JsonNode step : steps) {
            if (step.get("sender").textValue().equals("supervisor")) {
                step.get("frames").forEach(frame -> {
                    FrameType type = Vectors.type(frame);
                    if (STARTING.contains(type)) {
                        assertThat(listener.turn.idle()).isTrue();
                        listener.turn.begin(Vectors.request(frame));
                    } else if (type == FrameType.REPLY) {
                        assertThat(listener.turn.calling()).isTrue();
                        listener.turn.replied();
                    }
                });
                continue;
            }
            step.get("frames").forEach(frame -> expect(expected, Vectors.call(frame)));
            ByteBuffer bytes = ByteBuffer.wrap(Vectors.bytes(step.get("bytes")));
            if (step.has("violation")) {
                ProtocolException violation = catchThrowableOfType(ProtocolException.class, () -> {
                    listener.hears(bytes, pieceBytes);
                    if (step.path("end-of-stream").booleanValue()) {
                        listener.decoder.endOfStream();
                    }
                });
                assertViolation(violation, step.get("violation"));
            } else {
                listener.hears(bytes, pieceBytes);
            }
            List<Call> heard = listener.heard.calls();
            if (step.path("end-of-stream").booleanValue() && heard.size() == expected.size() + 1) {
                assertThat(heard.remove(expected.size()).type()).isEqualTo(FrameType.DATA);
            }
            assertThat(heard).isEqualTo(expected);
        }
    }

    private static void expect(List<Call> expected, Call call) {
        int last = expected.size() - 1;
        if (call.type() == FrameType.DATA && last >= 0 && expected.get(last).type() == FrameType.DATA) {
            call = new Call(
                    FrameType.DATA, call.request(), expected.get(last).content().toString() + call.content());
            expected.remove(last);
        }
        expected.add(call);
    }

    private static void assertViolation(ProtocolException violation, JsonNode expected) {
        assertThat(violation).as("the violation").isNotNull();
        assertThat(violation.violation().name()).isEqualTo(expected.get("name").textValue());
        assertThat(violation.frame())
                .isEqualTo(
                        expected.get("frame").isNull()
                                ? null
                                : FrameType.valueOf(expected.get("frame").textValue()));
        assertThat(violation.offset()).isEqualTo(expected.get("offset").longValue());
        assertThat(violation).hasMessageContaining("at byte " + violation.offset());
    }
}
