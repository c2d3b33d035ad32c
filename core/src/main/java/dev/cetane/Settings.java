package dev.cetane;

import static dev.cetane.Setting.addresses;
import static dev.cetane.Setting.bool;
import static dev.cetane.Setting.choice;
import static dev.cetane.Setting.duration;
import static dev.cetane.Setting.durations;
import static dev.cetane.Setting.httpUrlOrOff;
import static dev.cetane.Setting.integer;
import static dev.cetane.Setting.integerOrAuto;
import static dev.cetane.Setting.list;
import static dev.cetane.Setting.map;
import static dev.cetane.Setting.pathOrAuto;
import static dev.cetane.Setting.ratio;
import static dev.cetane.Setting.relativePath;
import static dev.cetane.Setting.secret;
import static dev.cetane.Setting.size;
import static dev.cetane.Setting.tcpAddressOrOff;
import static dev.cetane.Setting.text;

import dev.cetane.files.Glob;
import dev.cetane.lambda.MetricsConfig;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The table of all keys of the configuration. The JSON schema in {@code share/} and the table in README.md are made from it, and a
 * test keeps them equal.
 */
final class Settings {

    static final Setting<String> APP_KIND = choice(
            "app.kind",
            "auto",
            List.of("auto", "worker", "front-controller", "laravel", "frankenphp", "classic"),
            "How the application is run; auto finds out by looking at it.");
    static final Setting<@Nullable Path> APP_PATH = pathOrAuto(
            "app.path", "The application's directory or PHP file; the APP argument. auto is the current directory.");
    static final Setting<String> APP_PHP = text(
            "app.php",
            "auto",
            "a path or a command name, or auto",
            "The PHP to run; auto looks for php or php-cgi, as the kind needs, on PATH.");
    static final Setting<String> APP_DOCUMENT_ROOT = relativePath(
            "app.document-root",
            "auto",
            "a path below the application's directory, or auto",
            "The public directory; auto is public where there is one, else the application's directory.");
    static final Setting<String> APP_FRONT_CONTROLLER = relativePath(
            "app.front-controller",
            "index.php",
            "a path below the document root",
            "The PHP file that answers every request of a front-controller application, and those of a classic one that are for no file.");
    static final Setting<String> APP_INI =
            map("app.ini", "names of PHP settings, each with a value", "PHP settings for the workers, as php -d.");
    static final Setting<String> APP_ENVIRONMENT =
            map("app.environment", "names of variables, each with a value", "Environment variables for the workers.");
    static final Setting<List<String>> APP_PASS_ENVIRONMENT = list(
            "app.pass-environment",
            "PATH, HOME, USER, LANG, LC_ALL, TZ, TMPDIR",
            "names of variables; a trailing * stands for any rest, as in DB_*",
            "Variables that workers inherit; all others are cleared.",
            Settings::environmentPattern);
    static final Setting<Boolean> APP_DEBUG =
            bool("app.debug", false, "Whether clients see the messages of errors. Not for production.");

