package dev.cetane.http;

import dev.cetane.cgi.FieldNames;
import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a trusted proxy says about its client. Immutable; what it does not say is null.
 *
 * <p>Of a chain of addresses the right-most one that is no trusted proxy counts: what stands left of it may be invented. {@code
 * X-Forwarded-*} goes before {@code Forwarded}, which only counts when none of them is there: a trusted proxy must set or remove
 * them all.
 *
 * @param address IP address of the client
 * @param scheme {@code http} or {@code https}
 * @param host host, with an optional port, that the client asked for
 * @param port port that the client connected to
 */
record ForwardedClient(
        @Nullable String address,
        @Nullable String scheme,
        @Nullable String host,
        @Nullable String port) {

    static ForwardedClient of(RequestHead head, TrustedProxies proxies) {
        String forwardedFor = head.field(FieldNames.X_FORWARDED_FOR);
        String proto = head.field(FieldNames.X_FORWARDED_PROTO);
        String host = head.field(FieldNames.X_FORWARDED_HOST);
        String port = head.field(FieldNames.X_FORWARDED_PORT);
        if (forwardedFor == null && proto == null && host == null && port == null) {
            String forwarded = head.field(FieldNames.FORWARDED);
            return forwarded == null ? new ForwardedClient(null, null, null, null) : parse(forwarded, proxies);
        }
        List<String> hops = forwardedFor == null ? List.of() : split(forwardedFor, ',');
        int hop = clientHop(hops, proxies);
        return new ForwardedClient(
                hop < 0 ? null : withoutPort(hops.get(hop)),
                scheme(last(proto)),
                RequestHead.authority(last(host)),
                port(last(port)));
    }

    /** RFC 7239. */
    private static ForwardedClient parse(String forwarded, TrustedProxies proxies) {
        List<String> elements = split(forwarded, ',');
        List<String> hops = new ArrayList<>(elements.size());
        for (String element : elements) {
            String hop = parameter(element, "for");
            hops.add(hop == null ? "unknown" : hop);
        }
        if (hops.isEmpty()) {
            return new ForwardedClient(null, null, null, null);
        }
        int hop = clientHop(hops, proxies);
        String element = elements.get(hop < 0 ? elements.size() - 1 : hop);
        return new ForwardedClient(
                hop < 0 ? null : withoutPort(hops.get(hop)),
                scheme(parameter(element, "proto")),
                RequestHead.authority(parameter(element, "host")),
                null);
    }

    /** Index of the right-most hop that is an address and no trusted proxy, or of the left-most one if all are trusted; else -1. */
    private static int clientHop(List<String> hops, TrustedProxies proxies) {
        int hop = -1;
        for (int i = hops.size() - 1; i >= 0; i--) {
            String address = withoutPort(hops.get(i));
            if (address == null) {
                // Not an address, so nothing beyond it can be believed either.
                return hop;
            }
            hop = i;
            if (!proxies.trusts(address)) {
                return hop;
            }
        }
        return hop;
    }

    /**
     * The IP address in {@code a.b.c.d}, {@code a.b.c.d:port}, {@code [v6]}, {@code [v6]:port} or {@code v6}, IPv6 in its short form;
     * null if there is none.
     */
    private static @Nullable String withoutPort(String hop) {
        String address = hop;
        if (hop.startsWith("[")) {
            int end = hop.indexOf(']');
            address = end < 0 ? "" : hop.substring(1, end);
        } else if (hop.indexOf(':') >= 0 && hop.indexOf(':') == hop.lastIndexOf(':')) {
            address = hop.substring(0, hop.indexOf(':'));
        }
        if (NetUtil.isValidIpV4Address(address)) {
            return address;
        }
        Inet6Address v6 = NetUtil.getByName(address, false);
        return v6 == null ? null : NetUtil.toAddressString(v6);
    }

    private static @Nullable String scheme(@Nullable String proto) {
        if (proto == null) {
            return null;
        }
        return proto.equalsIgnoreCase("https") ? "https" : proto.equalsIgnoreCase("http") ? "http" : null;
    }

    private static @Nullable String port(@Nullable String port) {
        if (port == null || port.isEmpty() || port.length() > 5) {
            return null;
        }
        for (int i = 0; i < port.length(); i++) {
            if (port.charAt(i) < '0' || port.charAt(i) > '9') {
                return null;
            }
        }
        return port;
    }

    private static @Nullable String last(@Nullable String list) {
        return list == null ? null : list.substring(list.lastIndexOf(',') + 1).trim();
    }

    private static @Nullable String parameter(String element, String name) {
        for (String pair : split(element, ';')) {
            int equals = pair.indexOf('=');
            if (equals == name.length() && pair.regionMatches(true, 0, name, 0, equals)) {
                String value = pair.substring(equals + 1);
                boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
                return quoted ? value.substring(1, value.length() - 1) : value;
            }
        }
        return null;
    }

    /** Splits at a separator that does not stand in quotes, trims the parts and leaves out empty ones. */
    private static List<String> split(String list, char separator) {
        List<String> parts = new ArrayList<>(4);
        int start = 0;
        boolean quoted = false;
        for (int i = 0; i <= list.length(); i++) {
            if (i == list.length() || (list.charAt(i) == separator && !quoted)) {
                String part = list.substring(start, i).trim();
                if (!part.isEmpty()) {
                    parts.add(part);
                }
                start = i + 1;
            } else if (list.charAt(i) == '"') {
                quoted = !quoted;
            }
        }
        return parts;
    }
}
