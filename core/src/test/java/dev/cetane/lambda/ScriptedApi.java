package dev.cetane.lambda;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A Runtime API of a few bytes: reads a request, sends the next of its replies as it stands, and closes the connection when there is none, or an
 * empty one. All state is guarded by its monitor; one thread serves.
 */
final class ScriptedApi implements AutoCloseable {
    /** One request, its body as it came: with chunks, one byte a char. */
    record Request(int connection, String head, String body) {}

    private final ServerSocket server;
    private final Queue<String> replies = new ArrayDeque<>();
    private final List<Request> requests = new ArrayList<>();
    private final BlockingQueue<Request> arrived = new LinkedBlockingQueue<>();
    private int connections;
    private boolean closing;

    ScriptedApi(String... replies) throws IOException {
        this.replies.addAll(List.of(replies));
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::accept, "scripted-api");
        thread.setDaemon(true);
        thread.start();
    }

    static String reply(int status, String fields, String body) {
        return "HTTP/1.1 " + status + " Words\r\n" + fields + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }

    /** Closes each connection after one reply. */
    synchronized ScriptedApi closing() {
        closing = true;
        return this;
    }

    InetSocketAddress address() {
        return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
    }

    synchronized List<Request> requests() {
        return List.copyOf(requests);
    }

    /** The next request that has arrived whole. */
    Request take() throws InterruptedException {
        Request request = arrived.poll(10, TimeUnit.SECONDS);
        if (request == null) {
            throw new AssertionError("no request has come, or it does not end");
        }
        return request;
    }

    private void accept() {
        try {
            while (true) {
                try (Socket connection = server.accept()) {
                    connections++;
                    serve(connection);
                }
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket connection) {
        try {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            while (true) {
                String head = until(in, "\r\n\r\n");
                String lower = head.toLowerCase(Locale.ROOT);
                String body = "";
                if (lower.contains("transfer-encoding: chunked")) {
                    body = chunks(in);
                } else if (lower.contains("content-length: ")) {
                    int length = Integer.parseInt(lower.replaceAll("(?s).*content-length: (\\d+).*", "$1"));
                    body = new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
                }
                String reply;
                boolean last;
                synchronized (this) {
                    Request request = new Request(connections, head, body);
                    requests.add(request);
                    arrived.add(request);
                    reply = replies.poll();
                    last = closing;
                }
                if (reply == null || reply.isEmpty()) {
                    return;
                }
                connection.getOutputStream().write(reply.getBytes(StandardCharsets.ISO_8859_1));
                if (last) {
                    return;
                }
            }
        } catch (IOException e) {
            // The client has left.
        }
    }

    private static String until(InputStream in, String end) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("the connection has ended");
            }
            text.append((char) b);
        }
        return text.toString();
    }

    private static String chunks(InputStream in) throws IOException {
        StringBuilder body = new StringBuilder();
        while (true) {
            String size = until(in, "\r\n");
            body.append(size);
            if (size.equals("0\r\n")) {
                String trailer = until(in, "\r\n");
                body.append(trailer);
                return trailer.equals("\r\n")
                        ? body.toString()
                        : body.append(until(in, "\r\n\r\n")).toString();
            }
            int length = Integer.parseInt(size.trim(), 16);
            body.append(new String(in.readNBytes(length + 2), StandardCharsets.ISO_8859_1));
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
