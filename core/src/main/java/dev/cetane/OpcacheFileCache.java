package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Where the code lies that {@code cetane warm} has compiled, and how workers get at it. {@code bootstrap} of {@code share/lambda} does the
 * same; a test compares both.
 *
 * <p>It is used where it cannot be written, as on Lambda: nothing that was compiled can change there, so PHP need not look whether it has. PHP
 * refuses a file cache that it cannot write (until 8.5, whose {@code opcache.file_cache_read_only} this does not need), so it gets a directory
 * that it can, with links to what is in the other one. What it would write there ends below a link, at the same read-only file system.
 */
final class OpcacheFileCache {
    /** In the directory that becomes /var/task. */
    static final String DIRECTORY = ".opcache";

    static final String FILE_CACHE = "opcache.file_cache";

    private static final String OPTIMIZATION = "opcache.optimization_level";

    private OpcacheFileCache() {}

    /**
     * The directory for the applications of one kind: kinds differ in their PHP and in the functions that are disabled, which is part of what
     * is compiled. The client is compiled, too, so each version of Cetane has its own.
     */
    static Path of(Path taskRoot, ApplicationKind kind) {
        String name = kind == ApplicationKind.LARAVEL ? ApplicationKind.WORKER.key() : kind.key();
        return taskRoot.resolve(DIRECTORY).resolve(Cetane.version()).resolve(name);
    }

    /** PHP's settings for a cache whose files can't change: neither their time stamps nor their checksums are looked at. */
    static Map<String, String> ini(Path fileCache) {
        Map<String, String> ini = new LinkedHashMap<>();
        ini.put(FILE_CACHE, fileCache.toString());
        ini.put("opcache.validate_timestamps", "0");
        ini.put("opcache.file_cache_consistency_checks", "0");
        return ini;
    }

    /**
     * The application without opcache's optimizer, unless its own settings say more of it: what is compiled when an environment starts is
     * optimized for longer than most environments live to gain from.
     */
    static ApplicationConfig unoptimized(ApplicationConfig application) {
        return application.ini().containsKey(OPTIMIZATION)
                ? application
                : application.withIni(Map.of(OPTIMIZATION, "0"));
    }

    /** The application with what was compiled for it, if that can be used, else {@link #unoptimized}. */
    static ApplicationConfig used(ApplicationConfig application, Path taskRoot, Path runDirectory, EventLog log) {
        if (application.ini().containsKey(FILE_CACHE)) {
            return application;
        }
        if (!Files.isDirectory(taskRoot.resolve(DIRECTORY))) {
            return unoptimized(application);
        }
        Path cache = of(taskRoot, application.kind());
        if (!Files.isDirectory(cache)) {
            log.log(
                    Level.WARN,
                    "application.not-warmed",
                    null,
                    cache + " is not there: what cetane warm has compiled was for another version of Cetane, or another"
                            + " kind of application, and is not used; run cetane warm again, as the last step of the build");
            return unoptimized(application);
        }
        if (Files.isWritable(cache)) {
            return unoptimized(application);
        }
        try {
            if (!isOf(taskRoot, cache)) {
                log.log(
                        Level.WARN,
                        "application.not-warmed",
                        null,
                        cache + " holds nothing of " + taskRoot
                                + ": cetane warm was run where the application lies elsewhere, and PHP finds compiled code by"
                                + " the file's path; run it where it lies in " + taskRoot);
            }
            return application.withIni(ini(link(cache, runDirectory)));
        } catch (IOException e) {
            throw new UncheckedIOException(cache + " cannot be used", e);
        }
    }

    /** Whether some PHP has compiled a file of that directory. */
    private static boolean isOf(Path taskRoot, Path cache) throws IOException {
        Path root = taskRoot.toRealPath();
        Path below = root.subpath(0, root.getNameCount());
        try (Stream<Path> systems = Files.list(cache)) {
            return systems.anyMatch(system -> Files.isDirectory(system.resolve(below)));
        }
    }

    /** Makes the directory for PHP, unless the bootstrap has. */
    static Path link(Path cache, Path runDirectory) throws IOException {
        Path linked = runDirectory.resolve("opcache");
        if (!Files.isDirectory(linked)) {
            Files.createDirectory(linked);
            List<Path> entries;
            try (Stream<Path> listed = Files.list(cache)) {
                entries = listed.toList();
            }
            for (Path entry : entries) {
                Files.createSymbolicLink(linked.resolve(entry.getFileName()), entry);
            }
        }
        return linked;
    }
}
