package dev.cetane.worker;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Signals to a whole process group, which Java has no call for. Waits for a command, so: maintenance thread. */
final class ProcessGroup {
    private static final long TOOL_SECONDS = 5;

    private ProcessGroup() {}

    /**
     * Sends the signal to all processes of the group.
     *
     * @param leader process id of the group's leader
     * @param signal without {@code SIG}
     * @return false when there is no such group, as where {@code setsid} is missing
     */
    static boolean signal(long leader, String signal) throws IOException {
        try {
            Process kill = new ProcessBuilder(
                            "/bin/sh", "-c", "kill -s \"$0\" -- \"-$1\"", signal, Long.toString(leader))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return kill.waitFor(TOOL_SECONDS, TimeUnit.SECONDS) && kill.exitValue() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
