package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ApplicationFinderTest {

    @TempDir
    Path root;

    private Path bin;
    private final Map<String, String> environment = new HashMap<>();
    private final List<String> sets = new ArrayList<>();

    @BeforeEach
    void installPhp() throws IOException {
        bin = Files.createDirectory(root.resolve("bin"));
        command("php8.2");
        command("php-cgi8.2");
        Files.createSymbolicLink(bin.resolve("php"), bin.resolve("php8.2"));
        environment.put("PATH", bin.toString());
    }

    @Test
    void aDirectoryWithBootstrapAppIsLaravel() throws IOException {
        file("site/bootstrap/app.php");
        file("site/public/index.php");

        ApplicationFinder.Found found = find("site");

        assertThat(found.application().kind()).isEqualTo(ApplicationKind.LARAVEL);
        assertThat(found.application().path()).isEqualTo(root.resolve("site"));
        assertThat(found.application().script()).isEmpty();
        assertThat(found.application().documentRoot()).isEqualTo("public");
        assertThat(found.application().php()).isEqualTo(bin.resolve("php"));
        assertThat(found.why()).isEqualTo("bootstrap/app.php is there");
    }

    @Test
    void aDirectoryWithPublicIndexIsAFrontController() throws IOException {
        file("site/public/index.php");
        file("site/index.php");

        ApplicationFinder.Found found = find("site");

        assertThat(found.application().kind()).isEqualTo(ApplicationKind.FRONT_CONTROLLER);
        assertThat(found.application().script()).isEqualTo("public/index.php");
        assertThat(found.application().documentRoot()).isEqualTo("public");
        assertThat(found.application().php()).isEqualTo(bin.resolve("php-cgi8.2"));
        assertThat(found.why()).isEqualTo("public/index.php is there");
    }

    @Test
    void aDirectoryWithIndexIsAFrontControllerThoughItHasAPublicFolder() throws IOException {
        file("site/index.php");
        file("site/public/style.css");

        ApplicationConfig application = find("site").application();

        assertThat(application.kind()).isEqualTo(ApplicationKind.FRONT_CONTROLLER);
        assertThat(application.script()).isEqualTo("index.php");
        assertThat(application.documentRoot()).isEmpty();
    }

    @Test
    void aDirectoryWithAWorkerScriptIsThat() throws IOException {
        file("site/worker.php");

        ApplicationFinder.Found found = find("site");

        assertThat(found.application().kind()).isEqualTo(ApplicationKind.WORKER);
        assertThat(found.application().path()).isEqualTo(root.resolve("site/worker.php"));
        assertThat(found.why()).isEqualTo("worker.php is there");
    }

    @Test
    void aFileNamedIndexIsAFrontControllerAndAnyOtherAWorkerScript() throws IOException {
        file("site/index.php");
        file("site/loop.php");

        assertThat(find("site/index.php").application().kind()).isEqualTo(ApplicationKind.FRONT_CONTROLLER);
        assertThat(find("site/index.php").application().path()).isEqualTo(root.resolve("site"));
        assertThat(find("site/index.php").application().script()).isEqualTo("index.php");
        assertThat(find("site/loop.php").application().kind()).isEqualTo(ApplicationKind.WORKER);
        assertThat(find("site/loop.php").application().path()).isEqualTo(root.resolve("site/loop.php"));
    }

    @Test
    void aWorkerScriptThatNamesTheLoopOfFrankenPhpRunsUnderPhpCgi() throws IOException {
        file("site/loop.php", "while (frankenphp_handle_request(fn () => print('hi')));");
        file("site/octane.php", "require 'vendor/laravel/octane/bin/frankenphp-worker.php';");

        for (String script : List.of("site/loop.php", "site/octane.php")) {
            ApplicationConfig application = find(script).application();
            assertThat(application.kind()).isEqualTo(ApplicationKind.FRANKENPHP);
            assertThat(application.php()).isEqualTo(bin.resolve("php-cgi8.2"));
            assertThat(application.environment()).containsEntry("FRANKENPHP_WORKER", "1");
        }
        assertThat(find("site/loop.php").why()).isEqualTo("it names frankenphp_handle_request");
    }

    @Test
    void aScriptThatReachesTheLoopOfFrankenPhpElsewhereIsOneWhenTheConfigurationSaysSo() throws IOException {
        file("site/index.php");
        sets.add("app.kind=frankenphp");

        assertThat(find("site/index.php").application().kind()).isEqualTo(ApplicationKind.FRANKENPHP);
        assertThatThrownBy(() -> find("site")).hasMessageContaining("is given as its worker script");
    }

    @Test
    void theKindInTheConfigurationWins() throws IOException {
        file("site/bootstrap/app.php");
        file("site/public/index.php");
        sets.add("app.kind=front-controller");

        ApplicationFinder.Found found = find("site");

        assertThat(found.application().kind()).isEqualTo(ApplicationKind.FRONT_CONTROLLER);
        assertThat(found.why()).isEqualTo("app.kind says so");
    }

    @Test
    void documentRootAndFrontControllerCanBeNamed() throws IOException {
        file("site/web/app.php");
        sets.addAll(List.of("app.document-root=web", "app.front-controller=app.php"));

        ApplicationConfig application = find("site").application();

        assertThat(application.script()).isEqualTo("web/app.php");
        assertThat(application.documentRoot()).isEqualTo("web");
    }

    @Test
    void aSymbolicLinkIsNotResolved() throws IOException {
        file("releases/1/index.php");
        Files.createSymbolicLink(root.resolve("current"), root.resolve("releases/1"));

        assertThat(find("current").application().path()).isEqualTo(root.resolve("current"));
    }

    @Test
    void whereNothingIsFoundTheMessageSaysWhatWasLookedFor() throws IOException {
        Files.createDirectory(root.resolve("empty"));

        assertThatThrownBy(() -> find("empty"))
                .isInstanceOf(CommandException.class)
                .hasMessage(root.resolve("empty")
                        + " holds no application: neither bootstrap/app.php (Laravel), public/index.php or index.php"
                        + " (front controller), nor worker.php (worker script)."
                        + " Usage: cetane serve APP, a directory or a PHP file");
        assertThatThrownBy(() -> find("none"))
                .hasMessageStartingWith(root.resolve("none") + " does not exist")
                .extracting(failure -> ((CommandException) failure).exitCode())
                .isEqualTo(2);
    }

    @Test
    void aMissingPhpCgiIsNamedWithThePackageOfTheInstalledVersion() throws IOException {
        file("site/index.php");
        Files.delete(bin.resolve("php-cgi8.2"));

        assertThatThrownBy(() -> find("site"))
                .isInstanceOf(CommandException.class)
                .hasMessage("no php-cgi found on PATH (" + bin + "). A front-controller application runs under php-cgi."
                        + " Install it: apt-get install php8.2-cgi (Debian, Ubuntu), apk add php82-cgi (Alpine),"
                        + " dnf install php-cli (Fedora), or set app.php to its path");
    }

    @Test
    void aMissingPhpIsNamedWithItsPackage() throws IOException {
        file("site/worker.php");
        environment.put("PATH", root.resolve("nowhere").toString());

        assertThatThrownBy(() -> find("site")).hasMessageContaining("apt-get install php-cli (Debian, Ubuntu)");
    }

    @Test
    void aConfiguredPhpIsUsedOrComplainedAbout() throws IOException {
        file("site/worker.php");
        sets.add("app.php=php8.2");
        assertThat(find("site").application().php()).isEqualTo(bin.resolve("php8.2"));

        sets.add("app.php=bin/php8.2");
        assertThat(find("site").application().php()).isEqualTo(bin.resolve("php8.2"));

        sets.add("app.php=php9");
        assertThatThrownBy(() -> find("site"))
                .hasMessage(
                        "app.php = \"php9\" is no command that can be run. Set it to a PHP 8.1 or newer, or to auto");
    }

    @Test
    void workersGetOnlyTheVariablesThatAreNamed() throws IOException {
        file("site/worker.php");
        environment.putAll(
                Map.of("HOME", "/home/me", "AWS_SECRET", "s", "DB_HOST", "db", "DB_NAME", "n", "CETANE_CONFIG", "c"));
        environment.remove("CETANE_CONFIG");
        sets.addAll(List.of("app.pass-environment=PATH, HOME, DB_*", "app.environment.DB_NAME=mine"));

        assertThat(find("site").application().environment())
                .containsOnly(
                        Map.entry("PATH", bin.toString()),
                        Map.entry("HOME", "/home/me"),
                        Map.entry("USE_ZEND_ALLOC_HUGE_PAGES", "1"),
                        Map.entry("DB_HOST", "db"),
                        Map.entry("DB_NAME", "mine"));
    }

    @Test
    void workersGetAProcessGroupAndDieWithTheSupervisorWhereTheToolsAreThere() throws IOException {
        file("site/worker.php");
        assertThat(find("site").application().processPrefix()).isEmpty();

        command("setsid");
        command("setpriv");
        command("chrt");
        command("sh");

        assertThat(find("site").application().processPrefix())
                .startsWith(
                        bin.resolve("setsid").toString(), bin.resolve("setpriv").toString(), "--pdeathsig", "KILL")
                .endsWith("sh", bin.resolve("chrt").toString());
    }

    @Test
    void theSetprivOfBusyboxIsLeftAlone() throws IOException {
        file("site/worker.php");
        command("busybox");
        Files.createSymbolicLink(bin.resolve("setpriv"), bin.resolve("busybox"));

        assertThat(find("site").application().processPrefix()).isEmpty();
    }

    @Test
    void workersHaveOpcacheUnlessTheConfigurationSaysOtherwise() throws IOException {
        file("site/worker.php");
        assertThat(find("site").application().ini()).containsEntry("opcache.enable_cli", "1");

        sets.add("app.ini.opcache.enable_cli=0");

        assertThat(find("site").application().ini()).containsEntry("opcache.enable_cli", "0");
    }

    @Test
    void functionsThatTheClientReplacesAreDisabledBesidesThoseOfTheConfiguration() throws IOException {
        file("site/worker.php");
        sets.add("app.ini.disable_functions=system,exec");

        assertThat(find("site").application().ini().get("disable_functions").split(","))
                .contains("flush", "ob_get_level", "headers_sent", "system", "exec");
    }

    private ApplicationFinder.Found find(String app) {
        CetaneConfig config = new ConfigLoader(environment, root, 1)
                .load(new ConfigLoader.Flags(app, null, sets, List.of(), null, null));
        return new ApplicationFinder(config.app(), environment, root, root.resolve("client")).find();
    }

    private void file(String name) throws IOException {
        file(name, "");
    }

    private void file(String name, String code) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "<?php " + code);
    }

    private void command(String name) throws IOException {
        Files.createFile(
                bin.resolve(name), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }
}