    static final Setting<Integer> POOL_WORKERS = integerOrAuto(
            "pool.workers",
            Runtime.getRuntime().availableProcessors(),
            1,
            1024,
            "How many PHP workers run; auto is the number of CPUs that the container or machine may use.");
    static final Setting<Integer> POOL_QUEUE_SIZE =
            integer("pool.queue-size", 128, 0, 100_000, "Most requests that wait for a worker; more get 503 at once.");
    static final Setting<Duration> POOL_QUEUE_TIMEOUT =
            duration("pool.queue-timeout", "10s", "10ms", "1h", null, "Longest wait for a worker, above it 503.");
    static final Setting<Duration> POOL_BOOT_TIMEOUT = duration(
            "pool.boot-timeout",
            "30s",
            "100ms",
            "1h",
            null,
            "Longest time from the start of a worker's process until its application is booted.");
    static final Setting<Duration> POOL_REQUEST_TIMEOUT = duration(
            "pool.request-timeout",
            "30s",
            "10ms",
            "24h",
            "none",
            "Longest time a request may run, above it 504; its worker is killed and replaced.");
    static final Setting<Duration> POOL_LONGEST_REQUEST = duration(
            "pool.longest-request",
            "1h",
            "10ms",
            "24h",
            "no such right",
            "Most time that the application may give one of its requests, by Cetane\\TimeLimit.");
    static final Setting<Duration> POOL_SLOW_REQUEST = duration(
            "pool.slow-request",
            "0",
            "10ms",
            "24h",
            "never",
            "How long a request may run before the log and the dashboard say where PHP is in it.");
    static final Setting<Duration> POOL_STOP_GRACE = duration(
            "pool.stop-grace",
            "10s",
            "10ms",
            "1h",
            "none",
            "How long a worker that was asked to stop may take before it is killed.");
    static final Setting<Duration> POOL_KILL_GRACE = duration(
            "pool.kill-grace", "1s", "10ms", "1m", "none", "Time between SIGTERM and SIGKILL when a worker is killed.");
    static final Setting<Integer> POOL_MAX_REQUESTS =
            integer("pool.max-requests", 0, 0, 10_000_000, "Requests after which a worker is replaced; 0 is never.");
    static final Setting<Duration> POOL_MAX_LIFETIME =
            duration("pool.max-lifetime", "0", "1s", "365d", "no limit", "Age after which a worker is replaced.");
    static final Setting<Long> POOL_MAX_MEMORY = size(
            "pool.max-memory",
            "0",
            "1MiB",
            "1024GiB",
            "no limit",
            "Private resident memory of a worker above which it is replaced, between requests.");
    static final Setting<Integer> POOL_JITTER_PERCENT = integer(
            "pool.jitter-percent",
            10,
            0,
            50,
            "Spread of max-requests, max-lifetime and max-memory, so that workers are not replaced together.");
    static final Setting<Duration> POOL_BACKOFF_INITIAL = duration(
            "pool.backoff-initial", "500ms", "10ms", "1h", null, "Wait after a failed boot; doubled with each more.");
    static final Setting<Duration> POOL_BACKOFF_MAX =
            duration("pool.backoff-max", "30s", "10ms", "1h", null, "Longest wait between boots that fail.");
    static final Setting<Long> POOL_OUTPUT_LINE = size(
            "pool.output-line",
            "8KiB",
            "256B",
            "64KiB",
            null,
            "Longest line of a worker's output that is logged whole.");
    static final Setting<Integer> POOL_OUTPUT_LINES_PER_SECOND = integer(
            "pool.output-lines-per-second",
            1000,
            1,
            100_000,
            "Lines of output logged for each worker and second; more are counted and dropped.");

    static final Setting<Integer> POOL_TASK_WORKERS = integerOrAuto(
            "pool.task-workers",
            "0",
            Runtime.getRuntime().availableProcessors(),
            0,
            1024,
            "How many more PHP workers run tasks for those that serve requests; auto is one for each CPU, 0 is none: tasks run where"
                    + " they are asked for.");
    static final Setting<Integer> POOL_TASK_QUEUE_SIZE = integer(
            "pool.task-queue-size", 1024, 0, 100_000, "Most tasks that wait for a task worker; more are refused.");
    static final Setting<Duration> POOL_TASK_TIMEOUT = duration(
            "pool.task-timeout",
            "60s",
            "10ms",
            "24h",
            "none",
            "Longest time a task may run, above it its worker is killed and replaced.");
    static final Setting<Long> POOL_TABLE_MEMORY = size(
            "pool.table-memory", "64MiB", "1MiB", "64GiB", null, "Most memory that all shared tables take together.");

