package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.protocol.RecordedCalls.Call;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

final class CodecPropertyTest {

    /** A right answer: its frames and the calls that they make. */
    record Answer(List<ByteBuffer> frames, List<Call> calls) {

        byte[] bytes() {
            return Frames.join(frames);
        }
    }

    @Property(tries = 500)
    void a_request_arrives_as_it_was_sent(
            @ForAll("pairs") Map<String, String> server,
            @ForAll double receivedAt,
            @ForAll @IntRange(max = 1_000_000) int timeout,
            @ForAll @Size(max = 300) byte[] body) {
        RequestEncoder encoder = new RequestEncoder();
        encoder.begin(-7, receivedAt, timeout);
        server.forEach(encoder::server);
        encoder.body(body, 0, body.length);
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.number()).isEqualTo(-7);
        assertThat(sent.receivedAt()).isEqualTo(receivedAt);
        assertThat(sent.timeoutMillis()).isEqualTo(timeout);
        assertThat(sent.names()).containsExactlyElementsOf(server.keySet());
        assertThat(sent.values()).containsExactlyElementsOf(server.values());
        assertThat(sent.body()).isEqualTo(new String(body, StandardCharsets.ISO_8859_1));
    }

    @Property(tries = 500)
    void facts_arrive_as_they_were_sent(@ForAll("pairs") Map<String, String> facts) {
        Ready ready = new Ready(1, facts);
        Listener listener = Listener.booting().hears(WorkerFrameEncoder.ready(ready));
        assertThat(listener.heard.calls()).containsExactly(new Call(FrameType.READY, 0, ready));
    }

    @Property(tries = 500)
    void an_answer_arrives_as_it_was_sent(@ForAll("answer") Answer answer) {
        Listener listener = Listener.waiting();
        listener.heard.clear();
        listener.hears(ByteBuffer.wrap(answer.bytes()));
        listener.decoder.endOfStream();
        assertThat(listener.heard.calls()).isEqualTo(answer.calls());
    }

    @Property(tries = 500)
    void an_answer_is_the_same_wherever_its_bytes_are_split(
            @ForAll("answer") Answer answer,
            @ForAll @Size(max = 20) List<@IntRange(min = 1, max = 200) Integer> pieces) {
        Listener listener = Listener.waiting();
        listener.heard.clear();
        ByteBuffer bytes = ByteBuffer.wrap(answer.bytes());
        int end = bytes.limit();
        for (int piece : pieces) {
            bytes.limit(Math.min(end, bytes.position() + piece));
            listener.hears(bytes);
        }
        bytes.limit(end);
        listener.hears(bytes);
        assertThat(listener.heard.calls()).isEqualTo(answer.calls());
    }

    @Property(tries = 200)
    void a_stream_that_ends_within_an_answer_never_looks_whole(
            @ForAll("answer") Answer answer, @ForAll @IntRange(max = 2_000) int cut) {
        byte[] bytes = answer.bytes();
        Listener listener = Listener.waiting();
        listener.hears(ByteBuffer.wrap(bytes, 0, Math.min(cut, bytes.length - 1)));
        assertThat(listener.turn.idle() || listener.turn.leaving()).isFalse();
    }

    @Property(tries = 500)
    void a_call_arrives_as_it_was_sent_wherever_its_bytes_are_split(
            @ForAll @Size(min = 1, max = 300) byte[] payload,
            @ForAll boolean more,
            @ForAll @IntRange(min = 1, max = 200) int piece) {
        Listener listener = Listener.waiting();
        listener.heard.clear();
        listener.hears(WorkerFrameEncoder.call(1, payload, more), piece);
        String text = new String(payload, StandardCharsets.ISO_8859_1);
        assertThat(listener.heard.calls())
                .containsExactly(new Call(FrameType.CALL, 1, new RecordedCalls.Asked(text, more)));
        assertThat(listener.turn.calling()).isEqualTo(!more);
    }

    @Provide
    Arbitrary<Map<String, String>> pairs() {
        Arbitrary<String> value =
                Arbitraries.strings().withCharRange('\1', '\u00ff').ofMaxLength(80);
        return Arbitraries.maps(value.filter(name -> !name.isEmpty()), value).ofMaxSize(30);
    }

    @Provide
    Arbitrary<Answer> answer() {
        Arbitrary<String> token = Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(30);
        Arbitrary<String> value =
                Arbitraries.strings().withCharRange('\1', '\u00ff').ofMaxLength(80);
        Arbitrary<List<String>> headers = Combinators.combine(token, value)
                .as(List::of)
                .list()
                .ofMaxSize(12)
                .map(lines -> lines.stream().flatMap(List::stream).collect(Collectors.toList()));
        Arbitrary<List<byte[]>> body = Arbitraries.bytes()
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(300)
                .list()
                .ofMaxSize(5);
        return Combinators.combine(
                        headers, body, Arbitraries.integers().between(200, 999), Arbitraries.of(true, false), value)
                .as(CodecPropertyTest::answer);
    }

    private static Answer answer(
            List<String> headers, List<byte[]> body, int status, boolean lengthKnown, String message) {
        List<ByteBuffer> frames = new ArrayList<>();
        List<Call> calls = new ArrayList<>();
        ResponseHead interim = new ResponseHead(103, "", 0, headers);
        int length = body.stream().mapToInt(bytes -> bytes.length).sum();
        ResponseHead head =
                new ResponseHead(status, "Reason", lengthKnown ? length : ResponseHead.UNKNOWN_LENGTH, headers);
        Done done = new Done(length, 2, 3, 4, lengthKnown);
        frames.add(WorkerFrameEncoder.head(1, interim));
        calls.add(new Call(FrameType.HEAD, 1, interim));
        frames.add(WorkerFrameEncoder.log(1, 7, message));
        calls.add(new Call(FrameType.LOG, 1, new RecordedCalls.LogMessage(7, message)));
        frames.add(WorkerFrameEncoder.head(1, head));
        calls.add(new Call(FrameType.HEAD, 1, head));
        StringBuilder whole = new StringBuilder();
        for (byte[] bytes : body) {
            frames.add(WorkerFrameEncoder.data(1, bytes));
            whole.append(new String(bytes, StandardCharsets.ISO_8859_1));
        }
        if (length > 0) {
            calls.add(new Call(FrameType.DATA, 1, whole.toString()));
        }
        frames.add(WorkerFrameEncoder.end(1));
        calls.add(new Call(FrameType.END, 1, ""));
        frames.add(WorkerFrameEncoder.done(1, done));
        calls.add(new Call(FrameType.DONE, 1, done));
        return new Answer(frames, calls);
    }
}
