package dev.cetane.ops;

import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** The files of the dashboard, each read when it is first asked for. On the ops event loop. */
final class DashboardPage {
    private static final String PACKAGE = "META-INF/resources/webjars/uplot/";
    private static final String PACKAGE_VERSION = "META-INF/maven/org.webjars.npm/uplot/pom.properties";

    /** Nothing but what this server sends is loaded, run or talked to, and no other page shows this one. */
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
                    + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** Where a file is; in the charts' package when it says so. */
    private record Source(String name, boolean packaged, String type) {}

    private static final Map<String, Source> SOURCES = Map.of(
            "/", new Source("dashboard.html", false, "text/html; charset=utf-8"),
            "/dashboard.css", new Source("dashboard.css", false, "text/css; charset=utf-8"),
            "/dashboard.js", new Source("dashboard.js", false, "text/javascript; charset=utf-8"),
            "/charts.js", new Source("charts.js", false, "text/javascript; charset=utf-8"),
            "/favicon.svg", new Source("favicon.svg", false, "image/svg+xml"),
            "/uplot.js", new Source("dist/uPlot.iife.min.js", true, "text/javascript; charset=utf-8"),
            "/uplot.css", new Source("dist/uPlot.min.css", true, "text/css; charset=utf-8"));

    private final Map<String, byte[]> read = new HashMap<>();
    private @Nullable String packageVersion;

    boolean has(String path) {
        return SOURCES.containsKey(path);
    }

    /** @param path one that it {@linkplain #has has} */
    FullHttpResponse answer(String path) {
        Source source = SOURCES.get(path);
        if (source == null) {
            throw new IllegalArgumentException(path + " is no file of the dashboard");
        }
        FullHttpResponse response =
                Reply.response(HttpResponseStatus.OK, source.type(), read.computeIfAbsent(path, any -> read(source)));
        response.headers()
                .set(HttpHeaderNames.CACHE_CONTROL, "no-cache")
                .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, POLICY)
                .set(HttpHeaderNames.X_FRAME_OPTIONS, "DENY")
                .set("referrer-policy", "no-referrer");
        return response;
    }

    private byte[] read(Source source) {
        try {
            return resource(
                    source.packaged()
                            ? "/" + PACKAGE + packageVersion() + "/" + source.name()
                            : "dashboard/" + source.name());
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the dashboard's " + source.name() + " is not readable: the build is broken", e);
        }
    }

    private String packageVersion() throws IOException {
        String version = packageVersion;
        if (version == null) {
            Properties properties = new Properties();
            try (InputStream in = open("/" + PACKAGE_VERSION)) {
                properties.load(in);
            }
            version = properties.getProperty("version", "");
            packageVersion = version;
        }
        return version;
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = open(name)) {
            return in.readAllBytes();
        }
    }

    private static InputStream open(String name) throws IOException {
        InputStream in = DashboardPage.class.getResourceAsStream(name);
        if (in == null) {
            throw new FileNotFoundException(name);
        }
        return in;
    }
}
