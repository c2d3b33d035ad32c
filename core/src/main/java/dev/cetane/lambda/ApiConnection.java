package dev.cetane.lambda;

import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection to the Runtime API, kept open between calls and opened anew when it is found dead: while a sandbox is frozen
 * nobody keeps a connection alive. Used by one thread at a time.
 *
 * <p>Only whoever waits for an event waits for as long as it takes: {@code /next} may take days.
 */
final class ApiConnection implements AutoCloseable {
    private static final int CONNECT_MILLIS = 5_000;
    private static final int MAX_HEAD_BYTES = 256 * 1024;

    /** More than an event may have. */
    private static final int MAX_BODY_BYTES = 64 * 1024 * 1024;

    private final InetSocketAddress address;
    private final Ticker ticker;
    private @Nullable Socket socket;
    private long receivedSinceNanos;
    private byte[] in = new byte[16 * 1024];
    private int inFrom;
    private int inTo;

    // Of the answer that is waited for; 0: as long as it takes.
    private long patienceMillis;
    private long giveUpNanos;

    ApiConnection(InetSocketAddress address, Ticker ticker) {
        this.address = address;
        this.ticker = ticker;
    }

    /** When the first bytes of the last answer came. */
    long receivedSinceNanos() {
        return receivedSinceNanos;
    }

    /**
     * An answer.
     *
     * @param fields by their names in lower case
     * @param body as long as {@code length}; belongs to the receiver
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared; a copy of an event costs more than all else
    record Reply(int status, Map<String, String> fields, byte[] body, int length) {
        String field(String name) {
            return fields.getOrDefault(name, "");
        }

        String text() {
            return new String(body, 0, Math.min(length, 1024), StandardCharsets.UTF_8);
        }
    }

    /** The connection had ended before the first byte of an answer: what was sent may be sent again. */
    static final class DeadConnectionException extends IOException {
        private static final long serialVersionUID = 1;

        DeadConnectionException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    boolean isOpen() {
        return socket != null;
    }

    /**
     * Writes a request, on a new connection if none is open.
     *
     * @throws DeadConnectionException when the open connection has turned out to be dead
     */
    void send(byte[] head, int headLength, byte[] body, int bodyLength) throws IOException {
        Socket open = socket;
        boolean reused = open != null;
        if (open == null) {
            open = connect();
        }
        try {
            OutputStream out = open.getOutputStream();
            if (bodyLength > 0 && headLength + bodyLength <= head.length) {
                System.arraycopy(body, 0, head, headLength, bodyLength);
                out.write(head, 0, headLength + bodyLength);
            } else {
                out.write(head, 0, headLength);
                if (bodyLength > 0) {
                    out.write(body, 0, bodyLength);
                }
            }
        } catch (IOException e) {
            close();
            if (reused) {
                throw new DeadConnectionException("the connection was closed: " + e.getMessage(), e);
            }
            throw e;
        }
    }

    /** More of a request that {@link #send} has begun. */
    void write(byte[] bytes, int offset, int length) throws IOException {
        Socket open = socket;
        if (open == null) {
            throw new IOException("the connection was closed");
        }
        open.getOutputStream().write(bytes, offset, length);
    }

    /**
     * Waits for the answer.
     *
     * @param millis until its last byte; 0 for as long as it takes
     * @throws DeadConnectionException when not one byte of it came before the connection's end
     * @throws RuntimeApiException when it is no HTTP, or not there in time
     */
    Reply receive(long millis) throws IOException {
        patienceMillis = millis;
        giveUpNanos = millis == 0 ? 0 : ticker.nanos() + TimeUnit.MILLISECONDS.toNanos(millis);
        inFrom = 0;
        inTo = 0;
        try {
            fill(true);
            receivedSinceNanos = ticker.nanos();
            return read();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private Socket connect() throws IOException {
        Socket fresh = new Socket();
        try {
            fresh.setTcpNoDelay(true);
            fresh.connect(address, CONNECT_MILLIS);
        } catch (IOException e) {
            fresh.close();
            throw new IOException("the Runtime API at " + address + " cannot be reached: " + e.getMessage(), e);
        }
        socket = fresh;
        return fresh;
    }

    private Reply read() throws IOException {
        String statusLine = line();
        if (!statusLine.startsWith("HTTP/1.") || statusLine.length() < 12) {
            throw new RuntimeApiException("the Runtime API answered what is no HTTP: " + shown(statusLine));
        }
        int status = number(statusLine.substring(9, 12), 10);
        Map<String, String> fields = new LinkedHashMap<>();
        int total = statusLine.length();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            total += line.length();
            if (colon <= 0 || total > MAX_HEAD_BYTES) {
                throw new RuntimeApiException(
                        "the Runtime API answered with a field that cannot be read: " + shown(line));
            }
            fields.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).trim());
        }
        if (status < 200) {
            return read();
        }
        Reply reply = body(status, fields);
        if (fields.getOrDefault("connection", "").equalsIgnoreCase("close") || statusLine.startsWith("HTTP/1.0")) {
            close();
        }
        return reply;
    }

