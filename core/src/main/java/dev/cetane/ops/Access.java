package dev.cetane.ops;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what. A page of another site, in a browser on this machine or in this network, can neither read nor act: names are refused
 * that DNS rebinding would need, no answer allows a foreign origin, and actions want a header that no form sends. Immutable.
 */
final class Access {

    /** Where a connection came from. */
    enum Door {
        /** May read; the Host field must name this machine. */
        LOOPBACK,
        /** May read with a token. */
        NETWORK,
        /** May do everything: only the instance's user can open it. */
        CONTROL
    }

    /** What a request is for. */
    enum Purpose {
        /** Health, which load balancers ask. */
        HEALTH,
        /** What is in the distribution anyway: the dashboard without figures. */
        PAGE,
        /** Figures. */
        READ,
        /** A change. */
        ACT
    }

    /** Why not. The message names no token. */
    record Refusal(HttpResponseStatus status, String message) {}

    private static final Refusal FOREIGN_HOST = new Refusal(
            HttpResponseStatus.FORBIDDEN,
            "This address answers to localhost and to IP addresses only, not to other host names.\n");
    private static final Refusal FOREIGN_SITE =
            new Refusal(HttpResponseStatus.FORBIDDEN, "Pages of other sites are not answered.\n");
    private static final Refusal NO_TOKEN_SET = new Refusal(
            HttpResponseStatus.FORBIDDEN,
            "From elsewhere than this machine only /health/live and /health/ready are answered, as long as no ops.token is set"
                    + " (CETANE_OPS_TOKEN).\n");
    private static final Refusal NO_ACTIONS = new Refusal(
            HttpResponseStatus.FORBIDDEN,
            "Actions need a token, and no ops.token is set (CETANE_OPS_TOKEN). The cetane command needs none.\n");
    private static final Refusal WRONG_TOKEN = new Refusal(
            HttpResponseStatus.UNAUTHORIZED,
            "This needs the header Authorization: Bearer TOKEN, with the right token.\n");

    private final Door door;
    private final byte @Nullable [] token;
    private final byte @Nullable [] readToken;

    Access(Door door, OpsConfig config) {
        this.door = door;
        this.token = bytes(config.token());
        this.readToken = bytes(config.readToken());
    }

    boolean isControl() {
        return door == Door.CONTROL;
    }

    /** Whether a token would let a request act. */
    boolean actionsPossible() {
        return token != null;
    }

    /** Why the request may not, null when it may. */
    @Nullable
    Refusal check(HttpRequest request, Purpose purpose) {
        if (door == Door.CONTROL) {
            return null;
        }
        if (door == Door.LOOPBACK && !isHostAllowed(request)) {
            return FOREIGN_HOST;
        }
        if (purpose == Purpose.HEALTH) {
            return null;
        }
        if (purpose != Purpose.PAGE && isForeignSite(request.headers())) {
            return FOREIGN_SITE;
        }
        if (door == Door.NETWORK && token == null && readToken == null) {
            return NO_TOKEN_SET;
        }
        if (purpose == Purpose.ACT) {
            return token == null ? NO_ACTIONS : presents(request, token) ? null : WRONG_TOKEN;
        }
        boolean open = door == Door.LOOPBACK || purpose == Purpose.PAGE;
        return open || presents(request, token) || presents(request, readToken) ? null : WRONG_TOKEN;
    }

    private static boolean presents(HttpRequest request, byte @Nullable [] wanted) {
        List<String> fields = request.headers().getAll(HttpHeaderNames.AUTHORIZATION);
        if (wanted == null || fields.size() != 1 || !fields.get(0).regionMatches(true, 0, "Bearer ", 0, 7)) {
            return false;
        }
        byte[] given = fields.get(0).substring(7).strip().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(given, wanted);
    }

    /** Browsers say so; nobody else sends these fields. */
    private static boolean isForeignSite(HttpHeaders headers) {
        String site = headers.get("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin") && !site.equals("none")) {
            return true;
        }
        String origin = headers.get(HttpHeaderNames.ORIGIN);
        String host = headers.get(HttpHeaderNames.HOST);
        return origin != null && !origin.equals("http://" + host) && !origin.equals("https://" + host);
    }

    private static boolean isHostAllowed(HttpRequest request) {
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        if (hosts.isEmpty()) {
            // A browser always sends it.
            return request.protocolVersion().equals(HttpVersion.HTTP_1_0);
        }
        return hosts.size() == 1 && isThisMachine(hosts.get(0));
    }

    private static boolean isThisMachine(String host) {
        String name = host.replaceFirst(":[0-9]{1,5}$", "");
        return name.equalsIgnoreCase("localhost")
                || name.matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}")
                || name.matches("\\[[0-9A-Fa-f:.]+]");
    }

    private static byte @Nullable [] bytes(@Nullable String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }
}
