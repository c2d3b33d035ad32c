package dev.cetane.cgi;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one request under their names in {@code $_SERVER}, each name once: the values of a repeated field are joined as HTTP
 * joins them. Not thread-safe.
 */
public final class RequestFields {
    private final List<String> fields = new ArrayList<>(64);
    /** One bit for some names each: a name whose bit is not set has not been added. */
    private final long[] addedNames = new long[8];

    private int bytes;

    /** Adds a field, or a value to one that is there; {@code name} is one of {@link FieldNames#serverName}. */
    public void add(String name, String value) {
        bytes += name.length() + value.length() + 2;
        int bit = (name.hashCode() ^ name.hashCode() >>> 9) & (Long.SIZE * addedNames.length - 1);
        if ((addedNames[bit / Long.SIZE] & 1L << bit) != 0) {
            for (int i = 0; i < fields.size(); i += 2) {
                if (fields.get(i).equals(name)) {
                    repeat(i, value);
                    return;
                }
            }
        }
        addedNames[bit / Long.SIZE] |= 1L << bit;
        fields.add(name);
        fields.add(value);
    }

    private void repeat(int index, String value) {
        String name = fields.get(index);
        // A body has one type: the first one, as for nginx.
        if (!name.equals(FieldNames.CONTENT_TYPE)) {
            String separator = name.equals(FieldNames.COOKIE) ? "; " : ", ";
            fields.set(index + 1, fields.get(index + 1) + separator + value);
        }
    }

    /** Replaces the value of a field, or adds it. */
    public void set(String name, String value) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equals(name)) {
                fields.set(i + 1, value);
                return;
            }
        }
        add(name, value);
    }

    /** Takes a field away, if it is there. */
    public void remove(String name) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equals(name)) {
                fields.subList(i, i + 2).clear();
                return;
            }
        }
    }

    /** The value of a field by its name in {@code $_SERVER}, or null. */
    public @Nullable String get(String name) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equals(name)) {
                return fields.get(i + 1);
            }
        }
        return null;
    }

    /** Names and values in turn, in the order of arrival. */
    public List<String> list() {
        return fields;
    }

    /** Bytes of all names and values that were added, and two for each. */
    public int bytes() {
        return bytes;
    }
}
