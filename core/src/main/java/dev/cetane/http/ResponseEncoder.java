package dev.cetane.http;

import dev.cetane.protocol.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the bytes of one answer of the application. Used by one thread at a time: the worker's reader thread.
 *
 * <p>How the body is framed is decided once, by the final head: no body (HEAD, 204, 304), a length that the worker or the
 * application promised, chunks, or, for an HTTP/1.0 client, the end of the connection.
 */
final class ResponseEncoder {
    private enum Framing {
        NO_BODY,
        LENGTH,
        CHUNKED,
        UNTIL_CLOSE
    }

    /** Room for a chunk's size line and the line end behind the chunk. */
    private static final int CHUNK_OVERHEAD = 16 + 2 + 2;

    private static final byte[] LAST_CHUNK = {'0', '\r', '\n', '\r', '\n'};
    private static final boolean[] TOKEN_CHARS = tokenChars();

    private final boolean http11;
    private final boolean headRequest;
    private final HttpDate date;
    private Framing framing = Framing.NO_BODY;
    private long remaining;
    private boolean close;

    ResponseEncoder(RequestHead request, HttpDate date) {
        this.http11 = request.http11();
        this.headRequest = request.isHead();
        this.date = date;
    }

    /** An interim head, complete. */
    ByteBuf interim(ByteBufAllocator allocator, ResponseHead head) throws InvalidResponseException {
        ByteBuf out = allocator.directBuffer(512);
        try {
            writeStatusLine(head, out);
            List<String> fields = head.headers();
            for (int i = 0; i + 1 < fields.size(); i += 2) {
                if (check(fields.get(i), fields.get(i + 1)) == Field.PLAIN) {
                    writeField(fields.get(i), fields.get(i + 1), out);
                }
            }
            writeLineEnd(out);
            return out;
        } catch (InvalidResponseException e) {
            out.release();
            throw e;
        }
    }

    /**
     * The final head.
     *
     * @param keepAlive whether client and server both want the connection to stay; {@link #closes} tells what came of it
     * @param timing value of {@code Server-Timing}, beside what the application says there; null for none
     */
    ByteBuf head(ByteBufAllocator allocator, ResponseHead head, boolean keepAlive, @Nullable String timing)
            throws InvalidResponseException {
        ByteBuf out = allocator.directBuffer(2048);
        try {
            writeStatusLine(head, out);
            boolean dated = false;
            long declared = ResponseHead.UNKNOWN_LENGTH;
            List<String> fields = head.headers();
            for (int i = 0; i + 1 < fields.size(); i += 2) {
                String name = fields.get(i);
                String value = fields.get(i + 1);
                switch (check(name, value)) {
                    case CONNECTION -> {}
                    case CONTENT_LENGTH -> declared = parseLength(value);
                    case DATE -> {
                        dated = true;
                        writeField(name, value, out);
                    }
                    case PLAIN -> writeField(name, value, out);
                }
            }
            if (!dated) {
                out.writeBytes(date.line());
            }
            if (timing != null) {
                writeField("Server-Timing", timing, out);
            }
            close = !keepAlive;
            writeFraming(head, declared, out);
            if (close) {
                ByteBufUtil.writeAscii(out, "Connection: close\r\n");
            } else if (!http11) {
                ByteBufUtil.writeAscii(out, "Connection: keep-alive\r\n");
            }
            writeLineEnd(out);
            return out;
        } catch (InvalidResponseException e) {
            out.release();
            throw e;
        }
    }

    private void writeFraming(ResponseHead head, long declared, ByteBuf out) {
        int status = head.status();
        if (headRequest || status == 204 || status == 304) {
            framing = Framing.NO_BODY;
            // What a GET would have brought is known from the application, or from a body that it made for nothing.
            long length = declared >= 0 ? declared : head.bodyLength() > 0 ? head.bodyLength() : -1;
            if (headRequest && status != 204 && status != 304 && length >= 0) {
                writeLength(length, out);
            }
            return;
        }
        long length = head.bodyLength() != ResponseHead.UNKNOWN_LENGTH ? head.bodyLength() : declared;
        if (length >= 0) {
            framing = Framing.LENGTH;
            remaining = length;
            writeLength(length, out);
        } else if (http11) {
            framing = Framing.CHUNKED;
            ByteBufUtil.writeAscii(out, "Transfer-Encoding: chunked\r\n");
        } else {
            framing = Framing.UNTIL_CLOSE;
            close = true;
        }
    }

    /** Whether the connection ends with this answer; known after {@link #head}. */
    boolean closes() {
        return close;
    }

    /** Whether body bytes are sent at all. */
    boolean hasBody() {
        return framing != Framing.NO_BODY;
    }

    /** Whether the promised length was sent. */
    boolean complete() {
        return framing == Framing.NO_BODY || (framing == Framing.LENGTH && remaining == 0);
    }

    /** Whether the end of the body is told by other means than the end of the connection. */
    boolean showsItsEnd() {
        return framing != Framing.UNTIL_CLOSE;
    }

    /** Whether so many bytes may follow; counts them. False when they exceed the promised length. */
    boolean take(long bytes) {
        if (framing == Framing.LENGTH) {
            if (bytes > remaining) {
                return false;
            }
            remaining -= bytes;
        }
        return true;
    }

    /** Whether {@link #end} leaves the client with a whole answer. */
    boolean endsWhole() {
        return framing != Framing.LENGTH || remaining == 0;
    }

