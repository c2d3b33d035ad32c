package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.cgi.ClientConnection;
import dev.cetane.cgi.FieldNames;
import dev.cetane.cgi.MalformedTargetException;
import dev.cetane.cgi.RequestFields;
import dev.cetane.cgi.RequestTarget;
import dev.cetane.lambda.JsonReader.Span;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an event: tells by its shape what sent it, and makes a request of one that is HTTP. Used by one thread.
 *
 * <p>API Gateway (REST and HTTP API), function URLs and load balancers each say the same things in their own words; the words are
 * those of AWS's documentation. Everything about a request that can be left as it came is left so, above all the query.
 */
final class EventReader {
    private static final Set<String> MEMBERS = Set.of(
            "version",
            "httpMethod",
            "path",
            "rawPath",
            "rawQueryString",
            "headers",
            "multiValueHeaders",
            "queryStringParameters",
            "multiValueQueryStringParameters",
            "pathParameters",
            "cookies",
            "body",
            "isBase64Encoded",
            "requestContext",
            "warmer",
            "vaporWarmer",
            "vaporWarmerPing");

    /** Fields in which adapters pass on the contexts: nobody outside may set them. */
    private static final Set<String> RESERVED_FIELDS = Set.of(
            "HTTP_X_AMZN_REQUEST_CONTEXT",
            "HTTP_X_AMZN_LAMBDA_CONTEXT",
            "HTTP_X_AMZ_TENANT_ID",
            "HTTP_X_VAPOR_SOURCE_IP");

    private static final byte[] NO_BODY = {};

    private final String basePath;
    private final Map<String, Span> members = new HashMap<>();

    /** @param basePath what is taken away from the front of each path, as in {@code /shop}; {@code auto}: a stage's name; may be empty */
    EventReader(String basePath) {
        this.basePath = basePath;
    }

    /**
     * What came.
     *
     * @param http the request, null when it is none
     * @param warmer whether it only wants this environment to be there
     */
    record Event(@Nullable HttpEvent http, boolean warmer) {}

