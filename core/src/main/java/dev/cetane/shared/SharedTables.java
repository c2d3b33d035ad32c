package dev.cetane.shared;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Caller;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The tables by name, and by the number that workers call them by. Guarded by its own monitor, but for {@link #table}, which every operation
 * needs and which takes no lock.
 *
 * <p>A table that a worker defines anew with other columns or limits is a new, empty table under the same name: the old one stays for the
 * workers that have it open, so that a rolling reload finds both, and is dropped when the last of them has gone. The table that a name stands
 * for now is never dropped.
 */
public final class SharedTables {
    static final int MAX_TABLES = 1_024;
    private static final int MAX_NAME_BYTES = 255;

    private final MemoryBudget budget;
    private final EventLog log;
    private final AtomicReferenceArray<@Nullable SharedTable> byNumber = new AtomicReferenceArray<>(MAX_TABLES);

    // Guarded by this.
    private final Map<String, Integer> currentByName = new HashMap<>();
    private final Map<Caller, Set<Integer>> opened = new HashMap<>();

    /**
     * No tables yet.
     *
     * @param maxBytes most bytes of all rows together
     */
    public SharedTables(long maxBytes, EventLog log) {
        budget = new MemoryBudget(maxBytes);
        this.log = log;
    }

    /** The table of that number, null when there is none. */
    @Nullable
    SharedTable table(int number) {
        return number < MAX_TABLES ? byNumber.get(number) : null;
    }

    /** Bytes of all rows. */
    public long usedBytes() {
        return budget.used();
    }

    /** The number of the table of that name and definition; makes it if there is none. */
    synchronized int open(Caller caller, String name, TableDefinition definition)
            throws TableDefinition.RefusedException {
        if (name.isEmpty() || name.length() > MAX_NAME_BYTES) {
            throw new TableDefinition.RefusedException("a table's name has 1 to " + MAX_NAME_BYTES + " bytes");
        }
        int number = find(name, definition);
        if (number < 0) {
            number = freeNumber();
            byNumber.set(number, new SharedTable(name, definition, budget));
        }
        opened.computeIfAbsent(caller, unseen -> new HashSet<>()).add(number);
        Integer before = currentByName.put(name, number);
        if (before != null && before != number) {
            log.log(
                    Level.INFO,
                    "table.redefined",
                    null,
                    "worker " + caller.workerId() + " defines the shared table '" + name
                            + "' with other columns or limits: it is empty now");
            dropUnused(before);
        }
        return number;
    }

    /** The worker has gone: tables that only it had open, and that no name stands for, go too. */
    public synchronized void left(Caller caller) {
        Set<Integer> had = opened.remove(caller);
        if (had != null) {
            had.forEach(this::dropUnused);
        }
    }

    private int find(String name, TableDefinition definition) {
        for (int number = 0; number < MAX_TABLES; number++) {
            SharedTable table = byNumber.get(number);
            if (table != null && table.name.equals(name) && table.definition.equals(definition)) {
                return number;
            }
        }
        return -1;
    }

    private int freeNumber() throws TableDefinition.RefusedException {
        for (int number = 0; number < MAX_TABLES; number++) {
            if (byNumber.get(number) == null) {
                return number;
            }
        }
        throw new TableDefinition.RefusedException("there are " + MAX_TABLES + " shared tables already");
    }

    private void dropUnused(int number) {
        SharedTable table = byNumber.get(number);
        if (table == null || currentByName.getOrDefault(table.name, -1) == number) {
            return;
        }
        for (Set<Integer> numbers : opened.values()) {
            if (numbers.contains(number)) {
                return;
            }
        }
        byNumber.set(number, null);
        table.drop();
    }
}
