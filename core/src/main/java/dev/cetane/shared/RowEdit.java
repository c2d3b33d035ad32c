package dev.cetane.shared;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.shared.TableDefinition.Column;
import java.nio.ByteBuffer;

/** The values of some columns of a row, as a SET brings them. Taken apart and checked before any table is touched. Immutable. */
final class RowEdit {
    private final TableDefinition definition;
    private final int mask;
    private final byte[] values;

    /** Index of the column whose text is too long, -1 when none is. */
    final int tooLong;

    /**
     * Takes all that the buffer has.
     *
     * @param mask bit n: column n has a value
     */
    RowEdit(TableDefinition definition, int mask, ByteBuffer in) {
        this.definition = definition;
        this.mask = mask;
        if ((mask & ~definition.allColumns()) != 0) {
            throw new MalformedCallException("a SET names a column that the table does not have");
        }
        values = new byte[in.remaining()];
        in.get(values);
        ByteBuffer view = ByteBuffer.wrap(values);
        long expected = 0;
        int offset = 0;
        int longest = -1;
        for (int i = 0; i < definition.columns().size(); i++) {
            if ((mask & 1 << i) == 0) {
                continue;
            }
            Column column = definition.columns().get(i);
            int bytes = column.type() == TableDefinition.Type.TEXT ? Integer.BYTES : Long.BYTES;
            if (offset + bytes > values.length) {
                throw new MalformedCallException("a SET ends before its last column");
            }
            if (column.type() == TableDefinition.Type.TEXT) {
                long length = Integer.toUnsignedLong(view.getInt(offset));
                expected += length;
                if (length > column.maxBytes() && longest < 0) {
                    longest = i;
                }
            }
            offset += bytes;
        }
        if (offset + expected != values.length) {
            throw new MalformedCallException(
                    "the values of a SET have " + values.length + " bytes, its lengths say " + (offset + expected));
        }
        tooLong = longest;
    }

    /** The row after the edit; columns without a new value keep that of the row before. */
    byte[] applyTo(byte[] before) {
        if (mask == definition.allColumns()) {
            return values;
        }
        int columns = definition.columns().size();
        byte[][] sources = new byte[columns][];
        int[] fixed = new int[columns];
        int[] text = new int[columns];
        int editFixed = 0;
        int editText = 0;
        int rowText = definition.fixedBytes();
        for (int i = 0; i < columns; i++) {
            editText += (mask & 1 << i) == 0 ? 0 : width(i);
        }
        int length = definition.fixedBytes();
        for (int i = 0; i < columns; i++) {
            boolean isText = definition.columns().get(i).type() == TableDefinition.Type.TEXT;
            boolean edited = (mask & 1 << i) != 0;
            int rowFixed = definition.offset(i);
            sources[i] = edited ? values : before;
            fixed[i] = edited ? editFixed : rowFixed;
            text[i] = edited ? editText : rowText;
            if (isText) {
                length += ByteBuffer.wrap(sources[i]).getInt(fixed[i]);
                rowText += ByteBuffer.wrap(before).getInt(rowFixed);
                editText += edited ? ByteBuffer.wrap(values).getInt(editFixed) : 0;
            }
            editFixed += edited ? width(i) : 0;
        }
        ByteBuffer row = ByteBuffer.allocate(length);
        for (int i = 0; i < columns; i++) {
            row.put(sources[i], fixed[i], width(i));
        }
        for (int i = 0; i < columns; i++) {
            if (definition.columns().get(i).type() == TableDefinition.Type.TEXT) {
                row.put(sources[i], text[i], ByteBuffer.wrap(sources[i]).getInt(fixed[i]));
            }
        }
        return row.array();
    }

    private int width(int column) {
        return definition.columns().get(column).type() == TableDefinition.Type.TEXT ? Integer.BYTES : Long.BYTES;
    }
}
