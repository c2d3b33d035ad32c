package dev.cetane.http;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.cgi.ClientConnection;
import dev.cetane.cgi.Script;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The request's part of {@code $_SERVER} under HTTP: {@link CgiVariables}, where {@code HTTP_HOST}, {@code REMOTE_ADDR} and the like are
 * what a trusted proxy says. Immutable, callable from any thread.
 */
final class ServerVariables {
    private final CgiVariables variables;
    private final TrustedProxies proxies;

    /** @param scriptName path of the front controller as a client would ask for it: {@code /index.php} */
    ServerVariables(String scriptName, TrustedProxies proxies) {
        this.variables = new CgiVariables(scriptName);
        this.proxies = proxies;
    }

    /**
     * Writes every entry once.
     *
     * @param script the one that PHP is to run by its path; null for a front controller
     * @param bodyBytes length of the body that arrived, {@link RequestHead#NO_BODY} when the request had none
     */
    void write(
            RequestHead head,
            @Nullable Script script,
            Peer peer,
            String requestId,
            long bodyBytes,
            BiConsumer<String, String> out) {
        variables.write(
                head.method(),
                head.requestTarget(),
                script,
                head.http11() ? "HTTP/1.1" : "HTTP/1.0",
                connection(head, peer),
                head.fields(),
                requestId,
                bodyBytes,
                out);
    }

    /** The connection as the client sees it, as far as proxies are trusted. */
    ClientConnection connection(RequestHead head, Peer peer) {
        String remoteAddress = peer.remoteAddress();
        String remotePort = peer.remotePort();
        String serverPort = peer.serverPort();
        String scheme = "http";
        String host = head.host();
        if (peer.trusted()) {
            ForwardedClient client = ForwardedClient.of(head, proxies);
            if (client.address() != null) {
                remoteAddress = client.address();
                remotePort = "";
            }
            if (client.host() != null) {
                host = client.host();
            }
            if (client.scheme() != null) {
                scheme = client.scheme();
            }
            if (client.port() != null) {
                serverPort = client.port();
            } else if (client.host() != null || client.scheme() != null) {
                serverPort = "";
            }
        }
        return new ClientConnection(remoteAddress, remotePort, peer.serverAddress(), serverPort, scheme, host);
    }
}
