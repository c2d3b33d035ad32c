package dev.cetane.log;

import org.jspecify.annotations.Nullable;

/**
 * Writes one line an event: text for a terminal, JSON elsewhere. Thread-safe; a call formats on the caller's thread and waits no
 * longer than its output does: not at all for a {@link QueuedOutput}. Control characters in messages and values are escaped, so no event can forge a line.
 */
public interface EventLog {

    /** Severity of an event. */
    enum Level {
        DEBUG,
        INFO,
        WARN,
        ERROR
    }

    boolean enabled(Level level);

    /**
     * Logs one event.
     *
     * @param event short stable name, e.g. {@code worker.stopped}
     * @param requestId id of the request it belongs to, or null
     * @param message one sentence for people
     * @param fields names and values in turn; values are text, numbers or booleans
     */
    void log(Level level, String event, @Nullable String requestId, String message, Object... fields);
}
