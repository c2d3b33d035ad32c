package dev.cetane;

import dev.cetane.log.FileReason;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the application and finds out how it is run.
 *
 * <ul>
 *   <li>a directory with {@code bootstrap/app.php}: Laravel
 *   <li>a directory with {@code public/index.php} or {@code index.php}: front controller
 *   <li>a directory with {@code worker.php}: that worker script
 *   <li>a file named {@code index.php}: front controller
 *   <li>any other PHP file: worker script, one for FrankenPHP when it names that server's loop
 * </ul>
 *
 * <p>A classic application is never found: nothing tells one from a front controller, which gains more.
 */
final class ApplicationFinder {

    /** Functions that the client defines anew, since PHP's own don't see its pipes: those of {@code functions.php}. */
    static final String REPLACED_FUNCTIONS =
            "flush,ob_implicit_flush,ob_get_level,connection_aborted,connection_status,headers_sent,"
                    + "getallheaders,apache_request_headers,session_name,is_uploaded_file,move_uploaded_file,"
                    + "filter_has_var,filter_input,filter_input_array";

    private static final List<String> SIGNS_OF_FRANKENPHP =
            List.of("frankenphp_handle_request", "frankenphp-worker.php");

    /** More than any worker script has. */
    private static final int SCANNED_BYTES = 1 << 20;

    /** What these do ends with the request; in a worker script it stays, for that is a program of its own. */
    private static final String REPLACED_FOR_REQUESTS =
            ",register_shutdown_function,session_write_close,ini_set,mt_srand";

    static final String REPLACED_IN_FRONT_CONTROLLERS =
            REPLACED_FUNCTIONS + REPLACED_FOR_REQUESTS + ",header_register_callback";

    /** Besides, under {@code php}: there these would have no effect. */
    static final String REPLACED_UNDER_CLI =
            REPLACED_FUNCTIONS + ",header,header_remove,headers_list,setcookie,setrawcookie";

    static final String REPLACED_IN_LARAVEL = REPLACED_UNDER_CLI + REPLACED_FOR_REQUESTS;

    private final CetaneConfig.App app;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final Path clientDirectory;

    /**
     * What was found.
     *
     * @param why one clause for the log, as in {@code bootstrap/app.php is there}
     */
    record Found(ApplicationConfig application, String why) {}

    private record Layout(ApplicationKind kind, Path path, String script, String documentRoot, String why) {}

    /**
     * @param environment all variables of this process, of which the configured ones are passed on
     * @param clientDirectory directory of the PHP client
     */
    ApplicationFinder(
            CetaneConfig.App app, Map<String, String> environment, Path workingDirectory, Path clientDirectory) {
        this.app = app;
        this.environment = environment;
        this.workingDirectory = workingDirectory;
        this.clientDirectory = clientDirectory;
    }

