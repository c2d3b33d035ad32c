package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.shared.SharedTables;
import dev.cetane.shared.TableCalls;
import dev.cetane.task.TaskCalls;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.PhpProbe;
import dev.cetane.worker.PoolConfig;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimitCalls;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import dev.cetane.worker.WorkerServices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** {@code cetane check}: says what is there and what is missing, and boots one worker to prove it. Runs on the main thread. */
final class Check {

    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);

    /** Extensions that an application cannot do without, each with the end of its Debian package's name. */
    private static final Map<ApplicationKind, Map<String, String>> REQUIRED = Map.of(
            ApplicationKind.WORKER,
            Map.of(),
            ApplicationKind.FRONT_CONTROLLER,
            Map.of(),
            ApplicationKind.FRANKENPHP,
            Map.of(),
            ApplicationKind.CLASSIC,
            Map.of(),
            ApplicationKind.LARAVEL,
            ordered(
                    "ctype",
                    "common",
                    "filter",
                    "common",
                    "fileinfo",
                    "common",
                    "hash",
                    "common",
                    "json",
                    "common",
                    "mbstring",
                    "mbstring",
                    "openssl",
                    "common",
                    "pdo",
                    "common",
                    "session",
                    "common",
                    "tokenizer",
                    "common",
                    "dom",
                    "xml",
                    "xml",
                    "xml"));

    private static final Map<String, String> ADVISED =
            ordered("session", "common", "mbstring", "mbstring", "xml", "xml");

    private final PrintStream out;
    private final EventLog log;
    private boolean failed;

    Check(PrintStream out, EventLog log) {
        this.out = out;
        this.log = log;
    }

    /** Returns the exit code. */
    int run(CetaneConfig config, ApplicationFinder finder) {
        Path file = config.file();
        say("ok", "configuration", file == null ? "no cetane.yaml, defaults and flags" : file.toString());
        ApplicationFinder.Found found;
        try {
            found = finder.find();
        } catch (CommandException e) {
            say("FAIL", "application", e.getMessage());
            return e.exitCode();
        }
        ApplicationConfig application = found.application();
        say(
                "ok",
                "application",
                application.path() + " is a " + application.kind().key() + " application: " + found.why());
        if (php(application)) {
            boot(config, application);
        }
        out.println(failed ? "Something is missing, see FAIL above." : "Ready to serve.");
        return failed ? CommandException.FAILED : 0;
    }

    private boolean php(ApplicationConfig application) {
        PhpProbe.Facts php;
        try {
            php = PhpProbe.ask(application, PROBE_TIMEOUT);
        } catch (IOException e) {
            say("FAIL", "php", e.getMessage());
            return false;
        }
        String ini = php.iniFile().isEmpty() ? "no php.ini" : php.iniFile();
        say(
                "ok",
                "php",
                application.php() + " " + php.version() + " (" + php.sapi() + "), " + ini + ", memory_limit "
                        + php.memoryLimit());
        if (php.version().matches("([0-7]\\.|8\\.0).*")) {
            say("FAIL", "php", "this is PHP " + php.version() + ", Cetane needs 8.1 or newer; set app.php");
            return false;
        }
        boolean cgi = application.kind().isCgi();
        if (cgi != php.sapi().startsWith("cgi")) {
            say(
                    "FAIL",
                    "php",
                    "a " + application.kind().key() + " application runs under " + (cgi ? "php-cgi" : "php")
                            + ", this is " + php.sapi() + "; set app.php");
            return false;
        }
        extensions(application.kind(), php);
        opcache(cgi, php);
        return true;
    }

    private void extensions(ApplicationKind kind, PhpProbe.Facts php) {
        Map<String, String> required = REQUIRED.getOrDefault(kind, Map.of());
        required.forEach((name, debian) -> {
            if (!php.extensions().contains(name)) {
                say("FAIL", "extension", missing(name, debian, php) + "; " + kind.key() + " needs it");
            }
        });
        ADVISED.forEach((name, debian) -> {
            if (!php.extensions().contains(name) && !required.containsKey(name)) {
                say("advice", "extension", missing(name, debian, php) + "; many applications use it");
            }
        });
    }

    private void opcache(boolean cgi, PhpProbe.Facts php) {
        if (php.opcache()) {
            say("ok", "opcache", "on");
        } else if (!php.extensions().contains("zend opcache")) {
            say("advice", "opcache", missing("opcache", "opcache", php) + "; it makes PHP faster");
        } else {
            String key = cgi ? "opcache.enable" : "opcache.enable_cli";
            say("advice", "opcache", "off; it makes PHP faster: set app.ini." + key + " to 1");
        }
    }

    private static String missing(String name, String debian, PhpProbe.Facts php) {
        String version = php.version().replaceFirst("^([0-9]+\\.[0-9]+).*", "$1");
        return name + " is missing: apt-get install php" + version + "-" + debian + " (Debian)";
    }

    private void boot(CetaneConfig config, ApplicationConfig application) {
        AtomicLong nanos = new AtomicLong();
        PoolListener listener = new PoolListener() {
            @Override
            public void booted(int workerId, long bootNanos) {
                nanos.compareAndSet(0, bootNanos);
            }
        };
        try (RunDirectory directory = RunDirectory.create(config.runDirectory(), RunDirectory.pid());
                WorkerPool pool = new WorkerPool(
                        oneWorker(config.pool()),
                        application,
                        services(config),
                        directory.directory(),
                        Ticker.system(),
                        log,
                        listener)) {
            pool.start();
            say("ok", "boot", "a worker booted the application in " + nanos.get() / 1_000_000 + " ms");
        } catch (WorkerException e) {
            say("FAIL", "boot", e.getMessage());
        }
    }

    /** Tables of its own, since an application may want them when it boots. */
    private WorkerServices services(CetaneConfig config) {
        SharedTables tables = new SharedTables(config.sharing().tableBytes(), log);
        return new WorkerServices(
                new WorkerCalls(
                        tables,
                        new TableCalls(tables, Ticker.system()),
                        new TaskCalls(null, Duration.ZERO),
                        new TimeLimitCalls(Duration.ZERO)),
                WorkerServices.Role.REQUEST,
                config.sharing().taskWorkers(),
                new AtomicInteger()::incrementAndGet,
                null);
    }

    private static PoolConfig oneWorker(PoolConfig pool) {
        return pool.with(1, pool.queueSize(), pool.queueTimeout(), pool.requestTimeout());
    }

    private void say(String verdict, String subject, @Nullable String message) {
        failed |= verdict.equals("FAIL");
        out.println(String.format(Locale.ROOT, "%-7s%-14s%s", verdict, subject, message));
    }

    private static Map<String, String> ordered(String... namesAndValues) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
