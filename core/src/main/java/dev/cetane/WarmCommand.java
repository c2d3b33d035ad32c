package dev.cetane;

import static java.util.Objects.requireNonNull;

import dev.cetane.ArtisanCaches.Cache;
import dev.cetane.ColdStarts.Comparison;
import dev.cetane.ColdStarts.Start;
import dev.cetane.ColdStarts.Times;
import dev.cetane.lambda.CpuModel;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.PhpProbe;
import dev.cetane.worker.WorkerException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code cetane warm}: makes what a cold start on Lambda would otherwise have to make, and measures what each saves. What fails is as it was
 * before. On the main thread.
 */
final class WarmCommand {
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);
    private static final String OPCACHE = "opcache";
    private static final Set<String> STEPS = Set.of("config", "routes", "events", "views", OPCACHE);

    /** More are a long list that nobody reads. */
    private static final int FAILURES_SHOWN = 20;

    private static final long LARGE_BYTES = 60_000_000;

    private final PrintStream out;
    private final Path taskRoot;
    private final CetaneConfig config;
    private final ApplicationConfig application;

    /** The same as it starts on Lambda when nothing was compiled. */
    private final ApplicationConfig uncompiled;

    private final Set<String> without;
    private final String target;
    private final int runs;
    private final Map<String, Comparison> saved = new LinkedHashMap<>();
    private final List<Cache> made = new ArrayList<>();
    private @Nullable ArtisanCaches artisan;
    private boolean failed;

    /**
     * @param taskRoot where Lambda has the files of a function
     * @param without names of steps that are left out
     * @param runs how many starts of each kind are measured, 0 for none
     */
    WarmCommand(
            PrintStream out,
            Path taskRoot,
            CetaneConfig config,
            ApplicationConfig application,
            Set<String> without,
            int runs) {
        this.out = out;
        this.taskRoot = taskRoot;
        this.config = config;
        this.application = application;
        uncompiled = OpcacheFileCache.unoptimized(application);
        this.without = without;
        this.runs = runs;
        for (String step : without) {
            if (!STEPS.contains(step)) {
                throw new CommandException(
                        CommandException.WRONG_USE,
                        "--without = \"" + step + "\" is none of config, routes, events, views, opcache");
            }
        }
        if (application.kind() == ApplicationKind.CLASSIC) {
            throw wrong(application.path()
                    + " is a classic application: those cannot run on Lambda yet, so nothing is made for it");
        }
        String warmRequest = config.lambda().warmRequest();
        target = warmRequest.isEmpty() ? "/" : warmRequest;
    }

    /** Returns the exit code. */
    int run() {
        try (RunDirectory directory = RunDirectory.create(config.runDirectory(), RunDirectory.pid())) {
            return run(directory.directory());
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED, application.path() + " cannot be prepared: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return CommandException.FAILED;
        }
    }

    private int run(Path workDirectory) throws IOException, InterruptedException {
        Path root = root();
        if (!Files.isWritable(root)) {
            throw wrong(root
                    + " cannot be written by this user; run this when the application is built, before it is deployed");
        }
        say(
                "ok",
                "application",
                application.path() + " is a " + application.kind().key() + " application");
        PhpProbe.Facts php = PhpProbe.ask(application, PROBE_TIMEOUT);
        say("ok", "php", application.php() + " " + php.version() + " (" + php.sapi() + ")");
        boolean done = false;
        try {
            prepare(root, workDirectory, php);
            done = true;
        } finally {
            ArtisanCaches caches = artisan;
            if (caches != null) {
                caches.keep(done ? made : List.of());
            }
        }
        print();
        return failed ? CommandException.FAILED : 0;
    }

    /** What becomes /var/task: that directory where the application is in it, else the application's own. */
    private Path root() throws IOException {
        Path real = application.path().toRealPath();
        if (Files.isDirectory(taskRoot) && real.startsWith(taskRoot.toRealPath())) {
            return taskRoot.toRealPath();
        }
        Path parent = real.getParent();
        return Files.isDirectory(real) || parent == null ? real : parent;
    }

    private void prepare(Path root, Path workDirectory, PhpProbe.Facts php) throws IOException, InterruptedException {
        ColdStarts starts =
                new ColdStarts(config, LambdaCommand.scriptName(application), target, Math.max(1, runs), workDirectory);
        Path storage = null;
        List<Cache> wanted = new ArrayList<>();
        if (application.kind() == ApplicationKind.LARAVEL) {
            ArtisanCaches caches = ArtisanCaches.of(application, workDirectory);
            artisan = caches;
            storage = caches.storage();
            say("ok", "laravel", caches.version());
            for (Cache cache : caches.all()) {
                if (isWanted(cache.name())) {
                    wanted.add(cache);
                    caches.setAside(cache);
                }
            }
        }
        Start before = start(starts, uncompiled);
        if (!before.problem().isEmpty() || before.status() >= 400) {
            String how = before.problem().isEmpty() ? "is answered " + before.status() : "fails: " + before.problem();
            say("advice", "request", "GET " + target + " " + how + "; lambda.warm-request names a path that says more");
        }
        for (Cache cache : wanted) {
            makeCache(cache, starts, before);
        }
        ApplicationConfig compiled = uncompiled;
        if (isWanted(OPCACHE)) {
            compiled = compile(root, storage, workDirectory, starts, before, php);
        }
        if (saved.size() > 1) {
            saved.put("all", starts.compare(this::allAway, uncompiled, this::allBack, compiled));
        }
    }

    private boolean isWanted(String step) {
        if (without.contains(step)) {
            say("-", step, "left out");
        }
        return !without.contains(step);
    }

    private static Start start(ColdStarts starts, ApplicationConfig application) throws InterruptedException {
        try {
            return starts.once(application);
        } catch (WorkerException e) {
            throw new CommandException(CommandException.FAILED, "nothing was made: " + firstLine(e.getMessage()), e);
        }
    }

    private void makeCache(Cache cache, ColdStarts starts, Start before) throws IOException, InterruptedException {
        ArtisanCaches caches = requireNonNull(artisan);
        String problem = caches.make(cache);
        if (problem == null) {
            problem = difference(starts, uncompiled, before);
            if (problem != null) {
                caches.drop(cache);
                problem = "with this cache " + problem;
            }
        }
        if (problem != null) {
            say(
                    "FAIL",
                    cache.name(),
                    problem + ". It is as it was before; --without " + cache.name() + " leaves it out");
            return;
        }
        made.add(cache);
        say("ok", cache.name(), "php artisan " + cache.command() + " made " + cache.path());
        if (cache.name().equals("config")) {
            say(
                    "advice",
                    cache.name(),
                    "what the environment says now is written there, secrets among it; variables of the function no longer"
                            + " reach the configuration. --without config leaves that to each cold start");
            if (!caches.hasKey()) {
                say(
                        "advice",
                        cache.name(),
                        "app.key is empty, and APP_KEY is not read any more: set it for this command");
            }
        }
        if (runs > 0) {
            saved.put(
                    cache.name(),
                    starts.compare(() -> caches.away(cache), uncompiled, () -> caches.back(cache), uncompiled));
        }
    }

    /** What the application does otherwise than before, null when nothing. */
    private static @Nullable String difference(ColdStarts starts, ApplicationConfig application, Start before)
            throws InterruptedException {
        try {
            Start now = starts.once(application);
            return now.isLike(before)
                    ? null
                    : "the application answers " + (now.problem().isEmpty() ? now.status() : now.problem())
                            + " where it answered " + (before.problem().isEmpty() ? before.status() : before.problem());
        } catch (WorkerException e) {
            return firstLine(e.getMessage());
        }
    }

    /** Compiles all there is; gives the application with it. */
    private ApplicationConfig compile(
            Path root, @Nullable Path storage, Path workDirectory, ColdStarts starts, Start before, PhpProbe.Facts php)
            throws IOException, InterruptedException {
        if (!php.opcache()) {
            say("FAIL", OPCACHE, "opcache is not loaded or is off in this PHP; see cetane check, or --without opcache");
            return uncompiled;
        }
        Path cache = OpcacheFileCache.of(root, application.kind());
        Path fresh = cache.resolveSibling(cache.getFileName() + ".new");
        ArtisanCaches.delete(fresh);
        try {
            Files.createDirectories(fresh);
            Files.writeString(
                    root.resolve(OpcacheFileCache.DIRECTORY).resolve(".gitignore"), "*\n", StandardCharsets.US_ASCII);
            OpcacheCompiler compiler = new OpcacheCompiler(application, fresh, workDirectory);
            OpcacheCompiler.Outcome outcome = compiler.compile(root, storage);
            // What is loaded from elsewhere is compiled by a start.
            String problem = difference(starts, application.withIni(OpcacheFileCache.ini(fresh)), before);
            if (problem != null) {
                say("FAIL", OPCACHE, "with compiled code " + problem + ". What was compiled is thrown away");
                return uncompiled;
            }
            long bytes = OpcacheCompiler.open(fresh);
            ArtisanCaches.delete(cache);
            Files.move(fresh, cache);
            tell(outcome, cache, bytes, root);
        } finally {
            ArtisanCaches.delete(fresh);
        }
        ApplicationConfig compiled =
                application.withIni(OpcacheFileCache.ini(OpcacheFileCache.link(cache, workDirectory)));
        if (runs > 0) {
            saved.put(OPCACHE, starts.compare(() -> {}, uncompiled, () -> {}, compiled));
        }
        return compiled;
    }

    private void tell(OpcacheCompiler.Outcome outcome, Path cache, long bytes, Path root) throws IOException {
        Map<Path, String> skipped = outcome.failed();
        say(
                "ok",
                OPCACHE,
                String.format(
                        Locale.ROOT,
                        "%d of %d files compiled, the client's among them; %.1f MB in %s",
                        outcome.files() - skipped.size(),
                        outcome.files(),
                        bytes / 1e6,
                        cache));
        skipped.entrySet().stream()
                .limit(FAILURES_SHOWN)
                .forEach(entry -> say("skip", OPCACHE, entry.getKey() + ": " + entry.getValue()));
        if (skipped.size() > FAILURES_SHOWN) {
            say("skip", OPCACHE, "and " + (skipped.size() - FAILURES_SHOWN) + " more");
        }
        if (bytes > LARGE_BYTES) {
            say(
                    "advice",
                    OPCACHE,
                    "Lambda takes 250 MB unzipped, layers among it; composer install --no-dev leaves out most");
        }
        if (!Files.isDirectory(taskRoot) || !root.equals(taskRoot.toRealPath())) {
            say(
                    "advice",
                    OPCACHE,
                    "compiled code is found by the path of its file, so this is of use in " + root
                            + " only. Lambda has the" + " files in " + taskRoot
                            + ": run cetane warm where they lie there, in a container");
        }
    }

    private void allAway() throws IOException {
        for (Cache cache : made) {
            requireNonNull(artisan).away(cache);
        }
    }

    private void allBack() throws IOException {
        for (Cache cache : made) {
            requireNonNull(artisan).back(cache);
        }
    }

    private void print() {
        if (saved.isEmpty()) {
            return;
        }
        out.println("\nCold start of the application: from the start of PHP to its answer to GET " + target
                + ", without the JVM's.");
        out.println(
                runs + " starts with and " + runs + " without each in turns, what stands above it being there. CPU: "
                        + CpuModel.read() + ", " + Runtime.getRuntime().availableProcessors() + " of them.");
        out.println("Medians in ms, and the quartiles:\n");
        out.println(String.format(Locale.ROOT, "%-9s%24s%24s%9s", "", "without", "with", "saved"));
        saved.forEach((step, comparison) -> out.println(String.format(
                Locale.ROOT,
                "%-9s%24s%24s%9.1f%s",
                step,
                text(comparison.without()),
                text(comparison.with()),
                comparison.saved(),
                comparison.isClear() ? "" : "  (within the spread: proves nothing)")));
    }

    private static String text(Times times) {
        return String.format(Locale.ROOT, "%.1f (%.1f … %.1f)", times.median(), times.low(), times.high());
    }

    private void say(String verdict, String subject, String message) {
        failed |= verdict.equals("FAIL");
        out.println(String.format(Locale.ROOT, "%-7s%-12s%s", verdict, subject, message));
    }

    /** Without PHP's trace. */
    private static String firstLine(@Nullable String message) {
        return message == null ? "" : message.lines().findFirst().orElse("");
    }

    private static CommandException wrong(String message) {
        return new CommandException(CommandException.FAILED, message);
    }
}
