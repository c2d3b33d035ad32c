package dev.cetane;

import dev.cetane.CetaneConfig.Effective;
import dev.cetane.ConfigException.Problem;
import dev.cetane.files.Glob;
import dev.cetane.files.StaticFilesConfig;
import dev.cetane.http.HttpConfig;
import dev.cetane.http.RouteTimeouts;
import dev.cetane.http.ServerTiming;
import dev.cetane.lambda.MetricsConfig;
import dev.cetane.log.EventLog;
import dev.cetane.ops.ExportConfig;
import dev.cetane.ops.OpsConfig;
import dev.cetane.protocol.FrameType;
import dev.cetane.trace.TracingConfig;
import dev.cetane.watch.WatchConfig;
import dev.cetane.worker.PoolConfig;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Makes the {@link CetaneConfig} of flags, environment, file and defaults, the earlier winning, and reports every problem at once.
 * Used by one thread.
 */
final class ConfigLoader {

    /** Variables that start with CETANE_ and are no configuration: the launcher's, the command line's and the workers'. */
    private static final Set<String> OTHER_VARIABLES = Set.of(
            "CETANE_CONFIG",
            "CETANE_JAVA",
            "CETANE_JAVA_OPTIONS",
            "CETANE_BOOTED",
            "CETANE_IN",
            "CETANE_OUT",
            "CETANE_WORKER",
            "CETANE_APP");

    /** What Kubernetes and Docker links set for a service that is named cetane. */
    private static final Pattern SERVICE_VARIABLE =
            Pattern.compile("CETANE_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_.*)?)?|NAME)");

    /** A request's frame less its fixed part and what Cetane itself adds. A body that does not fit beside the head goes to a file. */
    private static final int FRAME_ROOM = FrameType.REQUEST.maxPayload() - FrameType.REQUEST.minPayload() - 4_060;

    private static final Map<String, Setting<?>> BY_KEY = new LinkedHashMap<>();

    static {
        for (Setting<?> setting : Settings.ALL) {
            BY_KEY.put(setting.key(), setting);
        }
    }

    /**
     * What the command line says.
     *
     * @param app the APP argument
     * @param configFile {@code --config}
     * @param sets each {@code --set}, as key=value
     * @param listen each {@code --listen}
     */
    record Flags(
            @Nullable String app,
            @Nullable String configFile,
            List<String> sets,
            List<String> listen,
            @Nullable String ops,
            @Nullable String workers) {

        static Flags none() {
            return new Flags(null, null, List.of(), List.of(), null, null);
        }
    }

    private record Given(String text, String origin) {}

    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final long pid;
    private final List<Problem> problems = new ArrayList<>();
    private final Map<String, Given> given = new LinkedHashMap<>();

    /**
     * @param environment all variables of the process
     * @param workingDirectory absolute
     * @param pid names the instance's directory
     */
    ConfigLoader(Map<String, String> environment, Path workingDirectory, long pid) {
        this.environment = environment;
        this.workingDirectory = workingDirectory;
        this.pid = pid;
    }

    /** The variables of this process. */
    static Map<String, String> environment() {
        return System.getenv();
    }

    /** @throws ConfigException with every problem that was found */
    CetaneConfig load(Flags flags) {
        Path file = configFile(flags);
        List<ConfigFile.Entry> entries = file == null ? List.of() : ConfigFile.read(file, problems);
        for (ConfigFile.Entry entry : entries) {
            given.put(entry.key(), new Given(entry.text(), entry.origin()));
        }
        variables();
        flags(flags, file, entries);
        CetaneConfig config = build(file);
        if (!problems.isEmpty()) {
            throw new ConfigException(problems);
        }
        return config;
    }

    /** The setting of that key, or of the map that it is a name in; null when there is none. */
    static @Nullable Setting<?> setting(String key) {
        Setting<?> setting = BY_KEY.get(key);
        if (setting != null) {
            return setting;
        }
        for (Setting<?> map : Settings.ALL) {
            if (map.form() == Setting.Form.MAP
                    && key.startsWith(map.key() + ".")
                    && key.length() > map.key().length() + 1) {
                return map;
            }
        }
        return null;
    }

    static boolean isSection(String key) {
        return BY_KEY.keySet().stream().anyMatch(known -> known.startsWith(key + "."));
    }

    /** The complaint about a key that is not known. */
    static String unknown(String key) {
        String nearest = nearest(key);
        return "is no known key"
                + (nearest == null ? "; `cetane check --print` lists all" : "; did you mean " + nearest + "?");
    }