    /** @throws CommandException when there is no application, or no PHP for it */
    Found find() {
        Layout layout = layout();
        PhpFinder commands = new PhpFinder(environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin"));
        ApplicationConfig application = new ApplicationConfig(
                layout.kind(),
                layout.path(),
                layout.script(),
                layout.documentRoot(),
                commands.find(layout.kind(), app.php(), workingDirectory),
                workerIni(layout.kind()),
                workerEnvironment(layout.kind()),
                app.debug(),
                clientDirectory,
                processPrefix(commands));
        return new Found(application, layout.why());
    }

    private Layout layout() {
        Path path = app.path();
        if (!Files.exists(path)) {
            throw wrong(path + " does not exist");
        }
        if (!Files.isReadable(path)) {
            throw wrong(path + " is not readable by this user");
        }
        return Files.isDirectory(path) ? inDirectory(path) : file(path);
    }

    private Layout file(Path path) {
        boolean index = path.getFileName().toString().equals("index.php");
        return switch (app.kind()) {
            case "laravel", "classic" ->
                throw wrong("a " + app.kind() + " application is a directory, " + path + " is a file");
            case "worker" -> new Layout(ApplicationKind.WORKER, path, "", "", "app.kind says so");
            case "frankenphp" -> new Layout(ApplicationKind.FRANKENPHP, path, "", "", "app.kind says so");
            case "front-controller" -> controllerFile(path, "app.kind says so");
            default ->
                index
                        ? controllerFile(path, "a file named index.php is one")
                        : worker(path, "a PHP file that is not named index.php is one");
        };
    }

    private Layout inDirectory(Path path) {
        boolean laravel = Files.isRegularFile(path.resolve("bootstrap/app.php"));
        switch (app.kind()) {
            case "laravel" -> {
                if (!laravel) {
                    throw wrong(path + " has no bootstrap/app.php, so it is no laravel application");
                }
                return laravel(path, "app.kind says so");
            }
            case "worker" -> {
                return new Layout(ApplicationKind.WORKER, existing(path, "worker.php"), "", "", "app.kind says so");
            }
            case "frankenphp" -> {
                throw wrong("a frankenphp application is given as its worker script, " + path + " is a directory");
            }
            case "front-controller" -> {
                return controller(path, "app.kind says so");
            }
            case "classic" -> {
                return classic(path);
            }
            default -> {
                if (laravel) {
                    return laravel(path, "bootstrap/app.php is there");
                }
                String script = controllerIn(path);
                if (script != null) {
                    return controller(path, script + " is there");
                }
                if (Files.isRegularFile(path.resolve("worker.php"))) {
                    return worker(path.resolve("worker.php"), "worker.php is there");
                }
                throw wrong(path + " holds no application: neither bootstrap/app.php (Laravel), public/"
                        + app.frontController() + " or " + app.frontController()
                        + " (front controller), nor worker.php (worker script)");
            }
        }
    }

    private static Layout worker(Path file, String why) {
        String sign = signOfFrankenPhp(file);
        return sign == null
                ? new Layout(ApplicationKind.WORKER, file, "", "", why)
                : new Layout(ApplicationKind.FRANKENPHP, file, "", "", "it names " + sign);
    }

    /** What in a worker script shows that it was written for FrankenPHP: its loop, or Laravel Octane's script with it. Null when nothing does. */
    private static @Nullable String signOfFrankenPhp(Path file) {
        byte[] start;
        try (InputStream in = Files.newInputStream(file)) {
            start = in.readNBytes(SCANNED_BYTES);
        } catch (IOException e) {
            throw wrong(file + " cannot be read: " + FileReason.of(e));
        }
        String script = new String(start, StandardCharsets.ISO_8859_1);
        for (String sign : SIGNS_OF_FRANKENPHP) {
            if (script.contains(sign)) {
                return sign;
            }
        }
        return null;
    }

    private Layout laravel(Path path, String why) {
        return new Layout(ApplicationKind.LARAVEL, path, "", documentRoot(path), why);
    }

    private Layout classic(Path path) {
        String root = documentRoot(path);
        if (!Files.isDirectory(path.resolve(root))) {
            throw wrong(path.resolve(root) + " is no directory; set app.document-root");
        }
        return new Layout(ApplicationKind.CLASSIC, path, "", root, "app.kind says so");
    }

    private static Layout controllerFile(Path file, String why) {
        Path directory = file.getParent();
        if (directory == null) {
            throw wrong(file + " is no file");
        }
        return new Layout(
                ApplicationKind.FRONT_CONTROLLER, directory, file.getFileName().toString(), "", why);
    }

    private Layout controller(Path path, String why) {
        String script = controllerIn(path);
        if (script == null) {
            throw wrong(path + " has no " + join(documentRoot(path), app.frontController())
                    + "; set app.document-root and app.front-controller");
        }
        return new Layout(ApplicationKind.FRONT_CONTROLLER, path, script, documentRoot(path), why);
    }

    /** The front controller relative to the application, null when there is none. */
    private @Nullable String controllerIn(Path path) {
        String script = join(documentRoot(path), app.frontController());
        return Files.isRegularFile(path.resolve(script)) ? script : null;
    }

    private String documentRoot(Path path) {
        if (app.documentRoot().equals("auto")) {
            return Files.isRegularFile(path.resolve("public").resolve(app.frontController())) ? "public" : "";
        }
        return app.documentRoot().equals(".") ? "" : app.documentRoot();
    }

    private static String join(String directory, String file) {
        return directory.isEmpty() ? file : directory + "/" + file;
    }

    private static Path existing(Path directory, String name) {
        Path file = directory.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw wrong(directory + " has no " + name + "; name the worker script itself");
        }
        return file;
    }

    private static CommandException wrong(String message) {
        return new CommandException(
                CommandException.WRONG_USE, message + ". Usage: cetane serve APP, a directory or a PHP file");
    }

