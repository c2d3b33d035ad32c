package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** An HTTP client that sends exactly what it is given and believes nothing: an answer is whole or an {@link IOException}. */
final class RawClient implements AutoCloseable {
    private final AutoCloseable connection;
    private final Writer out;
    private final InputStream in;

    /** Sends bytes. */
    private interface Writer {
        void write(byte[] bytes) throws IOException;
    }

    RawClient(SocketAddress address) throws IOException {
        if (address instanceof UnixDomainSocketAddress) {
            SocketChannel channel = SocketChannel.open(address);
            connection = channel;
            out = bytes -> channel.write(ByteBuffer.wrap(bytes));
            in = new BufferedInputStream(Channels.newInputStream(channel));
            return;
        }
        Socket socket = new Socket();
        socket.connect((InetSocketAddress) address, (int) RunningCetane.PATIENCE.toMillis());
        socket.setSoTimeout((int) RunningCetane.PATIENCE.toMillis());
        socket.setTcpNoDelay(true);
        connection = socket;
        out = bytes -> {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        };
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** An answer; names of fields are in lower case, repeated fields are joined by a line break. */
    record Answer(int status, String reason, Map<String, String> fields, String body) {
        String field(String name) {
            return fields.getOrDefault(name, "");
        }
    }

    RawClient send(String bytes) throws IOException {
        out.write(bytes.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    /** Sends lines, each with its end. */
    RawClient lines(String... lines) throws IOException {
        return send(String.join("\r\n", lines) + "\r\n");
    }

    RawClient get(String target) throws IOException {
        return send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
    }

    /** Asserts that the answer to this request is cut, and so cannot be taken for whole. */
    static void assertCut(RunningCetane instance, String target) {
        assertThatThrownBy(() -> {
                    try (RawClient client = instance.connect()) {
                        client.get(target).answer();
                    }
                })
                .isInstanceOfAny(EOFException.class, SocketException.class);
    }

    /** Reads one answer to a request other than HEAD. */
    Answer answer() throws IOException {
        Answer head = head();
        if (head.status < 200 || head.status == 204 || head.status == 304) {
            return head;
        }
        return new Answer(head.status, head.reason, head.fields, body(head));
    }

    /** Reads status line and fields. */
    Answer head() throws IOException {
        String statusLine = line();
        if (!statusLine.matches("HTTP/1\\.1 [0-9]{3}( .*)?")) {
            throw new IOException("no status line: " + statusLine);
        }
        Map<String, String> fields = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            fields.merge(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip(),
                    (a, b) -> a + "\n" + b);
        }
        return new Answer(
                Integer.parseInt(statusLine.substring(9, 12)),
                statusLine.substring(12).strip(),
                fields,
                "");
    }

    /** Reads the body that belongs to the head. */
    String body(Answer head) throws IOException {
        if (head.field("transfer-encoding").equals("chunked")) {
            StringBuilder body = new StringBuilder();
            try {
                for (String chunk = chunk(); !chunk.isEmpty(); chunk = chunk()) {
                    body.append(chunk);
                }
            } catch (EOFException e) {
                throw new CutException(body.toString(), e);
            }
            return body.toString();
        }
        if (!head.field("content-length").isEmpty()) {
            return bytes(Integer.parseInt(head.field("content-length")));
        }
        return rest();
    }

    /** The connection has ended in the middle of a chunked body. */
    static final class CutException extends EOFException {
        private static final long serialVersionUID = 1;

        private final String before;

        CutException(String before, EOFException cause) {
            super(cause.getMessage());
            initCause(cause);
            this.before = before;
        }

        /** The chunks that had arrived. */
        String before() {
            return before;
        }
    }

    /** Reads one chunk; empty is the last. */
    String chunk() throws IOException {
        String chunk = bytes(Integer.parseInt(line(), 16));
        if (!line().isEmpty()) {
            throw new IOException("a chunk does not end with a line end");
        }
        return chunk;
    }

    String bytes(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("the connection ended after " + bytes.length + " of " + count + " bytes");
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Everything until the orderly end of the connection. */
    String rest() throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private String line() throws IOException {
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

    @Override
    public void close() throws IOException {
        try {
            connection.close();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