    private @Nullable Path configFile(Flags flags) {
        if (flags.configFile() != null) {
            return workingDirectory.resolve(flags.configFile());
        }
        String variable = environment.get("CETANE_CONFIG");
        if (variable != null) {
            return workingDirectory.resolve(variable);
        }
        String app = flags.app() != null ? flags.app() : environment.getOrDefault("CETANE_APP_PATH", ".");
        Path path = workingDirectory.resolve(app);
        Path directory = Files.isDirectory(path) ? path : path.getParent();
        Path file = directory == null ? null : directory.resolve("cetane.yaml").normalize();
        return file != null && Files.exists(file) ? file : null;
    }

    private void variables() {
        for (Map.Entry<String, String> variable : new TreeMap<>(environment).entrySet()) {
            String name = variable.getKey();
            if (!name.startsWith("CETANE_") || OTHER_VARIABLES.contains(name)) {
                continue;
            }
            String key = keyOf(name);
            if (key != null) {
                given.put(key, new Given(variable.getValue(), name));
            } else if (!SERVICE_VARIABLE.matcher(name).matches()) {
                String nearest = nearest(name.substring("CETANE_".length()).replace('_', '-'));
                Setting<?> meant = nearest == null ? null : BY_KEY.get(nearest);
                problems.add(new Problem(
                        name,
                        "is no known variable" + (meant == null ? "" : "; did you mean " + meant.variable() + "?"),
                        "environment"));
            }
        }
    }

    private static @Nullable String keyOf(String variable) {
        for (Setting<?> setting : Settings.ALL) {
            if (setting.form() == Setting.Form.MAP) {
                // Only these names keep their case; those of PHP settings cannot be told from a variable's name.
                boolean inMap = variable.startsWith(setting.variable() + "_") && setting == Settings.APP_ENVIRONMENT;
                if (inMap && variable.length() > setting.variable().length() + 1) {
                    return setting.key() + "."
                            + variable.substring(setting.variable().length() + 1);
                }
            } else if (setting.variable().equals(variable)) {
                return setting.key();
            }
        }
        return null;
    }

    private void flags(Flags flags, @Nullable Path file, List<ConfigFile.Entry> entries) {
        for (String set : flags.sets()) {
            int equals = set.indexOf('=');
            String key = equals < 0 ? set : set.substring(0, equals);
            Setting<?> setting = setting(key);
            if (setting == null) {
                problems.add(new Problem(key, unknown(key), "--set"));
            } else if (equals < 0 || (setting.form() == Setting.Form.MAP && key.equals(setting.key()))) {
                String form = setting.form() == Setting.Form.MAP ? key + ".NAME=VALUE" : key + "=VALUE";
                problems.add(new Problem(key, "has no value; write --set " + form, "--set"));
            } else {
                given.put(key, new Given(set.substring(equals + 1), "--set"));
            }
        }
        if (!flags.listen().isEmpty()) {
            given.put(Settings.HTTP_LISTEN.key(), new Given(String.join(", ", flags.listen()), "--listen"));
        }
        if (flags.ops() != null) {
            given.put(Settings.OPS_LISTEN.key(), new Given(flags.ops(), "--ops"));
        }
        if (flags.workers() != null) {
            given.put(Settings.POOL_WORKERS.key(), new Given(flags.workers(), "--workers"));
        }
        if (flags.app() != null && !isInside(flags.app(), file, entries)) {
            given.put(Settings.APP_PATH.key(), new Given(flags.app(), "APP"));
        }
    }

    /** APP named the directory whose cetane.yaml names the application in it: the file then says more, not something else. */
    private boolean isInside(String app, @Nullable Path file, List<ConfigFile.Entry> entries) {
        Path directory = workingDirectory.resolve(app).normalize();
        return file != null
                && directory.equals(file.getParent())
                && entries.stream().anyMatch(entry -> entry.key().equals(Settings.APP_PATH.key()));
    }

