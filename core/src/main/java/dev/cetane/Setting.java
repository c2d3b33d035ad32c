package dev.cetane;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One key of the configuration: how its text is read and what it may be. Immutable.
 *
 * @param <T> type of the value
 */
final class Setting<T> {

    /** What the text looks like, for the schema and for where a map or a list may stand. */
    enum Form {
        TEXT,
        BOOLEAN,
        INTEGER,
        /** From 0 to 1. */
        RATIO,
        SIZE,
        DURATION,
        CHOICE,
        /** A text that is shown nowhere. */
        SECRET,
        LIST,
        /** Names below the key, each with a text; {@link Setting#parse} reads one of those texts. */
        MAP
    }

    private final String key;
    private final Form form;
    private final String defaultText;
    private final String allowed;
    private final String doc;
    private final List<String> choices;
    private final Function<String, T> parser;

    private Setting(
            String key,
            Form form,
            String defaultText,
            String allowed,
            String doc,
            List<String> choices,
            Function<String, T> parser) {
        this.key = key;
        this.form = form;
        this.defaultText = defaultText;
        this.allowed = allowed;
        this.doc = doc;
        this.choices = choices;
        this.parser = parser;
    }

    /** Kebab-case path, as in {@code pool.request-timeout}. */
    String key() {
        return key;
    }

    Form form() {
        return form;
    }

    String defaultText() {
        return defaultText;
    }

    /** Range or form of the value, for people, as in {@code 10ms … 24h, or 0 for none}. */
    String allowed() {
        return allowed;
    }

    /** One sentence: what it does. */
    String doc() {
        return doc;
    }

    /** Words that stand for a value; all of them for {@link Form#CHOICE}, the special ones for other forms. */
    List<String> choices() {
        return choices;
    }

