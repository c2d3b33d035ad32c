package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CommandLineInterfaceTest {

    private static final Path CLIENT = Path.of("../php-client").toAbsolutePath().normalize();

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void isolate() {
        environment.put("PATH", "/usr/bin:/bin");
        environment.put("CETANE_RUN_DIRECTORY", directory.resolve("run").toString());
    }

    @Test
    void helpListsEveryCommand() {
        assertThat(run("--help")).isZero();
        assertThat(out())
                .contains("serve", "check", "status", "workers", "top", "reload", "stop", "Exit codes: 0 done");
        assertThat(err()).isEmpty();
    }

    @Test
    void theVersionIsPrinted() {
        assertThat(run("--version")).isZero();
        assertThat(out()).isEqualTo("cetane " + Cetane.version() + "\n");
    }

    @Test
    void withoutACommandTheUsageIsPrintedAndItIsAMistake() {
        assertThat(run()).isEqualTo(2);
        assertThat(err()).startsWith("Usage: cetane");
    }

    @Test
    void aCommandThatIsNotKnownIsNamedWithWhatWasMeant() {
        assertThat(run("serv")).isEqualTo(2);
        assertThat(err())
                .startsWith("cetane: Unmatched argument at index 0: 'serv'. See cetane --help\n")
                .contains("cetane serve");
    }

    @Test
    void anOptionWithoutItsValueIsAMistake() {
        assertThat(run("serve", "--listen")).isEqualTo(2);
        assertThat(err())
                .isEqualTo(
                        "cetane: Missing required parameter for option '--listen' (HOST:PORT). See cetane serve --help\n");
    }

    @Test
    void aWrongConfigurationIsPrintedWithEveryProblem() {
        assertThat(run("serve", "--workers", "0", "--set", "nothing=1")).isEqualTo(2);
        assertThat(err()).isEqualTo("""
                        cetane: the configuration has 2 problems:
                          nothing is no known key; `cetane check --print` lists all (--set)
                          pool.workers = "0" is too small; allowed: 1 … 1024, or auto (--workers)
                        """);
    }

    @Test
    void printShowsEveryValueWithItsSource() throws IOException {
        Files.writeString(directory.resolve("cetane.yaml"), "http:\n  max-body: 1GiB\n");
        environment.put("CETANE_APP_ENVIRONMENT_KEY", "secret");

        assertThat(run("check", "--print", "--workers", "3")).isZero();

        assertThat(out())
                .contains("pool.workers: 3  # --workers\n")
                .contains("http.max-body: 1GiB  # " + directory.resolve("cetane.yaml") + ":2\n")
                .contains("app.environment.KEY: ***  # CETANE_APP_ENVIRONMENT_KEY\n")
                .contains("log.level: info  # default\n")
                .doesNotContain("secret");
    }

    @Test
    void checkProvesThatTheApplicationBoots() throws IOException {
        Files.writeString(directory.resolve("index.php"), "<?php echo 'hello';");

        assertThat(run("check")).isZero();

        assertThat(out())
                .contains("ok     configuration no cetane.yaml, defaults and flags\n")
                .contains("ok     application   " + directory
                        + " is a front-controller application: index.php is there\n")
                .containsPattern("ok {5}php {11}/\\S+php-cgi\\S* 8\\.\\d+\\.\\d+\\S* \\(cgi-fcgi\\), ")
                .containsPattern("ok {5}boot {10}a worker booted the application in \\d+ ms\n")
                .endsWith("Ready to serve.\n");
        assertThat(RunDirectory.instances(directory.resolve("run"))).isEmpty();
    }

    @Test
    void checkSaysWhatPhpSaidWhenTheApplicationDoesNotBoot() throws IOException {
        Files.writeString(directory.resolve("worker.php"), "<?php throw new RuntimeException('no database');");

        assertThat(run("check")).isEqualTo(1);

        assertThat(out())
                .contains("FAIL   boot          ")
                .contains("no database")
                .endsWith("Something is missing, see FAIL above.\n");
    }

    @Test
    void checkNamesWhatIsMissingForTheKindOfApplication() throws IOException {
        Files.createDirectories(directory.resolve("bootstrap"));
        Files.writeString(directory.resolve("bootstrap/app.php"), "<?php");
        // Without any php.ini only what is compiled in is there: mbstring and the XML extensions are not.
        environment.put("PHP_INI_SCAN_DIR", "");
        environment.put("CETANE_APP_PASS_ENVIRONMENT", "PATH, PHP_INI_SCAN_DIR");

        assertThat(run("check")).isEqualTo(1);

        assertThat(out())
                .containsPattern(
                        "FAIL {3}extension {5}mbstring is missing: apt-get install php8\\.\\d+-mbstring \\(Debian\\);"
                                + " laravel needs it\n")
                .containsPattern("FAIL {3}extension {5}dom is missing: apt-get install php8\\.\\d+-xml ")
                .containsPattern("advice opcache {7}opcache is missing: apt-get install php8\\.\\d+-opcache ");
    }

    @Test
    void checkNamesACommandThatIsNoPhp() throws IOException {
        Files.writeString(directory.resolve("worker.php"), "<?php");

        assertThat(run("check", "--set", "app.php=/bin/echo")).isEqualTo(1);

        assertThat(out()).contains("FAIL   php           /bin/echo is no PHP, it says: \"-q ");
    }

    @Test
    void checkNamesAMissingPhp() throws IOException {
        Files.writeString(directory.resolve("index.php"), "<?php");
        environment.put("PATH", directory.toString());

        assertThat(run("check")).isEqualTo(1);

        assertThat(out()).contains("FAIL   application   no php-cgi found on PATH (" + directory + ")");
    }

    @Test
    void withoutAnInstanceThereIsNobodyToAsk() {
        for (String command : new String[] {"status", "workers", "top", "reload", "stop"}) {
            assertThat(run(command)).isEqualTo(3);
        }
        assertThat(err().lines())
                .hasSize(5)
                .allMatch(line -> line.equals("cetane: no instance runs for this user (looked in "
                        + directory.resolve("run") + "). Start one with cetane serve, or name its --run-directory"));
    }

    @Test
    void whereSeveralRunOneHasToBeNamed() throws IOException {
        Path base = directory.resolve("run");
        try (RunDirectory first = RunDirectory.create(base, 11);
                RunDirectory second = RunDirectory.create(base, 12);
                ServerSocketChannel a = listen(first);
                ServerSocketChannel b = listen(second)) {
            assertThat(a.isOpen() && b.isOpen()).isTrue();
            assertThat(run("status")).isEqualTo(2);
            assertThat(err())
                    .isEqualTo("cetane: 2 instances run, name one of them:\n  --instance 11\n  --instance 12\n");
        }
    }

    @Test
    void anInstanceIsNamedByANumber() {
        assertThat(run("status", "--instance", "me")).isEqualTo(2);
        assertThat(err()).isEqualTo("cetane: --instance = \"me\" is no whole number in 1 … 999999999\n");
    }

    private static ServerSocketChannel listen(RunDirectory instance) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        return channel.bind(UnixDomainSocketAddress.of(instance.directory().resolve(RunDirectory.CONTROL_SOCKET)));
    }

    private int run(String... args) {
        return new CommandLineInterface(stream(out), stream(err), environment, directory, CLIENT).run(args);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }
}