    static final Setting<List<SocketAddress>> HTTP_LISTEN =
            addresses("http.listen", "127.0.0.1:8080", "Addresses that take HTTP requests.");
    static final Setting<Integer> HTTP_BACKLOG =
            integer("http.backlog", 1024, 1, 65_535, "Length of the kernel's queue of new connections.");
    static final Setting<Integer> HTTP_MAX_CONNECTIONS =
            integer("http.max-connections", 10_000, 1, 1_000_000, "Most open connections; more are closed at once.");
    static final Setting<Long> HTTP_MAX_URI =
            size("http.max-uri", "8KiB", "256B", "16KiB", null, "Longest request target, above it 414.");
    static final Setting<Long> HTTP_MAX_HEADER =
            size("http.max-header", "16KiB", "1KiB", "32KiB", null, "Longest sum of all header fields, above it 431.");
    static final Setting<Long> HTTP_MAX_BODY =
            size("http.max-body", "32MiB", "1B", "1024GiB", "no limit", "Longest request body, above it 413.");
    static final Setting<Long> HTTP_INLINE_BODY = size(
            "http.inline-body",
            "16KiB",
            "1B",
            "24KiB",
            "none",
            "Longest request body that goes to the worker in memory; a longer one is spooled to a file.");
    static final Setting<@Nullable Path> HTTP_SPOOL_DIRECTORY = pathOrAuto(
            "http.spool-directory",
            "Where request bodies above inline-body and uploaded files are kept while they are needed; auto is cetane-spool-UID in TMPDIR or /tmp.");
    static final Setting<Duration> HTTP_HEADER_TIMEOUT = duration(
            "http.header-timeout",
            "10s",
            "100ms",
            "1h",
            null,
            "Longest time to receive a request's head, above it 408.");
    static final Setting<Duration> HTTP_BODY_TIMEOUT = duration(
            "http.body-timeout",
            "30s",
            "100ms",
            "1h",
            null,
            "Longest pause while a request's body arrives, above it 408.");
    static final Setting<Duration> HTTP_IDLE_TIMEOUT = duration(
            "http.idle-timeout", "60s", "100ms", "24h", null, "How long a connection without a request stays open.");
    static final Setting<Duration> HTTP_WRITE_TIMEOUT = duration(
            "http.write-timeout",
            "30s",
            "100ms",
            "1h",
            null,
            "Longest time in which a client takes no byte of its answer, above it the connection is closed.");
    static final Setting<Long> HTTP_RESPONSE_BUFFER = size(
            "http.response-buffer",
            "1MiB",
            "64KiB",
            "256MiB",
            null,
            "Bytes of one answer that are kept for a slow client before its worker has to wait.");
    static final Setting<List<String>> HTTP_TRUSTED_PROXIES = list(
            "http.trusted-proxies",
            "",
            "networks in CIDR form, as in 10.0.0.0/8, or unix: for any client of a Unix socket",
            "Proxies whose Forwarded and X-Forwarded-* headers are believed.",
            Settings::network);
    static final Setting<Boolean> HTTP_ACCESS_LOG =
            bool("http.access-log", false, "Whether each answered request is logged.");
    static final Setting<String> HTTP_SERVER_TIMING = choice(
            "http.server-timing",
            "off",
            List.of("off", "trusted", "on"),
            "Whom the Server-Timing field of an answer tells where its time went: nobody, http.trusted-proxies, or everybody.");
    static final Setting<Duration> HTTP_SHUTDOWN_GRACE = duration(
            "http.shutdown-grace",
            "10s",
            "10ms",
            "1h",
            "none",
            "How long running requests may take to finish after a stop was asked for.");

    static final Setting<Duration> HTTP_ROUTE_TIMEOUTS = durations(
            "http.route-timeouts",
            "10ms",
            "24h",
            "none",
            "patterns for paths, as in /reports/**",
            "Longest time that requests for these paths may run, in place of pool.request-timeout; the first pattern that fits counts.");
    static final Setting<String> HTTP_STATIC = choice(
            "http.static",
            "auto",
            List.of("auto", "on", "off"),
            "Whether files of the document root are served without PHP; auto: unless the application is a worker script beside which no public directory is known.");
    static final Setting<List<String>> HTTP_STATIC_DENY = list(
            "http.static-deny",
            "cetane.yaml, composer.json, composer.lock, *.inc, *.ini, *.sql, *.sqlite, *.log, *.bak, *.orig, *.swp, *~",
            "patterns for names of files, as in *.sql",
            "Files that are never served, in any case, beside PHP's own and those whose name starts with a dot.",
            Settings::glob);
    static final Setting<List<String>> HTTP_STATIC_LINKS = list(
            "http.static-links",
            "storage/app/public",
            "paths, absolute or relative to the application's directory",
            "Directories that symbolic links in the document root may lead to, beside the document root itself.",
            Settings::directory);
    static final Setting<Boolean> HTTP_STATIC_PRECOMPRESSED = bool(
            "http.static-precompressed",
            true,
            "Whether FILE.br or FILE.gz is sent in place of FILE to clients that take it.");
    static final Setting<List<String>> HTTP_STATIC_IMMUTABLE = list(
            "http.static-immutable",
            "/build/assets/*-????????.*",
            "patterns for paths; * and ? stand for characters but a slash, ** for any",
            "Files whose content never changes under their name: clients may keep them for a year.",
            Settings::pathGlob);
    static final Setting<Duration> HTTP_STATIC_MAX_AGE = duration(
            "http.static-max-age",
            "0",
            "1s",
            "365d",
            "no word about it",
            "How long clients may keep other files without asking again.");

