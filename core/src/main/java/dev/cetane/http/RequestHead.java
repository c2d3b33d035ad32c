package dev.cetane.http;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.cgi.FieldNames;
import dev.cetane.cgi.MalformedTargetException;
import dev.cetane.cgi.RequestFields;
import dev.cetane.cgi.RequestTarget;
import dev.cetane.multipart.Delimiter;
import dev.cetane.trace.TraceContext;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The head of one request after every check on it: what it asks for, how its body is framed, and its fields under their names in
 * {@code $_SERVER}. Effectively immutable once {@link #of} has returned it and it {@linkplain #trace has its place in a trace}, and safe
 * to hand to another thread.
 *
 * <p>Strings hold one char per byte (ISO-8859-1).
 */
final class RequestHead {
    /** More fields than any client sends; a bound for the search of repeated names. */
    static final int MAX_FIELDS = 200;

    /** What the length of a body is when there is none. */
    static final long NO_BODY = CgiVariables.NO_BODY;

    private static final RequestTarget NO_TARGET = new RequestTarget("", "", "");

    private static final boolean[] HOST_CHARS = chars("-._~!$&'()*+,;=%");

    private final String method;
    private final boolean http11;
    private final RequestFields fields = new RequestFields();

    private RequestTarget target = NO_TARGET;
    private String host = "";
    private @Nullable String authority;
    private @Nullable String requestId;
    private long contentLength = NO_BODY;
    private boolean chunked;
    private boolean expectsContinue;
    private boolean keepAlive;

    private RequestHead(String method, boolean http11) {
        this.method = method;
        this.http11 = http11;
    }

    /**
     * Checks a decoded head.
     *
     * @throws RefusedException if it is malformed, ambiguous, too long, or asks for what is not served
     */
    static RequestHead of(HttpRequest request, int maxTargetBytes) throws RefusedException {
        RequestHead head = new RequestHead(
                request.method().name(), request.protocolVersion().equals(HttpVersion.HTTP_1_1));
        if (head.method.equals("TRACE") || head.method.equals("CONNECT")) {
            throw new RefusedException(HttpFailure.METHOD_NOT_ALLOWED, head.method + " is not served");
        }
        head.readTarget(request.uri(), maxTargetBytes);
        head.readFields(request.headers().iteratorCharSequence());
        return head;
    }

    String method() {
        return method;
    }

    boolean http11() {
        return http11;
    }

    boolean isHead() {
        return method.equals("HEAD");
    }

    /** The target in origin form (or {@code *}) as the client wrote it, percent-encoding kept. */
    String target() {
        return target.target();
    }

    /** What is asked for, in all its forms. */
    RequestTarget requestTarget() {
        return target;
    }

    /** What stands after the target's first {@code ?}; empty when nothing does. */
    String query() {
        return target.query();
    }

    /** The target's path with percent-encoding undone; without NUL, dot segments and empty segments, as nginx matches it. */
    String path() {
        return target.path();
    }

    /** Host and port as the client named them; empty when an HTTP/1.0 client named none. */
    String host() {
        return host;
    }

    /** Names and values in turn, each name once, in the order of arrival; without {@code Content-Length}. */
    List<String> fields() {
        return fields.list();
    }

    /** The value of a field by its name in {@code $_SERVER}, or null. */
    @Nullable
    String field(String serverName) {
        return fields.get(serverName);
    }

    /** The length that {@code Content-Length} promises, or {@link #NO_BODY}. */
    long contentLength() {
        return contentLength;
    }

    boolean chunked() {
        return chunked;
    }

    boolean hasBody() {
        return chunked || contentLength > 0;
    }

    /** Whether PHP reads the body as a multipart form: for POST only, whatever the other methods bring. */
    boolean isForm() {
        return method.equals("POST") && Delimiter.isForm(contentType());
    }

    /** Empty when there is none. */
    String contentType() {
        String type = field(FieldNames.CONTENT_TYPE);
        return type == null ? "" : type;
    }

    boolean expectsContinue() {
        return expectsContinue;
    }

    /** Whether the client keeps the connection after the answer. */
    boolean keepAlive() {
        return keepAlive;
    }

    /** The client's own id for the request where it is fit for a log, or null. */
    @Nullable
    String requestId() {
        return requestId;
    }

    /** Gives the application that place in a trace, instead of what the client says of it. Before the head is handed on. */
    void trace(TraceContext trace) {
        fields.set(FieldNames.TRACEPARENT, trace.traceParent());
        String state = trace.traceState();
        if (state == null) {
            fields.remove(FieldNames.TRACESTATE);
        } else {
            fields.set(FieldNames.TRACESTATE, state);
        }
    }

    /** At most so many bytes does the head take in a frame, generously counted. */
    int encodedBytes() {
        return fields.bytes() + 4 * target.target().length() + method.length() + 1024;
    }

    private void readTarget(String uri, int maxTargetBytes) throws RefusedException {
        if (uri.length() > maxTargetBytes) {
            throw new RefusedException(
                    HttpFailure.TARGET_TOO_LONG,
                    "the target has " + uri.length() + " bytes, http.max-uri is " + maxTargetBytes);
        }
        for (int i = 0; i < uri.length(); i++) {
            char c = uri.charAt(i);
            if (c <= ' ' || c == 0x7F || c == '#') {
                throw malformed("the target holds the character 0x" + Integer.toHexString(c));
            }
        }
        try {
            target = RequestTarget.of(uri.startsWith("/") ? uri : originForm(uri));
        } catch (MalformedTargetException e) {
            throw malformed(String.valueOf(e.getMessage()));
        }
    }

    private String originForm(String uri) throws RefusedException {
        if (uri.equals("*") && method.equals("OPTIONS")) {
            return uri;
        }
        int scheme =
                uri.regionMatches(true, 0, "http://", 0, 7) ? 7 : uri.regionMatches(true, 0, "https://", 0, 8) ? 8 : 0;
        if (scheme == 0) {
            throw malformed("the target is neither a path nor an http URI");
        }
        int end = scheme;
        while (end < uri.length() && uri.charAt(end) != '/' && uri.charAt(end) != '?') {
            end++;
        }
        authority = uri.substring(scheme, end);
        String rest = uri.substring(end);
        return rest.startsWith("/") ? rest : "/" + rest;
    }

    private void readFields(Iterator<Map.Entry<CharSequence, CharSequence>> entries) throws RefusedException {
        boolean hostSeen = false;
        String connection = null;
        String expect = null;
        String transferEncoding = null;
        for (int count = 1; entries.hasNext(); count++) {
            if (count > MAX_FIELDS) {
                throw new RefusedException(HttpFailure.FIELDS_TOO_LARGE, "more than " + MAX_FIELDS + " header fields");
            }
            Map.Entry<CharSequence, CharSequence> entry = entries.next();
            String name = FieldNames.serverName(entry.getKey());
            if (name == null) {
                continue;
            }
            String value = entry.getValue().toString();
            switch (name) {
                case FieldNames.CONTENT_LENGTH -> {
                    if (contentLength != NO_BODY) {
                        throw malformed("more than one Content-Length");
                    }
                    contentLength = parseLength(value);
                    continue;
                }
                case FieldNames.TRANSFER_ENCODING -> {
                    if (transferEncoding != null) {
                        throw malformed("more than one Transfer-Encoding");
                    }
                    transferEncoding = value;
                }
                case FieldNames.HOST -> {
                    if (hostSeen) {
                        throw malformed("more than one Host");
                    }
                    hostSeen = true;
                    host = value;
                }
                case FieldNames.CONNECTION -> connection = connection == null ? value : connection + "," + value;
                case FieldNames.EXPECT -> expect = expect == null ? value : expect + "," + value;
                case FieldNames.X_REQUEST_ID -> requestId = RequestId.isFit(value) ? value : null;
                // The decoder takes a GET with this field for a draft WebSocket handshake with a body of eight bytes.
                case FieldNames.SEC_WEBSOCKET_KEY1 -> throw malformed("a handshake of a WebSocket draft");
                default -> {}
            }
            fields.add(name, value);
        }
        readFraming(transferEncoding);
        readHost(hostSeen);
        readExpectation(expect);
        keepAlive = !hasToken(connection, "close") && (http11 || hasToken(connection, "keep-alive"));
    }

    private void readFraming(@Nullable String transferEncoding) throws RefusedException {
        if (transferEncoding == null) {
            return;
        }
        if (contentLength != NO_BODY) {
            throw malformed("both Content-Length and Transfer-Encoding");
        }
        if (!transferEncoding.equalsIgnoreCase("chunked")) {
            throw new RefusedException(
                    HttpFailure.CODING_NOT_IMPLEMENTED, "the transfer coding is not exactly chunked");
        }
        chunked = true;
    }

    private void readHost(boolean hostSeen) throws RefusedException {
        if (!hostSeen && http11) {
            throw malformed("no Host");
        }
        if (hostSeen && !isAuthority(host)) {
            throw malformed("Host is not a host with an optional port");
        }
        if (authority != null) {
            if (!isAuthority(authority)) {
                throw malformed("the target's authority is not a host with an optional port");
            }
            // RFC 9112, 3.2.2: the target's authority replaces what Host says.
            fields.set(FieldNames.HOST, authority);
            host = authority;
        }
    }

    private void readExpectation(@Nullable String expect) throws RefusedException {
        if (expect == null || !http11) {
            return;
        }
        if (!expect.equalsIgnoreCase("100-continue")) {
            throw new RefusedException(HttpFailure.EXPECTATION_FAILED, "an expectation other than 100-continue");
        }
        expectsContinue = true;
    }

    private static long parseLength(String value) throws RefusedException {
        long length = 0;
        if (value.isEmpty() || value.length() > 18) {
            throw malformed("Content-Length is not a number in range");
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < '0' || c > '9') {
                throw malformed("Content-Length is not a number");
            }
            length = length * 10 + (c - '0');
        }
        return length;
    }

    /** The value if it is a host with an optional port, else null. */
    static @Nullable String authority(@Nullable String value) {
        return value != null && isAuthority(value) ? value : null;
    }

    /** {@code host}, {@code host:port}, {@code [address]} or {@code [address]:port}; the host is not empty. */
    private static boolean isAuthority(String value) {
        int end = 0;
        if (value.startsWith("[")) {
            end = value.indexOf(']') + 1;
            for (int i = 1; i < end - 1; i++) {
                char c = value.charAt(i);
                if (Character.digit(c, 16) < 0 && c != ':' && c != '.') {
                    return false;
                }
            }
            if (end < 4) {
                return false;
            }
        } else {
            while (end < value.length() && value.charAt(end) < 128 && HOST_CHARS[value.charAt(end)]) {
                end++;
            }
        }
        if (end == value.length()) {
            return end > 0;
        }
        if (end == 0 || value.charAt(end) != ':' || value.length() - end > 6) {
            return false;
        }
        for (int i = end + 1; i < value.length(); i++) {
            if (value.charAt(i) < '0' || value.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /** Whether a comma-separated list holds a token, in any case. */
    private static boolean hasToken(@Nullable String list, String token) {
        if (list == null) {
            return false;
        }
        for (int start = 0; start <= list.length(); ) {
            int comma = list.indexOf(',', start);
            int end = comma < 0 ? list.length() : comma;
            int next = end + 1;
            while (start < end && isSpace(list.charAt(start))) {
                start++;
            }
            while (end > start && isSpace(list.charAt(end - 1))) {
                end--;
            }
            if (end - start == token.length() && list.regionMatches(true, start, token, 0, token.length())) {
                return true;
            }
            start = next;
        }
        return false;
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t';
    }

    private static boolean[] chars(String punctuation) {
        boolean[] chars = new boolean[128];
        for (char c = '0'; c <= 'z'; c++) {
            chars[c] = c <= '9' || c >= 'a' || (c >= 'A' && c <= 'Z');
        }
        for (int i = 0; i < punctuation.length(); i++) {
            chars[punctuation.charAt(i)] = true;
        }
        return chars;
    }

    private static RefusedException malformed(String what) {
        return new RefusedException(HttpFailure.BAD_REQUEST, what);
    }
}
