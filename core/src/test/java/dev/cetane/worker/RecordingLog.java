package dev.cetane.worker;

import dev.cetane.log.EventLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** Keeps every event, and lets a test wait for one. Thread-safe. */
final class RecordingLog implements EventLog {
    record Event(Level level, String name, String requestId, String message, List<Object> fields) {
        Object field(String name) {
            int at = fields.indexOf(name);
            return at < 0 ? null : fields.get(at + 1);
        }
    }

    private final boolean prints;
    private final List<Event> events = new ArrayList<>();

    RecordingLog() {
        this(true);
    }

    /**
     * A log.
     *
     * @param prints whether the events go to standard output too
     */
    RecordingLog(boolean prints) {
        this.prints = prints;
    }

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public synchronized void log(Level level, String event, String requestId, String message, Object... fields) {
        events.add(new Event(level, event, requestId, message, List.of(fields)));
        if (prints) {
            System.out.println(level + " " + event + " [" + requestId + "] " + message + " " + List.of(fields));
        }
        notifyAll();
    }

    synchronized List<Event> events(String name) {
        return events.stream().filter(event -> event.name().equals(name)).toList();
    }

    /** Waits until an event of this name fits. */
    synchronized Event await(String name, Predicate<Event> fits) {
        Await.until(this, () -> events(name).stream().anyMatch(fits), "event " + name);
        return events(name).stream().filter(fits).findFirst().orElseThrow();
    }

    Event await(String name) {
        return await(name, Objects::nonNull);
    }
}
