package dev.cetane.lambda;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the CPU calls itself: environments of one function run on several kinds, and not equally fast. */
public final class CpuModel {
    private CpuModel() {}

    /** The model's name; {@code unknown} where the kernel does not tell. Reads a file. */
    public static String read() {
        try {
            return of(Files.readString(Path.of("/proc/cpuinfo"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return "unknown";
        }
    }

    static String of(String cpuinfo) {
        String name = value(cpuinfo, "model name");
        if (!name.isEmpty()) {
            return name;
        }
        // ARM gives numbers; these are the cores that Lambda runs on.
        return switch (value(cpuinfo, "CPU part")) {
            case "" -> "unknown";
            case "0xd0c" -> "Neoverse-N1 (Graviton2)";
            case "0xd40" -> "Neoverse-V1 (Graviton3)";
            case "0xd4f" -> "Neoverse-V2 (Graviton4)";
            default -> "ARM " + value(cpuinfo, "CPU implementer") + "/" + value(cpuinfo, "CPU part");
        };
    }

    private static String value(String cpuinfo, String name) {
        int at = cpuinfo.indexOf(name);
        int colon = at < 0 ? -1 : cpuinfo.indexOf(':', at);
        int end = colon < 0 ? -1 : cpuinfo.indexOf('\n', colon);
        return colon < 0
                ? ""
                : cpuinfo.substring(colon + 1, end < 0 ? cpuinfo.length() : end).strip();
    }
}
