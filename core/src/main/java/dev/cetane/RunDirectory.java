package dev.cetane;

import static java.util.Objects.requireNonNull;

import dev.cetane.log.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One instance's private directory, {@code BASE/PID}, for its control socket and its pipes. Both levels have mode 0700 and belong
 * to the user. A file lock that ends with the process says whether the instance lives; what dead ones left is removed by the next to
 * start. Used by the main thread.
 */
final class RunDirectory implements AutoCloseable {

    /** Longest base: a Unix socket's path has at most 107 bytes, of which /4194304/control.sock takes 21. */
    static final int MAX_PATH_BYTES = 86;

    static final String CONTROL_SOCKET = "control.sock";

    /** Locked as long as the instance lives. */
    static final String LOCK = "lock";

    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path directory;
    private final FileChannel lockFile;

    private RunDirectory(Path directory, FileChannel lockFile) {
        this.directory = directory;
        this.lockFile = lockFile;
    }

    /** Bases that are used when none is configured, the preferred one first. */
    static List<Path> defaults(Map<String, String> environment) {
        String name = "cetane-" + uid();
        Path shared = Path.of("/tmp", name);
        String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "");
        return runtime.startsWith("/") && Files.isDirectory(Path.of(runtime))
                ? List.of(Path.of(runtime, name), shared)
                : List.of(shared);
    }

    /** Where bodies are spooled when nothing is configured. Not in XDG_RUNTIME_DIR, which is memory. */
    static Path defaultSpool(Map<String, String> environment) {
        String temporary = environment.getOrDefault("TMPDIR", "");
        return Path.of(temporary.startsWith("/") ? temporary : "/tmp", "cetane-spool-" + uid());
    }

    /** Process id of this JVM. */
    static long pid() {
        try {
            return Long.parseLong(
                    Files.readSymbolicLink(Path.of("/proc/self")).getFileName().toString());
        } catch (IOException e) {
            throw new UncheckedIOException("/proc/self cannot be read: Cetane needs Linux with /proc mounted", e);
        }
    }

    /**
     * Makes the directory of this instance.
     *
     * @throws CommandException when the base is not private to this user, or not usable
     */
    static RunDirectory create(Path base, long pid) {
        try {
            makeBase(base);
            // Held while directories come and go, so that nobody takes one that is just being made for a dead one.
            try (FileChannel baseLock = open(base.resolve(".lock"))) {
                baseLock.lock();
                removeDead(base);
                Path directory = base.resolve(Long.toString(pid));
                Files.createDirectory(directory, PRIVATE);
                FileChannel lockFile = open(directory.resolve(LOCK));
                lockFile.lock();
                return new RunDirectory(directory, lockFile);
            }
        } catch (FileAlreadyExistsException e) {
            if (!base.resolve(Long.toString(pid)).equals(Path.of(e.getFile()))) {
                throw unusable(base, e);
            }
            throw new CommandException(
                    CommandException.FAILED,
                    e.getFile()
                            + " belongs to a running instance with the same process id, perhaps in another container: "
                            + "give each its own run-directory",
                    e);
        } catch (IOException | OverlappingFileLockException e) {
            throw unusable(base, e);
        }
    }

    private static CommandException unusable(Path base, Exception e) {
        return new CommandException(
                CommandException.FAILED,
                "the run directory " + base + " cannot be used: " + reason(e)
                        + ". Set run-directory to one that this user may write",
                e);
    }

    private static String reason(Exception e) {
        return e instanceof IOException failed ? FileReason.of(failed) : e.toString();
    }

    /** Takes over a directory that was made, private to this user, by the script that became this process. */
    static RunDirectory takeOver(Path directory) {
        try {
            refuseStrangers(directory);
            FileChannel lockFile = open(directory.resolve(LOCK));
            lockFile.lock();
            return new RunDirectory(directory, lockFile);
        } catch (IOException | OverlappingFileLockException e) {
            throw new CommandException(
                    CommandException.FAILED, "the run directory " + directory + " cannot be used: " + reason(e), e);
        }
    }

    Path directory() {
        return directory;
    }

    /** Removes the directory and everything in it. */
    @Override
    public void close() {
        try {
            delete(directory);
            lockFile.close();
        } catch (IOException e) {
            throw new UncheckedIOException(directory + " cannot be removed", e);
        }
    }

    /** Directories of instances below the base, by pid; some may be dead. */
    static List<Path> instances(Path base) {
        if (!Files.isDirectory(base, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        refuseStrangers(base);
        try (Stream<Path> children = Files.list(base)) {
            return children.filter(RunDirectory::isInstance)
                    .sorted(Comparator.comparingLong(RunDirectory::pidOf))
                    .toList();
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED, "the run directory " + base + " cannot be read: " + FileReason.of(e), e);
        }
    }

    static long pidOf(Path instance) {
        return Long.parseLong(instance.getFileName().toString());
    }

    private static boolean isInstance(Path path) {
        return path.getFileName().toString().matches("[0-9]{1,9}");
    }

    /**
     * Makes a directory that only this user can enter, unless there is one.
     *
     * @throws CommandException when what is there is not private to this user
     */
    static void makePrivate(Path directory) {
        try {
            makeBase(directory);
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED, "the directory " + directory + " cannot be made: " + FileReason.of(e), e);
        }
    }

    private static void makeBase(Path base) throws IOException {
        Path parent = base.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        try {
            Files.createDirectory(base, PRIVATE);
        } catch (FileAlreadyExistsException e) {
            refuseStrangers(base);
        }
    }

    /** Whoever can write here could talk to the workers: the directory must be this user's alone, and no link to another. */
    private static void refuseStrangers(Path base) {
        Map<String, Object> attributes;
        try {
            attributes = Files.readAttributes(base, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED, "the directory " + base + " cannot be read: " + FileReason.of(e), e);
        }
        int mode = requireNonNull((Integer) attributes.get("mode")) & 0777;
        String complaint = null;
        if (!Boolean.TRUE.equals(attributes.get("isDirectory"))) {
            complaint = "is no directory, or a symbolic link";
        } else if (!Integer.valueOf(uid()).equals(attributes.get("uid"))) {
            complaint = "belongs to user " + attributes.get("uid") + " and not to " + uid();
        } else if ((mode & 077) != 0) {
            complaint = "is open to others (mode 0" + Integer.toOctalString(mode) + "); run chmod 700 " + base;
        }
        if (complaint != null) {
            throw new CommandException(
                    CommandException.FAILED,
                    "the directory " + base + " " + complaint
                            + ". Remove it, or set run-directory (http.spool-directory) to another one");
        }
    }

    private static void removeDead(Path base) throws IOException {
        List<Path> instances = new ArrayList<>();
        try (Stream<Path> children = Files.list(base)) {
            children.filter(RunDirectory::isInstance).forEach(instances::add);
        }
        for (Path instance : instances) {
            if (!isAlive(instance)) {
                delete(instance);
            }
        }
    }

    private static boolean isAlive(Path instance) throws IOException {
        Path lock = instance.resolve(LOCK);
        if (!Files.exists(lock, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel channel = open(lock)) {
            return channel.tryLock() == null;
        } catch (OverlappingFileLockException e) {
            // Another instance in this very process.
            return true;
        }
    }

    private static FileChannel open(Path file) throws IOException {
        return FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    private static int uid() {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException("/proc/self cannot be read: Cetane needs Linux with /proc mounted", e);
        }
    }

    private static void delete(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
