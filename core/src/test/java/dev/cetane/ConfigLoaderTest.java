package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cetane.ConfigException.Problem;
import dev.cetane.log.EventLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@SuppressWarnings("AddressSelection") // Literals, nothing is looked up.
final class ConfigLoaderTest {

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private final List<String> sets = new ArrayList<>();

    @Test
    void withoutAnythingEveryKeyHasItsDefault() {
        CetaneConfig config = load();

        assertThat(config.file()).isNull();
        assertThat(config.app().kind()).isEqualTo("auto");
        assertThat(config.app().path()).isEqualTo(directory);
        assertThat(config.app().php()).isEqualTo("auto");
        assertThat(config.app().documentRoot()).isEqualTo("auto");
        assertThat(config.app().frontController()).isEqualTo("index.php");
        assertThat(config.app().ini()).isEmpty();
        assertThat(config.app().environment()).isEmpty();
        assertThat(config.app().passEnvironment())
                .containsExactly("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR");
        assertThat(config.app().debug()).isFalse();
        assertThat(config.pool().workers()).isEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(config.pool().queueSize()).isEqualTo(128);
        assertThat(config.pool().queueTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.pool().bootTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.pool().requestTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.pool().stopGrace()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.pool().killGrace()).isEqualTo(Duration.ofSeconds(1));
        assertThat(config.pool().maxRequests()).isZero();
        assertThat(config.pool().maxLifetime()).isZero();
        assertThat(config.pool().maxMemoryBytes()).isZero();
        assertThat(config.pool().jitterPercent()).isEqualTo(10);
        assertThat(config.pool().backoffInitial()).isEqualTo(Duration.ofMillis(500));
        assertThat(config.pool().backoffMax()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.pool().outputLineBytes()).isEqualTo(8 * 1024);
        assertThat(config.pool().outputLinesPerSecond()).isEqualTo(1000);
        assertThat(config.http().listen()).containsExactly(new InetSocketAddress("127.0.0.1", 8080));
        assertThat(config.http().backlog()).isEqualTo(1024);
        assertThat(config.http().maxConnections()).isEqualTo(10_000);
        assertThat(config.http().maxUriBytes()).isEqualTo(8 * 1024);
        assertThat(config.http().maxHeaderBytes()).isEqualTo(16 * 1024);
        assertThat(config.http().maxBodyBytes()).isEqualTo(32L * 1024 * 1024);
        assertThat(config.http().inlineBodyBytes()).isEqualTo(16 * 1024);
        assertThat(config.http().spoolDirectory().toString()).matches("/tmp/cetane-spool-[0-9]+");
        assertThat(config.http().headerTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.http().bodyTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.http().idleTimeout()).isEqualTo(Duration.ofSeconds(60));
        assertThat(config.http().writeTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(config.http().responseBufferBytes()).isEqualTo(1024 * 1024);
        assertThat(config.http().trustedProxies()).isEmpty();
        assertThat(config.http().accessLog()).isFalse();
        assertThat(config.http().shutdownGrace()).isEqualTo(Duration.ofSeconds(10));
        assertThat(config.ops().listen()).isEqualTo(new InetSocketAddress("127.0.0.1", 9180));
        assertThat(config.log()).isEqualTo(new CetaneConfig.Log(CetaneConfig.Log.Format.AUTO, EventLog.Level.INFO));
    }

    @Test
    void everyKeyCanBeSetInTheFile() throws IOException {
        file("""
                app:
                  kind: worker
                  path: bin/worker.php
                  php: php8.2
                  document-root: web
                  front-controller: app.php
                  ini:
                    memory_limit: 256M
                    opcache.enable: 1
                  environment:
                    APP_ENV: production
                    EMPTY:
                  pass-environment: [PATH, "DB_*"]
                  debug: true
                pool:
                  workers: 4
                  queue-size: 0
                  queue-timeout: 20ms
                  boot-timeout: 1m
                  request-timeout: 0
                  stop-grace: 2s
                  kill-grace: 3s
                  max-requests: 500
                  max-lifetime: 1h
                  max-memory: 128MiB
                  jitter-percent: 20
                  backoff-initial: 1s
                  backoff-max: 2s
                  output-line: 1KiB
                  output-lines-per-second: 10
                http:
                  listen:
                    - 0.0.0.0:80
                    - "[::1]:81"
                    - unix:/run/web.sock
                  backlog: 10
                  max-connections: 11
                  max-uri: 4KiB
                  max-header: 8KiB
                  max-body: 1GiB
                  inline-body: 2KiB
                  spool-directory: spool
                  header-timeout: 1s
                  body-timeout: 2s
                  idle-timeout: 3s
                  write-timeout: 4s
                  response-buffer: 65536
                  trusted-proxies: [10.0.0.0/8, "fd00::/8", 192.0.2.1]
                  access-log: true
                  shutdown-grace: 5s
                ops:
                  listen: off
                log:
                  format: json
                  level: debug
                run-directory: run
                """);

        CetaneConfig config = load();

        assertThat(config.file()).isEqualTo(directory.resolve("cetane.yaml"));
        assertThat(config.app().kind()).isEqualTo("worker");
        assertThat(config.app().path()).isEqualTo(directory.resolve("bin/worker.php"));
        assertThat(config.app().php()).isEqualTo("php8.2");
        assertThat(config.app().documentRoot()).isEqualTo("web");
        assertThat(config.app().frontController()).isEqualTo("app.php");
        assertThat(config.app().ini())
                .containsOnly(Map.entry("memory_limit", "256M"), Map.entry("opcache.enable", "1"));
        assertThat(config.app().environment()).containsOnly(Map.entry("APP_ENV", "production"), Map.entry("EMPTY", ""));
        assertThat(config.app().passEnvironment()).containsExactly("PATH", "DB_*");
        assertThat(config.app().debug()).isTrue();
        assertThat(config.pool().workers()).isEqualTo(4);
        assertThat(config.pool().queueSize()).isZero();
        assertThat(config.pool().queueTimeout()).isEqualTo(Duration.ofMillis(20));
        assertThat(config.pool().bootTimeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(config.pool().requestTimeout()).isZero();
        assertThat(config.pool().stopGrace()).isEqualTo(Duration.ofSeconds(2));
        assertThat(config.pool().killGrace()).isEqualTo(Duration.ofSeconds(3));
        assertThat(config.pool().maxRequests()).isEqualTo(500);
        assertThat(config.pool().maxLifetime()).isEqualTo(Duration.ofHours(1));
        assertThat(config.pool().maxMemoryBytes()).isEqualTo(128L * 1024 * 1024);
        assertThat(config.pool().jitterPercent()).isEqualTo(20);
        assertThat(config.pool().backoffInitial()).isEqualTo(Duration.ofSeconds(1));
        assertThat(config.pool().backoffMax()).isEqualTo(Duration.ofSeconds(2));
        assertThat(config.pool().outputLineBytes()).isEqualTo(1024);
        assertThat(config.pool().outputLinesPerSecond()).isEqualTo(10);
        assertThat(config.http().listen())
                .containsExactly(
                        new InetSocketAddress("0.0.0.0", 80),
                        new InetSocketAddress("::1", 81),
                        UnixDomainSocketAddress.of("/run/web.sock"));
        assertThat(config.http().backlog()).isEqualTo(10);
        assertThat(config.http().maxConnections()).isEqualTo(11);
        assertThat(config.http().maxUriBytes()).isEqualTo(4096);
        assertThat(config.http().maxHeaderBytes()).isEqualTo(8192);
        assertThat(config.http().maxBodyBytes()).isEqualTo(1L << 30);
        assertThat(config.http().inlineBodyBytes()).isEqualTo(2048);
        assertThat(config.http().headerTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(config.http().bodyTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(config.http().idleTimeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(config.http().writeTimeout()).isEqualTo(Duration.ofSeconds(4));
        assertThat(config.http().responseBufferBytes()).isEqualTo(65_536);
        assertThat(config.http().trustedProxies()).containsExactly("10.0.0.0/8", "fd00::/8", "192.0.2.1/32");
        assertThat(config.http().accessLog()).isTrue();
        assertThat(config.http().shutdownGrace()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.ops().listen()).isNull();
        assertThat(config.log()).isEqualTo(new CetaneConfig.Log(CetaneConfig.Log.Format.JSON, EventLog.Level.DEBUG));
        assertThat(config.runDirectory()).isEqualTo(directory.resolve("run"));
        assertThat(config.http().spoolDirectory()).isEqualTo(directory.resolve("spool"));
        assertThat(config.ops().controlSocket()).isEqualTo(directory.resolve("run/42/control.sock"));
    }

    @Test
    void flagsWinOverVariablesOverTheFile() throws IOException {
        file("pool: {workers: 1, queue-size: 1, max-requests: 1}");
        environment.put("CETANE_POOL_WORKERS", "2");
        environment.put("CETANE_POOL_QUEUE_SIZE", "2");
        sets.add("pool.workers=3");

        CetaneConfig config = load();

        assertThat(config.pool().workers()).isEqualTo(3);
        assertThat(config.pool().queueSize()).isEqualTo(2);
        assertThat(config.pool().maxRequests()).isEqualTo(1);
        assertThat(config.effective())
                .contains(
                        new CetaneConfig.Effective("pool.workers", "3", "--set"),
                        new CetaneConfig.Effective("pool.queue-size", "2", "CETANE_POOL_QUEUE_SIZE"),
                        new CetaneConfig.Effective("pool.max-requests", "1", directory.resolve("cetane.yaml") + ":1"),
                        new CetaneConfig.Effective("pool.jitter-percent", "10", "default"));
    }

    @Test
    void namedFlagsWinOverSet() {
        sets.addAll(List.of("pool.workers=3", "ops.listen=127.0.0.1:1", "http.listen=127.0.0.1:2"));

        CetaneConfig config = new ConfigLoader(environment, directory, 42)
                .load(new ConfigLoader.Flags(null, null, sets, List.of("127.0.0.1:3", "unix:/a"), "127.0.0.1:4", "5"));

        assertThat(config.pool().workers()).isEqualTo(5);
        assertThat(config.ops().listen()).isEqualTo(new InetSocketAddress("127.0.0.1", 4));
        assertThat(config.http().listen())
                .containsExactly(new InetSocketAddress("127.0.0.1", 3), UnixDomainSocketAddress.of("/a"));
    }

    @Test
    void mapsAreMergedNameByName() throws IOException {
        file("app: {environment: {A: file, B: file}, ini: {memory_limit: 1G}}");
        environment.put("CETANE_APP_ENVIRONMENT_B", "variable");
        environment.put("CETANE_APP_ENVIRONMENT_C_D", "variable");
        sets.add("app.environment.E=x=y");
        sets.add("app.ini.opcache.enable_cli=1");

        CetaneConfig config = load();

        assertThat(config.app().environment())
                .containsOnly(
                        Map.entry("A", "file"),
                        Map.entry("B", "variable"),
                        Map.entry("C_D", "variable"),
                        Map.entry("E", "x=y"));
        assertThat(config.app().ini())
                .containsOnly(Map.entry("memory_limit", "1G"), Map.entry("opcache.enable_cli", "1"));
    }

    @Test
    void limitsOfRoutesKeepTheOrderOfTheFileAndAreChecked() throws IOException {
        file("http: {route-timeouts: {/reports/**: 5m, /api/*: 500 ms, reports: 1s, /x: soon, '/{a': 1s}}");

        assertThat(catchThrowable(this::load))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("http.route-timeouts.reports")
                .hasMessageContaining("which does not start with a slash")
                .hasMessageContaining("http.route-timeouts./x = \"soon\" is not a duration")
                .hasMessageContaining("each with 10ms … 24h, or 0 for none")
                .hasMessageContaining("whose braces do not match")
                .hasMessageNotContaining("/api");
    }

    @Test
    void secretsAreMaskedWhereTheConfigurationIsShown() {
        sets.add("app.environment.DB_PASSWORD=hunter2");

        assertThat(load().effective())
                .contains(new CetaneConfig.Effective("app.environment.DB_PASSWORD", "***", "--set"))
                .noneMatch(effective -> effective.text().contains("hunter2"));
    }

    @Test
    void everyProblemIsReportedAtOnceWithKeyValueRangeAndSource() throws IOException {
        file("""
                pool:
                  workers: 0
                  requst-timeout: 2s
                  max-memory: 12
                app:
                  debug: maybe
                logging: {}
                """);
        environment.put("CETANE_POOL_QUEUE_TIMEOUT", "soon");
        environment.put("CETANE_POOL_WORKRES", "3");
        sets.add("http.listen=8080");
        sets.add("nonsense=1");

        assertThat(problems())
                .containsExactlyInAnyOrder(
                        "pool.workers = \"0\" is too small; allowed: 1 … 1024, or auto (FILE:2)",
                        "pool.requst-timeout is no known key; did you mean pool.request-timeout? (FILE:3)",
                        "pool.max-memory = \"12\" is too small; allowed: 1MiB … 1024GiB, or 0 for no limit (FILE:4)",
                        "app.debug = \"maybe\" is neither; allowed: true or false (FILE:6)",
                        "logging is no known key; `cetane check --print` lists all (FILE:7)",
                        "pool.queue-timeout = \"soon\" is not a duration such as 500ms, 2s, 1m or 1h;"
                                + " allowed: 10ms … 1h (CETANE_POOL_QUEUE_TIMEOUT)",
                        "CETANE_POOL_WORKRES is no known variable; did you mean CETANE_POOL_WORKERS? (environment)",
                        "http.listen = \"8080\" is not HOST:PORT, as in 127.0.0.1:8080 (this machine only) or"
                                + " 0.0.0.0:8080 (every interface);"
                                + " allowed: HOST:PORT, [IPV6]:PORT, *:PORT or unix:/path; several as a list or with commas"
                                + " (--set)",
                        "nonsense is no known key; `cetane check --print` lists all (--set)");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            workers             | pool.workers
            pool.requestTimeout | pool.request-timeout
            pool.max_requests   | pool.max-requests
            http.port           | http.
            server.access-log   | http.access-log
            """)
    void theNearestKeyIsSuggested(String wrong, String meant) {
        sets.add(wrong + "=1");

        String problem = problems().get(0);

        if (meant.endsWith(".")) {
            assertThat(problem).startsWith(wrong + " is no known key");
        } else {
            assertThat(problem).isEqualTo(wrong + " is no known key; did you mean " + meant + "? (--set)");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            pool.queue-size      | -1      | is too small
            pool.queue-size      | 100001  | is too large
            pool.queue-size      | 1.5     | is not a whole number
            pool.request-timeout | 9ms     | is too small
            pool.request-timeout | 25h     | is too large
            pool.request-timeout | 2       | is not a duration such as 500ms, 2s, 1m or 1h
            pool.request-timeout | -2s     | is not a duration such as 500ms, 2s, 1m or 1h
            pool.queue-timeout   | 0       | is too small
            http.max-header      | 1023    | is too small
            http.max-header      | 33KiB   | is too large
            http.max-header      | 16KB    | is not a size such as 512, 64KiB, 64MiB or 1GiB
            http.max-body        | 999999999999999GiB | is too large
            http.listen          | localhost:70000 | has a port that is not 0 … 65535
            http.listen          | ::1:80  | is an IPv6 address without brackets, write [::1]:8080
            http.listen          | unix:a  | is a Unix socket without an absolute path
            http.listen          | 127.0.0.1:80,127.0.0.1:80 | names 127.0.0.1:80 twice
            http.listen          | ,       | names no address
            http.trusted-proxies | 10.0.0.0/33 | holds 10.0.0.0/33, whose prefix length is not 0 … 32
            http.trusted-proxies | proxy   | holds proxy, which is no network
            log.level            | trace   | is none of them
            app.document-root    | ../x    | does not stay below it
            app.document-root    | /x      | does not stay below it
            app.pass-environment | A-B     | holds A-B, which is no name of a variable
            """)
    void aValueOutsideItsRangeIsRefused(String key, String value, String complaint) {
        sets.add(key + "=" + value);

        assertThat(problems())
                .singleElement()
                .asString()
                .startsWith(key + " = \"" + value + "\" " + complaint + "; allowed: ");
    }

    @ParameterizedTest
    @CsvSource({
        "pool.workers,1", "pool.workers,1024", "pool.request-timeout,10ms", "pool.request-timeout,24h",
        "pool.request-timeout,0", "pool.request-timeout,0s", "http.max-header,1KiB", "http.max-uri,256B",
        "http.max-body,0", "http.inline-body,0", "pool.jitter-percent,50", "http.max-body,17B"
    })
    void theEndsOfARangeAreAllowed(String key, String value) {
        sets.add(key + "=" + value);

        assertThat(load().effective()).contains(new CetaneConfig.Effective(key, value, "--set"));
    }

    @Test
    void whatGoesIntoOneFrameMustFitIntoIt() {
        sets.addAll(List.of("http.max-header=32768", "http.max-uri=10240"));
        assertThat(load().http().maxHeaderBytes()).isEqualTo(32768);

        sets.add("http.max-uri=10241");

        assertThat(problems())
                .containsExactly("http.max-header = \"32768\" does not fit into one frame: max-header + 2 x max-uri is"
                        + " 53250 bytes; allowed: at most 53248, lower one of them (--set)");
    }

    @Test
    void keysThatContradictEachOtherAreRefused() {
        sets.addAll(List.of("pool.backoff-initial=31s", "ops.listen=127.0.0.1:8080"));

        assertThat(problems())
                .containsExactly(
                        "pool.backoff-initial = \"31s\" is longer than pool.backoff-max; allowed: at most 30s (--set)",
                        "ops.listen = \"127.0.0.1:8080\" is also in http.listen; allowed: an address of its own (--set)");
    }

    @Test
    void aRunDirectoryThatIsTooLongForASocketIsRefused() {
        sets.add("run-directory=/" + "r".repeat(86));

        assertThat(problems())
                .singleElement()
                .asString()
                .contains("is 87 bytes long, too long for a Unix socket in it; allowed: at most 86 bytes (--set)");
    }

    @Test
    void brokenYamlIsReportedWithItsLine() throws IOException {
        file("pool:\n  workers: [1\n");

        assertThat(problems())
                .singleElement()
                .asString()
                .startsWith("FILE is no valid YAML: ")
                .endsWith("(FILE:3)");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            just text                        | the file is no mapping; keys with values are expected below it (FILE:1)
            pool: 3                          | pool is no mapping; keys with values are expected below it (FILE:1)
            pool: {workers: [1]}             | pool.workers is a list where one value is expected; allowed: 1 … 1024, or auto (FILE:1)
            pool: {workers: }                | pool.workers has no value; allowed: 1 … 1024, or auto (FILE:1)
            pool: {workers: 1, workers: 2}   | pool.workers is given twice (FILE:1)
            app: {environment: {CETANE_X: 1}}| app.environment.CETANE_X is reserved: Cetane tells its workers things in CETANE_ variables (FILE:1)
            """)
    void aFileOfTheWrongShapeIsRefused(String yaml, String problem) throws IOException {
        file(yaml);

        assertThat(problems()).containsExactly(problem);
    }

    @Test
    void aFileThatIsTooLargeOrTooDeepIsRefused() throws IOException {
        file("#".repeat((1 << 20) + 1));
        assertThat(problems()).containsExactly("FILE is larger than 1 MiB (FILE)");

        file("[".repeat(1 << 19));
        assertThat(problems()).singleElement().asString().startsWith("FILE is ");
    }

    @Test
    void aFileThatIsNamedMustBeThere() {
        Problem problem = catchThrowableOfType(
                        ConfigException.class,
                        () -> new ConfigLoader(environment, directory, 42)
                                .load(new ConfigLoader.Flags(null, "none.yaml", List.of(), List.of(), null, null)))
                .problems()
                .get(0);

        assertThat(problem)
                .hasToString(directory.resolve("none.yaml") + " cannot be read: no such file or directory (--config)");
    }

    @Test
    void anEmptyFileIsNoProblem() throws IOException {
        file("# nothing yet\n");

        assertThat(load().pool().queueSize()).isEqualTo(128);
    }

    @Test
    void theFileIsLookedForBesideTheApplication() throws IOException {
        Path application = Files.createDirectory(directory.resolve("site"));
        Files.writeString(application.resolve("cetane.yaml"), "pool: {workers: 7}");
        Files.writeString(application.resolve("worker.php"), "<?php");

        assertThat(load("site").pool().workers()).isEqualTo(7);
        assertThat(load("site/worker.php").pool().workers()).isEqualTo(7);
        assertThat(load("site/worker.php").app().path()).isEqualTo(application.resolve("worker.php"));
    }

    @Test
    void aFileInTheApplicationsDirectoryMayNameTheScriptInIt() throws IOException {
        Path application = Files.createDirectory(directory.resolve("site"));
        Files.writeString(application.resolve("cetane.yaml"), "app: {path: bin/loop.php}");

        assertThat(load("site").app().path()).isEqualTo(application.resolve("bin/loop.php"));
        assertThat(load("site/other.php").app().path()).isEqualTo(application.resolve("other.php"));
    }

    @Test
    void variablesThatAnOrchestratorSetsForAServiceNamedCetaneAreIgnored() {
        environment.put("CETANE_SERVICE_HOST", "10.0.0.1");
        environment.put("CETANE_SERVICE_PORT_HTTP", "80");
        environment.put("CETANE_PORT", "tcp://10.0.0.1:80");
        environment.put("CETANE_HTTP_PORT_80_TCP_ADDR", "10.0.0.1");
        environment.put("CETANE_JAVA", "java");

        assertThat(load().pool().queueSize()).isEqualTo(128);
    }

    private void file(String yaml) throws IOException {
        Files.writeString(directory.resolve("cetane.yaml"), yaml);
    }

    private CetaneConfig load() {
        return load(null);
    }

    private CetaneConfig load(String app) {
        return new ConfigLoader(environment, directory, 42)
                .load(new ConfigLoader.Flags(app, null, sets, List.of(), null, null));
    }

    /** The problems as text, the file's path shortened. */
    private List<String> problems() {
        ConfigException failure = catchThrowableOfType(ConfigException.class, this::load);
        assertThat(failure).isNotNull();
        assertThat(failure.getMessage().lines().count())
                .isEqualTo(1 + failure.problems().size());
        return failure.problems().stream()
                .map(problem -> problem.toString()
                        .replace(directory.resolve("cetane.yaml").toString(), "FILE"))
                .toList();
    }
}