    private CetaneConfig build(@Nullable Path file) {
        Path runDirectory = runDirectory(file);
        Path instance = runDirectory.resolve(Long.toString(pid));
        CetaneConfig.App app = new CetaneConfig.App(
                get(Settings.APP_KIND),
                applicationPath(file),
                get(Settings.APP_PHP),
                get(Settings.APP_DOCUMENT_ROOT),
                get(Settings.APP_FRONT_CONTROLLER),
                map(Settings.APP_INI),
                map(Settings.APP_ENVIRONMENT),
                get(Settings.APP_PASS_ENVIRONMENT),
                get(Settings.APP_DEBUG));
        PoolConfig pool = new PoolConfig(
                get(Settings.POOL_WORKERS),
                get(Settings.POOL_QUEUE_SIZE),
                get(Settings.POOL_QUEUE_TIMEOUT),
                get(Settings.POOL_BOOT_TIMEOUT),
                get(Settings.POOL_REQUEST_TIMEOUT),
                get(Settings.POOL_STOP_GRACE),
                get(Settings.POOL_KILL_GRACE),
                get(Settings.POOL_MAX_REQUESTS),
                get(Settings.POOL_MAX_LIFETIME),
                get(Settings.POOL_MAX_MEMORY),
                get(Settings.POOL_JITTER_PERCENT),
                get(Settings.POOL_BACKOFF_INITIAL),
                get(Settings.POOL_BACKOFF_MAX),
                bytes(Settings.POOL_OUTPUT_LINE),
                get(Settings.POOL_OUTPUT_LINES_PER_SECOND),
                get(Settings.POOL_LONGEST_REQUEST));
        CetaneConfig.Sharing sharing = new CetaneConfig.Sharing(
                get(Settings.POOL_TASK_WORKERS),
                get(Settings.POOL_TASK_QUEUE_SIZE),
                get(Settings.POOL_TASK_TIMEOUT),
                get(Settings.POOL_TABLE_MEMORY));
        HttpConfig http = new HttpConfig(
                get(Settings.HTTP_LISTEN),
                get(Settings.HTTP_BACKLOG),
                get(Settings.HTTP_MAX_CONNECTIONS),
                bytes(Settings.HTTP_MAX_URI),
                bytes(Settings.HTTP_MAX_HEADER),
                get(Settings.HTTP_MAX_BODY),
                bytes(Settings.HTTP_INLINE_BODY),
                spoolDirectory(file),
                get(Settings.HTTP_HEADER_TIMEOUT),
                get(Settings.HTTP_BODY_TIMEOUT),
                get(Settings.HTTP_IDLE_TIMEOUT),
                get(Settings.HTTP_WRITE_TIMEOUT),
                bytes(Settings.HTTP_RESPONSE_BUFFER),
                get(Settings.HTTP_TRUSTED_PROXIES),
                get(Settings.HTTP_ACCESS_LOG),
                ServerTiming.valueOf(get(Settings.HTTP_SERVER_TIMING).toUpperCase(Locale.ROOT)),
                get(Settings.HTTP_SHUTDOWN_GRACE),
                RouteTimeouts.of(map(Settings.HTTP_ROUTE_TIMEOUTS)),
                new StaticFilesConfig(
                        StaticFilesConfig.Serve.valueOf(
                                get(Settings.HTTP_STATIC).toUpperCase(Locale.ROOT)),
                        get(Settings.HTTP_STATIC_DENY),
                        get(Settings.HTTP_STATIC_LINKS),
                        get(Settings.HTTP_STATIC_PRECOMPRESSED),
                        get(Settings.HTTP_STATIC_IMMUTABLE).stream()
                                .map(Glob::of)
                                .toList(),
                        get(Settings.HTTP_STATIC_MAX_AGE)));
        OpsConfig ops = new OpsConfig(
                opsAddress(),
                instance.resolve(RunDirectory.CONTROL_SOCKET),
                secret(Settings.OPS_TOKEN),
                secret(Settings.OPS_READ_TOKEN));
        CetaneConfig.Telemetry telemetry =
                new CetaneConfig.Telemetry(get(Settings.POOL_SLOW_REQUEST), get(Settings.METRICS_APPLICATION_SERIES));
        ExportConfig export = new ExportConfig(
                this.<@Nullable URI>get(Settings.METRICS_OTLP),
                this.<@Nullable InetSocketAddress>get(Settings.METRICS_STATSD),
                ExportConfig.Dialect.valueOf(
                        get(Settings.METRICS_STATSD_DIALECT).toUpperCase(Locale.ROOT)),
                get(Settings.METRICS_INTERVAL));
        TracingConfig tracing = new TracingConfig(
                get(Settings.TRACING_ENABLED),
                audience(Settings.TRACING_ACCEPT),
                audience(Settings.TRACING_ANSWER),
                get(Settings.TRACING_SAMPLE_RATIO),
                spans());
        WatchConfig watch = new WatchConfig(
                get(Settings.WATCH_ENABLED),
                get(Settings.WATCH_PATHS),
                get(Settings.WATCH_IGNORE),
                get(Settings.WATCH_DEBOUNCE));
        CetaneConfig.Lambda lambda = new CetaneConfig.Lambda(
                get(Settings.LAMBDA_STREAM),
                get(Settings.LAMBDA_TIMEOUT_MARGIN),
                get(Settings.LAMBDA_BASE_PATH),
                get(Settings.LAMBDA_INIT_LIMIT),
                MetricsConfig.Mode.valueOf(get(Settings.LAMBDA_METRICS).toUpperCase(Locale.ROOT)),
                get(Settings.LAMBDA_METRICS_EVERY),
                get(Settings.LAMBDA_WARM_REQUEST));
        CetaneConfig.Log log = new CetaneConfig.Log(
                CetaneConfig.Log.Format.valueOf(get(Settings.LOG_FORMAT).toUpperCase(Locale.ROOT)),
                EventLog.Level.valueOf(get(Settings.LOG_LEVEL).toUpperCase(Locale.ROOT)));
        checkTogether(http, pool, ops);
        if (tracing.export() != null && !tracing.enabled()) {
            problem(
                    Settings.TRACING_OTLP,
                    "has no effect, because tracing.enabled is false; allowed: both, or neither");
        }
        return new CetaneConfig(
                file,
                app,
                pool,
                sharing,
                http,
                lambda,
                ops,
                telemetry,
                export,
                tracing,
                watch,
                log,
                runDirectory,
                effective());
    }

