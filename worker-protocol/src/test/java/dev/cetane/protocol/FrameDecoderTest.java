package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cetane.protocol.ProtocolException.Violation;
import dev.cetane.protocol.RecordedCalls.Call;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class FrameDecoderTest {

    @Test
    void an_incomplete_header_stays_in_the_buffer() {
        Listener listener = Listener.waiting();
        ByteBuffer in = ByteBuffer.allocate(100).put(WorkerFrameEncoder.log(0, 6, "hello"));
        in.flip().limit(11);
        listener.decoder.decode(in);
        assertThat(in.position()).isZero();
    }

    @Test
    void an_incomplete_control_payload_stays_in_the_buffer() {
        Listener listener = Listener.waiting();
        listener.heard.clear();
        ByteBuffer frame = WorkerFrameEncoder.log(0, 6, "hello");
        ByteBuffer in = ByteBuffer.allocate(100).put(frame);
        in.flip().limit(in.limit() - 1);
        listener.decoder.decode(in);
        assertThat(in.remaining()).isEqualTo(5);
        assertThat(listener.heard.calls()).isEmpty();
        in.limit(in.limit() + 1);
        listener.decoder.decode(in);
        assertThat(in.hasRemaining()).isFalse();
        assertThat(listener.heard.calls()).hasSize(1);
    }

    @Test
    void all_complete_frames_of_one_read_are_decoded_at_once() {
        Listener listener = Listener.waiting();
        listener.heard.clear();
        byte[] answer = Frames.join(List.of(
                WorkerFrameEncoder.head(1, Frames.head(200, 2)),
                WorkerFrameEncoder.data(1, new byte[] {'o', 'k'}),
                WorkerFrameEncoder.end(1),
                Frames.done(1)));
        ByteBuffer in = ByteBuffer.wrap(answer);
        listener.decoder.decode(in);
        assertThat(in.hasRemaining()).isFalse();
        assertThat(listener.heard.calls())
                .extracting(Call::type)
                .containsExactly(FrameType.HEAD, FrameType.DATA, FrameType.END, FrameType.DONE);
        assertThat(listener.turn.idle()).isTrue();
    }

    @Test
    void DATA_is_passed_on_as_it_arrives() {
        Listener listener = Listener.answering(ResponseHead.UNKNOWN_LENGTH);
        ByteBuffer frame = WorkerFrameEncoder.data(1, new byte[1000]);
        int before = listener.heard.pieces();
        listener.hears(frame, 100);
        // 1 012 bytes in pieces of 100: the first holds the header too.
        assertThat(listener.heard.pieces() - before).isEqualTo(11);
    }

    @Test
    void the_largest_DATA_passes_through_a_small_buffer() {
        Listener listener = new Listener(Listener.OFFER, ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES));
        listener.hears(WorkerFrameEncoder.ready(Listener.ANSWER));
        listener.turn.begin(1);
        listener.hears(
                WorkerFrameEncoder.head(1, Frames.head(200, 16_777_216)),
                WorkerFrameEncoder.data(1, new byte[16_777_216]),
                WorkerFrameEncoder.end(1));
        assertThat(listener.heard.calls().get(2).content().toString()).hasSize(16_777_216);
    }

    @Test
    void the_handler_may_move_the_piece_it_is_given_as_it_likes() {
        Turn turn = new Turn(Listener.OFFER);
        int[] ended = new int[1];
        FrameDecoder decoder = new FrameDecoder(turn, new Deaf() {
            @Override
            public void data(int request, ByteBuffer bytes) {
                bytes.clear().position(bytes.capacity()).limit(bytes.capacity());
            }

            @Override
            public void end(int request) {
                ended[0]++;
            }
        });
        decoder.decode(WorkerFrameEncoder.ready(Listener.ANSWER));
        turn.begin(1);
        decoder.decode(ByteBuffer.wrap(Frames.join(List.of(
                WorkerFrameEncoder.head(1, Frames.head(200, 2)),
                WorkerFrameEncoder.data(1, new byte[1]),
                WorkerFrameEncoder.data(1, new byte[1]),
                WorkerFrameEncoder.end(1)))));
        assertThat(ended[0]).isEqualTo(1);
    }

    @Test
    void the_next_request_may_be_begun_while_DONE_is_handled() {
        Turn turn = new Turn(Listener.OFFER);
        int[] heads = new int[1];
        FrameDecoder decoder = new FrameDecoder(turn, new Deaf() {
            @Override
            public void head(int request, ResponseHead head) {
                heads[0] = request;
            }

            @Override
            public void done(int request, Done done) {
                turn.begin(turn.nextRequest());
            }
        });
        decoder.decode(WorkerFrameEncoder.ready(Listener.ANSWER));
        turn.begin(1);
        decoder.decode(ByteBuffer.wrap(Frames.join(List.of(
                WorkerFrameEncoder.head(1, Frames.head(200, 0)),
                WorkerFrameEncoder.end(1),
                Frames.done(1),
                WorkerFrameEncoder.head(2, Frames.head(200, 0))))));
        assertThat(heads[0]).isEqualTo(2);
    }

    @Test
    void frames_before_a_violation_are_delivered() {
        Listener listener = Listener.waiting();
        byte[] bytes = Frames.join(List.of(WorkerFrameEncoder.log(1, 6, "hello"), ByteBuffer.wrap(new byte[] {'x'})));
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> listener.hears(ByteBuffer.wrap(bytes)));
        assertThat(listener.heard.calls()).extracting(Call::type).containsExactly(FrameType.READY, FrameType.LOG);
    }

    @Test
    void after_a_violation_nothing_is_believed_any_more() {
        Listener listener = Listener.waiting();
        ProtocolException first = catchThrowableOfType(
                ProtocolException.class, () -> listener.decoder.decode(ByteBuffer.wrap(new byte[] {0})));
        ProtocolException second = catchThrowableOfType(
                ProtocolException.class,
                () -> listener.decoder.decode(WorkerFrameEncoder.head(1, Frames.head(200, 0))));
        assertThat(second).isSameAs(first);
        assertThat(catchThrowableOfType(ProtocolException.class, listener.decoder::endOfStream))
                .isSameAs(first);
        assertThat(listener.heard.calls()).hasSize(1);
    }

    @Test
    void a_violation_names_the_type_the_place_and_the_numbers() {
        Listener listener = Listener.answering(3);
        ProtocolException violation = catchThrowableOfType(
                ProtocolException.class, () -> listener.hears(WorkerFrameEncoder.data(1, new byte[4])));
        assertThat(violation.violation()).isEqualTo(Violation.BODY_LENGTH);
        assertThat(violation)
                .hasMessage("Protocol violation BODY_LENGTH in DATA at byte 75 of the worker's output:"
                        + " HEAD of request 1 promised 3 body bytes, 0 came and this frame brings 4");
    }

    @Test
    void no_byte_beyond_the_promised_length_reaches_the_client() {
        Listener listener = Listener.answering(3);
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> listener.hears(WorkerFrameEncoder.data(1, new byte[4])));
        assertThat(listener.heard.pieces()).isZero();
    }

    @Test
    void a_wrong_frame_shows_in_its_header_before_its_payload_has_come() {
        Listener listener = Listener.idle();
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> listener.hears(Frames.header(FrameType.HEAD, 0, 65_524, 1)))
                .extracting(ProtocolException::violation)
                .isEqualTo(Violation.TURN);
    }

    @Test
    void the_end_of_the_stream_between_frames_is_no_violation() {
        Listener.booting().decoder.endOfStream();
        Listener.idle().decoder.endOfStream();
        Listener.answering(7).decoder.endOfStream();
    }

    @Test
    void the_end_of_the_stream_inside_a_frame_says_how_much_is_missing() {
        Listener listener = Listener.answering(ResponseHead.UNKNOWN_LENGTH);
        ByteBuffer cut = WorkerFrameEncoder.data(1, new byte[100]);
        listener.hears(cut.limit(42));
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(listener.decoder::endOfStream)
                .withMessageEndingWith("the stream ended 70 bytes before the payload's end");
    }

    @Test
    void the_end_of_the_stream_inside_a_header_says_how_much_was_there() {
        Listener listener = Listener.waiting();
        listener.hears(Frames.header(FrameType.HEAD, 0, 12, 1).limit(7));
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(listener.decoder::endOfStream)
                .withMessageEndingWith("the stream ended after 7 of a header's 12 bytes");
    }

    @Test
    void a_buffer_that_can_never_hold_the_frame_is_refused_instead_of_read_for_ever() {
        Listener listener = Listener.waiting();
        ByteBuffer small = ByteBuffer.allocate(20);
        small.put(Frames.header(FrameType.HEAD, 0, 100, 1)).flip();
        assertThatIllegalArgumentException().isThrownBy(() -> listener.decoder.decode(small));
    }

    @Test
    void the_largest_control_frames_fit_into_the_buffer_that_is_asked_for() {
        Listener listener = Listener.waiting();
        String message = "m".repeat(65_523);
        listener.hears(WorkerFrameEncoder.log(1, 6, message), WorkerFrameEncoder.log(1, 6, message));
        assertThat(listener.heard.calls()).hasSize(3);
    }

    @Test
    void heads_of_many_lines_are_decoded_whole() {
        String[] headers = new String[400];
        for (int i = 0; i < headers.length; i += 2) {
            headers[i] = "X-" + i;
            headers[i + 1] = "value " + i;
        }
        ResponseHead head = new ResponseHead(200, "OK", 0, List.of(headers));
        Listener listener = Listener.waiting().hears(WorkerFrameEncoder.head(1, head));
        assertThat(listener.heard.calls().get(1).content()).isEqualTo(head);
    }

    @Test
    void the_headers_of_one_answer_do_not_change_with_the_next() {
        Listener listener = Listener.serving(1);
        listener.hears(
                WorkerFrameEncoder.head(1, new ResponseHead(200, "", 0, List.of("A", "1"))),
                WorkerFrameEncoder.end(1),
                Frames.done(1));
        listener.turn.begin(2);
        listener.hears(WorkerFrameEncoder.head(2, new ResponseHead(200, "", 0, List.of("B", "2"))));
        ResponseHead first = (ResponseHead) listener.heard.calls().get(1).content();
        assertThat(first.headers()).containsExactly("A", "1");
    }

    @Test
    void headers_cannot_be_changed() {
        Listener listener =
                Listener.waiting().hears(WorkerFrameEncoder.head(1, new ResponseHead(200, "", 0, List.of("A", "1"))));
        ResponseHead head = (ResponseHead) listener.heard.calls().get(1).content();
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> head.headers().set(0, "B"));
    }

    @Test
    void READY_without_the_facts_about_the_process_is_taken() {
        Listener listener = Listener.booting().hears(WorkerFrameEncoder.ready(new Ready(1, Map.of())));
        Ready ready = (Ready) listener.heard.calls().get(0).content();
        assertThat(ready.pid()).isEqualTo(-1);
        assertThat(ready.bootMicros()).isEqualTo(-1);
        assertThat(ready.php()).isEmpty();
        assertThat(ready.capabilities()).isEmpty();
    }

    @Test
    void READY_gives_the_facts_by_name() {
        Ready sent = new Ready(
                1,
                Map.of(
                        "pid",
                        "42",
                        "php",
                        "8.2.36",
                        "sapi",
                        "cli",
                        "boot-micros",
                        "17",
                        "client",
                        "c 1",
                        "capabilities",
                        "file"));
        Listener listener = Listener.booting().hears(WorkerFrameEncoder.ready(sent));
        Ready ready = (Ready) listener.heard.calls().get(0).content();
        assertThat(ready.pid()).isEqualTo(42);
        assertThat(ready.bootMicros()).isEqualTo(17);
        assertThat(ready.php()).isEqualTo("8.2.36");
        assertThat(ready.sapi()).isEqualTo("cli");
        assertThat(ready.client()).isEqualTo("c 1");
        assertThat(ready.capabilities()).containsExactly(Capability.FILE);
    }

    @Test
    void a_typical_answer_costs_little_garbage() {
        ResponseHead head = new ResponseHead(
                200,
                "OK",
                5,
                List.of("Content-Type", "text/html; charset=UTF-8", "Cache-Control", "no-cache, private"));
        Turn turn = new Turn(Listener.OFFER);
        FrameDecoder decoder = new FrameDecoder(turn, new Deaf());
        decoder.decode(WorkerFrameEncoder.ready(Listener.ANSWER));
        ByteBuffer in = ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES);
        Runnable exchange = () -> {
            int n = turn.nextRequest();
            turn.begin(n);
            in.rewind();
            for (int at = 0; at < in.limit(); at += 12 + in.getInt(at + 4)) {
                in.putInt(at + 8, n);
            }
            decoder.decode(in);
        };
        in.put(WorkerFrameEncoder.head(1, head))
                .put(WorkerFrameEncoder.data(1, new byte[5]))
                .put(WorkerFrameEncoder.end(1))
                .put(Frames.done(1))
                .flip();
        exchange.run();
        assertThat(Allocation.ofThisThread(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        exchange.run();
                    }
                }))
                .isLessThan(1_000 * 250);
    }
}
