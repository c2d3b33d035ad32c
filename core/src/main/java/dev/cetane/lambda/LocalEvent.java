package dev.cetane.lambda;

import com.sun.net.httpserver.HttpExchange;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The event, version 2.0, that an HTTP API and a function URL make of a request. Immutable. */
final class LocalEvent {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

    private LocalEvent() {}

    static byte[] json(HttpExchange request, byte[] body, String id, Instant now) {
        String path = nonNull(request.getRequestURI().getRawPath());
        Map<String, String> headers = new TreeMap<>();
        List<String> cookies = new ArrayList<>();
        request.getRequestHeaders().forEach((name, values) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.equals("cookie")) {
                values.forEach(value -> cookies.addAll(List.of(value.split("; ?", -1))));
            } else {
                headers.put(lower, String.join(",", values));
            }
        });
        headers.putIfAbsent("x-forwarded-proto", "http");
        headers.putIfAbsent(
                "x-forwarded-port", Integer.toString(request.getLocalAddress().getPort()));
        InetSocketAddress client = request.getRemoteAddress();
        String address = client.getAddress().getHostAddress();
        headers.merge("x-forwarded-for", address, (given, last) -> given + ", " + last);

        ByteWriter json = new ByteWriter();
        json.put("{\"version\":\"2.0\",\"routeKey\":\"$default\",\"rawPath\":").string(path);
        json.put(",\"rawQueryString\":").string(nonNull(request.getRequestURI().getRawQuery()));
        if (!cookies.isEmpty()) {
            json.put(",\"cookies\":[");
            for (int i = 0; i < cookies.size(); i++) {
                json.put(i == 0 ? "" : ",").string(cookies.get(i));
            }
            json.put("]");
        }
        json.put(",\"headers\":{");
        String comma = "";
        for (Map.Entry<String, String> header : headers.entrySet()) {
            json.put(comma).string(header.getKey()).put(":").string(header.getValue());
            comma = ",";
        }
        json.put("},\"requestContext\":{\"accountId\":\"000000000000\",\"apiId\":\"local\",\"domainName\":");
        json.string(headers.getOrDefault("host", "localhost"));
        json.put(",\"domainPrefix\":\"local\",\"http\":{\"method\":").string(request.getRequestMethod());
        json.put(",\"path\":").string(path).put(",\"protocol\":\"HTTP/1.1\",\"sourceIp\":");
        json.string(address).put(",\"userAgent\":").string(headers.getOrDefault("user-agent", ""));
        json.put("},\"requestId\":").string(id);
        json.put(",\"routeKey\":\"$default\",\"stage\":\"$default\",\"time\":").string(TIME.format(now));
        json.put(",\"timeEpoch\":").put(now.toEpochMilli()).put("}");
        if (body.length > 0) {
            json.put(",\"body\":").base64(body, 0, body.length);
        }
        json.put(",\"isBase64Encoded\":")
                .put(body.length > 0 ? "true" : "false")
                .put("}");
        byte[] event = new byte[json.length()];
        System.arraycopy(json.array(), 0, event, 0, event.length);
        return event;
    }

    private static String nonNull(@Nullable String text) {
        return text == null ? "" : text;
    }
}
