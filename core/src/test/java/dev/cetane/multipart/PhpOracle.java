package dev.cetane.multipart;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** PHP itself: a php-cgi that takes requests over FastCGI, and says what it has registered. */
final class PhpOracle implements AutoCloseable {
    private static final int BEGIN = 1;
    private static final int END = 3;
    private static final int PARAMS = 4;
    private static final int STDIN = 5;
    private static final int STDOUT = 6;

    private final Path directory;
    private final Process process;
    private final Path socket;

    private PhpOracle(Path directory, Process process, Path socket) {
        this.directory = directory;
        this.process = process;
        this.socket = socket;
    }

    /** @param ini settings as {@code name=value} */
    static PhpOracle start(List<String> ini) {
        try {
            Path directory = Files.createTempDirectory("cetane-oracle");
            Path socket = directory.resolve("s");
            List<String> command = new ArrayList<>(List.of("php-cgi", "-b", socket.toString()));
            List<String> all = new ArrayList<>(ini);
            all.addAll(List.of("log_errors=0", "display_errors=0", "opcache.enable=0", "upload_tmp_dir=" + directory));
            all.forEach(setting -> command.addAll(List.of("-d", setting)));
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("output").toFile());
            builder.environment().put("PHP_FCGI_MAX_REQUESTS", "0");
            builder.environment().put("PHP_FCGI_CHILDREN", "0");
            PhpOracle oracle = new PhpOracle(directory, builder.start(), socket);
            oracle.awaitSocket();
            return oracle;
        } catch (IOException e) {
            throw new UncheckedIOException("php-cgi cannot be started", e);
        }
    }

    private void awaitSocket() throws IOException {
        while (true) {
            try {
                connect().close();
                return;
            } catch (IOException e) {
                try {
                    if (process.waitFor(10, TimeUnit.MILLISECONDS)) {
                        throw new IOException(Files.readString(directory.resolve("output")), e);
                    }
                } catch (InterruptedException interrupted) {
                    throw new IOException(interrupted);
                }
            }
        }
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** What PHP makes of this body. */
    String ask(String contentType, byte[] body) {
        Map<String, String> params = new LinkedHashMap<>();
        params.put("REQUEST_METHOD", "POST");
        params.put("CONTENT_TYPE", contentType);
        params.put("CONTENT_LENGTH", Integer.toString(body.length));
        params.put("SCRIPT_FILENAME", FormCases.resource("oracle.php").toString());
        try (SocketChannel channel = connect()) {
            DataOutputStream out = new DataOutputStream(Channels.newOutputStream(channel));
            record(out, BEGIN, new byte[] {0, 1, 0, 0, 0, 0, 0, 0}, 0, 8);
            ByteArrayOutputStream encoded = new ByteArrayOutputStream();
            params.forEach((name, value) -> {
                putLength(encoded, name.length());
                putLength(encoded, value.length());
                encoded.writeBytes((name + value).getBytes(StandardCharsets.ISO_8859_1));
            });
            record(out, PARAMS, encoded.toByteArray(), 0, encoded.size());
            record(out, PARAMS, new byte[0], 0, 0);
            for (int sent = 0; sent < body.length; sent += 60_000) {
                record(out, STDIN, body, sent, Math.min(60_000, body.length - sent));
            }
            record(out, STDIN, new byte[0], 0, 0);
            return answer(new DataInputStream(Channels.newInputStream(channel)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String answer(DataInputStream in) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        while (true) {
            in.readByte();
            int type = in.readByte();
            in.readShort();
            int length = in.readUnsignedShort();
            int padding = in.readUnsignedByte();
            in.readByte();
            byte[] content = in.readNBytes(length);
            in.readNBytes(padding);
            if (type == STDOUT) {
                answer.writeBytes(content);
            } else if (type == END) {
                String text = answer.toString(StandardCharsets.UTF_8);
                return text.substring(text.indexOf("\r\n\r\n") + 4).strip();
            }
        }
    }

    private static void record(DataOutputStream out, int type, byte[] bytes, int offset, int length)
            throws IOException {
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        record.writeBytes(new byte[] {1, (byte) type, 0, 1, (byte) (length >> 8), (byte) length, 0, 0});
        record.write(bytes, offset, length);
        out.write(record.toByteArray());
    }

    private static void putLength(ByteArrayOutputStream out, int length) {
        out.writeBytes(
                new byte[] {(byte) (length >> 24 | 0x80), (byte) (length >> 16), (byte) (length >> 8), (byte) length});
    }

    @Override
    public void close() {
        process.destroyForcibly();
        FormCases.deleteAll(directory);
    }
}
