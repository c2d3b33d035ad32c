package dev.cetane.tests;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Looks at processes through {@code /proc} and sends them signals. */
final class Processes {
    private Processes() {}

    /** Ids of the processes that have that text in a variable of their environment or in an argument. */
    static List<Long> mentioning(String text) {
        List<Long> found = new ArrayList<>();
        for (long pid : all()) {
            if (read(pid, "environ").contains(text) || read(pid, "cmdline").contains(text)) {
                found.add(pid);
            }
        }
        return found;
    }

    /** Empty when it has ended, or is another user's. */
    private static String read(long pid, String file) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    /** Ids of the children that have ended and that their parent has not collected. */
    static List<Long> zombiesOf(long parent) {
        List<Long> found = new ArrayList<>();
        for (long pid : all()) {
            String[] fields = stat(pid);
            if (fields.length > 1 && fields[0].equals("Z") && fields[1].equals(Long.toString(parent))) {
                found.add(pid);
            }
        }
        return found;
    }

    static boolean isRunning(long pid) {
        String[] fields = stat(pid);
        return fields.length > 0 && !fields[0].equals("Z");
    }

    /** Scheduling policy as in sched.h; 3 is SCHED_BATCH. */
    static int schedulingPolicy(long pid) {
        return Integer.parseInt(stat(pid)[38]);
    }

    static void awaitEnd(long pid) {
        await("process " + pid + " has ended").atMost(RunningCetane.PATIENCE).until(() -> !isRunning(pid));
    }

    static void signal(long pid, String name) {
        try {
            Process kill = new ProcessBuilder("kill", "-s", name, Long.toString(pid))
                    .redirectErrorStream(true)
                    .start();
            if (!kill.waitFor(30, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                String said = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                throw new AssertionError("SIG" + name + " could not be sent to " + pid + ": " + said);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    static void killAll(List<Long> pids) {
        pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    }

    /** State, parent and what follows them in {@code /proc/PID/stat}; nothing when it has ended. */
    private static String[] stat(long pid) {
        try {
            String text = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
            return text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
        } catch (IOException e) {
            return new String[0];
        }
    }

    private static List<Long> all() {
        try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.matches("[0-9]+"))
                    .map(Long::valueOf)
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
