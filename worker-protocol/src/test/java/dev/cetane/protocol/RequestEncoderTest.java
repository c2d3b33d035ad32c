package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class RequestEncoderTest {

    /** What is left for names and values and body. */
    private static final int ROOM = 57_332 - 24;

    private final RequestEncoder encoder = new RequestEncoder();

    @Test
    void a_request_without_anything_is_the_fixed_part_alone() {
        encoder.begin(1, 0, 0);
        assertThat(encoder.finish().remaining()).isEqualTo(36);
    }

    @Test
    void the_frame_is_direct_so_that_a_channel_writes_it_without_a_copy() {
        encoder.begin(1, 0, 0);
        assertThat(encoder.finish().isDirect()).isTrue();
    }

    @Test
    void entries_come_out_in_the_order_they_went_in() {
        encoder.begin(9, 1.5, 250);
        encoder.server("B", "2");
        encoder.server("A", "");
        encoder.server("C", "3");
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.number()).isEqualTo(9);
        assertThat(sent.receivedAt()).isEqualTo(1.5);
        assertThat(sent.timeoutMillis()).isEqualTo(250);
        assertThat(sent.server()).containsExactly("B=2", "A=", "C=3");
        assertThat(sent.body()).isEmpty();
    }

    @Test
    void an_encoder_is_used_again_and_keeps_nothing_of_the_request_before() {
        encoder.begin(1, 1, 1);
        encoder.server("LONG", "x".repeat(30_000));
        encoder.bodyFile(Path.of("/spool/1"));
        encoder.finish();
        encoder.begin(2, 2, 2);
        encoder.server("SHORT", "y");
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.server()).containsExactly("SHORT=y");
        assertThat(sent.bodyInFile()).isFalse();
        assertThat(sent.body()).isEmpty();
    }

    @Test
    void a_request_given_up_half_way_is_forgotten() {
        encoder.begin(1, 1, 1);
        encoder.server("A", "1");
        encoder.begin(1, 1, 1);
        encoder.server("B", "2");
        assertThat(SentRequest.of(encoder.finish()).server()).containsExactly("B=2");
    }

    @Test
    void a_value_that_fills_the_frame_fits_and_one_byte_more_does_not() {
        encoder.begin(1, 0, 0);
        encoder.server("N", "v".repeat(ROOM - 2));
        assertThat(encoder.available()).isEqualTo(1);
        encoder.begin(1, 0, 0);
        encoder.server("N", "v".repeat(ROOM - 1));
        assertThat(encoder.available()).isZero();
        assertThat(encoder.finish().remaining()).isEqualTo(57_344);
        encoder.begin(1, 0, 0);
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() -> encoder.server("N", "v".repeat(ROOM)))
                .withMessage("REQUEST frame needs 57333 payload bytes or more, the limit is 57332");
    }

    @Test
    void the_separators_of_both_lists_count() {
        encoder.begin(1, 0, 0);
        encoder.server("N", "v".repeat(ROOM - 4));
        encoder.server("M", "");
        assertThat(encoder.available()).isZero();
        encoder.begin(1, 0, 0);
        encoder.server("N", "v".repeat(ROOM - 3));
        assertThatExceptionOfType(FrameTooLargeException.class).isThrownBy(() -> encoder.server("M", ""));
    }

    @Test
    void a_body_that_fills_the_frame_fits_and_one_byte_more_does_not() {
        encoder.begin(1, 0, 0);
        encoder.server("N", "v");
        int available = encoder.available();
        assertThat(available).isEqualTo(ROOM - 2);
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() -> encoder.body(new byte[available + 1], 0, available + 1));
        encoder.body(new byte[available], 0, available);
        assertThat(encoder.finish().remaining()).isEqualTo(57_344);
    }

    @Test
    void a_body_too_large_in_a_buffer_is_refused_and_left_alone() {
        encoder.begin(1, 0, 0);
        ByteBuffer body = ByteBuffer.allocate(ROOM + 1);
        assertThatExceptionOfType(FrameTooLargeException.class).isThrownBy(() -> encoder.body(body));
        assertThat(body.remaining()).isEqualTo(ROOM + 1);
    }

    @Test
    void a_part_of_an_array_and_the_rest_of_a_buffer_can_be_the_body() {
        byte[] bytes = {1, 2, 3, 4};
        encoder.begin(1, 0, 0);
        encoder.body(bytes, 1, 2);
        assertThat(SentRequest.of(encoder.finish()).body()).isEqualTo("\2\3");
        ByteBuffer buffer = ByteBuffer.wrap(bytes).position(3);
        encoder.begin(1, 0, 0);
        encoder.body(buffer);
        assertThat(SentRequest.of(encoder.finish()).body()).isEqualTo("\4");
        assertThat(buffer.hasRemaining()).isFalse();
    }

    @Test
    void a_body_in_a_file_travels_as_its_absolute_path() {
        encoder.begin(1, 0, 0);
        encoder.bodyFile(Path.of("spool/body"));
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.bodyInFile()).isTrue();
        assertThat(sent.body()).isEqualTo(Path.of("spool/body").toAbsolutePath().toString());
    }

    @Test
    void a_form_travels_as_the_length_of_its_fields_and_both_texts() {
        encoder.allowForms(true);
        encoder.begin(1, 0, 0);
        encoder.form(ByteBuffer.wrap(new byte[] {'a', '=', '1'}), ByteBuffer.wrap(new byte[] {'f', 0}));
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.form()).isTrue();
        assertThat(sent.bodyInFile()).isFalse();
        assertThat(sent.body()).isEqualTo("\0\0\0\3a=1f\0");
    }

    @Test
    void a_form_in_files_travels_as_two_paths_of_which_one_may_be_missing() {
        encoder.allowForms(true);
        encoder.begin(1, 0, 0);
        encoder.formFiles("/spool/1", "");
        SentRequest sent = SentRequest.of(encoder.finish());
        assertThat(sent.form()).isTrue();
        assertThat(sent.bodyInFile()).isTrue();
        assertThat(sent.body()).isEqualTo("/spool/1\0");
    }

    @Test
    void a_form_that_fills_the_frame_fits_and_one_byte_more_does_not() {
        encoder.allowForms(true);
        encoder.begin(1, 0, 0);
        encoder.form(ByteBuffer.allocate(ROOM - 5), ByteBuffer.allocate(1));
        assertThat(encoder.finish().remaining()).isEqualTo(57_344);
        encoder.begin(1, 0, 0);
        assertThatExceptionOfType(FrameTooLargeException.class)
                .isThrownBy(() -> encoder.form(ByteBuffer.allocate(ROOM - 4), ByteBuffer.allocate(1)));
    }

    @Test
    void a_form_is_refused_for_a_worker_that_takes_none() {
        encoder.begin(1, 0, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> encoder.form(ByteBuffer.allocate(0), ByteBuffer.allocate(0)))
                .withMessageContaining("takes no forms");
        assertThatIllegalStateException().isThrownBy(() -> encoder.formFiles("/a", "/b"));
    }

    @Test
    void NUL_is_refused_in_names_and_values_at_every_place() {
        for (String text : new String[] {"\0", "\0a", "a\0b", "a\0", "abcdefghijklmnopqrstuvw\0xyz"}) {
            encoder.begin(1, 0, 0);
            assertThatIllegalArgumentException().isThrownBy(() -> encoder.server(text, "v"));
            encoder.begin(1, 0, 0);
            assertThatIllegalArgumentException().isThrownBy(() -> encoder.server("N", text));
        }
    }

    @Test
    void a_char_above_255_is_refused_even_if_its_low_byte_is_harmless() {
        encoder.begin(1, 0, 0);
        encoder.server("N\u00ff", "\u00ff");
        assertThat(SentRequest.of(encoder.finish()).server()).containsExactly("N\u00ff=\u00ff");
        for (String text :
                new String[] {"\u0100", "\u0141", "a\u20ac", "\ud83d\ude00", "\ud83d", "x".repeat(100) + "\u0101"}) {
            encoder.begin(1, 0, 0);
            encoder.server("A", "1");
            encoder.server(text, "v");
            assertThatIllegalArgumentException()
                    .isThrownBy(encoder::finish)
                    .withMessage("$_SERVER entry 1 of 2 has a char above 255 in its name or value");
            encoder.begin(1, 0, 0);
            encoder.server("A", "1");
            encoder.server("B", "2");
            encoder.server("N", text);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> encoder.body(new byte[1], 0, 1))
                    .withMessage("$_SERVER entry 2 of 3 has a char above 255 in its name or value");
        }
    }

    @Test
    void a_refused_entry_does_not_get_into_the_frame() {
        encoder.begin(1, 0, 0);
        encoder.server("A", "1");
        assertThatIllegalArgumentException().isThrownBy(() -> encoder.server("B", "x\0y"));
        assertThatIllegalArgumentException().isThrownBy(() -> encoder.server("C\0", "3"));
        assertThatExceptionOfType(FrameTooLargeException.class).isThrownBy(() -> encoder.server("D", "v".repeat(ROOM)));
        encoder.server("E", "5");
        assertThat(SentRequest.of(encoder.finish()).server()).containsExactly("A=1", "E=5");
    }

    @Test
    void an_empty_name_is_refused() {
        encoder.begin(1, 0, 0);
        assertThatIllegalArgumentException().isThrownBy(() -> encoder.server("", "v"));
    }

    @Test
    void the_timeout_is_cut_to_its_field_and_may_not_be_negative() {
        encoder.begin(1, 0, Long.MAX_VALUE);
        assertThat(SentRequest.of(encoder.finish()).timeoutMillis()).isEqualTo(0xFFFF_FFFFL);
        encoder.begin(1, 0, 0x1_0000_0000L);
        assertThat(SentRequest.of(encoder.finish()).timeoutMillis()).isEqualTo(0xFFFF_FFFFL);
        assertThatIllegalArgumentException().isThrownBy(() -> encoder.begin(1, 0, -1));
    }

    @Test
    void request_0_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> encoder.begin(0, 0, 0));
    }

    @Test
    void calls_out_of_order_are_refused() {
        assertThatIllegalStateException().isThrownBy(() -> encoder.server("A", "1"));
        assertThatIllegalStateException().isThrownBy(encoder::finish);
        encoder.begin(1, 0, 0);
        encoder.body(new byte[1], 0, 1);
        assertThatIllegalStateException().isThrownBy(() -> encoder.server("A", "1"));
        assertThatIllegalStateException().isThrownBy(() -> encoder.body(new byte[1], 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> encoder.bodyFile(Path.of("/f")));
        encoder.finish();
        assertThatIllegalStateException().isThrownBy(encoder::finish);
        assertThatIllegalStateException().isThrownBy(() -> encoder.server("A", "1"));
    }

    @Test
    void encoding_makes_no_garbage() {
        String[] names = new String[20];
        for (int i = 0; i < names.length; i++) {
            names[i] = "HTTP_X_NAME_" + i;
        }
        String value = "v".repeat(50);
        byte[] body = new byte[1000];
        Runnable request = () -> {
            encoder.begin(1, 0, 0);
            for (String name : names) {
                encoder.server(name, value);
            }
            encoder.body(body, 0, body.length);
            encoder.finish();
        };
        request.run();
        assertThat(Allocation.ofThisThread(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        request.run();
                    }
                }))
                .as(
                        "the smallest object has 16 bytes, so this is less than one a request; the JVM may make a few of its own")
                .isLessThan(16_000);
    }

    @Test
    void a_worker_that_takes_no_tasks_and_no_ticks_gets_none() {
        RequestEncoder encoder = new RequestEncoder();
        encoder.begin(1, 0, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> encoder.task(ByteBuffer.allocate(1), false))
                .withMessageContaining("onTask");
        assertThatIllegalStateException().isThrownBy(encoder::tick);
    }

    @Test
    void a_task_has_no_entries() {
        RequestEncoder encoder = new RequestEncoder();
        encoder.allowTasks(true, true);
        encoder.begin(1, 0, 0);
        encoder.server("A", "1");
        assertThatIllegalStateException().isThrownBy(() -> encoder.task(ByteBuffer.allocate(1), false));
    }
}