    /** @throws MalformedEventException when it is no JSON, or no whole request */
    Event read(Invocation invocation) throws MalformedEventException {
        members.clear();
        Span whole = new JsonReader(invocation.event(), 0, invocation.length()).whole();
        if (!whole.isObject()) {
            return new Event(null, false);
        }
        JsonReader json = whole.reader();
        json.beginObject();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
            Span value = json.span();
            if (MEMBERS.contains(name) && !value.isNull()) {
                members.put(name, value);
            }
        }
        if (isTrue("warmer") || isTrue("vaporWarmer") || isTrue("vaporWarmerPing")) {
            return new Event(null, true);
        }
        Map<String, Span> context = object("requestContext");
        if (members.containsKey("httpMethod")) {
            return new Event(context.containsKey("elb") ? loadBalancer() : rest(context), false);
        }
        Map<String, Span> http = object(context.get("http"));
        if (http.containsKey("method")) {
            return new Event(httpApi(context, http), false);
        }
        return new Event(null, false);
    }

    // ---- the senders ----

    /** API Gateway's REST APIs, payload version 1.0. */
    private HttpEvent rest(Map<String, Span> context) throws MalformedEventException {
        RequestFields fields = fields();
        String path = stripped(encoded(text("path", "/")), "");
        Map<String, Span> identity = object(context.get("identity"));
        return event(
                members.containsKey("multiValueHeaders") ? AnswerFormat.REST_MULTI : AnswerFormat.REST,
                text("httpMethod", "GET"),
                path,
                query(true),
                text(context.get("protocol"), "HTTP/1.1"),
                text(identity.get("sourceIp"), "127.0.0.1"),
                "https",
                text(context.get("domainName"), ""),
                fields);
    }

    /** API Gateway's HTTP APIs and function URLs, payload version 2.0. */
    private HttpEvent httpApi(Map<String, Span> context, Map<String, Span> http) throws MalformedEventException {
        RequestFields fields = fields();
        Span cookies = members.get("cookies");
        if (cookies != null && cookies.isArray()) {
            StringBuilder joined = new StringBuilder();
            JsonReader json = cookies.reader();
            json.beginArray();
            while (json.nextElement()) {
                String cookie = json.text();
                if (cookie != null) {
                    joined.append(joined.isEmpty() ? "" : "; ").append(cookie);
                }
            }
            if (!joined.isEmpty()) {
                fields.set(FieldNames.COOKIE, fit("cookies", joined.toString()));
            }
        }
        String domain = text(context.get("domainName"), "");
        String stage = text(context.get("stage"), "");
        // Only under AWS's own names does the path begin with the stage.
        boolean staged = domain.contains(".execute-api.") && !stage.isEmpty() && !stage.equals("$default");
        String path = stripped(encoded(text("rawPath", text(http.get("path"), "/"))), staged ? "/" + stage : "");
        return event(
                AnswerFormat.HTTP_API,
                text(http.get("method"), "GET"),
                path,
                legal(text("rawQueryString", ""), false),
                text(http.get("protocol"), "HTTP/1.1"),
                text(http.get("sourceIp"), "127.0.0.1"),
                "https",
                domain,
                fields);
    }

    /** An Application Load Balancer. */
    private HttpEvent loadBalancer() throws MalformedEventException {
        RequestFields fields = fields();
        String forwarded = fields.get(FieldNames.X_FORWARDED_FOR);
        String last = forwarded == null
                ? "127.0.0.1"
                : forwarded.substring(forwarded.lastIndexOf(',') + 1).trim();
        return event(
                members.containsKey("multiValueHeaders") ? AnswerFormat.BALANCER_MULTI : AnswerFormat.BALANCER,
                text("httpMethod", "GET"),
                stripped(encoded(text("path", "/")), ""),
                query(false),
                "HTTP/1.1",
                last,
                "http",
                "",
                fields);
    }

    private HttpEvent event(
            AnswerFormat format,
            String method,
            String path,
            String query,
            String protocol,
            String sourceIp,
            String defaultScheme,
            String domain,
            RequestFields fields)
            throws MalformedEventException {
        RequestTarget target;
        try {
            target = RequestTarget.of(query.isEmpty() ? path : path + "?" + query);
        } catch (MalformedTargetException e) {
            throw new MalformedEventException("the request cannot be understood: " + e.getMessage());
        }
        String proto = fields.get(FieldNames.X_FORWARDED_PROTO);
        String scheme =
                "https".equalsIgnoreCase(proto) ? "https" : "http".equalsIgnoreCase(proto) ? "http" : defaultScheme;
        String port = port(fields.get(FieldNames.X_FORWARDED_PORT));
        String host = fields.get(FieldNames.HOST);
        if (host == null) {
            host = domain;
        }
        Span bodySpan = members.get("body");
        byte[] body = bodySpan == null ? NO_BODY : body(bodySpan);
        boolean promised = fields.get(FieldNames.CONTENT_LENGTH) != null;
        RequestFields kept = fields;
        if (promised) {
            kept = new RequestFields();
            for (int i = 0; i < fields.list().size(); i += 2) {
                if (!fields.list().get(i).equals(FieldNames.CONTENT_LENGTH)) {
                    kept.add(fields.list().get(i), fields.list().get(i + 1));
                }
            }
        }
        Span context = members.get("requestContext");
        Span parameters = members.get("pathParameters");
        return new HttpEvent(
                format,
                fit("method", method),
                target,
                fit("protocol", protocol),
                new ClientConnection(fit("sourceIp", sourceIp), "", "127.0.0.1", port, scheme, host),
                kept.list(),
                body,
                body.length > 0 || promised ? body.length : CgiVariables.NO_BODY,
                context == null ? "[]" : context.raw(),
                parameters == null ? null : parameters.raw());
    }

    // ---- parts of a request ----

    private RequestFields fields() throws MalformedEventException {
        RequestFields fields = new RequestFields();
        Span multi = members.get("multiValueHeaders");
        Span headers = multi == null ? members.get("headers") : multi;
        if (headers == null || !headers.isObject()) {
            return fields;
        }
        JsonReader json = headers.reader();
        json.beginObject();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
            String serverName = FieldNames.serverName(name);
            String wanted = serverName == null || RESERVED_FIELDS.contains(serverName) ? null : serverName;
            if (json.atArray()) {
                json.beginArray();
                while (json.nextElement()) {
                    String value = json.text();
                    if (wanted != null && value != null) {
                        fields.add(wanted, fit(name, value));
                    }
                }
            } else {
                String value = json.text();
                if (wanted != null && value != null) {
                    fields.add(wanted, fit(name, value));
                }
            }
        }
        return fields;
    }

    /** @param decoded whether the sender has undone percent-encoding, as API Gateway does and load balancers do not */
    private String query(boolean decoded) throws MalformedEventException {
        Span multi = members.get("multiValueQueryStringParameters");
        Span parameters = multi == null ? members.get("queryStringParameters") : multi;
        if (parameters == null || !parameters.isObject()) {
            return "";
        }
        StringBuilder query = new StringBuilder();
        JsonReader json = parameters.reader();
        json.beginObject();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
            if (json.atArray()) {
                json.beginArray();
                while (json.nextElement()) {
                    append(query, name, json.text(), decoded);
                }
            } else {
                append(query, name, json.text(), decoded);
            }
        }
        return query.toString();
    }

    private static void append(StringBuilder query, String name, @Nullable String value, boolean decoded) {
        query.append(query.isEmpty() ? "" : "&");
        query.append(decoded ? percent(name, "[]") : legal(name, false));
        query.append('=');
        query.append(value == null ? "" : decoded ? percent(value, "") : legal(value, false));
    }

    private byte[] body(Span body) throws MalformedEventException {
        if (!body.isString()) {
            throw new MalformedEventException("the event's body is no text");
        }
        if (!isTrue("isBase64Encoded")) {
            return JsonReader.bytes(body);
        }
        try {
            ByteBuffer plain = JsonReader.plain(body);
            if (plain == null) {
                return Base64.getDecoder().decode(JsonReader.bytes(body));
            }
            ByteBuffer decoded = Base64.getDecoder().decode(plain);
            byte[] bytes = new byte[decoded.remaining()];
            decoded.get(bytes);
            return bytes;
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("the event's body says that it is base64, but is not: " + e.getMessage());
        }
    }

    /** The path without what was put in front of the application's own. */
    private String stripped(String path, String stage) {
        String prefix = basePath.equals("auto") ? stage : basePath;
        if (prefix.isEmpty() || !path.startsWith(prefix)) {
            return path;
        }
        String rest = path.substring(prefix.length());
        return rest.isEmpty() ? "/" : rest.startsWith("/") ? rest : path;
    }

    /** A path as a client would have sent it: what may not stand in one is percent-encoded, all else is left. */
    private static String encoded(String path) {
        String rooted = path.startsWith("/") ? path : "/" + path;
        return legal(rooted, true);
    }

    private static String legal(String text, boolean path) {
        StringBuilder legal = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean bare = c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>' && !(path && c == '?');
            if (path && c == '%') {
                bare = i + 2 < text.length()
                        && Character.digit(text.charAt(i + 1), 16) >= 0
                        && Character.digit(text.charAt(i + 2), 16) >= 0;
            }
            if (legal == null && !bare) {
                legal = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (legal != null) {
                escape(legal, c, bare);
            }
        }
        return legal == null ? text : legal.toString();
    }

    /** Everything percent-encoded but letters, digits, {@code -._~} and what is named. */
    private static String percent(String text, String bare) {
        StringBuilder encoded = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean unreserved = (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || "-._~".indexOf(c) >= 0;
            escape(encoded, c, unreserved || bare.indexOf(c) >= 0);
        }
        return encoded.toString();
    }

    private static void escape(StringBuilder into, char c, boolean bare) {
        if (bare) {
            into.append(c);
        } else {
            into.append('%')
                    .append(Character.toUpperCase(Character.forDigit((c >> 4) & 0xF, 16)))
                    .append(Character.toUpperCase(Character.forDigit(c & 0xF, 16)));
        }
    }

    // ---- members ----

    private Map<String, Span> object(String name) throws MalformedEventException {
        return object(members.get(name));
    }

    private static Map<String, Span> object(@Nullable Span span) throws MalformedEventException {
        Map<String, Span> object = new HashMap<>();
        if (span != null && span.isObject()) {
            JsonReader json = span.reader();
            json.beginObject();
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                object.put(name, json.span());
            }
        }
        return object;
    }

    private boolean isTrue(String name) {
        Span value = members.get(name);
        return value != null && value.isTrue();
    }

    private String text(String name, String otherwise) throws MalformedEventException {
        return text(members.get(name), otherwise);
    }

    private static String text(@Nullable Span span, String otherwise) throws MalformedEventException {
        String text = span == null ? null : span.reader().text();
        return text == null ? otherwise : text;
    }

    /** A value that can stand in {@code $_SERVER} and, as it came, in a header. */
    private static String fit(String name, String value) throws MalformedEventException {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == 0 || c == '\n' || c == '\r') {
                throw new MalformedEventException("the value of " + name + " holds a line break or NUL");
            }
        }
        return value;
    }

    /** Empty when it is no port. */
    private static String port(@Nullable String text) {
        if (text == null || text.length() > 5) {
            return "";
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return "";
            }
        }
        return text;
    }
}
