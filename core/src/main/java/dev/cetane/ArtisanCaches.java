package dev.cetane;

import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.PhpRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The caches of a Laravel application that Artisan makes, each of which can be undone: what was there before is kept beside it until
 * {@link #keep}. What a run that was killed has left is put back by the next. On the main thread.
 */
final class ArtisanCaches {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    /** Ends of the names of what was there before, and of what is away while a start without it is measured. */
    private static final String BEFORE = ".before-warm";

    private static final String AWAY = ".away";

    private final ApplicationConfig application;
    private final Map<String, String> facts;
    private final Path input;
    /** Those of which what was there before is kept. */
    private final List<Cache> aside = new ArrayList<>();

    /**
     * One of them.
     *
     * @param name as in {@code --without}
     * @param path a file, or the directory of compiled views
     */
    record Cache(String name, String command, Path path) {
        boolean isDirectory() {
            return name.equals("views");
        }

        private Path beside(String end) {
            return path.resolveSibling(path.getFileName() + end);
        }
    }

    private ArtisanCaches(ApplicationConfig application, Map<String, String> facts, Path input) {
        this.application = application;
        this.facts = facts;
        this.input = input;
    }

    /**
     * Boots the application as Artisan does, and asks it where it keeps its caches.
     *
     * @param workDirectory for an empty file
     * @throws CommandException with PHP's words when it does not boot
     */
    static ArtisanCaches of(ApplicationConfig application, Path workDirectory) throws IOException {
        Path input = Files.createFile(workDirectory.resolve("nothing"));
        ArtisanCaches unasked = new ArtisanCaches(application, Map.of(), input);
        PhpRun run = unasked.php(
                application.clientDirectory().resolve("bin/cetane-caches.php").toString());
        Map<String, String> facts = new HashMap<>();
        run.output().lines().filter(line -> line.startsWith("cetane-")).forEach(line -> {
            int equals = line.indexOf('=');
            facts.put(line.substring("cetane-".length(), equals), line.substring(equals + 1));
        });
        if (run.code() != 0 || !facts.containsKey("storage")) {
            throw new CommandException(
                    CommandException.FAILED,
                    application.path() + " does not boot as Artisan boots it: " + said(run.output()));
        }
        ArtisanCaches caches = new ArtisanCaches(application, facts, input);
        for (Cache cache : caches.all()) {
            caches.recover(cache);
        }
        return caches;
    }

    String version() {
        return facts.getOrDefault("version", "");
    }

    /** Whether the configuration has the key that sessions and cookies are encrypted with. */
    boolean hasKey() {
        return facts.getOrDefault("key", "").equals("1");
    }

    Path storage() {
        return path("storage");
    }

    /** In the order in which they are made. */
    List<Cache> all() {
        List<Cache> all = new ArrayList<>();
        all.add(new Cache("config", "config:cache", path("config")));
        all.add(new Cache("routes", "route:cache", path("routes")));
        all.add(new Cache("events", "event:cache", path("events")));
        if (!facts.getOrDefault("views", "").isEmpty()) {
            all.add(new Cache("views", "view:cache", path("views")));
        }
        return all;
    }

    private Path path(String fact) {
        Path path = application.path().resolve(facts.getOrDefault(fact, "")).normalize();
        if (application.path().startsWith(path)) {
            throw new CommandException(
                    CommandException.FAILED,
                    application.path() + " says that its " + fact + " cache is " + path + ", which is more than that");
        }
        return path;
    }

    /** Puts what is there aside: it may be that of another place, and nothing is measured with it. */
    void setAside(Cache cache) throws IOException {
        move(cache.path(), cache.beside(BEFORE));
        aside.add(cache);
        if (cache.isDirectory()) {
            Files.createDirectories(cache.path());
        }
    }

    /** Has Artisan make one that was set aside. Returns why that is not possible, and there is none then; null when it is there. */
    @Nullable
    String make(Cache cache) throws IOException {
        String problem;
        try {
            PhpRun run = php("artisan", cache.command(), "--no-interaction", "--no-ansi");
            problem = run.code() == 0 && Files.exists(cache.path())
                    ? null
                    : "php artisan " + cache.command() + " ends with exit code " + run.code() + ": "
                            + said(run.output());
        } catch (IOException e) {
            problem = "php artisan " + cache.command() + ": " + e.getMessage();
        }
        if (problem != null) {
            drop(cache);
        }
        return problem;
    }

    /** Takes away what Artisan has made. */
    void drop(Cache cache) throws IOException {
        delete(cache.path());
        if (cache.isDirectory()) {
            Files.createDirectory(cache.path());
        }
    }

    /** Forgets what was there before these; all others are as they were before they were set aside. */
    void keep(List<Cache> made) throws IOException {
        for (Cache cache : aside) {
            if (made.contains(cache)) {
                delete(cache.beside(BEFORE));
            } else {
                undo(cache);
            }
        }
        aside.clear();
    }

    private static void undo(Cache cache) throws IOException {
        delete(cache.path());
        delete(cache.beside(AWAY));
        move(cache.beside(BEFORE), cache.path());
    }

    /** The application is without it until {@link #back}, and without what it has made in its place since. */
    void away(Cache cache) throws IOException {
        back(cache);
        move(cache.path(), cache.beside(AWAY));
        if (cache.isDirectory()) {
            Files.createDirectory(cache.path());
        }
    }

    void back(Cache cache) throws IOException {
        if (Files.exists(cache.beside(AWAY))) {
            // What the application has made meanwhile.
            delete(cache.path());
            move(cache.beside(AWAY), cache.path());
        }
    }

    private void recover(Cache cache) throws IOException {
        if (Files.exists(cache.beside(BEFORE))) {
            undo(cache);
        }
        back(cache);
    }

    private PhpRun php(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(application.php().toString()));
        command.addAll(List.of("-d", "display_errors=1", "-d", "log_errors=0"));
        command.addAll(List.of(words));
        // Artisan runs where the application is built.
        Map<String, String> environment = new HashMap<>(application.environment());
        environment.remove(LambdaCommand.RUNTIME_API);
        return PhpRun.of(command, application.path(), environment, input, TIMEOUT);
    }

    /** What a command has said, in one line, without a trace. */
    private static String said(String output) {
        String text = output.replaceFirst("(?s)(\\{\"exception\"|\\[?[Ss]tack ?trace).*", "")
                .replaceAll("\\s+", " ")
                .strip();
        return text.length() > 1000 ? text.substring(0, 1000) + "…" : text;
    }

    private static void move(Path from, Path to) throws IOException {
        if (Files.exists(from)) {
            Files.move(from, to);
        }
    }

    static void delete(Path path) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> walked = Files.walk(path)) {
            all = walked.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : all) {
            Files.delete(each);
        }
    }
}
