package dev.cetane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A PHP process is read that wants to be read wrongly: its memory is a sparse file with the structures of PHP 8.2 (Zend/zend_compile.h,
 * zend_types.h). That real ones are read rightly is tested with real PHP, end to end.
 */
@Timeout(60)
final class PhpStackTest {
    private static final long GLOBALS = 0x10_000;
    private static final long CURRENT_EXECUTE_DATA = GLOBALS + 488;
    private static final long FIRST = 0x20_000;
    private static final int INTERNAL = 1;
    private static final int USER = 2;

    @TempDir
    Path directory;

    private FileChannel memory;
    private long free = 0x100_000;

    @BeforeEach
    void open() throws IOException {
        memory = FileChannel.open(
                directory.resolve("memory"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        // What is not written is zeros, as far as this; behind it there is nothing.
        put(0x200_000, 0);
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    private void put(long address, long value) throws IOException {
        memory.write(
                ByteBuffer.allocate(8)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(value)
                        .flip(),
                address);
    }

    private long take(int bytes) {
        long address = free;
        free += (bytes + 15L) / 8 * 8;
        return address;
    }

    private long string(byte[] text, long length) throws IOException {
        long address = take(24 + text.length);
        put(address, 1 | 6L << 32);
        put(address + 16, length);
        memory.write(ByteBuffer.wrap(text), address + 24);
        return address;
    }

    private long string(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return string(bytes, bytes.length);
    }

    private long function(int type, long name, long owner, long file) throws IOException {
        long address = take(176);
        put(address, type);
        put(address + 8, name);
        if (owner != 0) {
            long entry = take(16);
            put(entry + 8, owner);
            put(address + 16, entry);
        }
        put(address + 152, file);
        return address;
    }

    private long code(int line) throws IOException {
        long address = take(32);
        put(address + 24, line);
        return address;
    }

    private void frame(long address, long opline, long function, long previous) throws IOException {
        put(address, opline);
        put(address + 24, function);
        put(address + 48, previous);
    }

    private List<String> read() throws IOException {
        return PhpStack.read(memory, GLOBALS);
    }

    private void isRefused() {
        assertThatThrownBy(this::read)
                .isInstanceOf(PhpStack.NotPhp.class)
                .hasMessage("nothing that looks like the stack of PHP 8.1 to 8.5, or runs no code");
    }

    /** sleep(), called by Shop::wait() in line 12 of the main script. */
    private void soundStack() throws IOException {
        long file = string("/srv/shop.php");
        put(CURRENT_EXECUTE_DATA, FIRST);
        frame(FIRST, 0, function(INTERNAL, string("sleep"), 0, 0), FIRST + 0x100);
        frame(FIRST + 0x100, code(12), function(USER, string("wait"), string("Shop"), file), FIRST + 0x200);
        frame(FIRST + 0x200, code(40), function(USER, 0, 0, file), 0);
    }

    @Test
    void frames_are_told_innermost_first_with_class_file_and_line() throws IOException {
        soundStack();
        assertThat(read())
                .containsExactly("#0 sleep()", "#1 Shop::wait() at /srv/shop.php:12", "#2 {main} at /srv/shop.php:40");
    }

    @Test
    void where_no_code_runs_there_are_no_frames() throws IOException {
        assertThat(read()).isEmpty();
    }

    @Test
    void a_stack_that_goes_round_in_a_circle_ends() throws IOException {
        soundStack();
        put(FIRST + 0x200 + 48, FIRST);
        assertThat(read()).hasSize(65).last().isEqualTo("… and what has called it");
        put(FIRST + 0x200 + 48, 0);
        // Frames without a function are none, and no way around the bound.
        put(FIRST + 24, 0);
        put(FIRST + 48, FIRST);
        assertThat(read()).containsExactly("… and what has called it");
    }

    /** Nowhere, odd, in the kernel, behind the end, and in front of the first page. */
    @ParameterizedTest
    @ValueSource(longs = {0x7fff_0000_0000L, FIRST + 4, -1, Long.MIN_VALUE, 1L << 47, 0x200_008, 8})
    void a_pointer_to_nowhere_ends_the_reading_wherever_it_is(long wild) throws IOException {
        long[] pointers = {
            CURRENT_EXECUTE_DATA, // to the frame
            FIRST + 24, // to the function
            FIRST + 48, // to the caller
            FIRST + 0x100 // to the code
        };
        for (long pointer : pointers) {
            soundStack();
            put(pointer, wild);
            isRefused();
        }
        soundStack();
        frame(FIRST, code(1), function(USER, wild, 0, string("/a.php")), 0);
        isRefused();
        frame(FIRST, code(1), function(USER, string("f"), wild, string("/a.php")), 0);
        isRefused();
        frame(FIRST, code(1), function(USER, string("f"), 0, wild), 0);
        isRefused();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, (1 << 20) + 1, 1L << 32})
    void a_text_of_absurd_length_is_none(long length) throws IOException {
        soundStack();
        frame(FIRST, 0, function(INTERNAL, string(new byte[] {'f'}, length), 0, 0), 0);
        isRefused();
    }

    @Test
    void a_long_text_is_cut() throws IOException {
        soundStack();
        byte[] name = "f".repeat(2_000).getBytes(StandardCharsets.US_ASCII);
        frame(FIRST, 0, function(INTERNAL, string(name, name.length), 0, 0), 0);
        assertThat(read()).containsExactly("#0 " + "f".repeat(512) + "…()");
    }

    @Test
    void a_line_number_that_no_file_has_ends_the_reading() throws IOException {
        soundStack();
        put(FIRST + 0x100, code(-1));
        isRefused();
    }

    @Test
    void a_name_that_is_no_text_cannot_steer_a_terminal() throws IOException {
        byte[] name = {'a', (byte) 0xff, (byte) 0xc2, (byte) 0x9b, '2', 'J', 27, '\n', 'b'};
        put(CURRENT_EXECUTE_DATA, FIRST);
        frame(FIRST, 0, function(INTERNAL, string(name, name.length), string("C\u202e\u2028"), 0), 0);
        assertThat(read()).containsExactly("#0 C??::a\ufffd?2J??b()");
    }

    /** What looks like pointers, types, lengths and text in any order is read to some end, within the bounds. */
    @Test
    void garbage_is_read_within_bounds() throws IOException {
        Random random = new Random(6);
        int refused = 0;
        for (int round = 0; round < 300; round++) {
            ByteBuffer garbage = ByteBuffer.allocate(8_192).order(ByteOrder.LITTLE_ENDIAN);
            while (garbage.hasRemaining()) {
                garbage.putLong(
                        switch (random.nextInt(6)) {
                            case 0 -> random.nextInt(3);
                            case 1 -> 1 | 6L << 32;
                            case 2 -> random.nextLong();
                            default -> GLOBALS + 8L * random.nextInt(1_024);
                        });
            }
            memory.write(garbage.flip(), GLOBALS);
            try {
                List<String> frames = read();
                assertThat(frames).hasSizeLessThanOrEqualTo(65).allMatch(frame -> frame.length() < 2_000);
            } catch (PhpStack.NotPhp e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, 300);
    }

    @Test
    void a_process_that_is_gone_or_no_php_is_told_of_in_words() throws Exception {
        Process process = new ProcessBuilder("sleep", "100").start();
        try {
            assertThat(PhpStack.describe(process.pid()))
                    .startsWith("PHP's stack is not known: ")
                    .endsWith("has no symbol executor_globals: it is no PHP, or one with thread safety (ZTS)");
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(PhpStack.describe(process.pid()))
                .isEqualTo("PHP's stack is not known: there is no process " + process.pid());
    }
}
