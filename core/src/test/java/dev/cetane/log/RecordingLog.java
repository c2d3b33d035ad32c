package dev.cetane.log;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Keeps what is logged, for tests. Thread-safe. */
public final class RecordingLog implements EventLog {

    /** One logged event; {@code fields} are names and values in turn. */
    public record Event(Level level, String event, @Nullable String requestId, String message, List<Object> fields) {
        /** The value of that field, null when it has none. */
        public @Nullable Object field(String name) {
            int at = fields.indexOf(name);
            return at < 0 ? null : fields.get(at + 1);
        }
    }

    private record Awaited(String event, CountDownLatch seen) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();
    private final List<Awaited> awaited = new CopyOnWriteArrayList<>();

    @Override
    public boolean enabled(Level level) {
        return true;
    }

    @Override
    public void log(Level level, String event, @Nullable String requestId, String message, Object... fields) {
        events.add(new Event(level, event, requestId, message, new ArrayList<>(List.of(fields))));
        awaited.forEach(wanted -> {
            if (wanted.event().equals(event)) {
                wanted.seen().countDown();
            }
        });
    }

    /** All events so far. */
    public List<Event> events() {
        return List.copyOf(events);
    }

    /** All events of that name so far. */
    public List<Event> events(String event) {
        return events.stream().filter(logged -> logged.event().equals(event)).toList();
    }

    /** Waits until an event of that name is logged, or has been, and returns the first; fails after 10 seconds. */
    public Event await(String event) throws InterruptedException {
        Awaited wanted = new Awaited(event, new CountDownLatch(1));
        awaited.add(wanted);
        if (events(event).isEmpty() && !wanted.seen().await(10, TimeUnit.SECONDS)) {
            throw new AssertionError("no " + event + " was logged, but " + events);
        }
        return events(event).get(0);
    }
}
