package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.ops.Operator;
import java.util.SortedSet;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/** Reloads the workers when source code has changed, one reload at a time. On the watcher's thread, which waits for the reload's end. */
final class ReloadOnChange implements Consumer<SortedSet<String>> {
    /** The others are counted. */
    private static final int NAMES_SHOWN = 3;

    private final Operator operator;
    private final EventLog log;

    ReloadOnChange(Operator operator, EventLog log) {
        this.operator = operator;
        this.log = log;
    }

    @Override
    public void accept(SortedSet<String> changed) {
        log.log(Level.INFO, "watch.changed", null, describe(changed) + " changed: reloading");
        try {
            operator.reload().get();
        } catch (ExecutionException e) {
            // The pool has said why, and that the old version goes on serving; the next change tries again.
            log.log(Level.DEBUG, "watch.reload-failed", null, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String describe(SortedSet<String> changed) {
        if (changed.isEmpty()) {
            return "Files that could not be followed one by one have";
        }
        String shown = String.join(", ", changed.stream().limit(NAMES_SHOWN).toList());
        int others = changed.size() - NAMES_SHOWN;
        return others > 0
                ? shown + " and " + others + " more files have"
                : shown + (changed.size() == 1 ? " has" : " have");
    }
}
