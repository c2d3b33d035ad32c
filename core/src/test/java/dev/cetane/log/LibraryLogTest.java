package dev.cetane.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class LibraryLogTest {

    private final Logger root = Logger.getLogger("");
    private final RecordingLog log = new RecordingLog();
    private Level level;
    private Handler[] handlers;

    @BeforeEach
    void keep() {
        level = root.getLevel();
        handlers = root.getHandlers();
        LibraryLog.routeTo(log);
    }

    @AfterEach
    void putBack() {
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        for (Handler handler : handlers) {
            root.addHandler(handler);
        }
        root.setLevel(level);
    }

    @Test
    void warningsAndErrorsOfALibraryBecomeEvents() {
        Logger library = Logger.getLogger("io.netty.Something");

        library.info("chatter");
        library.warning("careful");
        library.log(Level.SEVERE, "broken", new IllegalStateException("why"));

        assertThat(log.events())
                .extracting(RecordingLog.Event::level, RecordingLog.Event::event, RecordingLog.Event::message)
                .containsExactly(
                        tuple(EventLog.Level.WARN, "library", "careful"),
                        tuple(EventLog.Level.ERROR, "library", "broken: java.lang.IllegalStateException: why"));
        assertThat(log.events().get(0).field("logger")).isEqualTo("io.netty.Something");
    }
}
