package dev.cetane.worker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process that is no child of this one, by its id and the time it was started, which together name one process for ever. Java tells of its end late, and
 * not of how it ended. Immutable, callable from any thread; each question reads a file of {@code /proc}, proc_pid_stat(5).
 */
record WatchedProcess(long pid, long parent, long startTicks) {
    // Fields of stat, counted from the end of the name, which is in parentheses and may hold anything.
    private static final int STATE = 0;
    private static final int PARENT = 1;
    private static final int FLAGS = 6;
    private static final int START_TIME = 19;
    private static final int EXIT_CODE = 49;
    private static final int FIELDS = 50;

    /** Of the flags: the process is ending, include/linux/sched.h. */
    private static final long PF_EXITING = 4;

    /** The process with that id, null when there is none or it has ended. */
    static @Nullable WatchedProcess of(long pid) {
        String[] fields = stat(pid);
        if (fields == null || fields[STATE].equals("Z") || fields[STATE].equals("X")) {
            return null;
        }
        return new WatchedProcess(pid, Long.parseLong(fields[PARENT]), Long.parseLong(fields[START_TIME]));
    }

    private static String @Nullable [] stat(long pid) {
        try {
            String text = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ", -1);
            return fields.length < FIELDS ? null : fields;
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * The number of the signal that ends it. Known from when its files are closed until its parent has taken note of its end, which may be moments.
     *
     * @return 0 when it is not known, or there is none
     */
    int endingSignal() {
        String[] fields = stat(pid);
        if (fields == null
                || Long.parseLong(fields[START_TIME]) != startTicks
                || (Long.parseLong(fields[FLAGS]) & PF_EXITING) == 0) {
            return 0;
        }
        // As wait(2) tells it.
        return Integer.parseInt(fields[EXIT_CODE]) & 0x7F;
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
