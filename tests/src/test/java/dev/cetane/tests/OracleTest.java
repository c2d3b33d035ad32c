package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sends the same bytes to nginx with php-fpm and to Cetane, for the same application: what a client sees of both is equal, but for the
 * differences of {@code php-client/DIFFERENCES.md}, and each of those does occur. After each script a request looks for what it left.
 *
 * <p>{@code -Dcetane.oracle=GROUP/NAME} (with {@code *}) runs some cases only, without looking for rows that do not occur.
 */
@Timeout(600)
final class OracleTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @TempDir
    static Path directory;

    private static final Path APPLICATION = RunningCetane.TESTS.resolve("apps/oracle");
    private static final Path CASES = RunningCetane.TESTS.resolve("src/test/resources/oracle");
    private static final Path TABLE = RunningCetane.TESTS.resolve("../php-client/DIFFERENCES.md");
    private static final String TRUSTED = "127.0.0.1,10.0.0.0/8,fd00::/8";
    private static final String ONLY = System.getProperty("cetane.oracle", "");

    private static DifferenceTable table;
    private static Path scripts;
    /** Settings as in production. */
    private static Servers plain;
    /** Settings as in development: errors are shown, nothing is buffered. The cases of {@code shown.txt} run there. */
    private static Servers shown;

    /** Settings as in production behind proxies that are trusted. The cases of {@code forwarded.txt} run there. */
    private static Servers proxied;

    /** The servers of one set of settings. */
    private record Servers(
            FpmServer fpm,
            Observer oracle,
            Observer frontController,
            Observer classic,
            @Nullable Observer worker) {
        void close() throws IOException {
            oracle.close();
            frontController.close();
            classic.close();
            if (worker != null) {
                worker.close();
            }
            fpm.close();
        }
    }

    @BeforeAll
    static void start() throws IOException {
        table = new DifferenceTable(TABLE);
        scripts = Files.createDirectory(directory.resolve("scripts"));
        Map<String, String> production = ini();
        production.put("display_errors", "0");
        production.put("output_buffering", "4096");
        Map<String, String> development = ini();
        development.put("display_errors", "1");
        development.put("output_buffering", "0");
        development.put("error_reporting", "32767");
        development.put("register_argc_argv", "1");
        development.put("variables_order", "EGPCS");
        development.put("request_order", "");
        plain = start("plain", production, false, "192.0.2.1");
        shown = start("shown", development, true, "192.0.2.1");
        proxied = start("proxied", production, false, TRUSTED);
    }

    private static Servers start(String name, Map<String, String> ini, boolean debug, String trusted)
            throws IOException {
        RunningCetane frontController =
                cetane(APPLICATION, "front-controller", ini(ini, name + "-cetane"), debug, trusted);
        RunningCetane classic = cetane(APPLICATION, "classic", ini(ini, name + "-classic"), debug, trusted);
        RunningCetane worker = debug ? null : cetane(APPLICATION.resolve("worker.php"), "worker", ini, false, trusted);
        FpmServer fpm =
                FpmServer.start(APPLICATION, ini(ini, name + "-fpm"), Map.of("ORACLE_SETTING", "of the pool"), trusted);
        frontController.awaitStarted();
        classic.awaitStarted();
        if (worker != null) {
            worker.awaitStarted();
        }
        Observer observer = new Observer(frontController.address(), scripts);
        observer.observe(STATE); // what the first request leaves is taken for the application's own
        return new Servers(
                fpm,
                new Observer(fpm.address(), scripts),
                observer,
                new Observer(classic.address(), scripts),
                worker == null ? null : new Observer(worker.address(), scripts));
    }

    private static RunningCetane cetane(
            Path application, String kind, Map<String, String> ini, boolean debug, String trusted) {
        RunningCetane.Starter starter = INSTANCES
                .application(application)
                .workers(1)
                .set("app.kind", kind)
                .set("app.debug", debug)
                .set("app.environment.ORACLE_SETTING", "of the pool")
                .set("http.trusted-proxies", trusted)
                .set("http.idle-timeout", "600s");
        ini.forEach((name, value) -> starter.set("app.ini." + name, value));
        return starter.launch();
    }

    private static Map<String, String> ini() {
        Map<String, String> ini = new LinkedHashMap<>();
        ini.put("include_path", scripts.toString());
        ini.put("session.gc_probability", "0");
        ini.put("opcache.file_update_protection", "0");
        ini.put("expose_php", "1");
        ini.put("date.timezone", "UTC");
        ini.put("memory_limit", "128M");
        return ini;
    }

    /** Each server has sessions of its own. */
    private static Map<String, String> ini(Map<String, String> common, String server) throws IOException {
        Map<String, String> ini = new LinkedHashMap<>(common);
        ini.put(
                "session.save_path",
                Files.createDirectories(directory.resolve("sessions-" + server)).toString());
        return ini;
    }

    @AfterAll
    static void stop() throws IOException {
        for (Servers servers : new Servers[] {plain, shown, proxied}) {
            if (servers != null) {
                servers.close();
            }
        }
    }

    @TestFactory
    Stream<DynamicNode> Cetane_answers_as_php_fpm_does() throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.list(CASES)) {
            files = found.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .toList();
        }
        List<DynamicNode> nodes = new ArrayList<>();
        for (Path file : files) {
            Servers servers = switch (file.getFileName().toString()) {
                case "shown.txt" -> shown;
                case "forwarded.txt" -> proxied;
                default -> plain;
            };
            List<DynamicTest> tests = new ArrayList<>();
            for (OracleCase oracleCase : OracleCase.read(file)) {
                writeScripts(oracleCase);
                if (ONLY.isEmpty() || Pattern.matches(ONLY.replace("*", ".*"), oracleCase.id())) {
                    tests.add(DynamicTest.dynamicTest(oracleCase.id(), () -> run(oracleCase, servers)));
                }
            }
            nodes.add(DynamicContainer.dynamicContainer(file.getFileName().toString(), tests));
        }
        if (ONLY.isEmpty()) {
            nodes.add(DynamicTest.dynamicTest(
                    "each difference that is listed occurs",
                    () -> assertThat(table.unseen()).isEmpty()));
        }
        return nodes.stream();
    }

    private static void writeScripts(OracleCase oracleCase) throws IOException {
        for (OracleCase.Step step : oracleCase.steps()) {
            if (step.hasScript()) {
                Path file = scripts.resolve(step.scriptName() + ".php");
                assertThat(file).as("two cases have one script").doesNotExist();
                Files.writeString(file, step.script() + "\n", StandardCharsets.UTF_8);
            }
        }
    }

    private static void run(OracleCase oracleCase, Servers servers) throws IOException {
        List<DifferenceTable.Difference> differences = new ArrayList<>();
        boolean scripted = false;
        for (OracleCase.Step step : oracleCase.steps()) {
            Map<String, String> expected = servers.oracle().observe(step);
            compare(oracleCase.id(), expected, servers.frontController().observe(step), step.hasScript(), differences);
            if (!oracleCase.id().startsWith("leave/")) {
                // There the next request need not wait for the script: it gets another child.
                compare(
                        "classic:" + oracleCase.id(),
                        expected,
                        servers.classic().observe(step),
                        step.hasScript(),
                        differences);
            }
            if (step.hasScript()) {
                scripted = true;
            } else if (servers.worker() != null) {
                compare("worker:" + oracleCase.id(), expected, servers.worker().observe(step), false, differences);
            }
        }
        if (scripted) {
            compare(
                    "after:" + oracleCase.id(),
                    servers.oracle().observe(STATE),
                    servers.frontController().observe(STATE),
                    false,
                    differences);
        }
        assertThat(differences)
                .as("%s: differences that %s does not list", oracleCase.id(), TABLE.getFileName())
                .isEmpty();
    }

    private static final OracleCase.Step STATE = new OracleCase.Step(
            "GET /?state HTTP/1.1\r\nHost: oracle.test\r\n\r\n", "GET", null, "", "", false, List.of());

    private static void compare(
            String caseId,
            Map<String, String> expected,
            Map<String, String> actual,
            boolean scripted,
            List<DifferenceTable.Difference> unlisted) {
        Set<String> names = new LinkedHashSet<>(expected.keySet());
        names.addAll(actual.keySet());
        if (!scripted && !kind(expected).equals(kind(actual))) {
            // One has refused what the other has handed to PHP: nothing else can be alike.
            names = Set.of("status");
        }
        for (String name : names) {
            DifferenceTable.Difference difference = new DifferenceTable.Difference(
                    caseId, name, expected.getOrDefault(name, "absent"), actual.getOrDefault(name, "absent"));
            if (!difference.fpm().equals(difference.cetane()) && !table.allows(difference)) {
                unlisted.add(difference);
            }
        }
    }

    /** Whether an answer is a success, and whether it is a dump. */
    private static String kind(Map<String, String> seen) {
        return seen.getOrDefault("status", "").charAt(0) + (seen.containsKey("php://input") ? " dump" : "");
    }
}
