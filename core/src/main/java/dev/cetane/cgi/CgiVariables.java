package dev.cetane.cgi;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes the request's part of {@code $_SERVER}, as nginx and php-fpm would make it for a front controller: the one mapping of all
 * front doors. Immutable, callable from any thread.
 *
 * <p>The constant part ({@code DOCUMENT_ROOT}, {@code SCRIPT_FILENAME}, {@code SERVER_SOFTWARE}, {@code GATEWAY_INTERFACE}) comes with
 * the worker's HELLO, because it belongs to a generation of workers. Differences from nginx and php-fpm: {@code HTTP_CONTENT_TYPE} and
 * {@code HTTP_CONTENT_LENGTH} are not set beside {@code CONTENT_TYPE} and {@code CONTENT_LENGTH}; {@code REQUEST_ID} is added, the id
 * that the request has in the log; {@code PATH_INFO} is there only when it is not empty; {@code SERVER_NAME} is the host that the
 * client named.
 */
public final class CgiVariables {
    /** Length of a body that is not there. */
    public static final long NO_BODY = -1;

    private final String scriptName;
    private final String scriptPrefix;

    /** The variables of one application; {@code scriptName} is the front controller's path as a client would ask for it: {@code /index.php}. */
    public CgiVariables(String scriptName) {
        this.scriptName = scriptName;
        this.scriptPrefix = scriptName + "/";
    }

    /**
     * Writes every entry once.
     *
     * @param script the one that PHP is to run by its path; it then makes the variables itself that follow from others. Null for a front
     *     controller
     * @param protocol as in {@code HTTP/1.1}
     * @param fields names of {@link FieldNames} and values in turn, each name once, without {@code Content-Length}
     * @param bodyBytes length of the body that arrived, {@link #NO_BODY} when the request had none
     */
    public void write(
            String method,
            RequestTarget target,
            @Nullable Script script,
            String protocol,
            ClientConnection client,
            List<String> fields,
            String requestId,
            long bodyBytes,
            BiConsumer<String, String> out) {
        out.accept("REQUEST_METHOD", method);
        out.accept("REQUEST_URI", target.target());
        out.accept("QUERY_STRING", target.query());
        out.accept("SERVER_PROTOCOL", protocol);
        out.accept(FieldNames.CONTENT_LENGTH, bodyBytes == NO_BODY ? "" : Long.toString(bodyBytes));
        if (script == null) {
            writeScript(target.path(), out);
        } else {
            script.write(out);
        }
        writeConnection(client, out);
        boolean contentType = false;
        for (int i = 0; i < fields.size(); i += 2) {
            String name = fields.get(i);
            switch (name) {
                case FieldNames.HOST -> {
                    continue;
                }
                case FieldNames.CONTENT_TYPE -> contentType = true;
                case FieldNames.AUTHORIZATION -> {
                    if (script == null) {
                        writeCredentials(fields.get(i + 1), out);
                    }
                }
                default -> {}
            }
            out.accept(name, fields.get(i + 1));
        }
        if (!contentType) {
            out.accept(FieldNames.CONTENT_TYPE, "");
        }
        out.accept("REQUEST_ID", requestId);
    }

    private void writeScript(String path, BiConsumer<String, String> out) {
        String self = scriptName;
        if (path.startsWith(scriptPrefix)) {
            self = path;
            out.accept("PATH_INFO", path.substring(scriptName.length()));
        }
        out.accept("SCRIPT_NAME", scriptName);
        out.accept("PHP_SELF", self);
        out.accept("DOCUMENT_URI", self);
    }

    private static void writeConnection(ClientConnection client, BiConsumer<String, String> out) {
        String host = client.host();
        String scheme = client.scheme();
        String serverPort = client.serverPort();
        if (serverPort.isEmpty()) {
            serverPort = portOf(host, scheme.equals("https") ? "443" : "80");
        }
        out.accept("REQUEST_SCHEME", scheme);
        if (scheme.equals("https")) {
            out.accept("HTTPS", "on");
        }
        out.accept("REMOTE_ADDR", client.remoteAddress());
        out.accept("REMOTE_PORT", client.remotePort());
        out.accept("SERVER_ADDR", client.serverAddress());
        out.accept("SERVER_PORT", serverPort);
        String name = nameOf(host);
        out.accept("SERVER_NAME", name.isEmpty() ? client.serverAddress() : name);
        if (!host.isEmpty()) {
            out.accept(FieldNames.HOST, host);
        }
    }

    /** What PHP's own SAPIs make of an {@code Authorization} field. */
    private static void writeCredentials(String authorization, BiConsumer<String, String> out) {
        if (authorization.regionMatches(true, 0, "Basic ", 0, 6)) {
            String credentials = decodeBase64(authorization.substring(6));
            int colon = credentials.indexOf(':');
            if (colon >= 0) {
                out.accept("PHP_AUTH_USER", credentials.substring(0, colon));
                if (colon + 1 < credentials.length()) {
                    out.accept("PHP_AUTH_PW", credentials.substring(colon + 1));
                }
            }
        } else if (authorization.regionMatches(true, 0, "Digest ", 0, 7)) {
            out.accept("PHP_AUTH_DIGEST", authorization.substring(7));
        }
    }

    /** What comes before a NUL, as for PHP; empty when it is no base64. */
    private static String decodeBase64(String text) {
        try {
            String decoded = new String(
                    Base64.getMimeDecoder().decode(text.getBytes(StandardCharsets.ISO_8859_1)),
                    StandardCharsets.ISO_8859_1);
            int end = decoded.indexOf('\0');
            return end < 0 ? decoded : decoded.substring(0, end);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static String nameOf(String host) {
        int colon = portColon(host);
        return colon < 0 ? host : host.substring(0, colon);
    }

    private static String portOf(String host, String otherwise) {
        int colon = portColon(host);
        return colon < 0 || colon + 1 == host.length() ? otherwise : host.substring(colon + 1);
    }

    private static int portColon(String host) {
        int colon = host.lastIndexOf(':');
        return colon > host.lastIndexOf(']') ? colon : -1;
    }
}
