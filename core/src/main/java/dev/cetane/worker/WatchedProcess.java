package dev.cetane.worker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process that is no child of this one, by its id and the time it was started, which together name one process for ever. Java tells of its end late, and
 * not of how it ended. Immutable, callable from any thread; each question reads a file of {@code /proc}.
 */
record WatchedProcess(long pid, long parent, long startTicks) {

    /** The process with that id, null when there is none or it has ended. */
    static @Nullable WatchedProcess of(long pid) {
        String text;
        try {
            text = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null;
        }
        // The name, in parentheses, may hold anything; the fields are counted from its end: state, parent, … start
        // time.
        String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ", -1);
        if (fields.length < 20 || fields[0].equals("Z") || fields[0].equals("X")) {
            return null;
        }
        return new WatchedProcess(pid, Long.parseLong(fields[1]), Long.parseLong(fields[19]));
    }

    boolean isAlive() {
        WatchedProcess now = of(pid);
        return now != null && now.startTicks == startTicks;
    }

    /** SIGTERM. */
    void terminate() {
        if (isAlive()) {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
        }
    }

    /** SIGKILL, to what it has started too. */
    void kill() {
        if (isAlive()) {
            ProcessHandle.of(pid).ifPresent(process -> {
                // Asked for first: without their parent nobody knows whose they were.
                List<ProcessHandle> descendants = process.descendants().toList();
                process.destroyForcibly();
                descendants.forEach(ProcessHandle::destroyForcibly);
            });
        }
    }

    /** Resident memory that the process does not share, bytes; 0 when unknown. */
    static long privateMemoryBytes(long pid) {
        try {
            List<String> lines = Files.readAllLines(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1);
            for (String line : lines) {
                if (line.startsWith("RssAnon:")) {
                    return Long.parseLong(line.split("\\s+", -1)[1]) * 1024;
                }
            }
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
        return 0;
    }
}
