package dev.cetane.multipart;

import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** The other side of Cetane: reads forms with {@link FormReader}, and lets the PHP client say what it makes of them. */
final class FormClient implements AutoCloseable {
    private final Path directory;
    private final Process process;
    private final DataOutputStream in;
    private final BufferedReader out;

    private FormClient(Path directory, Process process) {
        this.directory = directory;
        this.process = process;
        this.in = new DataOutputStream(process.getOutputStream());
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static FormClient start(List<String> ini) {
        try {
            List<String> command = new ArrayList<>(List.of("php"));
            List<String> all = new ArrayList<>(ini);
            all.addAll(List.of("display_errors=stderr", "memory_limit=-1"));
            all.forEach(setting -> command.addAll(List.of("-d", setting)));
            command.addAll(List.of(FormCases.resource("client.php").toString(), FormCases.PHP_CLIENT.toString()));
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            return new FormClient(Files.createTempDirectory("cetane-form"), builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the client makes of the body, read in pieces of the sizes that {@code pieces} gives for what is left. */
    String ask(String contentType, byte[] body, FormLimits limits, ToIntFunction<ByteBuffer> pieces) {
        Delimiter delimiter = Delimiter.of(contentType);
        if (!Delimiter.isForm(contentType) || delimiter == null) {
            return "[[],[]]";
        }
        try {
            FilesStorage storage = new FilesStorage(directory);
            FormReader reader = new FormReader(delimiter, limits, storage);
            ByteBuffer all = ByteBuffer.wrap(body);
            while (all.hasRemaining()) {
                int size = Math.min(pieces.applyAsInt(all), all.remaining());
                byte[] piece = new byte[size];
                all.get(piece);
                reader.read(ByteBuffer.wrap(piece));
            }
            reader.finish();
            return ask("form", storage.section());
        } catch (IOException | PartHeadersTooLargeException e) {
            throw new AssertionError(e);
        }
    }

    String ask(String kind, byte[] section) throws IOException {
        in.writeInt(section.length);
        in.writeBytes(kind);
        in.write(section);
        in.flush();
        String line = out.readLine();
        if (line == null) {
            throw new IOException("the client has ended");
        }
        return line;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        FormCases.deleteAll(directory);
    }
}