    /** The environment variable that sets it, as in {@code CETANE_POOL_REQUEST_TIMEOUT}; a prefix for {@link Form#MAP}. */
    String variable() {
        return "CETANE_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /** @throws IllegalArgumentException its message says what is wrong with the text, as in "is above the limit" */
    T parse(String text) {
        return parser.apply(text);
    }

    @Override
    public String toString() {
        return key;
    }

    static Setting<String> text(String key, String defaultText, String allowed, String doc) {
        return new Setting<>(key, Form.TEXT, defaultText, allowed, doc, List.of(), Setting::plain);
    }

    /** A path that stays below the directory it is relative to; {@code .} is that directory. */
    static Setting<String> relativePath(String key, String defaultText, String allowed, String doc) {
        return new Setting<>(key, Form.TEXT, defaultText, allowed, doc, List.of(), text -> {
            Path path = path(plain(text));
            if (text.isEmpty() || path.isAbsolute() || path.normalize().startsWith("..")) {
                throw new IllegalArgumentException("does not stay below it");
            }
            return text;
        });
    }

    /** A password-like text, null when it is empty. */
    static Setting<@Nullable String> secret(String key, int leastLength, String doc) {
        return new Setting<@Nullable String>(
                key,
                Form.SECRET,
                "",
                leastLength + " characters or more, without spaces, or empty for none",
                doc,
                List.of(),
                text -> {
                    if (text.isEmpty()) {
                        return null;
                    }
                    if (!text.matches("[!-~]+")) {
                        throw new IllegalArgumentException("holds other characters than printable ASCII");
                    }
                    if (text.length() < leastLength) {
                        throw new IllegalArgumentException("is too short to be safe");
                    }
                    return text;
                });
    }

    /** Its text where it may be shown, asterisks where not. */
    String shown(String text) {
        return form == Form.SECRET && !text.isEmpty() ? "***" : text;
    }

    static Setting<String> map(String key, String allowed, String doc) {
        return new Setting<>(key, Form.MAP, "", allowed, doc, List.of(), Setting::plain);
    }

    static Setting<Boolean> bool(String key, boolean defaultValue, String doc) {
        return new Setting<>(
                key,
                Form.BOOLEAN,
                String.valueOf(defaultValue),
                "true or false",
                doc,
                List.of("true", "false"),
                text -> switch (text) {
                    case "true" -> true;
                    case "false" -> false;
                    default -> throw new IllegalArgumentException("is neither");
                });
    }

    static Setting<String> choice(String key, String defaultText, List<String> choices, String doc) {
        return new Setting<>(key, Form.CHOICE, defaultText, String.join(", ", choices), doc, choices, text -> {
            if (!choices.contains(text)) {
                throw new IllegalArgumentException("is none of them");
            }
            return text;
        });
    }

    static Setting<Integer> integer(String key, int defaultValue, int min, int max, String doc) {
        return new Setting<>(key, Form.INTEGER, String.valueOf(defaultValue), min + " … " + max, doc, List.of(), text ->
                (int) within(wholeNumber(text), min, max));
    }

    static Setting<Double> ratio(String key, String defaultText, String doc) {
        return new Setting<>(key, Form.RATIO, defaultText, "0 … 1, as in 0.05", doc, List.of(), text -> {
            if (!text.matches("[0-9]{1,3}(\\.[0-9]{1,12})?")) {
                throw new IllegalArgumentException("is not a number such as 0.05");
            }
            double ratio = Double.parseDouble(text);
            if (ratio > 1) {
                throw new IllegalArgumentException("is too large");
            }
            return ratio;
        });
    }

    /** An integer, or {@code auto}, which is {@code automatic}. */
    static Setting<Integer> integerOrAuto(String key, int automatic, int min, int max, String doc) {
        return integerOrAuto(key, "auto", automatic, min, max, doc);
    }

    /** The same with another default than {@code auto}. */
    static Setting<Integer> integerOrAuto(String key, String defaultText, int automatic, int min, int max, String doc) {
        return new Setting<>(
                key,
                Form.INTEGER,
                defaultText,
                min + " … " + max + ", or auto",
                doc,
                List.of("auto"),
                text -> text.equals("auto") ? automatic : (int) within(wholeNumber(text), min, max));
    }

    /** A number of bytes; 0 is allowed beside the range when {@code zero} says what it means. */
    static Setting<Long> size(
            String key, String defaultText, String min, String max, @Nullable String zero, String doc) {
        long least = bytes(min);
        long most = bytes(max);
        String allowed = min + " … " + max + (zero == null ? "" : ", or 0 for " + zero);
        return new Setting<>(key, Form.SIZE, defaultText, allowed, doc, List.of(), text -> {
            long bytes = bytes(text);
            return bytes == 0 && zero != null ? 0 : within(bytes, least, most);
        });
    }

    /** A length of time; 0 is allowed beside the range when {@code zero} says what it means. */
    static Setting<Duration> duration(
            String key, String defaultText, String min, String max, @Nullable String zero, String doc) {
        long least = millis(min);
        long most = millis(max);
        String allowed = min + " … " + max + (zero == null ? "" : ", or 0 for " + zero);
        return new Setting<>(key, Form.DURATION, defaultText, allowed, doc, List.of(), text -> {
            long millis = millis(text);
            return millis == 0 && zero != null ? Duration.ZERO : Duration.ofMillis(within(millis, least, most));
        });
    }

    /** Names below the key, each with a length of time; {@code names} says what they are. */
    static Setting<Duration> durations(String key, String min, String max, String zero, String names, String doc) {
        Setting<Duration> one = duration(key, "0", min, max, zero, doc);
        return new Setting<>(
                key,
                Form.MAP,
                "",
                names + ", each with " + one.allowed(),
                doc,
                List.of(),
                text -> one.parse(text.strip()));
    }

    static Setting<List<String>> list(
            String key, String defaultText, String allowed, String doc, Function<String, String> element) {
        return new Setting<>(
                key,
                Form.LIST,
                defaultText,
                allowed,
                doc,
                List.of(),
                text -> elements(text).stream().map(element).toList());
    }

    static Setting<List<SocketAddress>> addresses(String key, String defaultText, String doc) {
        return new Setting<>(
                key,
                Form.LIST,
                defaultText,
                "HOST:PORT, [IPV6]:PORT, *:PORT or unix:/path; several as a list or with commas",
                doc,
                List.of(),
                text -> {
                    List<SocketAddress> addresses = new ArrayList<>();
                    for (String element : elements(text)) {
                        SocketAddress address = address(element);
                        if (addresses.contains(address) && !isAnyPort(address)) {
                            throw new IllegalArgumentException("names " + element + " twice");
                        }
                        addresses.add(address);
                    }
                    if (addresses.isEmpty()) {
                        throw new IllegalArgumentException("names no address");
                    }
                    return List.copyOf(addresses);
                });
    }

    /** One TCP address, or {@code off}, which is null. */
    static Setting<@Nullable InetSocketAddress> tcpAddressOrOff(String key, String defaultText, String doc) {
        return new Setting<@Nullable InetSocketAddress>(
                key,
                Form.TEXT,
                defaultText,
                "HOST:PORT, [IPV6]:PORT, *:PORT, or off",
                doc,
                List.of("off"),
                text -> text.equals("off") ? null : tcpAddress(text));
    }

    /** An address of a service, or {@code off}, which is null and the default. */
    static Setting<@Nullable URI> httpUrlOrOff(String key, String example, String doc) {
        return new Setting<@Nullable URI>(
                key,
                Form.TEXT,
                "off",
                "a URL, as in " + example + ", or off",
                doc,
                List.of("off"),
                text -> text.equals("off") ? null : httpUrl(text));
    }

    /** An absolute or relative path, or {@code auto}, which is null. */
    static Setting<@Nullable Path> pathOrAuto(String key, String doc) {
        return new Setting<@Nullable Path>(key, Form.TEXT, "auto", "a path, or auto", doc, List.of("auto"), text -> {
            if (text.equals("auto")) {
                return null;
            }
            if (text.isEmpty()) {
                throw new IllegalArgumentException("is empty");
            }
            return path(text);
        });
    }

    private static boolean isAnyPort(SocketAddress address) {
        return address instanceof InetSocketAddress tcp && tcp.getPort() == 0;
    }

    private static String plain(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("contains a NUL byte");
        }
        return text;
    }

