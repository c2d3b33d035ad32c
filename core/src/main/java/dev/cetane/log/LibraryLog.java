package dev.cetane.log;

import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Takes the warnings and errors of the libraries (Netty, Micrometer), which log to {@code java.util.logging} where nothing else is
 * there, to the event log. Any thread.
 */
public final class LibraryLog extends Handler {

    private final EventLog log;

    private LibraryLog(EventLog log) {
        this.log = log;
        setLevel(java.util.logging.Level.WARNING);
    }

    /** From now on all of them go to that log, and nowhere else. To be called before a library is used. */
    public static void routeTo(EventLog log) {
        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.setLevel(java.util.logging.Level.WARNING);
        root.addHandler(new LibraryLog(log));
    }

    @Override
    public void publish(LogRecord entry) {
        if (!isLoggable(entry)) {
            return;
        }
        boolean severe = entry.getLevel().intValue() >= java.util.logging.Level.SEVERE.intValue();
        String name = entry.getLoggerName() == null ? "" : entry.getLoggerName();
        Throwable thrown = entry.getThrown();
        log.log(
                severe ? EventLog.Level.ERROR : EventLog.Level.WARN,
                "library",
                null,
                String.valueOf(entry.getMessage()) + (thrown == null ? "" : ": " + thrown),
                "logger",
                name);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
