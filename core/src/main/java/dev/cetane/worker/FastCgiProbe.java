package dev.cetane.worker;

import dev.cetane.fastcgi.CgiHeadParser;
import dev.cetane.fastcgi.FastCgiRequestEncoder;
import dev.cetane.fastcgi.InvalidHeadException;
import dev.cetane.protocol.BytePath;
import dev.cetane.protocol.Hello;
import dev.cetane.protocol.Ready;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The first request on a connection: which child has it, and what PHP is that. It is for a script of the client's; what PHP prints before that, as by
 * {@code auto_prepend_file}, does no harm. Reader thread.
 */
final class FastCgiProbe {
    private static final String SCRIPT = "bin/cetane-probe.php";
    private static final String MARK = "\ncetane-probe\n";
    private static final int MOST_BYTES = 64 * 1024;

    private final Path script;
    private final CgiHeadParser head = new CgiHeadParser();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    FastCgiProbe(Generation generation) {
        script = generation.application().clientDirectory().resolve(SCRIPT);
    }

    ByteBuffer request(FastCgiRequestEncoder encoder) {
        encoder.begin();
        encoder.server("SCRIPT_FILENAME", BytePath.toText(script));
        encoder.server("REQUEST_METHOD", "GET");
        encoder.server("REQUEST_URI", "/");
        encoder.server("QUERY_STRING", "");
        encoder.server("SERVER_PROTOCOL", "HTTP/1.1");
        return encoder.finish();
    }

    void take(ByteBuffer bytes) throws InvalidHeadException {
        if (head.take(bytes) && body.size() < MOST_BYTES) {
            byte[] copy = new byte[Math.min(bytes.remaining(), MOST_BYTES - body.size())];
            bytes.get(copy);
            body.writeBytes(copy);
        }
    }

    /**
     * What the script has said.
     *
     * @return null when something else has answered
     */
    @Nullable
    Ready ready() {
        String text = body.toString(StandardCharsets.ISO_8859_1);
        int start = text.lastIndexOf(MARK);
        if (start < 0) {
            return null;
        }
        Map<String, String> facts = new LinkedHashMap<>();
        text.substring(start + MARK.length()).lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (equals > 0) {
                facts.put(line.substring(0, equals), line.substring(equals + 1));
            }
        });
        return new Ready(Hello.VERSION, facts);
    }

    /** Why there is no {@link #ready}. */
    String failure() {
        String text = body.toString(StandardCharsets.UTF_8).strip();
        return "PHP did not run " + script + ", which tells its process id"
                + (text.isEmpty() ? "" : ", but answered \"" + text.substring(0, Math.min(text.length(), 200)) + "\"")
                + "; is it kept from that file by open_basedir, or does auto_prepend_file end it?";
    }
}
