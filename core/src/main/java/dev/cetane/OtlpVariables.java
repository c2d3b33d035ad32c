package dev.cetane;

import dev.cetane.ConfigException.Problem;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * OpenTelemetry's own variables, as far as they are for sending spans (OpenTelemetry Specification, OTLP exporter configuration). What is for traces alone
 * goes before what is for all signals. Used by the thread that loads the configuration.
 */
final class OtlpVariables {
    private static final String PREFIX = "OTEL_EXPORTER_OTLP_";
    private static final String RESOURCE = "OTEL_RESOURCE_ATTRIBUTES";
    private static final String SERVICE = "service.name";

    /** Those that the HTTP client, or the format, determines. */
    private static final Set<String> FIXED_FIELDS = Set.of(
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "expect",
            "host",
            "transfer-encoding",
            "upgrade");

    private final Map<String, String> environment;
    private final List<Problem> problems;

    /** @param problems gets what is wrong with them */
    OtlpVariables(Map<String, String> environment, List<Problem> problems) {
        this.environment = environment;
        this.problems = problems;
    }

    /** Header fields by name, from {@code OTEL_EXPORTER_OTLP_[TRACES_]HEADERS}. */
    Map<String, String> headers() {
        String variable = variable("HEADERS");
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        pairs(variable).forEach((name, value) -> {
            if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+") || !value.matches("[\\t -~]*")) {
                problem(variable, "holds what is no header field");
            } else if (FIXED_FIELDS.contains(name.toLowerCase(Locale.ROOT))) {
                problem(variable, "holds " + name + ", which cannot be chosen");
            } else {
                headers.put(name, value);
            }
        });
        return Collections.unmodifiableMap(headers);
    }

    /** Whether {@code OTEL_EXPORTER_OTLP_[TRACES_]COMPRESSION} is gzip. */
    boolean gzip() {
        String variable = variable("COMPRESSION");
        String value = environment.getOrDefault(variable, "").strip();
        if (!value.isEmpty() && !value.equals("none") && !value.equals("gzip")) {
            problem(variable, "= \"" + value + "\" is none of them; allowed: none, gzip");
        }
        return value.equals("gzip");
    }

    /** Attributes of this program: {@code OTEL_RESOURCE_ATTRIBUTES}, {@code OTEL_SERVICE_NAME}, and what they leave open. */
    Map<String, String> resource(String version, long pid) {
        Map<String, String> attributes = new LinkedHashMap<>(pairs(RESOURCE));
        String service = environment.getOrDefault("OTEL_SERVICE_NAME", "").strip();
        if (!service.isEmpty()) {
            attributes.put(SERVICE, service);
        }
        attributes.putIfAbsent(SERVICE, "cetane");
        attributes.putIfAbsent("service.version", version);
        attributes.putIfAbsent("process.pid", Long.toString(pid));
        return Collections.unmodifiableMap(attributes);
    }

    private String variable(String name) {
        String forTraces = PREFIX + "TRACES_" + name;
        return environment.getOrDefault(forTraces, "").isBlank() ? PREFIX + name : forTraces;
    }

    /** A list of name=value with commas, values percent-encoded. */
    private Map<String, String> pairs(String variable) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String pair : environment.getOrDefault(variable, "").split(",", -1)) {
            int equals = pair.indexOf('=');
            if (pair.isBlank()) {
                continue;
            }
            String name = equals < 0 ? "" : pair.substring(0, equals).strip();
            try {
                // Not a form: a plus is a plus.
                String value = URLDecoder.decode(
                        pair.substring(equals + 1).strip().replace("+", "%2B"), StandardCharsets.UTF_8);
                if (!name.isEmpty()) {
                    pairs.put(name, value);
                    continue;
                }
            } catch (IllegalArgumentException e) {
                // Said below.
            }
            problem(variable, "is no list of name=value with commas between them, values percent-encoded");
        }
        return pairs;
    }

    /** Without the value, which may be a secret. */
    private void problem(String variable, String complaint) {
        problems.add(new Problem(variable, complaint, "environment"));
    }
}
