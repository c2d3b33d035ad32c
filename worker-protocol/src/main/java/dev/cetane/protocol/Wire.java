package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The shapes that several frames share: the frame header, text of one byte a char, pair lists (PROTOCOL.md §2). */
final class Wire {

    private Wire() {}

    /** Writes a frame's first 12 bytes. */
    static void putHeader(ByteBuffer out, FrameType type, int flags, int length, int request) {
        out.putInt(FrameType.MAGIC << 24 | type.code() << 16 | flags)
                .putInt(length)
                .putInt(request);
    }

    /** A new buffer with the header and room for exactly the payload. */
    static ByteBuffer frame(FrameType type, int flags, long length, int request) {
        if (length > type.maxPayload()) {
            throw new FrameTooLargeException(type, length);
        }
        ByteBuffer out = ByteBuffer.allocate(FrameType.HEADER_BYTES + (int) length);
        putHeader(out, type, flags, (int) length, request);
        return out;
    }

    /** Writes each char as one byte, refuses NUL and chars above 255, returns the position behind the last. */
    static int putText(byte[] out, int position, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0 || c > 0xFF) {
                throw new IllegalArgumentException("char " + (int) c + " at index " + i + " of a text of "
                        + text.length() + " is not in 1 to 255");
            }
            out[position + i] = (byte) c;
        }
        return position + text.length();
    }

    /** A pair list with its two lengths in front. */
    static byte[] pairList(Map<String, String> pairs) {
        long namesLength = Math.max(0, pairs.size() - 1);
        long valuesLength = namesLength;
        for (Map.Entry<String, String> pair : pairs.entrySet()) {
            if (pair.getKey().isEmpty()) {
                throw new IllegalArgumentException("empty name in a pair list");
            }
            namesLength += pair.getKey().length();
            valuesLength += pair.getValue().length();
        }
        byte[] list = new byte[Math.toIntExact(8 + namesLength + valuesLength)];
        ByteBuffer.wrap(list).putInt((int) namesLength).putInt((int) valuesLength);
        int name = 8;
        int value = 8 + (int) namesLength;
        boolean first = true;
        for (Map.Entry<String, String> pair : pairs.entrySet()) {
            name = putText(list, first ? name : name + 1, pair.getKey());
            value = putText(list, first ? value : value + 1, pair.getValue());
            first = false;
        }
        return list;
    }

    /**
     * Reads the pair list that fills {@code bytes} from offset to end.
     *
     * @return null when it breaks PROTOCOL.md §2.1
     */
    static @Nullable Map<String, String> readPairList(byte[] bytes, int offset, int end, RecentStrings strings) {
        if (end - offset < 8) {
            return null;
        }
        ByteBuffer lengths = ByteBuffer.wrap(bytes, offset, 8);
        long namesLength = Integer.toUnsignedLong(lengths.getInt());
        long valuesLength = Integer.toUnsignedLong(lengths.getInt());
        if (8 + namesLength + valuesLength != end - offset) {
            return null;
        }
        if (namesLength == 0) {
            return valuesLength == 0 ? Map.of() : null;
        }
        Map<String, String> pairs = new LinkedHashMap<>();
        int name = offset + 8;
        int namesEnd = name + (int) namesLength;
        int value = namesEnd;
        while (true) {
            int nameEnd = indexOf(bytes, (byte) 0, name, namesEnd);
            int valueEnd = indexOf(bytes, (byte) 0, value, end);
            if (nameEnd == name
                    || (nameEnd == namesEnd) != (valueEnd == end)
                    || pairs.put(strings.get(bytes, name, nameEnd), strings.get(bytes, value, valueEnd)) != null) {
                return null;
            }
            if (nameEnd == namesEnd) {
                return pairs;
            }
            name = nameEnd + 1;
            value = valueEnd + 1;
        }
    }

    /** Index of the byte, {@code end} when it is not there. */
    static int indexOf(byte[] bytes, byte wanted, int from, int end) {
        int i = from;
        while (i < end && bytes[i] != wanted) {
            i++;
        }
        return i;
    }
}
