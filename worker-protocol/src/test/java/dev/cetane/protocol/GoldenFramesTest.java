package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

final class GoldenFramesTest {

    @TestFactory
    Stream<DynamicTest> a_golden_frame_is_what_the_encoder_writes() {
        return Vectors.load("frames").entrySet().stream()
                .filter(vector -> !vector.getValue().path("decode-only").booleanValue())
                .map(vector -> DynamicTest.dynamicTest(vector.getKey(), () -> encodes(vector.getValue())));
    }

    @TestFactory
    Stream<DynamicTest> a_golden_frame_of_a_worker_is_what_the_decoder_reads() {
        return Vectors.load("frames").entrySet().stream()
                .filter(vector -> vector.getValue().get("sender").textValue().equals("worker"))
                .map(vector -> DynamicTest.dynamicTest(vector.getKey(), () -> decodes(vector.getValue())));
    }

    private static void encodes(JsonNode vector) {
        byte[] encoded = Frames.bytes(Vectors.encode(vector.get("frame")));
        // As text: a difference in sixteen megabytes of arrays is reported for minutes.
        assertThat(start(encoded)).isEqualTo(start(Vectors.bytes(vector.get("bytes"))));
        assertThat(Arrays.equals(encoded, Vectors.bytes(vector.get("bytes")))).isTrue();
    }

    private static String start(byte[] bytes) {
        return bytes.length + ": " + HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, 1_000));
    }

    private static void decodes(JsonNode vector) {
        JsonNode frame = vector.get("frame");
        Listener listener = whereItIsAllowed(Vectors.type(frame), Vectors.request(frame));
        listener.heard.clear();
        listener.hears(ByteBuffer.wrap(Vectors.bytes(vector.get("bytes"))));
        listener.decoder.endOfStream();
        assertThat(listener.heard.calls()).containsExactly(Vectors.call(frame));
    }

    private static Listener whereItIsAllowed(FrameType type, int request) {
        if (request == 0) {
            return Listener.booting();
        }
        Listener listener = Listener.serving(request);
        boolean behindEnd = type == FrameType.DONE || type == FrameType.METRICS;
        if (type == FrameType.DATA || type == FrameType.FILE || type == FrameType.END || behindEnd) {
            listener.hears(WorkerFrameEncoder.head(request, Frames.head(200, ResponseHead.UNKNOWN_LENGTH)));
        }
        if (behindEnd) {
            listener.hears(WorkerFrameEncoder.end(request));
        }
        return listener;
    }
}