    /** The value in force; the default stands in for one that has a problem, so that the others are still looked at. */
    private <T extends @Nullable Object> T get(Setting<T> setting) {
        Given value = given.get(setting.key());
        if (value == null) {
            return setting.parse(setting.defaultText());
        }
        try {
            return setting.parse(value.text().strip());
        } catch (IllegalArgumentException e) {
            problem(setting, value, e.getMessage() + "; allowed: " + setting.allowed());
            return setting.parse(setting.defaultText());
        }
    }

    private TracingConfig.Audience audience(Setting<String> setting) {
        return TracingConfig.Audience.valueOf(get(setting).toUpperCase(Locale.ROOT));
    }

    private TracingConfig.@Nullable Export spans() {
        URI collector = this.<@Nullable URI>get(Settings.TRACING_OTLP);
        int queueSize = get(Settings.TRACING_QUEUE_SIZE);
        Duration interval = get(Settings.TRACING_INTERVAL);
        Duration timeout = get(Settings.TRACING_TIMEOUT);
        if (collector == null) {
            return null;
        }
        OtlpVariables variables = new OtlpVariables(environment, problems);
        return new TracingConfig.Export(
                collector,
                variables.headers(),
                variables.gzip(),
                variables.resource(Cetane.version(), pid),
                queueSize,
                interval,
                timeout);
    }

    private int bytes(Setting<Long> setting) {
        return Math.toIntExact(get(setting));
    }

