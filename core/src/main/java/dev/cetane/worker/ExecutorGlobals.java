package dev.cetane.worker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Where a PHP process has its executor_globals: among the dynamic symbols of its executable, which PHP's extensions need and so even a
 * stripped one has. Any thread. The executable is the worker's choice, so what is read of it is bounded.
 */
final class ExecutorGlobals {
    private static final String SYMBOL = "executor_globals";
    private static final int ELF_HEADER_BYTES = 64;
    private static final int SECTION_BYTES = 64;
    private static final int SYMBOL_BYTES = 24;
    private static final int MAX_SECTIONS = 1000;
    private static final int MAX_TABLE_BYTES = 16 << 20;
    private static final int MAX_MAPS_BYTES = 256 << 10;
    private static final int DYNAMIC_SYMBOLS = 11;
    private static final int POSITION_INDEPENDENT = 3;

    /**
     * What is known of an executable.
     *
     * @param file the file, as the system tells it from others
     * @param value of the symbol
     */
    private record Executable(String file, long value, boolean relocated) {}

    /** The last one that was looked at: workers run the same. */
    private static volatile @Nullable Executable known;

    private ExecutorGlobals() {}

    /**
     * Address in the process's memory.
     *
     * @throws IOException with a message for people, when it has none or may not be looked at
     */
    static long address(long pid) throws IOException {
        Path link = Path.of("/proc/" + pid + "/exe");
        try {
            String file = Files.readSymbolicLink(link) + " "
                    + Files.readAttributes(link, "unix:dev,ino,ctime").values();
            Executable executable = known;
            if (executable == null || !executable.file().equals(file)) {
                executable = look(link, file);
                known = executable;
            }
            return executable.relocated()
                    ? executable.value()
                            + base(pid, Files.readSymbolicLink(link).toString())
                    : executable.value();
        } catch (NoSuchFileException e) {
            throw new IOException("there is no process " + pid, e);
        } catch (AccessDeniedException e) {
            throw new IOException("process " + pid + " may not be looked at", e);
        }
    }

    private static Executable look(Path link, String file) throws IOException {
        try (FileChannel elf = FileChannel.open(link, StandardOpenOption.READ)) {
            ByteBuffer header = bytes(elf, 0, ELF_HEADER_BYTES);
            if (header.getInt(0) != 0x464C457F || header.get(4) != 2 || header.get(5) != 1) {
                throw new IOException(file + " is no executable of 64 bits");
            }
            long sections = header.getLong(40);
            int count = Math.min(header.getShort(60) & 0xFFFF, MAX_SECTIONS);
            for (int i = 0; i < count; i++) {
                ByteBuffer section = bytes(elf, sections + (long) i * SECTION_BYTES, SECTION_BYTES);
                if (section.getInt(4) == DYNAMIC_SYMBOLS) {
                    int linked = section.getInt(40);
                    ByteBuffer names = bytes(elf, sections + (long) linked * SECTION_BYTES, SECTION_BYTES);
                    long value = find(table(elf, section), table(elf, names));
                    if (value == 0) {
                        // There is one such section (System V ABI); a file that says otherwise is not read for long.
                        break;
                    }
                    return new Executable(file, value, header.getShort(16) == POSITION_INDEPENDENT);
                }
            }
        }
        throw new IOException(file + " has no symbol " + SYMBOL + ": it is no PHP, or one with thread safety (ZTS)");
    }

    private static ByteBuffer table(FileChannel elf, ByteBuffer section) throws IOException {
        long size = section.getLong(32);
        if (size < 0 || size > MAX_TABLE_BYTES) {
            throw new IOException("a table of " + size + " bytes");
        }
        return bytes(elf, section.getLong(24), (int) size);
    }

    /** Value of the symbol, 0 when it is not there. */
    private static long find(ByteBuffer symbols, ByteBuffer names) {
        byte[] wanted = (SYMBOL + "\0").getBytes(StandardCharsets.US_ASCII);
        for (int at = 0; at + SYMBOL_BYTES <= symbols.limit(); at += SYMBOL_BYTES) {
            int name = symbols.getInt(at);
            boolean same = name >= 0 && name <= names.limit() - wanted.length;
            for (int i = 0; same && i < wanted.length; i++) {
                same = names.get(name + i) == wanted[i];
            }
            if (same) {
                return symbols.getLong(at + 8);
            }
        }
        return 0;
    }

    /** Where the executable's first byte lies in memory. */
    private static long base(long pid, String executable) throws IOException {
        try (InputStream maps = Files.newInputStream(Path.of("/proc/" + pid + "/maps"))) {
            String text = new String(maps.readNBytes(MAX_MAPS_BYTES), StandardCharsets.UTF_8);
            for (String line : text.split("\n", -1)) {
                // 55d0c0000000-55d0c00eb000 r--p 00000000 08:01 1234   /usr/bin/php8.2
                String[] parts = line.split(" +", 6);
                if (parts.length == 6 && parts[5].equals(executable) && parts[2].matches("0+")) {
                    return Long.parseUnsignedLong(parts[0].substring(0, parts[0].indexOf('-')), 16);
                }
            }
        }
        throw new IOException("process " + pid + " has not mapped " + executable);
    }

    private static ByteBuffer bytes(FileChannel file, long position, int count) throws IOException {
        if (position < 0) {
            throw new IOException("an offset of " + position);
        }
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            if (file.read(bytes, position + bytes.position()) <= 0) {
                throw new IOException("the executable is shorter than it says");
            }
        }
        return bytes.flip();
    }
}