    /** What every worker needs, and what the configuration says on top of it. */
    private Map<String, String> workerIni(ApplicationKind kind) {
        Map<String, String> ini = new LinkedHashMap<>();
        // A worker lives long enough for opcache to pay, though PHP leaves it off on the command line.
        ini.put("opcache.enable_cli", "1");
        // A worker's clock for opcache stands still: a file that is new when the worker starts would never be cached.
        ini.put("opcache.file_update_protection", "0");
        // Errors are log lines. A page shows them to developers only, and a worker script has no page.
        ini.put("log_errors", "1");
        ini.put("error_log", "");
        boolean page = kind == ApplicationKind.FRONT_CONTROLLER || kind == ApplicationKind.CLASSIC;
        ini.put("display_errors", app.debug() && page ? "1" : "0");
        ini.putAll(app.ini());
        if (kind == ApplicationKind.CLASSIC) {
            // Each request starts anew, so PHP's own functions do, and files are new when their time stamps say so.
            ini.remove("opcache.enable_cli");
            ini.keySet()
                    .removeIf(name -> name.equals("opcache.file_update_protection")
                            && !app.ini().containsKey(name));
            ini.computeIfPresent("open_basedir", (name, value) -> value + ":" + clientDirectory.resolve("bin"));
            return Collections.unmodifiableMap(ini);
        }
        ini.merge(
                "disable_functions",
                switch (kind) {
                    case FRONT_CONTROLLER -> REPLACED_IN_FRONT_CONTROLLERS;
                    case LARAVEL -> REPLACED_IN_LARAVEL;
                    case WORKER -> REPLACED_UNDER_CLI;
                    case FRANKENPHP, CLASSIC -> REPLACED_FUNCTIONS;
                },
                (configured, replaced) -> replaced + "," + configured);
        return Collections.unmodifiableMap(ini);
    }

    /** Nothing of Cetane's own environment reaches a worker unless it is named. */
    private Map<String, String> workerEnvironment(ApplicationKind kind) {
        Map<String, String> result = new TreeMap<>();
        // A string above 1 MiB gets pages of its own from the kernel, 4 KiB at a time, unless PHP asks for large ones.
        result.put("USE_ZEND_ALLOC_HUGE_PAGES", "1");
        environment.forEach((name, value) -> {
            if (!name.startsWith("CETANE_") && isPassed(name)) {
                result.put(name, value);
            }
        });
        result.putAll(app.environment());
        if (kind == ApplicationKind.FRANKENPHP) {
            result.put("FRANKENPHP_WORKER", "1");
        }
        return Collections.unmodifiableMap(result);
    }

    private boolean isPassed(String name) {
        for (String pattern : app.passEnvironment()) {
            boolean matches = pattern.endsWith("*")
                    ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                    : name.equals(pattern);
            if (matches) {
                return true;
            }
        }
        return false;
    }

    /**
     * A process group of its own for each worker, so that all it started can be killed, death with the supervisor, and SCHED_BATCH,
     * sched(7): a worker that wakes up does not throw the thread off its CPU that has just handed it a request and is about to sleep.
     * Where the system forbids that the worker runs without. The shell leaves nothing in the environment.
     */
    private static List<String> processPrefix(PhpFinder commands) {
        List<String> prefix = new ArrayList<>();
        Path setsid = commands.command("setsid");
        if (setsid != null) {
            prefix.add(setsid.toString());
        }
        Path setpriv = commands.command("setpriv");
        if (setpriv != null && !isBusybox(setpriv)) {
            prefix.addAll(List.of(setpriv.toString(), "--pdeathsig", "KILL"));
        }
        Path sh = commands.command("sh");
        Path chrt = commands.command("chrt");
        if (sh != null && chrt != null) {
            String script = "\"$1\" -b -p 0 $$ >&- 2>&-; shift; unset PWD; exec \"$@\"";
            prefix.addAll(List.of(sh.toString(), "-c", script, "sh", chrt.toString()));
        }
        return List.copyOf(prefix);
    }

    /** Whose setpriv knows no --pdeathsig. */
    private static boolean isBusybox(Path command) {
        try {
            return command.toRealPath().getFileName().toString().startsWith("busybox");
        } catch (IOException e) {
            return true;
        }
    }
}
