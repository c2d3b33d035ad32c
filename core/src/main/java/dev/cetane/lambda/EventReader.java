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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads an event: tells by its shape what sent it, and makes a request of one that is HTTP. Used by one thread.
 *
 * <p>API Gateway (REST and HTTP API), function URLs and load balancers each say the same things in their own words; the words are
 * those of AWS's documentation. Everything about a request that can be left as it came is left so, above all the query.
 */
final class EventReader {
    /** Fields in which adapters pass on the contexts: nobody outside may set them. */
    private static final Set<String> RESERVED_FIELDS = Set.of(
            "HTTP_X_AMZN_REQUEST_CONTEXT",
            "HTTP_X_AMZN_LAMBDA_CONTEXT",
            "HTTP_X_AMZ_TENANT_ID",
            "HTTP_X_VAPOR_SOURCE_IP");

    private static final byte[] NO_BODY = {};

    private final String basePath;
    private final EventMembers members = new EventMembers();

    /** @param basePath what is taken away from the front of each path, as in {@code /shop}; {@code auto}: a stage's name; may be empty */
    EventReader(String basePath) {
        String whole =
                basePath.isEmpty() || basePath.equals("auto") || basePath.startsWith("/") ? basePath : "/" + basePath;
        this.basePath = whole.endsWith("/") ? whole.substring(0, whole.length() - 1) : whole;
    }

    /**
     * What came.
     *
     * @param http the request, null when it is none
     * @param warmer who only wants this environment to be there
     */
    record Event(@Nullable HttpEvent http, Warmer warmer) {}

    /** Who sends events that keep environments warm, and for how long each is held so that the next goes to another environment. */
    enum Warmer {
        NONE(0),
        BREF(10),
        VAPOR(50);

        private final int millis;

        Warmer(int millis) {
            this.millis = millis;
        }

        int millis() {
            return millis;
        }
    }

    /** @throws MalformedEventException when it is no JSON, or no whole request */
    Event read(Invocation invocation) throws MalformedEventException {
        Span whole = new JsonReader(invocation.event(), 0, invocation.length()).whole();
        if (!whole.isObject()) {
            return new Event(null, Warmer.NONE);
        }
        members.read(whole);
        if (members.isTrue("warmer")) {
            return new Event(null, Warmer.BREF);
        }
        if (members.isTrue("vaporWarmer") || members.isTrue("vaporWarmerPing")) {
            return new Event(null, Warmer.VAPOR);
        }
        EventMembers context = members.object("requestContext");
        if (members.has("httpMethod")) {
            return new Event(context.has("elb") ? loadBalancer() : rest(context), Warmer.NONE);
        }
        EventMembers http = context.object("http");
        return new Event(http.has("method") ? httpApi(context, http) : null, Warmer.NONE);
    }

    // ---- the senders ----

    /** API Gateway's REST APIs, payload version 1.0. */
    private HttpEvent rest(EventMembers context) throws MalformedEventException {
        RequestFields fields = fields();
        String path = stripped(UrlText.path(members.text("path", "/")), "");
        EventMembers identity = context.object("identity");
        return event(
                members.has("multiValueHeaders") ? AnswerFormat.REST_MULTI : AnswerFormat.REST,
                members.text("httpMethod", "GET"),
                path,
                query(true),
                context.text("protocol", "HTTP/1.1"),
                identity.text("sourceIp", "127.0.0.1"),
                "https",
                context.text("domainName", ""),
                fields);
    }

    /** API Gateway's HTTP APIs and function URLs, payload version 2.0. */
    private HttpEvent httpApi(EventMembers context, EventMembers http) throws MalformedEventException {
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
        String domain = context.text("domainName", "");
        String stage = context.text("stage", "");
        // Only under AWS's own names does the path begin with the stage.
        boolean staged = domain.contains(".execute-api.") && !stage.isEmpty() && !stage.equals("$default");
        String path =
                stripped(UrlText.path(members.text("rawPath", http.text("path", "/"))), staged ? "/" + stage : "");
        return event(
                AnswerFormat.HTTP_API,
                http.text("method", "GET"),
                path,
                UrlText.query(members.text("rawQueryString", "")),
                http.text("protocol", "HTTP/1.1"),
                http.text("sourceIp", "127.0.0.1"),
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
                members.has("multiValueHeaders") ? AnswerFormat.BALANCER_MULTI : AnswerFormat.BALANCER,
                members.text("httpMethod", "GET"),
                stripped(UrlText.path(members.text("path", "/")), ""),
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
        query.append(decoded ? UrlText.percent(name, "[]") : UrlText.query(name));
        query.append('=');
        query.append(value == null ? "" : decoded ? UrlText.percent(value, "") : UrlText.query(value));
    }

    private byte[] body(Span body) throws MalformedEventException {
        if (!body.isString()) {
            throw new MalformedEventException("the event's body is no text");
        }
        if (!members.isTrue("isBase64Encoded")) {
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
