package dev.cetane.shared;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.shared.TableDefinition.Column;
import dev.cetane.shared.TableDefinition.RefusedException;
import dev.cetane.worker.Caller;
import dev.cetane.worker.Ticker;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes the calls on tables apart, PROTOCOL.md §9.2, does what they say and replies, all on the reader thread of the worker that calls.
 * Stateless but for the tables.
 */
public final class TableCalls {
    /** Operations from here to {@link #LAST} are for tables. */
    public static final int FIRST = 0x10;

    public static final int LAST = 0x1F;

    private static final int OPEN = 0x10;
    private static final int GET = 0x11;
    private static final int SET = 0x12;
    private static final int DELETE = 0x13;
    private static final int EXISTS = 0x14;
    private static final int ADD = 0x15;
    private static final int COUNT = 0x16;
    private static final int SCAN = 0x17;
    private static final int CLEAR = 0x18;
    private static final int BATCH = 0x1F;

    private static final int MAX_KEY_BYTES = 1024;
    private static final int SCAN_BYTES = 48 * 1024;

    /** What a batch may bring; operations beyond are refused. */
    private static final int MAX_BATCH_REPLY_BYTES = 8 << 20;

    private enum Status {
        DONE(0),
        ABSENT(1),
        CONFLICT(2),
        FULL(3),
        TOO_LONG(4),
        REFUSED(5);

        final byte code;

        Status(int code) {
            this.code = (byte) code;
        }
    }

    private final SharedTables tables;
    private final Ticker ticker;

    public TableCalls(SharedTables tables, Ticker ticker) {
        this.tables = tables;
        this.ticker = ticker;
    }

    /**
     * Answers one call, whose first byte is one of the operations for tables.
     *
     * @throws MalformedCallException when it does not fit its layout
     */
    public void call(Caller caller, ByteBuffer call) {
        ReplyBuffer out = new ReplyBuffer(caller);
        try {
            int operation = call.get();
            if (operation == BATCH) {
                batch(caller, call, out);
            } else {
                run(caller, operation, call, out);
            }
        } catch (BufferUnderflowException e) {
            throw new MalformedCallException("a call on a table ends before its last field");
        }
        out.send();
    }

    private void batch(Caller caller, ByteBuffer in, ReplyBuffer out) {
        status(out, Status.DONE);
        while (in.hasRemaining()) {
            int length = in.getInt();
            if (length < 1 || length > in.remaining()) {
                throw new MalformedCallException("an operation of a batch has " + Integer.toUnsignedString(length)
                        + " bytes, " + in.remaining() + " are left");
            }
            int at = out.size();
            out.room(Integer.BYTES).putInt(0);
            int end = in.position() + length;
            int limit = in.limit();
            in.limit(end);
            if (at > MAX_BATCH_REPLY_BYTES) {
                refuse(out, "the reply to the batch is longer than " + MAX_BATCH_REPLY_BYTES + " bytes");
            } else {
                run(caller, in.get(), in, out);
            }
            in.limit(limit).position(end);
            out.setInt(at, out.size() - at - Integer.BYTES);
        }
    }

    private void run(Caller caller, int operation, ByteBuffer in, ReplyBuffer out) {
        if (operation == OPEN) {
            open(caller, in, out);
            return;
        }
        int number = in.getShort() & 0xFFFF;
        SharedTable table = tables.table(number);
        if (table == null) {
            throw new MalformedCallException("there is no table " + number);
        }
        switch (operation) {
            case GET -> {
                String key = key(in, in.remaining());
                int at = out.size();
                status(out, Status.DONE);
                if (!table.get(key, now(table), out)) {
                    out.setByte(at, Status.ABSENT.code);
                }
            }
            case SET -> set(table, in, out);
            case DELETE -> found(out, table.delete(key(in, in.remaining()), now(table)));
            case EXISTS -> found(out, table.exists(key(in, in.remaining()), now(table)));
            case ADD -> add(table, in, out);
            case COUNT -> {
                status(out, Status.DONE);
                out.room(Integer.BYTES + Long.BYTES).putInt(table.count()).putLong(table.bytes());
            }
            case SCAN -> {
                int cursor = in.getInt();
                if (cursor < 0) {
                    throw new MalformedCallException("a scan begins at " + Integer.toUnsignedString(cursor));
                }
                status(out, Status.DONE);
                int at = out.size();
                out.room(Integer.BYTES).putInt(0);
                out.setInt(at, table.scan(cursor, SCAN_BYTES, now(table), out));
            }
            case CLEAR -> {
                table.clear();
                status(out, Status.DONE);
            }
            default -> throw new MalformedCallException("there is no operation " + operation + " on tables");
        }
    }

