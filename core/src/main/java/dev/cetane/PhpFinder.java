package dev.cetane;

import dev.cetane.worker.ApplicationKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks for commands on PATH, above all for php and php-cgi under the names that distributions give them. Immutable. */
final class PhpFinder {

    private static final List<String> VERSIONS = List.of("8.5", "8.4", "8.3", "8.2", "8.1");
    private static final Pattern VERSIONED = Pattern.compile("php(?:-cgi)?(8\\.[0-9]+)");

    private final String searchPath;

    /** @param searchPath directories with colons between, as in PATH */
    PhpFinder(String searchPath) {
        this.searchPath = searchPath;
    }

    /**
     * The PHP for that kind of application.
     *
     * @param configured {@code auto}, a command name or a path
     * @throws CommandException naming the packages to install
     */
    Path find(ApplicationKind kind, String configured, Path workingDirectory) {
        boolean cgi = kind.isCgi();
        if (!configured.equals("auto")) {
            Path php = configured.indexOf('/') >= 0
                    ? executable(workingDirectory.resolve(configured))
                    : command(configured);
            if (php == null) {
                throw new CommandException(
                        CommandException.FAILED,
                        "app.php = \"" + configured
                                + "\" is no command that can be run. Set it to a PHP 8.1 or newer, or to auto");
            }
            return php;
        }
        for (String name : names(cgi)) {
            Path php = command(name);
            if (php != null) {
                return php;
            }
        }
        throw new CommandException(CommandException.FAILED, missing(kind));
    }

    /** The executable of that name on PATH, or null. */
    @Nullable
    Path command(String name) {
        for (String directory : searchPath.split(":", -1)) {
            if (directory.startsWith("/")) {
                Path found = executable(Path.of(directory, name));
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static @Nullable Path executable(Path path) {
        return Files.isRegularFile(path) && Files.isExecutable(path)
                ? path.toAbsolutePath().normalize()
                : null;
    }

    /** As in Debian, Alpine and the Remi packages. */
    private static List<String> names(boolean cgi) {
        List<String> names = new ArrayList<>();
        names.add(cgi ? "php-cgi" : "php");
        for (String version : VERSIONS) {
            String digits = version.replace(".", "");
            if (cgi) {
                names.addAll(List.of("php-cgi" + version, "php-cgi" + digits, "php" + digits + "-cgi"));
            } else {
                names.addAll(List.of("php" + version, "php" + digits));
            }
        }
        return names;
    }

    private String missing(ApplicationKind kind) {
        boolean cgi = kind.isCgi();
        String command = cgi ? "php-cgi" : "php";
        String version = cgi ? installedVersion() : null;
        String debian = version == null ? (cgi ? "php-cgi" : "php-cli") : "php" + version + "-cgi";
        String alpine = "php" + (version == null ? "83" : version.replace(".", "")) + (cgi ? "-cgi" : "");
        return "no " + command + " found on PATH (" + searchPath + "). A " + kind.key() + " application runs under "
                + command + ". Install it: apt-get install " + debian + " (Debian, Ubuntu), apk add " + alpine
                + " (Alpine), dnf install php-cli (Fedora), or set app.php to its path";
    }

    /** Version of the php that is installed, from its file's name; PHP is not run for it. */
    private @Nullable String installedVersion() {
        for (String name : names(false)) {
            Path php = command(name);
            if (php != null) {
                try {
                    Matcher matcher =
                            VERSIONED.matcher(php.toRealPath().getFileName().toString());
                    return matcher.matches() ? matcher.group(1) : null;
                } catch (IOException | InvalidPathException e) {
                    return null;
                }
            }
        }
        return null;
    }
}