    static final Setting<Boolean> LAMBDA_STREAM = bool(
            "lambda.stream",
            false,
            "Whether answers are sent as they are made; for functions whose URL or REST API streams, and for no others.");
    static final Setting<Duration> LAMBDA_TIMEOUT_MARGIN = duration(
            "lambda.timeout-margin",
            "500ms",
            "10ms",
            "1m",
            "none",
            "How long before its deadline an invocation is given up, so that its caller is told why.");
    static final Setting<String> LAMBDA_BASE_PATH = text(
            "lambda.base-path",
            "auto",
            "a path, empty for none, or auto",
            "What is taken away from the front of each path; auto is the name of the stage where the URL has it.");
    static final Setting<Duration> LAMBDA_INIT_LIMIT = duration(
            "lambda.init-limit",
            "9s",
            "100ms",
            "15m",
            null,
            "How long the start waits for the application to boot; a longer boot goes on in the first invocation.");

    static final Setting<String> LAMBDA_METRICS = choice(
            "lambda.metrics",
            "off",
            List.of("off", "sampled", "aggregated"),
            "Whether the log has lines in CloudWatch's embedded metric format: one for some invocations, or one for several together.");
    static final Setting<Integer> LAMBDA_METRICS_EVERY = integer(
            "lambda.metrics-every",
            1,
            1,
            MetricsConfig.MOST_VALUES,
            "For each how many invocations there is one such line; beside it, cold starts and failures are always sampled.");
    static final Setting<String> LAMBDA_WARM_REQUEST = text(
            "lambda.warm-request",
            "",
            "a path with a query, as in /up, or empty for none",
            "What each worker is asked for with GET before a snapshot for SnapStart is taken; the answer is dropped.");