    private Reply body(int status, Map<String, String> fields) throws IOException {
        if (fields.getOrDefault("transfer-encoding", "").equalsIgnoreCase("chunked")) {
            return chunked(status, fields);
        }
        String promised = fields.get("content-length");
        if (promised == null) {
            // Then its end is the connection's.
            byte[] body = status == 204 || status == 304 ? new byte[0] : rest();
            return new Reply(status, fields, body, body.length);
        }
        int length = number(promised, 10);
        if (length > MAX_BODY_BYTES) {
            throw new RuntimeApiException("the Runtime API promises " + length + " bytes, more than " + MAX_BODY_BYTES);
        }
        byte[] body = new byte[length];
        take(body, 0, length);
        return new Reply(status, fields, body, length);
    }

    private Reply chunked(int status, Map<String, String> fields) throws IOException {
        byte[] body = new byte[1024];
        int length = 0;
        while (true) {
            String size = line();
            int semicolon = size.indexOf(';');
            int count = number((semicolon < 0 ? size : size.substring(0, semicolon)).trim(), 16);
            if (count == 0) {
                while (!line().isEmpty()) {
                    // Trailers say nothing that is of use here.
                }
                return new Reply(status, fields, body, length);
            }
            if (count > MAX_BODY_BYTES - length) {
                throw new RuntimeApiException("the Runtime API sends more than " + MAX_BODY_BYTES + " bytes");
            }
            if (body.length - length < count) {
                body = Arrays.copyOf(body, Math.max(length + count, 2 * body.length));
            }
            take(body, length, count);
            length += count;
            if (!line().isEmpty()) {
                throw new RuntimeApiException("the Runtime API sent a chunk that is longer than it said");
            }
        }
    }

    private byte[] rest() throws IOException {
        byte[] body = Arrays.copyOfRange(in, inFrom, inTo);
        int length = body.length;
        while (true) {
            if (length == body.length) {
                if (length >= MAX_BODY_BYTES) {
                    throw new RuntimeApiException("the Runtime API sends more than " + MAX_BODY_BYTES + " bytes");
                }
                body = Arrays.copyOf(body, Math.min(MAX_BODY_BYTES, Math.max(1024, 2 * length)));
            }
            int read = read(body, length, body.length - length);
            if (read < 0) {
                close();
                return Arrays.copyOf(body, length);
            }
            length += read;
        }
    }

    private void take(byte[] target, int offset, int count) throws IOException {
        int buffered = Math.min(count, inTo - inFrom);
        System.arraycopy(in, inFrom, target, offset, buffered);
        inFrom += buffered;
        for (int taken = buffered; taken < count; ) {
            int read = read(target, offset + taken, count - taken);
            if (read < 0) {
                throw new RuntimeApiException("the Runtime API closed the connection in the middle of an answer");
            }
            taken += read;
        }
    }

    /** The next line of a head, one char per byte, without its end. */
    private String line() throws IOException {
        int scanned = inFrom;
        while (true) {
            for (; scanned < inTo; scanned++) {
                if (in[scanned] == '\n') {
                    int stop = scanned > inFrom && in[scanned - 1] == '\r' ? scanned - 1 : scanned;
                    String line = new String(in, inFrom, stop - inFrom, StandardCharsets.ISO_8859_1);
                    inFrom = scanned + 1;
                    return line;
                }
            }
            int from = inFrom;
            fill(false);
            scanned -= from - inFrom;
        }
    }

    private void fill(boolean first) throws IOException {
        if (inFrom > 0) {
            System.arraycopy(in, inFrom, in, 0, inTo - inFrom);
            inTo -= inFrom;
            inFrom = 0;
        }
        if (inTo == in.length) {
            if (in.length >= MAX_HEAD_BYTES) {
                throw new RuntimeApiException("the Runtime API sent a line of more than " + MAX_HEAD_BYTES + " bytes");
            }
            in = Arrays.copyOf(in, 2 * in.length);
        }
        int read;
        try {
            read = read(in, inTo, in.length - inTo);
        } catch (RuntimeApiException e) {
            throw e;
        } catch (IOException e) {
            if (first) {
                throw new DeadConnectionException("the connection was closed: " + e.getMessage(), e);
            }
            throw e;
        }
        if (read < 0) {
            if (first) {
                throw new DeadConnectionException("the connection was closed before an answer came", null);
            }
            throw new RuntimeApiException("the Runtime API closed the connection in the middle of an answer");
        }
        inTo += read;
    }

    /** Some bytes, as many as there are; negative for the connection's end. */
    private int read(byte[] target, int offset, int count) throws IOException {
        Socket open = socket;
        if (open == null) {
            throw new IOException("the connection was closed");
        }
        int millis = 0;
        if (patienceMillis != 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(giveUpNanos - ticker.nanos());
            millis = (int) Math.min(Integer.MAX_VALUE, Math.max(1, left));
        }
        open.setSoTimeout(millis);
        try {
            return open.getInputStream().read(target, offset, count);
        } catch (SocketTimeoutException e) {
            throw new RuntimeApiException(
                    "the Runtime API at " + address + " has not answered within " + patienceMillis + " ms");
        }
    }

    private static int number(String text, int radix) throws RuntimeApiException {
        try {
            int number = Integer.parseInt(text, radix);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new RuntimeApiException("the Runtime API answered with \"" + shown(text) + "\" for a number");
    }

    private static String shown(String text) {
        return text.length() > 200 ? text.substring(0, 200) + "…" : text;
    }

    /** Closes the connection; the next call opens another. */
    @Override
    public void close() {
        Socket open = socket;
        socket = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // There is nothing left of it that anybody needs.
            }
        }
    }
}