    private static List<String> elements(String text) {
        List<String> elements = new ArrayList<>();
        for (String element : text.split(",", -1)) {
            if (!element.isBlank()) {
                elements.add(plain(element.strip()));
            }
        }
        return elements;
    }

    private static long within(long value, long min, long max) {
        if (value < min) {
            throw new IllegalArgumentException("is too small");
        }
        if (value > max) {
            throw new IllegalArgumentException("is too large");
        }
        return value;
    }

    private static long wholeNumber(String text) {
        if (!text.matches("-?[0-9]{1,18}")) {
            throw new IllegalArgumentException("is not a whole number");
        }
        return Long.parseLong(text);
    }

    private static long bytes(String text) {
        return quantity(text, "is not a size such as 512, 64KiB, 64MiB or 1GiB", unit -> switch (unit) {
            case "", "B" -> 1;
            case "KiB" -> 1L << 10;
            case "MiB" -> 1L << 20;
            case "GiB" -> 1L << 30;
            default -> 0;
        });
    }

    private static long millis(String text) {
        return quantity(text, "is not a duration such as 500ms, 2s, 1m or 1h", unit -> switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            case "d" -> 86_400_000;
            // Only nothing needs no unit.
            case "" -> text.equals("0") ? 1 : 0;
            default -> 0;
        });
    }

    private static long quantity(String text, String complaint, Function<String, Number> factorOf) {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        long factor = factorOf.apply(text.substring(digits).strip()).longValue();
        if (digits == 0 || digits > 15 || factor == 0) {
            throw new IllegalArgumentException(complaint);
        }
        try {
            return Math.multiplyExact(Long.parseLong(text.substring(0, digits)), factor);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("is too large", e);
        }
    }

    private static SocketAddress address(String text) {
        if (text.startsWith("unix:")) {
            String path = text.substring("unix:".length());
            if (!path.startsWith("/")) {
                throw new IllegalArgumentException("is a Unix socket without an absolute path");
            }
            return UnixDomainSocketAddress.of(path(path));
        }
        return tcpAddress(text);
    }

    private static InetSocketAddress tcpAddress(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("is not HOST:PORT, as in 127.0.0.1:8080 (this machine only) or"
                    + " 0.0.0.0:8080 (every interface)");
        }
        String host = text.substring(0, colon);
        String port = text.substring(colon + 1);
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535) {
            throw new IllegalArgumentException("has a port that is not 0 … 65535");
        }
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (host.indexOf(':') >= 0 && !bracketed) {
            throw new IllegalArgumentException("is an IPv6 address without brackets, write [::1]:8080");
        }
        if (host.equals("*")) {
            return new InetSocketAddress(Integer.parseInt(port));
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(host), Integer.parseInt(port));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("names a host that is not known", e);
        }
    }

    private static URI httpUrl(String text) {
        try {
            URI url = new URI(text);
            boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
            if (!http || url.getHost() == null) {
                throw new IllegalArgumentException("is no http:// or https:// URL with a host");
            }
            if (url.getRawUserInfo() != null) {
                throw new IllegalArgumentException("holds a password, which belongs into a header field");
            }
            return url;
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("is no URL: " + e.getReason(), e);
        }
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("is no path: " + e.getReason(), e);
        }
    }
}
