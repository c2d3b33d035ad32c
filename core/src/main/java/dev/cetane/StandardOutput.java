package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.log.JsonEventLog;
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
import java.util.Map;

/** The event log on standard output: text where that is a terminal, JSON elsewhere, unless told otherwise. */
final class StandardOutput {
    private StandardOutput() {}

    static EventLog log(CetaneConfig.Log config, Map<String, String> environment) {
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        boolean terminal = isTerminal();
        boolean text = config.format() == CetaneConfig.Log.Format.TEXT
                || (config.format() == CetaneConfig.Log.Format.AUTO && terminal);
        boolean colour = terminal && environment.getOrDefault("NO_COLOR", "").isEmpty();
        Ticker ticker = Ticker.system();
        return text
                ? new TextEventLog(out, config.level(), ticker::now, colour)
                : new JsonEventLog(out, config.level(), ticker::now);
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
