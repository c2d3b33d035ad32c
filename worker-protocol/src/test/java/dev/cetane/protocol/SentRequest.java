package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A REQUEST frame as a worker reads it: cut at the lengths, split at NUL. */
record SentRequest(
        int number,
        double receivedAt,
        long timeoutMillis,
        boolean bodyInFile,
        boolean form,
        List<String> names,
        List<String> values,
        String body) {

    static SentRequest of(ByteBuffer frame) {
        ByteBuffer in = frame.duplicate();
        assertThat(in.get() & 0xFF).isEqualTo(0xCE);
        assertThat(in.get()).isEqualTo((byte) 2);
        short flags = in.getShort();
        assertThat(in.getInt()).isEqualTo(frame.remaining() - 12);
        int number = in.getInt();
        double receivedAt = in.getDouble();
        long timeout = Integer.toUnsignedLong(in.getInt());
        int namesLength = in.getInt();
        int valuesLength = in.getInt();
        int bodyLength = in.getInt();
        String names = text(in, namesLength);
        String values = text(in, valuesLength);
        String body = text(in, bodyLength);
        assertThat(in.hasRemaining()).isFalse();
        return new SentRequest(
                number,
                receivedAt,
                timeout,
                (flags & 1) != 0,
                (flags & 2) != 0,
                split(names, names),
                split(values, names),
                body);
    }

    /** The entries as name=value. */
    List<String> server() {
        assertThat(values).hasSameSizeAs(names);
        List<String> entries = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            entries.add(names.get(i) + "=" + values.get(i));
        }
        return entries;
    }

    private static String text(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static List<String> split(String list, String names) {
        return names.isEmpty() ? List.of() : List.of(list.split("\0", -1));
    }
}
