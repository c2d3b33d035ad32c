package dev.cetane.lambda;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the sender of an event wants its answer: as JSON with the body as text or in base64. Text is what its type says is text and what
 * is well-formed UTF-8; all else is base64, so no body can fail. Callable from any thread.
 */
enum AnswerFormat {
    /** API Gateway's REST APIs, an event with one value a header. */
    REST,
    /** The same with lists of values. */
    REST_MULTI,
    /** HTTP APIs and function URLs: a list of cookies, all other values joined. */
    HTTP_API,
    /** A load balancer that takes one value a header. */
    BALANCER,
    /** The same with lists of values. */
    BALANCER_MULTI;

    private static final Set<String> OF_THE_CONNECTION = Set.of(
            "connection",
            "keep-alive",
            "transfer-encoding",
            "upgrade",
            "te",
            "trailer",
            "proxy-connection",
            "content-length");

    private boolean lists() {
        return this == REST_MULTI || this == BALANCER_MULTI;
    }

    /** Whether its sender takes an answer as it is made. */
    boolean streams() {
        return !balancer();
    }

    private boolean balancer() {
        return this == BALANCER || this == BALANCER_MULTI;
    }

    /**
     * Writes a whole answer.
     *
     * @param headers names and values in turn, checked by {@link #invalid}
     */
    void write(int status, String reason, List<String> headers, byte[] body, int length, ByteWriter out) {
        head(status, reason, headers, lists(), this == HTTP_API, out);
        boolean text = length == 0 || (isText(headers) && Utf8.isValid(body, 0, length));
        out.put(text ? ",\"isBase64Encoded\":false,\"body\":" : ",\"isBase64Encoded\":true,\"body\":");
        if (text) {
            out.string(body, 0, length);
        } else {
            out.base64(body, 0, length);
        }
        out.put("}");
    }

    /** Writes an answer of Cetane's own to a request that has failed. */
    void writeFailure(int status, String text, ByteWriter out) {
        byte[] utf8 = (text + "\n").getBytes(StandardCharsets.UTF_8);
        List<String> type = List.of("Content-Type", "text/plain; charset=utf-8");
        write(status, HttpStatus.reason(status), type, utf8, utf8.length, out);
    }

    /** Writes the JSON that goes before a streamed body; load balancers know no such thing. */
    void prelude(int status, List<String> headers, ByteWriter out) {
        head(status, "", headers, this == REST_MULTI, this == HTTP_API, out);
        out.put("}");
    }

    private void head(
            int status, String reason, List<String> headers, boolean lists, boolean cookieList, ByteWriter out) {
        out.put("{\"statusCode\":").put(status);
        if (balancer()) {
            out.put(",\"statusDescription\":").string(status + (reason.isEmpty() ? "" : " " + reason));
        }
        Map<String, List<String>> byName = byName(headers);
        List<String> cookies = byName.get("set-cookie");
        if (cookieList && cookies != null) {
            byName.remove("set-cookie");
            out.put(",\"cookies\":");
            list(cookies, out);
        }
        out.put(lists ? ",\"multiValueHeaders\":{" : ",\"headers\":{");
        boolean several = !lists && cookies != null && cookies.size() > 1 && !cookieList;
        boolean first = true;
        for (Map.Entry<String, List<String>> field : byName.entrySet()) {
            if (several && field.getKey().equals("set-cookie")) {
                first = balancer() ? permuted(field.getValue(), first, out) : first;
                continue;
            }
            out.put(first ? "" : ",").string(field.getKey()).put(":");
            first = false;
            if (lists) {
                list(field.getValue(), out);
            } else {
                out.string(String.join(", ", field.getValue()));
            }
        }
        out.put("}");
        if (several && cookies != null && !balancer()) {
            // Taken beside headers, as long as no name is in both.
            out.put(",\"multiValueHeaders\":{\"set-cookie\":");
            list(cookies, out);
            out.put("}");
        }
    }

    /** One value a name, but names differ by case: the only way to say several cookies where there are no lists. */
    private static boolean permuted(List<String> cookies, boolean first, ByteWriter out) {
        String comma = first ? "" : ",";
        for (int i = 0; i < cookies.size(); i++) {
            StringBuilder name = new StringBuilder("set-cookie");
            for (int bit = 0, letter = 0; letter < name.length(); letter++) {
                char c = name.charAt(letter);
                if (c != '-') {
                    if (((i >> bit) & 1) != 0) {
                        name.setCharAt(letter, Character.toUpperCase(c));
                    }
                    bit++;
                }
            }
            out.put(comma).string(name.toString()).put(":").string(cookies.get(i));
            comma = ",";
        }
        return false;
    }

    private static void list(List<String> values, ByteWriter out) {
        out.put("[");
        for (int i = 0; i < values.size(); i++) {
            out.put(i == 0 ? "" : ",").string(values.get(i));
        }
        out.put("]");
    }

    private static Map<String, List<String>> byName(List<String> headers) {
        Map<String, List<String>> byName = new LinkedHashMap<>();
        for (int i = 0; i < headers.size(); i += 2) {
            String name = headers.get(i).toLowerCase(Locale.ROOT);
            if (!OF_THE_CONNECTION.contains(name)) {
                byName.computeIfAbsent(name, key -> new ArrayList<>(1)).add(headers.get(i + 1));
            }
        }
        return byName;
    }

    /** By the type alone, and not if the body is compressed. */
    private static boolean isText(List<String> headers) {
        String type = "";
        for (int i = 0; i < headers.size(); i += 2) {
            if (headers.get(i).equalsIgnoreCase("content-type")) {
                type = headers.get(i + 1).toLowerCase(Locale.ROOT);
            } else if (headers.get(i).equalsIgnoreCase("content-encoding")
                    && !headers.get(i + 1).equalsIgnoreCase("identity")) {
                return false;
            }
        }
        int semicolon = type.indexOf(';');
        String essence = (semicolon < 0 ? type : type.substring(0, semicolon)).strip();
        return essence.isEmpty()
                || essence.startsWith("text/")
                || essence.endsWith("+json")
                || essence.endsWith("+xml")
                || switch (essence) {
                    case "application/json",
                            "application/xml",
                            "application/javascript",
                            "application/x-javascript",
                            "application/ecmascript",
                            "application/yaml",
                            "application/x-yaml",
                            "application/x-www-form-urlencoded",
                            "application/graphql",
                            "application/x-ndjson" -> true;
                    default -> false;
                };
    }

    /** What makes these fields unfit to be sent, null when nothing does. */
    static @Nullable String invalid(List<String> headers) {
        for (int i = 0; i < headers.size(); i += 2) {
            String name = headers.get(i);
            if (!isToken(name)) {
                return "a header field has a name that is no token: \"" + name + "\"";
            }
            String value = headers.get(i + 1);
            for (int j = 0; j < value.length(); j++) {
                char c = value.charAt(j);
                if (c == '\n' || c == '\r' || c == 0) {
                    return "the header field " + name + " holds a line break or NUL";
                }
            }
        }
        return null;
    }

    private static boolean isToken(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && "!#$%&'*+-.^_`|~".indexOf(c) < 0) {
                return false;
            }
        }
        return !name.isEmpty();
    }
}