    private void open(Caller caller, ByteBuffer in, ReplyBuffer out) {
        int options = in.get() & 0xFF;
        int expiry = in.get() & 0xFF;
        long rows = Integer.toUnsignedLong(in.getInt());
        int count = in.get() & 0xFF;
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TableDefinition.Type type = type(in.get());
            int size = in.getInt();
            columns.add(new Column(Keys.take(in, in.get() & 0xFF), type, type == TableDefinition.Type.TEXT ? size : 0));
        }
        if (options > 1) {
            throw new MalformedCallException("the options of a table are " + options);
        }
        String name = Keys.take(in, in.remaining());
        try {
            int number = tables.open(caller, name, TableDefinition.checked(rows, options == 1, expiry, columns));
            status(out, Status.DONE);
            out.room(Short.BYTES).putShort((short) number);
        } catch (RefusedException e) {
            refuse(out, "The shared table '" + name + "' cannot be had: " + e.getMessage());
        }
    }

    private static TableDefinition.Type type(int code) {
        return switch (code) {
            case 1 -> TableDefinition.Type.INTEGER;
            case 2 -> TableDefinition.Type.FLOAT;
            case 3 -> TableDefinition.Type.TEXT;
            default -> throw new MalformedCallException("there is no type " + code + " of a column");
        };
    }

    private void set(SharedTable table, ByteBuffer in, ReplyBuffer out) {
        SetCondition condition = condition(in.get() & 0xFF);
        int version = in.getInt();
        int mask = in.getInt();
        String key = key(in, in.getShort() & 0xFFFF);
        RowEdit edit = new RowEdit(table.definition, mask, in);
        if (edit.tooLong >= 0) {
            status(out, Status.TOO_LONG);
            out.room(1).put((byte) edit.tooLong);
            return;
        }
        outcome(out, table.set(key, condition, version, edit, now(table)));
    }

    private static SetCondition condition(int code) {
        SetCondition condition = SetCondition.of(code);
        if (condition == null) {
            throw new MalformedCallException("there is no condition " + code + " of a SET");
        }
        return condition;
    }

    private void add(SharedTable table, ByteBuffer in, ReplyBuffer out) {
        int column = in.get() & 0xFF;
        long operand = in.getLong();
        if (column >= table.definition.columns().size()
                || table.definition.columns().get(column).type() == TableDefinition.Type.TEXT) {
            throw new MalformedCallException("column " + column + " of table '" + table.name + "' is no number");
        }
        long[] result = new long[1];
        SharedTable.Outcome outcome = table.add(key(in, in.remaining()), column, operand, now(table), result);
        outcome(out, outcome);
        if (outcome == SharedTable.Outcome.DONE) {
            out.room(Long.BYTES).putLong(result[0]);
        }
    }

    private static String key(ByteBuffer in, int length) {
        if (length > MAX_KEY_BYTES || length > in.remaining()) {
            throw new MalformedCallException("a key has " + length + " bytes, at most " + MAX_KEY_BYTES
                    + " are allowed and " + in.remaining() + " are there");
        }
        return Keys.take(in, length);
    }

    /** Seconds since 1970; only a table whose rows expire wants to know. */
    private long now(SharedTable table) {
        return table.definition.expiryColumn() == TableDefinition.NO_EXPIRY
                ? Long.MIN_VALUE
                : (long) ticker.epochSeconds();
    }

    private static void outcome(ReplyBuffer out, SharedTable.Outcome outcome) {
        status(
                out,
                switch (outcome) {
                    case DONE -> Status.DONE;
                    case CONFLICT -> Status.CONFLICT;
                    case FULL -> Status.FULL;
                });
    }

    private static void found(ReplyBuffer out, boolean found) {
        status(out, found ? Status.DONE : Status.ABSENT);
    }

    private static void status(ReplyBuffer out, Status status) {
        out.room(1).put(status.code);
    }

    private static void refuse(ReplyBuffer out, @Nullable String message) {
        byte[] text = String.valueOf(message).getBytes(StandardCharsets.UTF_8);
        status(out, Status.REFUSED);
        out.room(text.length).put(text);
    }
}
