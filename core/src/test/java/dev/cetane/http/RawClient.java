package dev.cetane.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** An HTTP client that sends exactly the bytes it is given and reads answers strictly; it never waits longer than half a minute. */
final class RawClient implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;

    RawClient(InetSocketAddress address) throws IOException {
        this(address, 0);
    }

    /** @param receiveBuffer size of the socket's receive buffer, 0 for the system's default */
    RawClient(InetSocketAddress address, int receiveBuffer) throws IOException {
        socket = new Socket();
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.connect(address, 30_000);
        socket.setSoTimeout(30_000);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** An answer; field names are in lower case, repeated ones are joined by a line break. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Answer(String statusLine, int status, Map<String, String> fields, byte[] body) {
        String text() {
            return new String(body, StandardCharsets.ISO_8859_1);
        }

        String field(String name) {
            return fields.get(name);
        }
    }

    RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    RawClient get(String target) throws IOException {
        return send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
    }

    /** Reads one answer to a request other than HEAD. */
    Answer answer() throws IOException {
        return answer(false);
    }

    Answer answerToHead() throws IOException {
        return answer(true);
    }

    private Answer answer(boolean head) throws IOException {
        Answer start = head();
        byte[] body =
                head || start.status < 200 || start.status == 204 || start.status == 304 ? new byte[0] : body(start);
        return new Answer(start.statusLine, start.status, start.fields, body);
    }

    /** Reads status line and fields only. */
    Answer head() throws IOException {
        String statusLine = line();
        if (!statusLine.matches("HTTP/1\\.1 [0-9]{3} .*")) {
            throw new IOException("no status line: " + statusLine);
        }
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            fields.merge(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip(),
                    (a, b) -> a + "\n" + b);
        }
        return new Answer(statusLine, Integer.parseInt(statusLine.substring(9, 12)), fields, new byte[0]);
    }

    private byte[] body(Answer head) throws IOException {
        if ("chunked".equals(head.field("transfer-encoding"))) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            while (true) {
                int size = Integer.parseInt(line(), 16);
                body.write(bytes(size));
                if (!line().isEmpty()) {
                    throw new IOException("a chunk does not end with a line end");
                }
                if (size == 0) {
                    return body.toByteArray();
                }
            }
        }
        if (head.field("content-length") != null) {
            return bytes(Integer.parseInt(head.field("content-length")));
        }
        return in.readAllBytes();
    }

    byte[] bytes(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("the connection ended after " + bytes.length + " of " + count + " bytes");
        }
        return bytes;
    }

    String text(int count) throws IOException {
        return new String(bytes(count), StandardCharsets.ISO_8859_1);
    }

    /** The next line without its end, which must be CR LF. */
    String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the connection ended in or before a line: " + line);
            }
            line.write(b);
        }
        String text = line.toString(StandardCharsets.ISO_8859_1);
        if (!text.endsWith("\r")) {
            throw new IOException("a line ends with LF alone: " + text);
        }
        return text.substring(0, text.length() - 1);
    }

    /** Whether the server has ended the connection and nothing is left to read; a reset counts. Waits for it. */
    boolean atEnd() throws IOException {
        try {
            return in.read() < 0;
        } catch (java.net.SocketException e) {
            return true;
        }
    }

    /** Whether the server has closed in an orderly way and nothing is left to read; a reset is thrown. Waits for it. */
    boolean endsCleanly() throws IOException {
        return in.read() < 0;
    }

    Socket socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
