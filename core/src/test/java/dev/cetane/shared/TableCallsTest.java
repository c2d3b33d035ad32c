package dev.cetane.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.log.RecordingLog;
import dev.cetane.protocol.MalformedCallException;
import dev.cetane.worker.RecordingCaller;
import dev.cetane.worker.Ticker;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Calls as they are on the wire, and the replies to them. */
final class TableCallsTest {
    private static final int ALL = 0b11;

    private static final class Clock implements Ticker {
        private long seconds = 1_000;

        @Override
        public long nanos() {
            return seconds * 1_000_000_000;
        }

        @Override
        public Instant now() {
            return Instant.ofEpochSecond(seconds);
        }
    }

    private final Clock clock = new Clock();
    private final SharedTables tables = new SharedTables(1 << 20, new RecordingLog());
    private final TableCalls calls = new TableCalls(tables, clock);
    private final RecordingCaller caller = new RecordingCaller(1, false);

    // ---- rows ----

    @Test
    void a_row_is_there_once_it_is_set_with_zeros_where_nothing_was_said() throws IOException {
        int table = open("t", 10, 0, 255);
        assertThat(status(get(table, "a"))).isEqualTo(1);
        assertThat(status(set(table, "a", 0, 0, 0b10, row -> text(row, "x")))).isZero();
        byte[] reply = get(table, "a");
        assertThat(hex(reply, 5)).isEqualTo("0000000000000000" + "00000001" + "78");
    }

    @Test
    void columns_that_are_not_named_keep_their_values() {
        int table = open("t", 10, 0, 255);
        put(table, "a", 7, "seven");
        set(table, "a", 0, 0, 0b01, row -> row.writeLong(8));
        assertThat(hex(get(table, "a"), 5)).isEqualTo("0000000000000008" + "00000005" + "736576656e");
        set(table, "a", 0, 0, 0b10, row -> text(row, ""));
        assertThat(hex(get(table, "a"), 5)).isEqualTo("0000000000000008" + "00000000");
    }

    @Test
    void numbers_are_added_to_and_wrap_around() {
        int table = open("t", 10, 0, 255);
        assertThat(number(add(table, "a", 5))).isEqualTo(5);
        assertThat(number(add(table, "a", -7))).isEqualTo(-2);
        put(table, "a", Long.MAX_VALUE, "x");
        assertThat(number(add(table, "a", 1))).isEqualTo(Long.MIN_VALUE);
        assertThat(hex(get(table, "a"), 13)).isEqualTo("00000001" + "78");
    }

    @Test
    void conditions_hold_or_nothing_changes() {
        int table = open("t", 10, 0, 255);
        assertThat(status(set(table, "a", 2, 0, ALL, both(1, "a")))).isEqualTo(2);
        assertThat(status(set(table, "a", 1, 0, ALL, both(1, "a")))).isZero();
        assertThat(status(set(table, "a", 1, 0, ALL, both(2, "b")))).isEqualTo(2);
        int version = ByteBuffer.wrap(get(table, "a")).getInt(1);
        add(table, "a", 1);
        assertThat(status(set(table, "a", 2, version, ALL, both(3, "c")))).isEqualTo(2);
        version = ByteBuffer.wrap(get(table, "a")).getInt(1);
        assertThat(status(set(table, "a", 2, version, ALL, both(3, "c")))).isZero();
        assertThat(ByteBuffer.wrap(get(table, "a")).getLong(5)).isEqualTo(3);
    }

    @Test
    void a_text_is_refused_from_one_byte_above_its_column_on() {
        int table = open("t", 10, 0, 255);
        assertThat(status(put(table, "a", 1, "x".repeat(100)))).isZero();
        assertThat(put(table, "a", 1, "x".repeat(101))).containsExactly(4, 1);
        assertThat(get(table, "a")).hasSize(5 + 12 + 100);
    }

    @Test
    void deleting_and_asking_say_whether_there_was_a_row() {
        int table = open("t", 10, 0, 255);
        put(table, "a", 1, "a");
        assertThat(status(call(0x14, table, out -> out.writeBytes("a")))).isZero();
        assertThat(status(call(0x13, table, out -> out.writeBytes("a")))).isZero();
        assertThat(status(call(0x13, table, out -> out.writeBytes("a")))).isEqualTo(1);
        assertThat(status(call(0x14, table, out -> out.writeBytes("a")))).isEqualTo(1);
        assertThat(tables.usedBytes()).isZero();
    }

