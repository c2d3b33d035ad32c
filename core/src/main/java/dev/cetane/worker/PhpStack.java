package dev.cetane.worker;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a PHP process is doing, read from outside: its memory is looked at while it runs, it is not stopped and gets no signal, so no sleep ends
 * early and no system call is interrupted. For PHP 8.1 to 8.5 without ZTS, 64 bits. Any thread; takes well below a millisecond, plus a few for
 * the first look at an executable.
 *
 * <p>The process is not trusted and changes while it is read: every address and length is checked, everything is bounded, and what does
 * not look like PHP's structures ends the reading.
 */
public final class PhpStack {
    private static final int MAX_FRAMES = 64;
    private static final int MAX_TEXT_BYTES = 512;
    private static final int MAX_LINE = 10_000_000;
    private static final int ATTEMPTS = 3;

    /** Of a name that the worker chose: what could steer a terminal, or turn what follows around. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    private static final int IS_STRING = 6;
    private static final int INTERNAL_FUNCTION = 1;
    private static final int USER_FUNCTION = 2;
    private static final int EVAL_CODE = 4;

    // struct _zend_execute_data
    private static final int OPLINE = 0;
    private static final int FUNCTION = 24;
    private static final int PREVIOUS = 48;
    private static final int EXECUTE_DATA_BYTES = 56;
    // the part that all functions have
    private static final int NAME = 8;
    private static final int SCOPE = 16;
    private static final int FUNCTION_BYTES = 176;
    // struct _zend_class_entry, struct _zend_op, struct _zend_string
    private static final int CLASS_NAME = 8;
    private static final int OP_LINE = 24;
    private static final int STRING_LENGTH = 16;
    private static final int STRING_TEXT = 24;

    /**
     * Where versions of PHP keep things.
     *
     * @param current of current_execute_data in executor_globals
     * @param file of filename in struct _zend_op_array
     */
    private record Layout(int current, int file) {}

    /** PHP 8.2; 8.1 and 8.3; 8.4; 8.5. Only one of them finds strings where strings should be. */
    private static final List<Layout> LAYOUTS =
            List.of(new Layout(488, 152), new Layout(488, 144), new Layout(488, 168), new Layout(512, 168));

    private final FileChannel memory;
    private final Layout layout;

    private PhpStack(FileChannel memory, Layout layout) {
        this.memory = memory;
        this.layout = layout;
    }

    /** The bytes do not look like what they should be. */
    static final class NotPhp extends IOException {
        private static final long serialVersionUID = 1;

        NotPhp(String message) {
            super(message);
        }
    }

    /**
     * The functions that run, innermost first: {@code #0 App\Shop->total() at /srv/app/Shop.php:12}. Empty while no code runs.
     *
     * @throws IOException with a message for people when the process cannot be looked into
     */
    static List<String> read(long pid) throws IOException {
        long globals = ExecutorGlobals.address(pid);
        try (FileChannel memory = FileChannel.open(Path.of("/proc/" + pid + "/mem"), StandardOpenOption.READ)) {
            return read(memory, globals);
        } catch (NotPhp e) {
            boolean there = Files.exists(Path.of("/proc/" + pid));
            throw new IOException(
                    there ? "process " + pid + " has " + e.getMessage() : "process " + pid + " has ended", e);
        } catch (AccessDeniedException e) {
            throw new IOException(
                    "the memory of process " + pid
                            + " may not be read; see kernel.yama.ptrace_scope, which must be 0 or 1",
                    e);
        }
    }

