package dev.cetane.shared;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One table: rows by key, in slots that a scan walks through. Guarded by its own monitor, held for one operation on one row at a time; nothing
 * in it blocks.
 *
 * <p>Capacity: a new row beyond the definition's rows, or beyond the {@link MemoryBudget} of all tables, makes an evicting table give up its
 * least recently used row, and is refused by any other. A row whose time has come is no longer there; it is removed when somebody looks for it,
 * and all of them are once a second at most when a row finds no room.
 */
final class SharedTable {
    /** What a row costs beside its key and its values: the entry of the map, the objects and the headers of arrays. */
    static final int ROW_OVERHEAD_BYTES = 160;

    /** The cursor at the end of a scan. */
    static final int NO_CURSOR = -1;

    enum Outcome {
        DONE,
        /** The row that the condition names is not there, or has changed. */
        CONFLICT,
        FULL
    }

    private static final class Row {
        final String key;
        byte[] values;
        int version;
        int slot;

        /** Neighbours in the order of use; only in an evicting table. */
        @Nullable
        Row newer;

        @Nullable
        Row older;

        Row(String key, byte[] values) {
            this.key = key;
            this.values = values;
        }

        long cost() {
            return (long) ROW_OVERHEAD_BYTES + key.length() + values.length;
        }
    }

    final String name;
    final TableDefinition definition;
    private final MemoryBudget budget;

    // Guarded by this.
    private final Map<String, Row> rows = new HashMap<>();
    private @Nullable Row[] slots = new @Nullable Row[16];
    private int[] freeSlots = new int[16];
    private int freeCount;
    private int slotCount;
    private @Nullable Row newest;
    private @Nullable Row oldest;
    private int lastVersion;
    private long bytes;
    private long purgedAt = Long.MIN_VALUE;
    private boolean dropped;

    SharedTable(String name, TableDefinition definition, MemoryBudget budget) {
        this.name = name;
        this.definition = definition;
        this.budget = budget;
    }

    /** Appends the row's version and values; false when there is no such row. */
    synchronized boolean get(String key, long nowSeconds, ReplyBuffer out) {
        Row row = live(key, nowSeconds);
        if (row == null) {
            return false;
        }
        touch(row);
        out.room(Integer.BYTES + row.values.length).putInt(row.version).put(row.values);
        return true;
    }

    synchronized boolean exists(String key, long nowSeconds) {
        return live(key, nowSeconds) != null;
    }

    /**
     * Changes a row, or makes it.
     *
     * @param condition {@link SetCondition}
     * @param version what {@code IF_VERSION} wants
     */
    synchronized Outcome set(String key, SetCondition condition, int version, RowEdit edit, long nowSeconds) {
        Row row = live(key, nowSeconds);
        boolean holds = switch (condition) {
            case ALWAYS -> true;
            case IF_ABSENT -> row == null;
            case IF_VERSION -> row != null && row.version == version;
        };
        if (!holds) {
            return Outcome.CONFLICT;
        }
        byte[] values = edit.applyTo(row == null ? definition.emptyRow() : row.values);
        return store(key, row, values, nowSeconds) ? Outcome.DONE : Outcome.FULL;
    }

    /**
     * Adds to a number; a row that is not there is made of zeros before. Integers wrap around.
     *
     * @param operand a long, or the bits of a double, as the column is
     * @param result takes the new number likewise
     */
    synchronized Outcome add(String key, int column, long operand, long nowSeconds, long[] result) {
        Row row = live(key, nowSeconds);
        byte[] values = row == null ? definition.emptyRow() : row.values;
        ByteBuffer view = ByteBuffer.wrap(values);
        int offset = definition.offset(column);
        long before = view.getLong(offset);
        long after = definition.columns().get(column).type() == TableDefinition.Type.INTEGER
                ? before + operand
                : Double.doubleToRawLongBits(Double.longBitsToDouble(before) + Double.longBitsToDouble(operand));
        view.putLong(offset, after);
        result[0] = after;
        if (row == null) {
            return store(key, null, values, nowSeconds) ? Outcome.DONE : Outcome.FULL;
        }
        row.version = ++lastVersion;
        touch(row);
        return Outcome.DONE;
    }

    synchronized boolean delete(String key, long nowSeconds) {
        Row row = live(key, nowSeconds);
        if (row == null) {
            return false;
        }
        remove(row);
        return true;
    }

    synchronized void clear() {
        budget.give(bytes);
        bytes = 0;
        rows.clear();
        slots = new @Nullable Row[16];
        freeSlots = new int[16];
        freeCount = 0;
        slotCount = 0;
        newest = null;
        oldest = null;
    }

