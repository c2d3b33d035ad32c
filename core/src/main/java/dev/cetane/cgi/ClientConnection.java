package dev.cetane.cgi;

/**
 * Who asks, and whom, as {@code $_SERVER} names it. Immutable.
 *
 * @param remoteAddress IP address of the client
 * @param remotePort empty where it is not known
 * @param serverAddress IP address that was connected to
 * @param serverPort empty: the port that {@code host} names, or the usual one of the scheme
 * @param scheme {@code http} or {@code https}
 * @param host host, with an optional port, that the client asked for; may be empty
 */
public record ClientConnection(
        String remoteAddress, String remotePort, String serverAddress, String serverPort, String scheme, String host) {}
