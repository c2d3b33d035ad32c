package dev.cetane;

import dev.cetane.protocol.BytePath;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.PhpRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compiles every PHP file of an application into a file cache of opcache, with the very PHP and settings of its workers. On the main thread. */
final class OpcacheCompiler {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    /** Directories that hold no code of the application. */
    private static final Set<String> LEFT_OUT = Set.of(OpcacheFileCache.DIRECTORY, ".git", "node_modules");

    private final ApplicationConfig application;
    private final Path fileCache;
    private final Path workDirectory;

    /**
     * What has become of the files.
     *
     * @param files how many there were
     * @param failed those that are not in the cache, with PHP's words
     */
    record Outcome(int files, Map<Path, String> failed) {}

    /**
     * @param fileCache an empty directory
     * @param workDirectory for a file that is needed meanwhile
     */
    OpcacheCompiler(ApplicationConfig application, Path fileCache, Path workDirectory) {
        this.application = application;
        this.fileCache = fileCache;
        this.workDirectory = workDirectory;
    }

    /**
     * Compiles what ends with .php in that directory and in the client's, and what symbolic links there lead to.
     *
     * @param storage a directory that is left out, for it is another one on Lambda; null for none
     * @throws CommandException when nothing can be compiled at all
     */
    Outcome compile(Path root, @Nullable Path storage) throws IOException {
        Set<Path> files = files(root, storage);
        files.addAll(files(application.clientDirectory(), null));
        List<Path> left = new ArrayList<>(files);
        Map<Path, String> failed = new LinkedHashMap<>();
        while (!left.isEmpty()) {
            failed = compileOnce(left);
            if (failed.size() == left.size()) {
                break;
            }
            // A file that declares what another one of this process has declared can be compiled in the next one.
            left = new ArrayList<>(failed.keySet());
        }
        if (storage != null) {
            keepOut(storage);
        }
        return new Outcome(files.size(), failed);
    }

    /** A file where opcache would make a directory: starts that find the cache writable put nothing of the storage there. */
    private void keepOut(Path storage) throws IOException {
        List<Path> systems;
        try (Stream<Path> listed = Files.list(fileCache)) {
            systems = listed.filter(Files::isDirectory).toList();
        }
        for (Path system : systems) {
            Path file = Path.of(system.toString() + storage);
            Files.createDirectories(file.getParent());
            Files.createFile(file);
        }
    }

    private static Set<Path> files(Path root, @Nullable Path storage) throws IOException {
        Set<Path> files = new LinkedHashSet<>();
        Files.walkFileTree(
                root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                        boolean out = directory.equals(storage)
                                || (!directory.equals(root)
                                        && LEFT_OUT.contains(
                                                directory.getFileName().toString()));
                        return out ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        if (attributes.isRegularFile() && file.toString().endsWith(".php")) {
                            files.add(file.toRealPath());
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException problem) {
                        // Links that lead nowhere, or in circles.
                        return FileVisitResult.CONTINUE;
                    }
                });
        return files;
    }

    /** One file after the other, in as many processes as it takes PHP to get past those that kill it. Gives those that failed. */
    private Map<Path, String> compileOnce(List<Path> files) throws IOException {
        Map<Path, String> failed = new LinkedHashMap<>();
        int done = 0;
        while (done < files.size()) {
            List<Path> rest = files.subList(done, files.size());
            PhpRun run = run(rest);
            String[] parts = run.output().split("\1", -1);
            if (parts.length == 1) {
                throw new CommandException(
                        CommandException.FAILED,
                        application.php() + " cannot compile: " + run.output().strip() + " (exit code " + run.code()
                                + ")");
            }
            for (int i = 1; i < parts.length; i++) {
                String said = parts[i].substring(parts[i].indexOf('\n') + 1).strip();
                Path file = rest.get(i - 1);
                // PHP may have warned of a file and compiled it all the same.
                if (!isCached(file)) {
                    boolean died = i == parts.length - 1 && run.code() != 0;
                    failed.put(
                            file,
                            said.isEmpty() && !died
                                    ? "opcache does not keep it, see opcache.blacklist_filename"
                                    : (died ? "PHP ends with exit code " + run.code() + ". " : "")
                                            + said.lines().findFirst().orElse(""));
                }
            }
            done += parts.length - 1;
        }
        return failed;
    }

    private PhpRun run(List<Path> files) throws IOException {
        StringBuilder list = new StringBuilder();
        files.forEach(file -> list.append(BytePath.toText(file)).append('\0'));
        Path input = Files.writeString(workDirectory.resolve("files"), list, StandardCharsets.ISO_8859_1);
        List<String> command = new ArrayList<>(List.of(application.php().toString(), "-q"));
        Map<String, String> ini = new LinkedHashMap<>(application.ini());
        ini.putAll(OpcacheFileCache.ini(fileCache));
        // No shared memory that could be full.
        ini.put("opcache.file_cache_only", "1");
        ini.put("memory_limit", "-1");
        ini.put("max_execution_time", "0");
        // What was printed must not be lost when PHP dies.
        ini.put("output_buffering", "0");
        ini.forEach((name, value) -> command.addAll(List.of("-d", name + "=" + value)));
        command.add(
                application.clientDirectory().resolve("bin/cetane-compile.php").toString());
        try {
            return PhpRun.of(command, workDirectory, application.environment(), input, TIMEOUT);
        } catch (IOException e) {
            throw new IOException(application.php() + " cannot compile: " + e.getMessage(), e);
        } finally {
            Files.delete(input);
        }
    }

    private boolean isCached(Path file) throws IOException {
        String name = file + ".bin";
        try (Stream<Path> systems = Files.list(fileCache)) {
            return systems.anyMatch(system -> Files.isRegularFile(Path.of(system + name)));
        }
    }

    /** opcache makes all for its own user; on Lambda another one reads it. Gives the size in bytes. */
    static long open(Path fileCache) throws IOException {
        long bytes = 0;
        List<Path> all;
        try (Stream<Path> walked = Files.walk(fileCache)) {
            all = walked.toList();
        }
        for (Path path : all) {
            boolean directory = Files.isDirectory(path);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(directory ? "rwxr-xr-x" : "rw-r--r--"));
            bytes += directory ? 0 : Files.size(path);
        }
        return bytes;
    }
}
