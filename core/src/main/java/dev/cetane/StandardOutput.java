package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.log.JsonEventLog;
import dev.cetane.log.QueuedOutput;
import dev.cetane.log.TextEventLog;
import dev.cetane.worker.Ticker;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** The event log on standard output: text where that is a terminal, JSON elsewhere, unless told otherwise. */
final class StandardOutput {

    /** Most that the end of the process waits for whoever reads the log. */
    private static final Duration LAST_LINES = Duration.ofSeconds(1);

    private StandardOutput() {}

    /** The log of a process that serves: nobody who logs waits for whoever reads it. */
    static EventLog log(CetaneConfig.Log config, Map<String, String> environment) {
        QueuedOutput out = new QueuedOutput(new FileOutputStream(FileDescriptor.out));
        boolean terminal = isTerminal();
        boolean text = config.format() == CetaneConfig.Log.Format.TEXT
                || (config.format() == CetaneConfig.Log.Format.AUTO && terminal);
        boolean colour = terminal && environment.getOrDefault("NO_COLOR", "").isEmpty();
        Ticker ticker = Ticker.system();
        EventLog log = text
                ? new TextEventLog(out, config.level(), ticker::now, colour)
                : new JsonEventLog(out, config.level(), ticker::now);
        out.start(lines -> log.log(
                EventLog.Level.WARN,
                "log.lines-dropped",
                null,
                lines
                        + " lines of the log were dropped before this one: whoever reads the standard output did not keep up with it",
                "lines",
                lines));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> out.awaitWritten(LAST_LINES), "cetane-log-end"));
        return log;
    }

    /** The same on AWS Lambda, where JSON has the names that CloudWatch knows; to an output that metrics share. */
    static EventLog lambdaLog(CetaneConfig.Log config, OutputStream out) {
        Ticker ticker = Ticker.system();
        return config.format() == CetaneConfig.Log.Format.TEXT
                ? new TextEventLog(out, config.level(), ticker::now, false)
                : JsonEventLog.forLambda(out, config.level(), ticker::now);
    }

    /** Standard output for several writers of lines: each write leaves as a whole. */
    static OutputStream shared() {
        return new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1);
    }

    /** The whole trace as text, for a field of an event. */
    static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }

    /** {@code System.console()} says it too, but loads a line editor in newer JDKs. */
    static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
