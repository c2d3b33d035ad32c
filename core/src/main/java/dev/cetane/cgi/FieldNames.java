package dev.cetane.cgi;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The names under which request fields stand in {@code $_SERVER}. Immutable; well-known names cost no allocation.
 *
 * <p>Names with other characters than letters, digits and {@code -} are dropped, as nginx drops them: {@code X_Real_Ip} and {@code
 * X-Real-Ip} would be one name for PHP, and only one of them is what a proxy checks. {@code Proxy} is dropped because libraries take
 * {@code HTTP_PROXY} for a setting (CVE-2016-5385).
 */
public final class FieldNames {
    public static final String AUTHORIZATION = "HTTP_AUTHORIZATION";
    public static final String CONNECTION = "HTTP_CONNECTION";
    public static final String CONTENT_LENGTH = "CONTENT_LENGTH";
    public static final String CONTENT_TYPE = "CONTENT_TYPE";
    public static final String COOKIE = "HTTP_COOKIE";
    public static final String EXPECT = "HTTP_EXPECT";
    public static final String FORWARDED = "HTTP_FORWARDED";
    public static final String HOST = "HTTP_HOST";
    public static final String SEC_WEBSOCKET_KEY1 = "HTTP_SEC_WEBSOCKET_KEY1";
    public static final String TRACEPARENT = "HTTP_TRACEPARENT";
    public static final String TRACESTATE = "HTTP_TRACESTATE";
    public static final String TRANSFER_ENCODING = "HTTP_TRANSFER_ENCODING";
    public static final String USER_AGENT = "HTTP_USER_AGENT";
    public static final String X_FORWARDED_FOR = "HTTP_X_FORWARDED_FOR";
    public static final String X_FORWARDED_HOST = "HTTP_X_FORWARDED_HOST";
    public static final String X_FORWARDED_PORT = "HTTP_X_FORWARDED_PORT";
    public static final String X_FORWARDED_PROTO = "HTTP_X_FORWARDED_PROTO";
    public static final String X_REQUEST_ID = "HTTP_X_REQUEST_ID";

    private static final String[] KNOWN = {
        "Accept",
        "Accept-Charset",
        "Accept-Encoding",
        "Accept-Language",
        "Access-Control-Request-Headers",
        "Access-Control-Request-Method",
        "Authorization",
        "Cache-Control",
        "Connection",
        "Content-Encoding",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "DNT",
        "Expect",
        "Forwarded",
        "Host",
        "If-Match",
        "If-Modified-Since",
        "If-None-Match",
        "If-Range",
        "If-Unmodified-Since",
        "Keep-Alive",
        "Origin",
        "Pragma",
        "Priority",
        "Range",
        "Referer",
        "Sec-CH-UA",
        "Sec-CH-UA-Mobile",
        "Sec-CH-UA-Platform",
        "Sec-Fetch-Dest",
        "Sec-Fetch-Mode",
        "Sec-Fetch-Site",
        "Sec-Fetch-User",
        "Sec-GPC",
        "Sec-WebSocket-Key1",
        "TE",
        "Traceparent",
        "Tracestate",
        "Transfer-Encoding",
        "Upgrade",
        "Upgrade-Insecure-Requests",
        "User-Agent",
        "Via",
        "X-Amzn-Trace-Id",
        "X-CSRF-Token",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Port",
        "X-Forwarded-Proto",
        "X-Inertia",
        "X-Livewire",
        "X-Real-IP",
        "X-Request-Id",
        "X-Requested-With",
        "X-XSRF-Token",
    };

    private static final byte[] PREFIX = "HTTP_".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPPER = upper();

    /** Open addressing by the case-insensitive hash; a quarter full at most, so a miss ends soon. */
    private static final Known[] TABLE = table();

    private FieldNames() {}

    /** The name in {@code $_SERVER} of a field whose name is a token, or null when the field is dropped. */
    public static @Nullable String serverName(CharSequence name) {
        for (int i = slot(name); TABLE[i] != null; i = (i + 1) & (TABLE.length - 1)) {
            if (equal(TABLE[i].field, name)) {
                return TABLE[i].serverName;
            }
        }
        return derive(name);
    }

    private static @Nullable String derive(CharSequence name) {
        if (equal("Proxy", name)) {
            return null;
        }
        int length = name.length();
        byte[] derived = new byte[PREFIX.length + length];
        System.arraycopy(PREFIX, 0, derived, 0, PREFIX.length);
        for (int i = 0; i < length; i++) {
            char c = name.charAt(i);
            if (c >= UPPER.length || UPPER[c] == 0) {
                return null;
            }
            derived[PREFIX.length + i] = UPPER[c];
        }
        return new String(derived, StandardCharsets.ISO_8859_1);
    }

    /** What stands in {@code $_SERVER} for each character of a name; 0 where the field is dropped. */
    private static byte[] upper() {
        byte[] upper = new byte[128];
        for (char c = '0'; c <= 'z'; c++) {
            upper[c] = (byte) (Character.isLetterOrDigit(c) ? Character.toUpperCase(c) : 0);
        }
        upper['-'] = '_';
        return upper;
    }

    private static Known[] table() {
        Known[] table = new Known[256];
        for (String name : KNOWN) {
            String derived = derive(name);
            String serverName = switch (name) {
                case "Content-Length" -> CONTENT_LENGTH;
                case "Content-Type" -> CONTENT_TYPE;
                default -> derived;
            };
            int i = hash(name) & (table.length - 1);
            while (table[i] != null) {
                i = (i + 1) & (table.length - 1);
            }
            table[i] = new Known(name, serverName == null ? "" : serverName.intern());
        }
        return table;
    }

    private static int slot(CharSequence name) {
        return hash(name) & (TABLE.length - 1);
    }

    /** Of the length and some characters, in any case: enough to tell the known names apart, and quicker than to look at all. */
    private static int hash(CharSequence name) {
        int length = name.length();
        if (length == 0) {
            return 0;
        }
        int hash = 31 * length + (name.charAt(0) & 0x1F);
        hash = 31 * hash + (name.charAt(length - 1) & 0x1F);
        hash = 31 * hash + (name.charAt(length / 2) & 0x1F);
        return 31 * hash + (name.charAt(length / 3) & 0x1F);
    }

    /** Whether two names are the same, whatever the case of their letters. */
    private static boolean equal(String known, CharSequence name) {
        int length = known.length();
        if (name.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            char a = known.charAt(i);
            char b = name.charAt(i);
            if (a != b && (((a ^ b) != 0x20) || (a | 0x20) < 'a' || (a | 0x20) > 'z')) {
                return false;
            }
        }
        return true;
    }

    private record Known(String field, String serverName) {}
}
