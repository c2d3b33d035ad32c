package dev.cetane.fastcgi;

import dev.cetane.protocol.ResponseHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the head of one CGI answer (RFC 3875, 6): fields up to an empty line, among them {@code Status}, which is no field of the answer.
 * Bounded in length. One thread.
 */
public final class CgiHeadParser {
    /** Longest head, bytes. */
    public static final int MOST_BYTES = 64 * 1024;

    private static final int OK = 200;
    private static final int FOUND = 302;

    private byte[] bytes = new byte[512];
    private int count;
    private boolean complete;

    /**
     * Takes the bytes of the head; those of the body stay.
     *
     * @return whether the head is complete
     * @throws InvalidHeadException when it is too long
     */
    public boolean take(ByteBuffer in) throws InvalidHeadException {
        while (!complete && in.hasRemaining()) {
            byte b = in.get();
            if (b == '\n' && endsHead()) {
                complete = true;
            } else if (count == MOST_BYTES) {
                throw new InvalidHeadException("the head has more than " + MOST_BYTES + " bytes");
            } else {
                if (count == bytes.length) {
                    bytes = Arrays.copyOf(bytes, 2 * count);
                }
                bytes[count++] = b;
            }
        }
        return complete;
    }

    /** Whether a line feed here ends an empty line. */
    private boolean endsHead() {
        int end = count > 0 && bytes[count - 1] == '\r' ? count - 1 : count;
        return end == 0 || bytes[end - 1] == '\n';
    }

    /**
     * What has been read, once it is complete. Without a {@code Status} the status is 200, or 302 where there is a {@code Location}.
     *
     * @param bodyLength as in {@link ResponseHead}
     * @throws InvalidHeadException when a field has no name, a line continues the one before, or the status is none that ends a request
     */
    public ResponseHead head(long bodyLength) throws InvalidHeadException {
        String text = new String(bytes, 0, count, StandardCharsets.ISO_8859_1);
        List<String> fields = new ArrayList<>();
        int status = 0;
        String reason = "";
        String contentType = "";
        boolean located = false;
        for (int start = 0; start < text.length(); ) {
            int lineFeed = text.indexOf('\n', start);
            int end = lineFeed < 0 ? text.length() : lineFeed;
            String line = text.substring(start, end > start && text.charAt(end - 1) == '\r' ? end - 1 : end);
            start = end + 1;
            int colon = line.indexOf(':');
            if (line.startsWith(" ") || line.startsWith("\t")) {
                throw new InvalidHeadException("a field goes on over more than one line");
            }
            if (colon == 0) {
                throw new InvalidHeadException("a field has no name");
            }
            if (colon < 0) {
                // No field: nothing a client could make use of.
                continue;
            }
            String name = line.substring(0, colon);
            String value = line.substring(colon + 1).strip();
            if (name.equalsIgnoreCase("Status")) {
                if (status == 0) {
                    status = status(value);
                    reason = value.length() > 4 ? value.substring(4) : "";
                }
                continue;
            }
            if (name.equalsIgnoreCase("Content-Type")) {
                // There is one, the last, and an empty one is none: as nginx reads what PHP prints.
                contentType = value;
                continue;
            }
            located |= name.equalsIgnoreCase("Location");
            fields.add(name);
            fields.add(value);
        }
        if (!contentType.isEmpty()) {
            fields.add("Content-Type");
            fields.add(contentType);
        }
        return new ResponseHead(status != 0 ? status : located ? FOUND : OK, reason, bodyLength, fields);
    }

    private static int status(String value) throws InvalidHeadException {
        boolean digits = value.length() >= 3 && (value.length() == 3 || value.charAt(3) == ' ');
        for (int i = 0; i < 3 && digits; i++) {
            digits = value.charAt(i) >= '0' && value.charAt(i) <= '9';
        }
        int status = digits ? Integer.parseInt(value.substring(0, 3)) : 0;
        if (status < 200) {
            throw new InvalidHeadException("the status is none that ends a request");
        }
        return status;
    }
}
