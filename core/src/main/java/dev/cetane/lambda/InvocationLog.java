package dev.cetane.lambda;

import dev.cetane.log.EventLog;
import org.jspecify.annotations.Nullable;

/**
 * Gives each line the id of the invocation that runs. Where several run at once, only lines that belong to one of them have an id.
 * Thread-safe.
 */
public final class InvocationLog implements EventLog {
    private final EventLog log;
    private final boolean alone;
    private volatile @Nullable String running;

    /** @param alone whether one invocation runs at a time */
    public InvocationLog(EventLog log, boolean alone) {
        this.log = log;
        this.alone = alone;
    }

    /** What is logged from now on belongs to this invocation, and to none with null. */
    void running(@Nullable String requestId) {
        if (alone) {
            running = requestId;
        }
    }

    @Override
    public boolean enabled(Level level) {
        return log.enabled(level);
    }

    @Override
    public void log(Level level, String event, @Nullable String requestId, String message, Object... fields) {
        log.log(level, event, requestId == null ? running : requestId, message, fields);
    }
}