    static final Setting<@Nullable InetSocketAddress> OPS_LISTEN = tcpAddressOrOff(
            "ops.listen",
            "127.0.0.1:9180",
            "Address of the dashboard, health and metrics; beyond this machine all but health needs a token.");
    static final Setting<@Nullable String> OPS_TOKEN = secret(
            "ops.token",
            16,
            "What the dashboard has to present before it reloads or recycles, and whoever reads from elsewhere than this machine; best set as a variable.");
    static final Setting<@Nullable String> OPS_READ_TOKEN = secret(
            "ops.read-token",
            16,
            "What reading from elsewhere may present in its place, as a scraper of metrics that need not be able to act.");
    static final Setting<Integer> METRICS_APPLICATION_SERIES = integer(
            "metrics.application-series",
            1000,
            0,
            100_000,
            "Most series that the application may have at /metrics, a series for each metric and its labels' values; 0 takes none.");
    static final Setting<@Nullable URI> METRICS_OTLP = httpUrlOrOff(
            "metrics.otlp",
            "http://127.0.0.1:4318/v1/metrics",
            "Where metrics are pushed by OTLP over HTTP; OpenTelemetry's own OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES and the like hold.");
    static final Setting<@Nullable InetSocketAddress> METRICS_STATSD = tcpAddressOrOff(
            "metrics.statsd",
            "off",
            "The StatsD server to which metrics are sent by UDP: each event and duration alone.");
    static final Setting<String> METRICS_STATSD_DIALECT = choice(
            "metrics.statsd-dialect",
            "datadog",
            List.of("etsy", "datadog", "telegraf"),
            "How StatsD is told tags; etsy has none and gets them as parts of the names.");
    static final Setting<Duration> METRICS_INTERVAL = duration(
            "metrics.interval",
            "10s",
            "100ms",
            "10m",
            null,
            "How often OTLP is pushed, and StatsD told what is no event.");
    static final Setting<Boolean> TRACING_ENABLED = bool(
            "tracing.enabled",
            false,
            "Whether each request has its place in a trace (W3C Trace Context), of which PHP, the access log and the answer tell.");
    static final Setting<String> TRACING_ACCEPT = choice(
            "tracing.accept",
            "trusted",
            List.of("none", "trusted", "all"),
            "Whose traces are continued: nobody's, those of http.trusted-proxies, or everybody's. For others a new one begins.");
    static final Setting<String> TRACING_ANSWER = choice(
            "tracing.answer",
            "all",
            List.of("none", "trusted", "all"),
            "Whom an answer tells its trace, in Server-Timing: nobody, http.trusted-proxies, or everybody.");
    static final Setting<Double> TRACING_SAMPLE_RATIO = ratio(
            "tracing.sample-ratio",
            "1",
            "How many of the traces that begin here are recorded; those of a caller are when it records them.");
    static final Setting<@Nullable URI> TRACING_OTLP = httpUrlOrOff(
            "tracing.otlp",
            "http://127.0.0.1:4318/v1/traces",
            "Where spans are sent by OTLP over HTTP; OpenTelemetry's own OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES and the like hold.");
    static final Setting<Integer> TRACING_QUEUE_SIZE = integer(
            "tracing.queue-size",
            2048,
            1,
            100_000,
            "Most requests whose spans wait to be sent; those of more are dropped and counted.");
    static final Setting<Duration> TRACING_INTERVAL = duration(
            "tracing.interval",
            "5s",
            "100ms",
            "10m",
            null,
            "Longest time that spans wait for others to be sent with them.");
    static final Setting<Duration> TRACING_TIMEOUT =
            duration("tracing.timeout", "10s", "100ms", "1m", null, "Longest time that one try to send spans takes.");
    static final Setting<Boolean> WATCH_ENABLED = bool(
            "watch.enabled",
            false,
            "Whether changes of source code reload the workers, as --watch says; for development.");
    static final Setting<List<String>> WATCH_PATHS = list(
            "watch.paths",
            "app, bootstrap, config, database/**/*.php, lang, lib, public/**/*.php, resources/**/*.php, routes, src, templates, *.php, composer.lock, .env, .env.local",
            "files, directories with all below them, or patterns, relative to the application's directory",
            "What counts as source code; * and ? stand for characters but a slash, ** for any.",
            Settings::glob);
    static final Setting<List<String>> WATCH_IGNORE = list(
            "watch.ignore",
            "/storage, /vendor, /var, /bootstrap/cache, node_modules, .git, *.swp, *.swx, *~, .#*, 4913, *___jb_*",
            "patterns for names, or with a slash in front for paths",
            "What does not, and what is below it.",
            Settings::glob);
    static final Setting<Duration> WATCH_DEBOUNCE = duration(
            "watch.debounce",
            "200ms",
            "10ms",
            "10s",
            null,
            "How long nothing may change before the workers are reloaded.");
    static final Setting<String> LOG_FORMAT = choice(
            "log.format",
            "auto",
            List.of("auto", "text", "json"),
            "Form of log lines; auto is text on a terminal and JSON elsewhere.");
    static final Setting<String> LOG_LEVEL =
            choice("log.level", "info", List.of("debug", "info", "warn", "error"), "Least severity that is logged.");
    static final Setting<@Nullable Path> RUN_DIRECTORY = pathOrAuto(
            "run-directory",
            "Private directory for the control socket and the workers' pipes; auto is cetane-UID in XDG_RUNTIME_DIR or /tmp.");