    /**
     * The same of any memory.
     *
     * @param memory a process's, by address
     * @param globals address of its executor_globals
     */
    static List<String> read(FileChannel memory, long globals) throws NotPhp {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int empty = 0;
            for (Layout layout : LAYOUTS) {
                try {
                    List<String> frames = new PhpStack(memory, layout).frames(globals);
                    if (!frames.isEmpty()) {
                        return frames;
                    }
                    empty++;
                } catch (NotPhp e) {
                    // Of another version, or it has changed while it was read.
                }
            }
            // One alone may have found the zero of another field where there is a stack that it can't see.
            if (empty == LAYOUTS.size()) {
                return List.of();
            }
        }
        throw new NotPhp("nothing that looks like the stack of PHP 8.1 to 8.5, or runs no code");
    }

    /** As one text, or why there is none. */
    public static String describe(long pid) {
        try {
            List<String> frames = read(pid);
            return frames.isEmpty() ? "PHP runs no code" : String.join("\n", frames);
        } catch (IOException e) {
            return "PHP's stack is not known: " + e.getMessage();
        }
    }

    private List<String> frames(long globals) throws NotPhp {
        List<String> frames = new ArrayList<>();
        long at = bytes(globals + layout.current(), 8).getLong(0);
        for (int depth = 0; at != 0; depth++) {
            if (depth == MAX_FRAMES) {
                frames.add("… and what has called it");
                break;
            }
            ByteBuffer data = bytes(pointer(at), EXECUTE_DATA_BYTES);
            long function = data.getLong(FUNCTION);
            at = data.getLong(PREVIOUS);
            if (function != 0) {
                frames.add("#" + frames.size() + " " + frame(data.getLong(OPLINE), function, at == 0));
            }
        }
        return frames;
    }

    private String frame(long opline, long function, boolean last) throws NotPhp {
        ByteBuffer code = bytes(pointer(function), FUNCTION_BYTES);
        int type = code.get(0);
        if (type != INTERNAL_FUNCTION && type != USER_FUNCTION && type != EVAL_CODE) {
            throw new NotPhp("a function of type " + type);
        }
        String name = text(code.getLong(NAME));
        long scope = code.getLong(SCOPE);
        String owner = scope == 0 || name == null
                ? null
                : text(bytes(pointer(scope), 16).getLong(CLASS_NAME));
        String shown =
                name == null ? (last ? "{main}" : "{include}") : (owner == null ? "" : owner + "::") + name + "()";
        if (type == INTERNAL_FUNCTION) {
            return shown;
        }
        String file = text(code.getLong(layout.file()));
        if (file == null) {
            throw new NotPhp("code without a file");
        }
        int line = opline == 0 ? 0 : bytes(pointer(opline) + OP_LINE, 4).getInt(0);
        if (line < 0 || line > MAX_LINE) {
            throw new NotPhp("line " + line);
        }
        return shown + " at " + file + ":" + line;
    }

    /** A zend_string; null for none. */
    private @Nullable String text(long address) throws NotPhp {
        if (address == 0) {
            return null;
        }
        ByteBuffer head = bytes(pointer(address), STRING_TEXT);
        long length = head.getLong(STRING_LENGTH);
        if ((head.getInt(4) & 0xF) != IS_STRING || length < 0 || length > 1 << 20) {
            throw new NotPhp("no string at " + Long.toHexString(address));
        }
        int shown = (int) Math.min(length, MAX_TEXT_BYTES);
        String text = StandardCharsets.UTF_8
                .decode(bytes(address + STRING_TEXT, shown))
                .toString();
        // An anonymous class is named after its file, behind a NUL; so nothing is lost with it.
        int end = text.indexOf('\0');
        text = UNPRINTABLE.matcher(end < 0 ? text : text.substring(0, end)).replaceAll("?");
        return length > shown ? text + "…" : text;
    }

    /** Addresses of user space, aligned as the allocator and the compiler do. */
    private static long pointer(long address) throws NotPhp {
        if (address < 0x1000 || address >= 1L << 47 || (address & 7) != 0) {
            throw new NotPhp("no address: " + Long.toHexString(address));
        }
        return address;
    }

    private ByteBuffer bytes(long address, int count) throws NotPhp {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        try {
            while (bytes.hasRemaining()) {
                if (memory.read(bytes, address + bytes.position()) <= 0) {
                    break;
                }
            }
        } catch (IOException e) {
            // No such page: what looked like an address was none.
            throw new NotPhp("nothing at " + Long.toHexString(address));
        }
        if (bytes.hasRemaining()) {
            throw new NotPhp("the memory ends at " + Long.toHexString(address));
        }
        return bytes.flip();
    }
}
