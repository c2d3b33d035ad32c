package dev.cetane.tests;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * As much of a MySQL server as PDO needs to log in and to select one number: it counts who is connected, and closes connections when it is told to, as a
 * real one does after {@code wait_timeout}. It answers each query by its count, {@code select} with a row whose column {@code n} is 1. Used by any thread.
 */
final class FakeMySql implements AutoCloseable {
    private static final int LONG_PASSWORD_DATABASE_41_TRANSACTIONS_SECURE = 0x0000A209;
    private static final int PLUGIN_AUTHENTICATION = 0x00080000;
    private static final int UTF_8 = 45;
    private static final int AUTOCOMMIT = 2;
    private static final byte[] OK = {0, 0, 0, AUTOCOMMIT, 0, 0, 0};
    private static final byte[] END_OF_ROWS = {(byte) 0xFE, 0, 0, AUTOCOMMIT, 0};
    private static final int QUIT = 1;
    private static final int QUERY = 3;

    private final ServerSocket listening;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final List<String> timeouts = new CopyOnWriteArrayList<>();

    FakeMySql() throws IOException {
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Connections now. */
    int connections() {
        return open.size();
    }

    /** Connections ever. */
    int accepted() {
        return accepted.get();
    }

    /** What its clients have asked for about idle connections, in the order it came. */
    List<String> timeouts() {
        return List.copyOf(timeouts);
    }

    /** Closes all connections, and waits for nobody. */
    void dropConnections() throws IOException {
        for (Socket socket : open) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        dropConnections();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "fake-mysql");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                open.add(socket);
                accepted.incrementAndGet();
                start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            send(socket, 0, greeting());
            receive(in);
            send(socket, 2, OK);
            while (true) {
                byte[] command = receive(in);
                if (command[0] == QUIT) {
                    return;
                }
                String text = new String(command, 1, command.length - 1, StandardCharsets.UTF_8);
                if (command[0] == QUERY && text.startsWith("select")) {
                    send(socket, 1, new byte[] {1}, column(), END_OF_ROWS, new byte[] {1, '1'}, END_OF_ROWS);
                } else {
                    if (text.contains("wait_timeout")) {
                        timeouts.add(text);
                    }
                    send(socket, 1, OK);
                }
            }
        } catch (IOException e) {
            // the client has left, or was dropped
        } finally {
            open.remove(socket);
        }
    }

    private static byte[] greeting() {
        Packet greeting = new Packet();
        greeting.write(10);
        greeting.text("8.0.0\0");
        greeting.number(1, 4);
        greeting.text("saltsalt\0");
        greeting.number(LONG_PASSWORD_DATABASE_41_TRANSACTIONS_SECURE, 2);
        greeting.write(UTF_8);
        greeting.number(AUTOCOMMIT, 2);
        greeting.number(PLUGIN_AUTHENTICATION >>> 16, 2);
        greeting.write(21);
        greeting.writeBytes(new byte[10]);
        greeting.text("saltsaltsalt\0mysql_native_password\0");
        return greeting.toByteArray();
    }

    private static byte[] column() {
        Packet column = new Packet();
        for (String text : new String[] {"def", "", "", "", "n", ""}) {
            column.write(text.length());
            column.text(text);
        }
        column.write(12);
        column.number(63, 2);
        column.number(1, 4);
        column.write(8);
        column.number(0, 5);
        return column.toByteArray();
    }

    private static byte[] receive(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte() | (in.readUnsignedByte() << 8) | (in.readUnsignedByte() << 16);
        in.readUnsignedByte();
        return in.readNBytes(length);
    }

    private static void send(Socket socket, int sequence, byte[]... payloads) throws IOException {
        Packet packets = new Packet();
        int next = sequence;
        for (byte[] payload : payloads) {
            packets.number(payload.length, 3);
            packets.write(next++);
            packets.writeBytes(payload);
        }
        socket.getOutputStream().write(packets.toByteArray());
    }

    private static final class Packet extends ByteArrayOutputStream {
        void number(int value, int bytes) {
            for (int i = 0; i < bytes; i++) {
                write(i < 4 ? value >>> (8 * i) : 0);
            }
        }

        void text(String ascii) {
            writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