    /** Every key, in the order in which people read them. */
    static final List<Setting<?>> ALL = List.of(
            APP_KIND,
            APP_PATH,
            APP_PHP,
            APP_DOCUMENT_ROOT,
            APP_FRONT_CONTROLLER,
            APP_INI,
            APP_ENVIRONMENT,
            APP_PASS_ENVIRONMENT,
            APP_DEBUG,
            POOL_WORKERS,
            POOL_QUEUE_SIZE,
            POOL_QUEUE_TIMEOUT,
            POOL_BOOT_TIMEOUT,
            POOL_REQUEST_TIMEOUT,
            POOL_LONGEST_REQUEST,
            POOL_SLOW_REQUEST,
            POOL_STOP_GRACE,
            POOL_KILL_GRACE,
            POOL_MAX_REQUESTS,
            POOL_MAX_LIFETIME,
            POOL_MAX_MEMORY,
            POOL_JITTER_PERCENT,
            POOL_BACKOFF_INITIAL,
            POOL_BACKOFF_MAX,
            POOL_OUTPUT_LINE,
            POOL_OUTPUT_LINES_PER_SECOND,
            POOL_TASK_WORKERS,
            POOL_TASK_QUEUE_SIZE,
            POOL_TASK_TIMEOUT,
            POOL_TABLE_MEMORY,
            HTTP_LISTEN,
            HTTP_BACKLOG,
            HTTP_MAX_CONNECTIONS,
            HTTP_MAX_URI,
            HTTP_MAX_HEADER,
            HTTP_MAX_BODY,
            HTTP_INLINE_BODY,
            HTTP_SPOOL_DIRECTORY,
            HTTP_HEADER_TIMEOUT,
            HTTP_BODY_TIMEOUT,
            HTTP_IDLE_TIMEOUT,
            HTTP_WRITE_TIMEOUT,
            HTTP_RESPONSE_BUFFER,
            HTTP_TRUSTED_PROXIES,
            HTTP_ACCESS_LOG,
            HTTP_SERVER_TIMING,
            HTTP_SHUTDOWN_GRACE,
            HTTP_ROUTE_TIMEOUTS,
            HTTP_STATIC,
            HTTP_STATIC_DENY,
            HTTP_STATIC_LINKS,
            HTTP_STATIC_PRECOMPRESSED,
            HTTP_STATIC_IMMUTABLE,
            HTTP_STATIC_MAX_AGE,
            LAMBDA_STREAM,
            LAMBDA_TIMEOUT_MARGIN,
            LAMBDA_BASE_PATH,
            LAMBDA_INIT_LIMIT,
            LAMBDA_METRICS,
            LAMBDA_METRICS_EVERY,
            LAMBDA_WARM_REQUEST,
            OPS_LISTEN,
            OPS_TOKEN,
            OPS_READ_TOKEN,
            METRICS_APPLICATION_SERIES,
            METRICS_OTLP,
            METRICS_STATSD,
            METRICS_STATSD_DIALECT,
            METRICS_INTERVAL,
            TRACING_ENABLED,
            TRACING_ACCEPT,
            TRACING_ANSWER,
            TRACING_SAMPLE_RATIO,
            TRACING_OTLP,
            TRACING_QUEUE_SIZE,
            TRACING_INTERVAL,
            TRACING_TIMEOUT,
            WATCH_ENABLED,
            WATCH_PATHS,
            WATCH_IGNORE,
            WATCH_DEBOUNCE,
            LOG_FORMAT,
            LOG_LEVEL,
            RUN_DIRECTORY);

    private Settings() {}

    private static String environmentPattern(String text) {
        if (!text.matches("[A-Za-z_][A-Za-z0-9_]*\\*?|\\*")) {
            throw new IllegalArgumentException("holds " + text + ", which is no name of a variable");
        }
        return text;
    }

    private static String glob(String text) {
        return Glob.of(text).toString();
    }

    static String pathGlob(String text) {
        if (!text.startsWith("/") && !text.startsWith("**")) {
            throw new IllegalArgumentException("holds " + text + ", which does not start with a slash");
        }
        return glob(text);
    }

    private static String directory(String text) {
        try {
            return Path.of(text).toString();
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("holds " + text + ", which is no path", e);
        }
    }

    private static String network(String text) {
        if (text.equals("unix:")) {
            return text;
        }
        int slash = text.indexOf('/');
        String host = slash < 0 ? text : text.substring(0, slash);
        boolean v6 = host.indexOf(':') >= 0;
        boolean literal = v6 ? host.matches("[0-9A-Fa-f:.]+") : host.matches("([0-9]{1,3}\\.){3}[0-9]{1,3}");
        if (!literal || !isAddress(host)) {
            throw new IllegalArgumentException("holds " + text + ", which is no network");
        }
        String length = slash < 0 ? (v6 ? "128" : "32") : text.substring(slash + 1);
        if (!length.matches("[0-9]{1,3}") || Integer.parseInt(length) > (v6 ? 128 : 32)) {
            throw new IllegalArgumentException("holds " + text + ", whose prefix length is not 0 … " + (v6 ? 128 : 32));
        }
        return host + "/" + length;
    }

    private static boolean isAddress(String literal) {
        try {
            // A literal is parsed and asks no name server.
            return InetAddress.getByName(literal) != null;
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