    /** Most bytes that {@link #data} writes beside the bytes of the body. */
    int overhead() {
        return framing == Framing.CHUNKED ? CHUNK_OVERHEAD : 0;
    }

    /** Writes body bytes, at least one, that were {@linkplain #take taken}. */
    void data(ByteBuffer bytes, ByteBuf out) {
        beforePart(bytes.remaining(), out);
        out.writeBytes(bytes);
        afterPart(out);
    }

    /** Opens a part of the body that is not in memory, of at least one byte. */
    void beforePart(long length, ByteBuf out) {
        if (framing == Framing.CHUNKED) {
            ByteBufUtil.writeAscii(out, Long.toHexString(length));
            writeLineEnd(out);
        }
    }

    void afterPart(ByteBuf out) {
        if (framing == Framing.CHUNKED) {
            writeLineEnd(out);
        }
    }

    /** Bytes that end the answer, maybe none. Not to be changed. */
    byte[] end() {
        return framing == Framing.CHUNKED ? LAST_CHUNK : new byte[0];
    }

    private enum Field {
        PLAIN,
        /** Belongs to the connection: dropped. */
        CONNECTION,
        CONTENT_LENGTH,
        DATE
    }

    /** What a field is for; refuses a name that is no token and a value with NUL or a line break. */
    private static Field check(String name, String value) throws InvalidResponseException {
        if (name.isEmpty()) {
            throw new InvalidResponseException("a header name is empty");
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c >= 128 || !TOKEN_CHARS[c]) {
                throw new InvalidResponseException("the header name '" + name + "' holds the character 0x"
                        + Integer.toHexString(c) + ", names are letters, digits and -");
            }
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\r' || c == '\n' || c == 0) {
                throw new InvalidResponseException("the value of the header " + name
                        + " holds a line break or NUL; remove them before header() is called");
            }
        }
        return switch (name.length()) {
            case 2 -> is("te", name) ? Field.CONNECTION : Field.PLAIN;
            case 4 -> is("date", name) ? Field.DATE : Field.PLAIN;
            case 7 -> is("trailer", name) || is("upgrade", name) ? Field.CONNECTION : Field.PLAIN;
            case 10 -> is("connection", name) || is("keep-alive", name) ? Field.CONNECTION : Field.PLAIN;
            case 14 -> is("content-length", name) ? Field.CONTENT_LENGTH : Field.PLAIN;
            case 16 -> is("proxy-connection", name) ? Field.CONNECTION : Field.PLAIN;
            case 17 -> is("transfer-encoding", name) ? Field.CONNECTION : Field.PLAIN;
            default -> Field.PLAIN;
        };
    }

    private static boolean is(String known, String name) {
        return AsciiString.contentEqualsIgnoreCase(known, name);
    }

    private static long parseLength(String value) throws InvalidResponseException {
        try {
            long length = Long.parseLong(value.trim());
            if (length >= 0 && value.indexOf('+') < 0) {
                return length;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new InvalidResponseException("Content-Length is '" + value + "' and must be a number");
    }

    private static void writeStatusLine(ResponseHead head, ByteBuf out) throws InvalidResponseException {
        String reason = head.reason();
        for (int i = 0; i < reason.length(); i++) {
            char c = reason.charAt(i);
            if (c < ' ' && c != '\t') {
                throw new InvalidResponseException("the reason phrase holds a line break or a control character");
            }
        }
        ByteBufUtil.writeAscii(out, "HTTP/1.1 ");
        int status = head.status();
        out.writeByte('0' + status / 100 % 10);
        out.writeByte('0' + status / 10 % 10);
        out.writeByte('0' + status % 10);
        out.writeByte(' ');
        ByteBufUtil.writeAscii(out, reason.isEmpty() ? defaultReason(status) : reason);
        writeLineEnd(out);
    }

    private static String defaultReason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 208 -> "Already Reported";
            case 425 -> "Too Early";
            case 451 -> "Unavailable For Legal Reasons";
            case 508 -> "Loop Detected";
            default -> {
                // What Netty makes up for others ends with the number.
                String reason = HttpResponseStatus.valueOf(status).reasonPhrase();
                yield reason.endsWith(")") ? "" : reason;
            }
        };
    }

    private static void writeField(String name, String value, ByteBuf out) {
        ByteBufUtil.writeAscii(out, name);
        out.writeShort(':' << 8 | ' ');
        ByteBufUtil.writeAscii(out, value);
        writeLineEnd(out);
    }

    private static void writeLength(long length, ByteBuf out) {
        ByteBufUtil.writeAscii(out, "Content-Length: ");
        ByteBufUtil.writeAscii(out, Long.toString(length));
        writeLineEnd(out);
    }

    private static void writeLineEnd(ByteBuf out) {
        out.writeShort('\r' << 8 | '\n');
    }

    private static boolean[] tokenChars() {
        boolean[] chars = new boolean[128];
        for (char c = '0'; c <= 'z'; c++) {
            chars[c] = c <= '9' || c >= 'a' || (c >= 'A' && c <= 'Z');
        }
        for (char c : "!#$%&'*+-.^_`|~".toCharArray()) {
            chars[c] = true;
        }
        return chars;
    }

    /** The application's answer cannot be sent; the message says why and is for the log. */
    static final class InvalidResponseException extends Exception {

        private static final long serialVersionUID = 1;

        InvalidResponseException(String message) {
            super(message, null, false, false);
        }
    }
}
