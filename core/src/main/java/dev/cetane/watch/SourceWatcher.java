package dev.cetane.watch;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches an application's directory, and calls when source code in it has changed and then stayed as it is for {@code watch.debounce}. All on its
 * own thread, {@code cetane-watch}; foreign entries are {@link #start} and {@link #close}.
 *
 * <p>Directories are watched, so that files are seen however an editor writes them: in place, or as another file that takes their name. A new
 * directory is watched as soon as it is seen, and what is in it by then counts as changed. When the kernel lost events anything may have changed.
 */
public final class SourceWatcher implements AutoCloseable {
    /** Something that changes all the time is told of at last. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    /** More names are not told. */
    private static final int MOST_NAMES = 100;

    private final Supplier<Path> where;
    private final WatchRules rules;
    private final Duration debounce;
    private final Ticker ticker;
    private final EventLog log;
    private final Consumer<SortedSet<String>> changed;
    private final WatchService service;
    private final Thread thread = new Thread(this::run, "cetane-watch");

    // Of the thread.
    private final Map<WatchKey, Path> directories = new HashMap<>();
    private Path top = Path.of("");
    private boolean limitTold;

    /**
     * Watches nothing yet.
     *
     * @param where the application's directory; asked at the start and after each change, since a deployment may have moved it
     * @param changed hears the paths of changed files, relative to the directory, or nothing when they are not known; returns when it is done with them,
     *     and changes of meanwhile are told after that
     * @throws UncheckedIOException when the system has no means to watch files
     */
    public SourceWatcher(
            Supplier<Path> where,
            WatchConfig config,
            Ticker ticker,
            EventLog log,
            Consumer<SortedSet<String>> changed) {
        this.where = where;
        this.rules = new WatchRules(config.paths(), config.ignore());
        this.debounce = config.debounce();
        this.ticker = ticker;
        this.log = log;
        this.changed = changed;
        Path path = where.get();
        try {
            service = path.getFileSystem().newWatchService();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "files cannot be watched: " + e.getMessage() + "; raise fs.inotify.max_user_instances", e);
        }
        thread.setDaemon(true);
    }

    /** Returns when everything there is now is watched. */
    public void start() {
        watchAnew();
        log.log(
                Level.INFO,
                "watch.started",
                null,
                "Watching " + directories.size() + " directories of " + top + " for changes");
        thread.start();
    }

    private void run() {
        try {
            while (true) {
                SortedSet<String> names = new TreeSet<>();
                boolean lost = false;
                // The first change, whenever it comes; then what follows it closely.
                WatchKey key = service.take();
                long firstNanos = 0;
                while (key != null) {
                    boolean found = read(key, names);
                    lost |= found && names.isEmpty();
                    boolean any = lost || !names.isEmpty();
                    if (any && firstNanos == 0) {
                        firstNanos = ticker.nanos();
                    }
                    boolean enough = any && ticker.nanos() - firstNanos >= LONGEST_WAIT.toNanos();
                    key = enough ? null : service.poll(debounce.toMillis(), TimeUnit.MILLISECONDS);
                }
                if (lost || !names.isEmpty()) {
                    changed.accept(names);
                    if (lost || !top.equals(realTop())) {
                        watchAnew();
                    }
                }
            }
        } catch (ClosedWatchServiceException | InterruptedException e) {
            // The end.
        }
    }

    /** Takes the events of one directory; whether one of them counts. Of lost events none has a name. */
    private boolean read(WatchKey key, SortedSet<String> names) {
        Path directory = directories.get(key);
        boolean counts = false;
        for (WatchEvent<?> event : key.pollEvents()) {
            if (event.kind() == StandardWatchEventKinds.OVERFLOW) {
                log.log(Level.WARN, "watch.overflow", null, "More files changed at once than could be followed");
                counts = true;
            } else if (directory != null && event.context() instanceof Path name) {
                counts |= look(directory.resolve(name), event.kind(), names);
            }
        }
        if (!key.reset()) {
            directories.remove(key);
        }
        return counts;
    }

    private boolean look(Path path, WatchEvent.Kind<?> kind, SortedSet<String> names) {
        if (kind == StandardWatchEventKinds.ENTRY_CREATE && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return watch(path, names);
        }
        return add(path, names);
    }

    private boolean add(Path file, @Nullable SortedSet<String> names) {
        String name = relative(file);
        if (names == null || !rules.counts(name)) {
            return false;
        }
        if (names.size() < MOST_NAMES) {
            names.add(name);
        }
        return true;
    }

    private void watchAnew() {
        directories.keySet().forEach(WatchKey::cancel);
        directories.clear();
        top = realTop();
        watch(top, null);
    }

    /**
     * Watches a directory and all below it.
     *
     * @param names gets the files that are there, which appeared before they could be watched; null: they are known
     * @return whether one of them counts
     */
    private boolean watch(Path directory, @Nullable SortedSet<String> names) {
        if (!rules.reaches(relative(directory))) {
            return false;
        }
        try {
            directories.put(
                    directory.register(
                            service,
                            StandardWatchEventKinds.ENTRY_CREATE,
                            StandardWatchEventKinds.ENTRY_MODIFY,
                            StandardWatchEventKinds.ENTRY_DELETE),
                    directory);
        } catch (IOException e) {
            tellOfLimit(directory, e);
            return false;
        }
        boolean counts = false;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                counts |= Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS) ? watch(entry, names) : add(entry, names);
            }
        } catch (IOException | DirectoryIteratorException e) {
            log.log(Level.DEBUG, "watch.gone", null, directory + " cannot be read: " + e);
        }
        return counts;
    }

    private void tellOfLimit(Path directory, IOException e) {
        if (Files.isDirectory(directory) && !limitTold) {
            limitTold = true;
            log.log(
                    Level.WARN,
                    "watch.limited",
                    null,
                    directory + " and maybe others cannot be watched, changes in them need a reload by hand: "
                            + e.getMessage() + "; raise fs.inotify.max_user_watches, or name less in watch.paths");
        }
    }

    private String relative(Path path) {
        return top.relativize(path).toString();
    }

    private Path realTop() {
        Path path = where.get();
        try {
            return path.toRealPath();
        } catch (IOException e) {
            return path;
        }
    }

    /** Ends it, without waiting for a callback that runs. */
    @Override
    public void close() {
        try {
            service.close();
        } catch (IOException e) {
            log.log(Level.DEBUG, "watch.close-failed", null, "the watch service did not close: " + e);
        }
        thread.interrupt();
    }
}