    @Test
    void counting_at_the_same_time_loses_nothing() {
        int table = open("t", 10, 0, 255);
        List<CompletableFuture<Void>> counters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RecordingCaller other = new RecordingCaller(i, false);
            counters.add(CompletableFuture.runAsync(() -> {
                for (int n = 0; n < 5_000; n++) {
                    calls.call(other, bytes(0x15, table, out -> {
                        out.writeByte(0);
                        out.writeLong(1);
                        out.writeBytes("sum");
                    }));
                }
            }));
        }
        counters.forEach(CompletableFuture::join);
        assertThat(number(add(table, "sum", 0))).isEqualTo(20_000);
    }

    // ---- limits ----

    @Test
    void a_full_table_takes_no_new_row_but_changes_old_ones() {
        int table = open("t", 2, 0, 255);
        put(table, "a", 1, "a");
        put(table, "b", 1, "b");
        assertThat(status(put(table, "c", 1, "c"))).isEqualTo(3);
        assertThat(status(add(table, "c", 1))).isEqualTo(3);
        assertThat(status(put(table, "b", 2, "bb"))).isZero();
        call(0x13, table, out -> out.writeBytes("a"));
        assertThat(status(put(table, "c", 1, "c"))).isZero();
    }

    @Test
    void an_evicting_table_gives_up_what_was_used_least_recently() {
        int table = open("t", 3, 1, 255);
        put(table, "a", 1, "a");
        put(table, "b", 1, "b");
        put(table, "c", 1, "c");
        get(table, "a");
        put(table, "d", 1, "d");
        assertThat(status(get(table, "b"))).isEqualTo(1);
        put(table, "e", 1, "e");
        assertThat(status(get(table, "c"))).isEqualTo(1);
        assertThat(status(get(table, "a"))).isZero();
    }

    @Test
    void rows_go_when_their_time_has_come_and_make_room() {
        int table = open("t", 2, 0, 0);
        put(table, "a", 1_010, "a");
        put(table, "b", 1_020, "b");
        assertThat(status(get(table, "a"))).isZero();
        clock.seconds = 1_010;
        assertThat(status(put(table, "c", 1_030, "c"))).isZero();
        assertThat(status(get(table, "a"))).isEqualTo(1);
        assertThat(status(get(table, "b"))).isZero();
        clock.seconds = 1_020;
        assertThat(status(get(table, "b"))).isEqualTo(1);
        assertThat(status(add(table, "b", 5))).isZero();
    }

    @Test
    void all_tables_together_have_only_so_much_memory() {
        SharedTables small = new SharedTables(3 * (SharedTable.ROW_OVERHEAD_BYTES + 1 + 12 + 50), new RecordingLog());
        TableCalls limited = new TableCalls(small, clock);
        RecordingCaller other = new RecordingCaller(9, false);
        limited.call(other, open("kept", 10, 0, 255, "s"));
        limited.call(other, open("cache", 10, 1, 255, "s"));
        for (String key : List.of("a", "b")) {
            limited.call(other, bytes(0x12, 0, setting(key, 0, 0, ALL, both(1, "x".repeat(50)))));
            assertThat(other.reply[0]).isZero();
        }
        for (String key : List.of("c", "d", "e")) {
            limited.call(other, bytes(0x12, 1, setting(key, 0, 0, ALL, both(1, "x".repeat(50)))));
            assertThat(other.reply[0]).as("makes room in its own table").isZero();
        }
        limited.call(other, bytes(0x16, 1, out -> {}));
        assertThat(ByteBuffer.wrap(other.reply).getInt(1)).isEqualTo(1);
        limited.call(other, bytes(0x12, 0, setting("f", 0, 0, ALL, both(1, "x".repeat(50)))));
        assertThat(other.reply[0]).isEqualTo((byte) 3);
        limited.call(other, bytes(0x18, 1, out -> {}));
        limited.call(other, bytes(0x12, 0, setting("f", 0, 0, ALL, both(1, "x".repeat(50)))));
        assertThat(other.reply[0]).isZero();
    }

    @Test
    void definitions_beyond_the_limits_are_refused_with_a_reason() {
        calls.call(caller, open("t", 0, 0, 255, "s"));
        assertThat(refusal()).contains("1 to 10000000 rows, not 0");
        calls.call(caller, open("t", 10_000_001, 0, 255, "s"));
        assertThat(refusal()).contains("not 10000001");
        calls.call(caller, open("t", 1, 0, 1, "s"));
        assertThat(refusal()).contains("no integer column");
        calls.call(caller, open("", 1, 0, 255, "s"));
        assertThat(refusal()).contains("name has 1 to 255 bytes");
        calls.call(caller, open("t", 1, 0, 255, ""));
        assertThat(refusal()).contains("name is empty");
    }

    // ---- many rows ----

    @Test
    void a_scan_sees_every_row_once_whatever_goes_and_comes_meanwhile() {
        int table = open("t", 2_000, 0, 255);
        for (int i = 0; i < 1_000; i++) {
            put(table, "k" + i, i, "x".repeat(90));
        }
        List<String> seen = new ArrayList<>();
        int cursor = 0;
        int pieces = 0;
        while (cursor != -1) {
            int from = cursor;
            ByteBuffer reply = ByteBuffer.wrap(call(0x17, table, out -> out.writeInt(from)));
            assertThat(reply.get()).isZero();
            cursor = reply.getInt();
            while (reply.hasRemaining()) {
                int key = reply.getShort();
                int row = reply.getInt();
                seen.add(Keys.take(reply, key));
                reply.position(reply.position() + row);
            }
            call(0x13, table, out -> out.writeBytes("k0"));
            put(table, "new" + pieces++, 1, "");
        }
        assertThat(pieces).isGreaterThan(1);
        assertThat(seen).doesNotHaveDuplicates();
        for (int i = 0; i < 1_000; i++) {
            assertThat(seen).contains("k" + i);
        }
    }

    @Test
    void a_batch_answers_each_operation() {
        int table = open("t", 10, 0, 255);
        byte[] reply = batch(
                bytes(0x12, table, setting("a", 0, 0, ALL, both(1, "a"))),
                bytes(0x11, table, out -> out.writeBytes("a")),
                bytes(0x11, table, out -> out.writeBytes("b")));
        assertThat(hex(reply, 0))
                .isEqualTo("00" + "00000001" + "00" + "00000012" + "00" + "00000001" + "0000000000000001" + "00000001"
                        + "61" + "00000001" + "01");
    }

    // ---- definitions ----

    @Test
    void a_table_of_the_same_definition_is_found_again_and_of_another_is_empty() {
        int table = open("t", 10, 0, 255);
        put(table, "a", 1, "a");
        RecordingCaller newer = new RecordingCaller(2, false);
        calls.call(newer, open("t", 10, 0, 255, "s"));
        assertThat(number16(newer.reply)).isEqualTo(table);
        calls.call(newer, open("t", 20, 0, 255, "s"));
        int other = number16(newer.reply);
        assertThat(other).isNotEqualTo(table);
        assertThat(status(get(other, "a"))).isEqualTo(1);
        assertThat(status(get(table, "a"))).as("for those that have it open").isZero();
        tables.left(caller);
        tables.left(newer);
        assertThatThrownBy(() -> get(table, "a")).isInstanceOf(MalformedCallException.class);
        assertThat(status(get(other, "a"))).as("the name stands for it").isEqualTo(1);
        assertThat(tables.usedBytes()).isZero();
    }

    // ---- garbage ----

    @Test
    void what_is_no_operation_is_malformed() {
        int table = open("t", 10, 0, 255);
        for (ByteBuffer garbage : List.of(
                bytes(0x19, table, out -> {}),
                bytes(0x11, 77, out -> {}),
                bytes(0x12, table, out -> out.writeByte(9)),
                bytes(0x12, table, setting("a", 0, 0, 0b100, row -> row.writeLong(1))),
                bytes(0x12, table, setting("a", 0, 0, ALL, row -> row.writeLong(1))),
                bytes(0x12, table, setting("a", 0, 0, 0b10, row -> row.writeInt(-1))),
                bytes(0x15, table, out -> {
                    out.writeByte(1);
                    out.writeLong(1);
                }),
                bytes(0x17, table, out -> out.writeInt(-1)),
                bytes(0x11, table, out -> out.write(new byte[1_025])),
                ByteBuffer.wrap(new byte[] {0x1F, 0, 0, 0, 9, 0}),
                ByteBuffer.wrap(new byte[] {0x11}))) {
            assertThatThrownBy(() -> calls.call(caller, garbage)).isInstanceOf(MalformedCallException.class);
        }
    }

    @Test
    void random_calls_end_in_a_reply_or_are_malformed() {
        open("t", 10, 1, 255);
        SplittableRandom random = new SplittableRandom(4_711);
        int answered = 0;
        for (int i = 0; i < 50_000; i++) {
            byte[] bytes = new byte[random.nextInt(1, 40)];
            random.nextBytes(bytes);
            bytes[0] = (byte) (0x10 + random.nextInt(16));
            if (bytes.length > 2) {
                bytes[1] = 0;
                bytes[2] = 0;
            }
            caller.reply = null;
            try {
                calls.call(caller, ByteBuffer.wrap(bytes));
                assertThat(caller.reply).isNotEmpty();
                answered++;
            } catch (MalformedCallException expected) {
                assertThat(caller.reply).isNull();
            }
        }
        assertThat(answered).isGreaterThan(5_000);
        assertThat(tables.usedBytes()).isBetween(0L, 1L << 20);
    }

    // ---- the wire ----

    private interface Fields {
        void write(DataOutputStream out) throws IOException;
    }

    private static ByteBuffer bytes(int operation, int table, Fields fields) {
        return written(out -> {
            out.writeByte(operation);
            out.writeShort(table);
            fields.write(out);
        });
    }

    private static ByteBuffer written(Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            fields.write(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    private byte[] call(int operation, int table, Fields fields) {
        calls.call(caller, bytes(operation, table, fields));
        return caller.reply;
    }

    private byte[] batch(ByteBuffer... operations) {
        calls.call(caller, written(out -> {
            out.writeByte(0x1F);
            for (ByteBuffer operation : operations) {
                out.writeInt(operation.remaining());
                while (operation.hasRemaining()) {
                    out.writeByte(operation.get());
                }
            }
        }));
        return caller.reply;
    }

    /** With an integer column n and a text column of 100 bytes. */
    private static ByteBuffer open(String name, int rows, int options, int expiry, String textColumn) {
        return written(out -> {
            out.writeByte(0x10);
            out.writeByte(options);
            out.writeByte(expiry);
            out.writeInt(rows);
            out.writeByte(2);
            out.writeByte(1);
            out.writeInt(0);
            out.writeByte(1);
            out.writeBytes("n");
            out.writeByte(3);
            out.writeInt(100);
            out.writeByte(textColumn.length());
            out.writeBytes(textColumn);
            out.writeBytes(name);
        });
    }

    private int open(String name, int rows, int options, int expiry) {
        calls.call(caller, open(name, rows, options, expiry, "s"));
        assertThat(status(caller.reply)).isZero();
        return number16(caller.reply);
    }

    private static Fields setting(String key, int condition, int version, int mask, Fields values) {
        return out -> {
            out.writeByte(condition);
            out.writeInt(version);
            out.writeInt(mask);
            out.writeShort(key.length());
            out.writeBytes(key);
            values.write(out);
        };
    }

    private byte[] set(int table, String key, int condition, int version, int mask, Fields values) {
        return call(0x12, table, setting(key, condition, version, mask, values));
    }

    private static Fields both(long number, String text) {
        return out -> {
            out.writeLong(number);
            text(out, text);
        };
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        out.writeInt(text.length());
        out.writeBytes(text);
    }

    private byte[] put(int table, String key, long number, String text) {
        return set(table, key, 0, 0, ALL, both(number, text));
    }

    private byte[] get(int table, String key) {
        return call(0x11, table, out -> out.writeBytes(key));
    }

    private byte[] add(int table, String key, long by) {
        return call(0x15, table, out -> {
            out.writeByte(0);
            out.writeLong(by);
            out.writeBytes(key);
        });
    }

    private String refusal() {
        assertThat(status(caller.reply)).isEqualTo(5);
        return new String(caller.reply, 1, caller.reply.length - 1, StandardCharsets.UTF_8);
    }

    private static int status(byte[] reply) {
        return reply[0];
    }

    private static long number(byte[] reply) {
        assertThat(reply[0]).isZero();
        return ByteBuffer.wrap(reply).getLong(1);
    }

    private static int number16(byte[] reply) {
        return ByteBuffer.wrap(reply).getShort(1);
    }

    private static String hex(byte[] bytes, int from) {
        return HexFormat.of().formatHex(bytes, from, bytes.length);
    }
}
