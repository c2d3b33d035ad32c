package dev.cetane;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Sends one GET after the other over one connection and reads the answers, as little work as that can be. Used by one thread. */
final class MeasureClient implements Closeable {
    private static final int TIMEOUT_MILLIS = 60_000;
    private static final int MAX_LINE = 65_536;

    private final InetSocketAddress address;
    private final byte[] request;
    private final byte[] piece = new byte[65_536];
    private Socket socket = new Socket();
    private InputStream in = InputStream.nullInputStream();

    MeasureClient(InetSocketAddress address, String target) {
        this.address = address;
        request = ("GET " + target + " HTTP/1.1\r\nHost: localhost:" + address.getPort()
                        + "\r\nUser-Agent: cetane-measure\r\nAccept: */*\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** One request; returns the status once the whole answer is there. Connects where the last answer has closed the connection. */
    int get() throws IOException {
        if (!socket.isConnected() || socket.isClosed()) {
            socket = new Socket();
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.connect(address, TIMEOUT_MILLIS);
            in = new BufferedInputStream(socket.getInputStream(), 65_536);
        }
        socket.getOutputStream().write(request);
        String status = line();
        long length = -1;
        boolean chunked = false;
        boolean close = false;
        for (String field = line(); !field.isEmpty(); field = line()) {
            String lower = field.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Long.parseLong(lower.substring(15).strip());
            } else if (lower.startsWith("transfer-encoding:")) {
                chunked = lower.contains("chunked");
            } else if (lower.startsWith("connection:")) {
                close = lower.contains("close");
            }
        }
        int code = Integer.parseInt(status.substring(9, 12));
        if (chunked) {
            for (long size = Long.parseLong(line(), 16); size > 0; size = Long.parseLong(line(), 16)) {
                skip(size + 2);
            }
            line();
        } else if (length > 0) {
            skip(length);
        }
        if (close) {
            socket.close();
        }
        return code;
    }

    private void skip(long bytes) throws IOException {
        long left = bytes;
        while (left > 0) {
            int read = in.read(piece, 0, (int) Math.min(left, piece.length));
            if (read < 0) {
                throw new EOFException("the answer was cut " + left + " bytes before its end");
            }
            left -= read;
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0 || line.length() > MAX_LINE) {
                throw new EOFException("the connection was closed before the answer was complete");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