    /** Rows that are there, those included whose time has come unnoticed. */
    synchronized int count() {
        return rows.size();
    }

    synchronized long bytes() {
        return bytes;
    }

    /**
     * Appends rows from the cursor on, at least one if there is one, until the piece is full. A row that is there throughout a scan is seen
     * exactly once; one that comes or goes meanwhile may be.
     *
     * @return where to go on, {@link #NO_CURSOR} at the end
     */
    synchronized int scan(int cursor, int pieceBytes, long nowSeconds, ReplyBuffer out) {
        int taken = 0;
        for (int slot = cursor; slot < slotCount; slot++) {
            Row row = slots[slot];
            if (row == null || definition.expiry(row.values) <= nowSeconds) {
                continue;
            }
            int length = Short.BYTES + Integer.BYTES + row.key.length() + row.values.length;
            if (taken > 0 && taken + length > pieceBytes) {
                return slot;
            }
            taken += length;
            ByteBuffer to = out.room(length);
            to.putShort((short) row.key.length()).putInt(row.values.length);
            to.put(Keys.toBytes(row.key)).put(row.values);
        }
        return NO_CURSOR;
    }

    /** Gives up all rows for ever: nobody can reach the table any more, but for calls that are at it now. */
    synchronized void drop() {
        clear();
        dropped = true;
    }

    private @Nullable Row live(String key, long nowSeconds) {
        Row row = rows.get(key);
        if (row != null && definition.expiry(row.values) <= nowSeconds) {
            remove(row);
            return null;
        }
        return row;
    }

    private boolean store(String key, @Nullable Row present, byte[] values, long nowSeconds) {
        if (dropped || (long) ROW_OVERHEAD_BYTES + key.length() + values.length > budget.limit()) {
            return false;
        }
        if (present == null && rows.size() >= definition.maxRows()) {
            purge(nowSeconds);
            if (rows.size() >= definition.maxRows() && !evict(null)) {
                return false;
            }
        }
        Row row = present == null ? new Row(key, values) : present;
        long more = present == null ? row.cost() : (long) values.length - present.values.length;
        while (!budget.take(more)) {
            if (!purge(nowSeconds) && !evict(present)) {
                return false;
            }
        }
        bytes += more;
        row.values = values;
        row.version = ++lastVersion;
        if (present == null) {
            rows.put(key, row);
            occupySlot(row);
        }
        touch(row);
        return true;
    }

    /** Removes what has expired, unless that was done this second; whether it found anything. */
    private boolean purge(long nowSeconds) {
        if (definition.expiryColumn() == TableDefinition.NO_EXPIRY || purgedAt == nowSeconds) {
            return false;
        }
        purgedAt = nowSeconds;
        int before = rows.size();
        for (int slot = 0; slot < slotCount; slot++) {
            Row row = slots[slot];
            if (row != null && definition.expiry(row.values) <= nowSeconds) {
                remove(row);
            }
        }
        return rows.size() < before;
    }

    /** Gives up the least recently used row but this one; false when there is none, or the table does not evict. */
    private boolean evict(@Nullable Row kept) {
        Row victim = oldest;
        if (victim != null && victim.equals(kept)) {
            victim = victim.newer;
        }
        if (victim == null) {
            return false;
        }
        remove(victim);
        return true;
    }

    private void remove(Row row) {
        rows.remove(row.key);
        slots[row.slot] = null;
        if (freeCount == freeSlots.length) {
            freeSlots = Arrays.copyOf(freeSlots, 2 * freeCount);
        }
        freeSlots[freeCount++] = row.slot;
        unlink(row);
        bytes -= row.cost();
        budget.give(row.cost());
    }

    private void occupySlot(Row row) {
        if (freeCount > 0) {
            row.slot = freeSlots[--freeCount];
        } else {
            if (slotCount == slots.length) {
                slots = Arrays.copyOf(slots, 2 * slotCount);
            }
            row.slot = slotCount++;
        }
        slots[row.slot] = row;
    }

    /** The row was used just now. */
    private void touch(Row row) {
        if (!definition.evicts() || row.equals(newest)) {
            return;
        }
        unlink(row);
        row.older = newest;
        if (newest != null) {
            newest.newer = row;
        }
        newest = row;
        if (oldest == null) {
            oldest = row;
        }
    }

    private void unlink(Row row) {
        if (row.newer != null) {
            row.newer.older = row.older;
        } else if (row.equals(newest)) {
            newest = row.older;
        }
        if (row.older != null) {
            row.older.newer = row.newer;
        } else if (row.equals(oldest)) {
            oldest = row.newer;
        }
        row.newer = null;
        row.older = null;
    }
}
