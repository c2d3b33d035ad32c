package dev.cetane.files;

import dev.cetane.protocol.BytePath;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the file that a path stands for. A symbolic link may lead anywhere in the document root and in the configured other directories, and nowhere
 * else: the path without links decides.
 *
 * <p>Most requests are for the application and must not wait for a disk to be told so: the names in the document root are kept, and a path whose first
 * name is none of them is known not to be a file. What is kept is looked at anew after a second, by whoever asks first.
 *
 * <p>{@link #mayHold} is callable from any thread and does not block; {@link #find} waits for the disk. What they share is published by one volatile
 * field; two threads may refresh it at once.
 */
public final class DocumentRoot {
    private static final Duration KEPT = Duration.ofSeconds(1);

    /** A directory that was changed less than this before it was listed may change again without showing it in its time. */
    private static final Duration CLOCK_GRAIN = Duration.ofMillis(100);

    /** More names are not kept, and each path is looked for. */
    private static final int MOST_NAMES = 10_000;

    private final Supplier<StaticRoot> where;
    private final List<String> linkTargets;
    private final FileRules rules;
    private final Ticker ticker;
    private volatile Listing listing;

    /**
     * What is known of the root.
     *
     * @param text {@code root} as bytes, without a slash at its end
     * @param targets other directories that links may lead to, without symbolic links
     * @param names in the root, one char a byte; null when there are too many, or when it can't be listed
     */
    private record Listing(
            StaticRoot where,
            @Nullable Path root,
            String text,
            List<Path> targets,
            @Nullable Object key,
            FileTime modified,
            @Nullable Set<String> names,
            Instant listedAt,
            long freshUntilNanos) {

        /** Whether the root that is there now is certainly the one that was listed. */
        boolean shows(StaticRoot nowWhere, Path nowRoot, BasicFileAttributes now) {
            return nowRoot.equals(root)
                    && nowWhere.equals(where)
                    && Objects.equals(now.fileKey(), key)
                    && now.lastModifiedTime().equals(modified)
                    && modified.toInstant().plus(CLOCK_GRAIN).isBefore(listedAt);
        }
    }

    /**
     * @param where asked each time the root is looked at anew
     */
    public DocumentRoot(Supplier<StaticRoot> where, StaticFilesConfig config, Ticker ticker) {
        this.where = where;
        this.linkTargets = config.linkTargets();
        this.rules = new FileRules(config.denied());
        this.ticker = ticker;
        this.listing = nothing(where.get(), ticker.nanos());
    }

    /** Whether {@link #find} is worth its time: false says that it would find nothing. Costs no disk access. */
    public boolean mayHold(String path) {
        if (path.length() < 2 || path.charAt(path.length() - 1) == '/') {
            return false;
        }
        Listing now = listing;
        boolean known =
                now.names == null || now.freshUntilNanos - ticker.nanos() < 0 || now.names.contains(firstName(path));
        return known && rules.allow(path);
    }

    /** The file at the path; null when there is none that may be served. */
    @Nullable
    FoundFile find(String path) {
        Listing now = current();
        if (now.root == null || !rules.allow(path) || (now.names != null && !now.names.contains(firstName(path)))) {
            return null;
        }
        try {
            String text = now.text + path;
            Path file = BytePath.of(text);
            // Says no without an exception, which would cost ten times as much.
            if (isAscii(text) && !file.toFile().isFile()) {
                return null;
            }
            Path real = file.toRealPath();
            return real.equals(file) || allows(now, real) ? FoundFile.at(real) : null;
        } catch (IOException | InvalidPathException e) {
            // Missing, a directory that is a file, a name that is too long, a loop of links, or not for this user: no
            // file for a client.
            return null;
        }
    }

    /** The rules hold for what a link leads to as for what clients name. */
    private boolean allows(Listing now, Path real) {
        if (now.root != null && real.startsWith(now.root)) {
            return rules.allow("/" + now.root.relativize(real));
        }
        for (Path target : now.targets) {
            if (real.startsWith(target)) {
                return rules.allow("/" + target.relativize(real));
            }
        }
        return false;
    }

    /** Whether the path's text is the same in every locale. */
    private static boolean isAscii(String text) {
        return text.chars().allMatch(c -> c < 0x80);
    }

    private static String firstName(String path) {
        int slash = path.indexOf('/', 1);
        return path.substring(1, slash < 0 ? path.length() : slash);
    }

    private Listing current() {
        Listing now = listing;
        long nanos = ticker.nanos();
        if (now.freshUntilNanos - nanos >= 0) {
            return now;
        }
        Listing anew = refresh(now, nanos);
        listing = anew;
        return anew;
    }

    private Listing refresh(Listing before, long nanos) {
        StaticRoot place = where.get();
        long until = nanos + KEPT.toNanos();
        try {
            Path root = place.documentRoot().toRealPath();
            BasicFileAttributes attributes = Files.readAttributes(root, BasicFileAttributes.class);
            Instant now = ticker.now();
            boolean same = before.shows(place, root, attributes);
            return new Listing(
                    place,
                    root,
                    text(root),
                    targets(place),
                    attributes.fileKey(),
                    attributes.lastModifiedTime(),
                    same ? before.names : names(root),
                    same ? before.listedAt : now,
                    until);
        } catch (IOException e) {
            return nothing(place, until);
        }
    }

    private static Listing nothing(StaticRoot place, long freshUntilNanos) {
        return new Listing(
                place, null, "", List.of(), null, FileTime.fromMillis(0), Set.of(), Instant.EPOCH, freshUntilNanos);
    }

    private static String text(Path root) {
        String text = BytePath.toText(root);
        return text.equals("/") ? "" : text;
    }

    private List<Path> targets(StaticRoot place) {
        List<Path> targets = new ArrayList<>();
        for (String target : linkTargets) {
            try {
                targets.add(place.application().resolve(target).toRealPath());
            } catch (IOException e) {
                // Not there yet, so no link leads to it.
            }
        }
        return targets;
    }

    private static @Nullable Set<String> names(Path root) {
        Set<String> names = new HashSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            for (Path entry : entries) {
                if (names.size() == MOST_NAMES) {
                    return null;
                }
                String text = BytePath.toText(entry);
                names.add(text.substring(text.lastIndexOf('/') + 1));
            }
            return names;
        } catch (IOException | DirectoryIteratorException e) {
            return null;
        }
    }
}
