package dev.cetane.watch;

import dev.cetane.files.Glob;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which files of a directory count as its source code. Paths are relative to it, with slashes. Immutable.
 *
 * <p>A path to watch is a file, a directory with all below it, or a {@link Glob}, as Octane's {@code watch} setting has them. A path to ignore is a
 * glob for a name at any depth, or, with a slash in front, for a path from the top; what is below an ignored directory is ignored too.
 */
final class WatchRules {
    private final List<Watched> watched;
    private final List<Glob> ignoredNames;
    private final List<Glob> ignoredPaths;

    /**
     * One path to watch.
     *
     * @param base the directory, or file, up to where the first wildcard is; empty for the top
     * @param glob null for a plain path
     * @param depth most directories between the top and a file that fits
     */
    private record Watched(String base, @Nullable Glob glob, int depth) {

        static Watched of(String text) {
            String path = trim(text);
            int wildcard = 0;
            while (wildcard < path.length() && "*?{".indexOf(path.charAt(wildcard)) < 0) {
                wildcard++;
            }
            if (wildcard == path.length()) {
                return new Watched(path, null, Integer.MAX_VALUE);
            }
            int slash = path.lastIndexOf('/', wildcard);
            int depth = path.contains("**")
                    ? Integer.MAX_VALUE
                    : (int) path.chars().filter(c -> c == '/').count();
            return new Watched(slash < 0 ? "" : path.substring(0, slash), Glob.of(path), depth);
        }

        boolean matches(String file) {
            return glob == null ? file.equals(base) || isBelow(file, base) : glob.matches(file);
        }

        /** Whether a file that fits may be, or come to be, somewhere below the directory. */
        boolean reaches(String directory) {
            if (directory.equals(base) || isBelow(base, directory)) {
                return true;
            }
            return isBelow(directory, base)
                    && directory.chars().filter(c -> c == '/').count() < depth;
        }
    }

    WatchRules(List<String> paths, List<String> ignore) {
        watched = paths.stream().map(Watched::of).toList();
        ignoredNames = ignore.stream()
                .filter(text -> !text.startsWith("/"))
                .map(Glob::of)
                .toList();
        ignoredPaths = ignore.stream()
                .filter(text -> text.startsWith("/"))
                .map(text -> Glob.of(trim(text)))
                .toList();
    }

    /** Whether a change of the file counts. */
    boolean counts(String file) {
        return watched.stream().anyMatch(path -> path.matches(file)) && !isIgnored(file);
    }

    /** Whether the directory has to be watched; the top is the empty path. */
    boolean reaches(String directory) {
        return directory.isEmpty()
                || (watched.stream().anyMatch(path -> path.reaches(directory)) && !isIgnored(directory));
    }

    private boolean isIgnored(String path) {
        for (int start = 0; start <= path.length(); ) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            String name = path.substring(start, end);
            String above = path.substring(0, end);
            if (ignoredNames.stream().anyMatch(glob -> glob.matches(name))
                    || ignoredPaths.stream().anyMatch(glob -> glob.matches(above))) {
                return true;
            }
            start = end + 1;
        }
        return false;
    }

    /** Everything is below the top. */
    private static boolean isBelow(String path, String directory) {
        return directory.isEmpty() ? !path.isEmpty() : path.startsWith(directory + "/");
    }

    private static String trim(String path) {
        int start = 0;
        int end = path.length();
        while (path.startsWith("./", start)) {
            start += 2;
        }
        while (start < end && path.charAt(start) == '/') {
            start++;
        }
        while (end > start && path.charAt(end - 1) == '/') {
            end--;
        }
        String trimmed = path.substring(start, end);
        return trimmed.equals(".") ? "" : trimmed;
    }
}
