package dev.cetane.shared;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A table's columns and limits, and the layout of its rows, PROTOCOL.md §9.2. Immutable.
 *
 * <p>A row is one array of bytes, as it is on the wire: for each column eight bytes (an integer, or an IEEE 754 binary64), or the four of a
 * text's length; then the texts.
 *
 * @param maxRows most rows
 * @param evicts whether a full table gives up the row that was not used for the longest time
 * @param expiryColumn index of the integer column that says from when on the row is no longer there, in seconds since
 *     1970-01-01T00:00Z; {@link #NO_EXPIRY}: rows stay
 */
record TableDefinition(int maxRows, boolean evicts, int expiryColumn, List<Column> columns) {
    static final int MAX_ROWS = 10_000_000;
    static final int MAX_COLUMNS = 32;
    static final int MAX_TEXT_BYTES = 4 << 20;
    static final int MAX_COLUMN_NAME_BYTES = 63;
    static final int NO_EXPIRY = 0xFF;

    enum Type {
        INTEGER,
        FLOAT,
        TEXT
    }

    /**
     * One column.
     *
     * @param maxBytes longest text; 0 for the other types
     */
    record Column(String name, Type type, int maxBytes) {}

    /** What is wrong with a definition, or does not fit the limits; for people. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message, null, false, false);
        }
    }

    TableDefinition {
        columns = List.copyOf(columns);
    }

    /** Makes a definition that is within the limits. */
    static TableDefinition checked(long maxRows, boolean evicts, int expiryColumn, List<Column> columns)
            throws RefusedException {
        if (maxRows < 1 || maxRows > MAX_ROWS) {
            throw new RefusedException("a table has 1 to " + MAX_ROWS + " rows, not " + maxRows);
        }
        if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
            throw new RefusedException("a table has 1 to " + MAX_COLUMNS + " columns, not " + columns.size());
        }
        Set<String> names = new HashSet<>();
        for (Column column : columns) {
            int length = column.name().length();
            if (length == 0 || length > MAX_COLUMN_NAME_BYTES || !names.add(column.name())) {
                throw new RefusedException("a column's name is empty, longer than " + MAX_COLUMN_NAME_BYTES
                        + " bytes, or there twice: '" + column.name() + "'");
            }
            if (column.type() == Type.TEXT && (column.maxBytes() < 1 || column.maxBytes() > MAX_TEXT_BYTES)) {
                throw new RefusedException("a text has 1 to " + MAX_TEXT_BYTES + " bytes, column " + column.name()
                        + " wants " + Integer.toUnsignedString(column.maxBytes()));
            }
        }
        boolean expires = expiryColumn != NO_EXPIRY;
        if (expires
                && (expiryColumn >= columns.size() || columns.get(expiryColumn).type() != Type.INTEGER)) {
            throw new RefusedException("the column of the expiry is no integer column");
        }
        return new TableDefinition((int) maxRows, evicts, expiryColumn, new ArrayList<>(columns));
    }

    /** Bits of all columns. */
    int allColumns() {
        return columns.size() == MAX_COLUMNS ? -1 : (1 << columns.size()) - 1;
    }

    int fixedBytes() {
        return offset(columns.size());
    }

    /** Where a column's eight or four bytes are. */
    int offset(int column) {
        int offset = 0;
        for (int i = 0; i < column; i++) {
            offset += columns.get(i).type() == Type.TEXT ? Integer.BYTES : Long.BYTES;
        }
        return offset;
    }

    /** A row of zeros and empty texts. */
    byte[] emptyRow() {
        return new byte[fixedBytes()];
    }

    /** When the row is no longer there, seconds; the largest number where rows stay. */
    long expiry(byte[] row) {
        return expiryColumn == NO_EXPIRY ? Long.MAX_VALUE : ByteBuffer.wrap(row).getLong(offset(expiryColumn));
    }
}