    private <T> Map<String, T> map(Setting<T> setting) {
        Map<String, T> map = new LinkedHashMap<>();
        String prefix = setting.key() + ".";
        given.forEach((key, value) -> {
            if (!key.startsWith(prefix)) {
                return;
            }
            String name = key.substring(prefix.length());
            if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0 || name.indexOf('\n') >= 0) {
                problems.add(new Problem(key, "is no usable name", value.origin()));
            } else if (setting == Settings.APP_ENVIRONMENT && name.startsWith("CETANE_")) {
                problems.add(new Problem(
                        key, "is reserved: Cetane tells its workers things in CETANE_ variables", value.origin()));
            } else {
                try {
                    if (setting == Settings.HTTP_ROUTE_TIMEOUTS) {
                        Settings.pathGlob(name);
                    }
                    map.put(name, setting.parse(value.text()));
                } catch (IllegalArgumentException e) {
                    // Without the value elsewhere: it may be a secret.
                    String complaint = setting == Settings.HTTP_ROUTE_TIMEOUTS
                            ? "= \"" + value.text() + "\" " + e.getMessage() + "; allowed: " + setting.allowed()
                            : String.valueOf(e.getMessage());
                    problems.add(new Problem(key, complaint, value.origin()));
                }
            }
        });
        return Collections.unmodifiableMap(map);
    }

    private @Nullable InetSocketAddress opsAddress() {
        return this.<@Nullable InetSocketAddress>get(Settings.OPS_LISTEN);
    }

    private @Nullable String secret(Setting<@Nullable String> setting) {
        return this.<@Nullable String>get(setting);
    }

    /** What the file says is relative to the file, what anybody else says to the working directory. */
    private Path resolve(Setting<?> setting, Path path, @Nullable Path file) {
        Given value = given.get(setting.key());
        Path directory = file == null ? null : file.getParent();
        boolean fromFile = value != null && file != null && value.origin().startsWith(file.toString());
        return (fromFile && directory != null ? directory : workingDirectory)
                .resolve(path)
                .normalize();
    }

    private Path applicationPath(@Nullable Path file) {
        Path path = this.<@Nullable Path>get(Settings.APP_PATH);
        return path == null ? workingDirectory : resolve(Settings.APP_PATH, path, file);
    }

    private Path spoolDirectory(@Nullable Path file) {
        Path path = this.<@Nullable Path>get(Settings.HTTP_SPOOL_DIRECTORY);
        return path == null
                ? RunDirectory.defaultSpool(environment)
                : resolve(Settings.HTTP_SPOOL_DIRECTORY, path, file);
    }

    private Path runDirectory(@Nullable Path file) {
        Path path = this.<@Nullable Path>get(Settings.RUN_DIRECTORY);
        Path directory =
                path == null ? RunDirectory.defaults(environment).get(0) : resolve(Settings.RUN_DIRECTORY, path, file);
        int length = directory.toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > RunDirectory.MAX_PATH_BYTES) {
            problem(
                    Settings.RUN_DIRECTORY,
                    given.getOrDefault(
                            Settings.RUN_DIRECTORY.key(), new Given(directory.toString(), "XDG_RUNTIME_DIR")),
                    "is " + length + " bytes long, too long for a Unix socket in it; allowed: at most "
                            + RunDirectory.MAX_PATH_BYTES + " bytes");
        }
        return directory;
    }

    private void checkTogether(HttpConfig http, PoolConfig pool, OpsConfig ops) {
        // The target stands in REQUEST_URI and, in parts, in PATH_INFO or QUERY_STRING.
        long frame = http.maxHeaderBytes() + 2L * http.maxUriBytes();
        if (frame > FRAME_ROOM) {
            problem(
                    Settings.HTTP_MAX_HEADER,
                    "does not fit into one frame: max-header + 2 x max-uri is " + frame + " bytes; allowed: at most "
                            + FRAME_ROOM + ", lower one of them");
        }
        if (pool.backoffInitial().compareTo(pool.backoffMax()) > 0) {
            problem(
                    Settings.POOL_BACKOFF_INITIAL,
                    "is longer than pool.backoff-max; allowed: at most " + text(Settings.POOL_BACKOFF_MAX));
        }
        InetSocketAddress listen = ops.listen();
        for (SocketAddress address : http.listen()) {
            if (listen != null && listen.getPort() != 0 && listen.equals(address)) {
                problem(Settings.OPS_LISTEN, "is also in http.listen; allowed: an address of its own");
            }
        }
    }

    private void problem(Setting<?> setting, String complaint) {
        problem(setting, given.getOrDefault(setting.key(), new Given(setting.defaultText(), "default")), complaint);
    }

    private void problem(Setting<?> setting, Given value, String complaint) {
        problems.add(
                new Problem(setting.key(), "= \"" + setting.shown(value.text()) + "\" " + complaint, value.origin()));
    }

    private String text(Setting<?> setting) {
        Given value = given.get(setting.key());
        return value == null ? setting.defaultText() : value.text();
    }

    private List<Effective> effective() {
        List<Effective> effective = new ArrayList<>();
        for (Setting<?> setting : Settings.ALL) {
            if (setting.form() == Setting.Form.MAP) {
                given.forEach((key, value) -> {
                    if (key.startsWith(setting.key() + ".")) {
                        String shown = setting == Settings.APP_ENVIRONMENT ? "***" : value.text();
                        effective.add(new Effective(key, shown, value.origin()));
                    }
                });
            } else {
                Given value = given.getOrDefault(setting.key(), new Given(setting.defaultText(), "default"));
                String here = setting == Settings.POOL_WORKERS && value.text().equals("auto")
                        ? ", " + get(Settings.POOL_WORKERS) + " here"
                        : "";
                effective.add(new Effective(setting.key(), setting.shown(value.text()), value.origin() + here));
            }
        }
        return List.copyOf(effective);
    }

    /** The known key that was most likely meant, or null when none is near. */
    private static @Nullable String nearest(String key) {
        String wanted = plain(key);
        String best = null;
        int least = Math.max(2, wanted.length() / 4) + 1;
        for (String known : BY_KEY.keySet()) {
            String name = known.substring(known.lastIndexOf('.') + 1);
            int distance = Math.min(distance(wanted, plain(known)), 1 + distance(plain(lastPart(key)), plain(name)));
            if (distance < least) {
                least = distance;
                best = known;
            }
        }
        return best;
    }

    private static String lastPart(String key) {
        return key.substring(key.lastIndexOf('.') + 1);
    }

    private static String plain(String key) {
        return key.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }

    /** How many letters must be changed, added or left out to make one of the other. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
