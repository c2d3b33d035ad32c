package dev.cetane.files;

import java.time.Duration;
import java.util.List;

/**
 * The {@code http.static} keys of the configuration. Immutable; the loader has checked every range.
 *
 * @param serve whether files are served at all
 * @param denied patterns for the names of files that are never served
 * @param linkTargets directories below which symbolic links may lead beside the document root, absolute or relative to the application's directory
 * @param precompressed whether {@code FILE.br} and {@code FILE.gz} are sent in place of FILE to clients that take them
 * @param immutable patterns for paths whose content never changes
 * @param maxAge how long clients may keep other files without asking; zero: nothing is said about it
 */
public record StaticFilesConfig(
        Serve serve,
        List<String> denied,
        List<String> linkTargets,
        boolean precompressed,
        List<Glob> immutable,
        Duration maxAge) {

    /** Whether files are served. */
    public enum Serve {
        /** Where a directory is known to be public. */
        AUTO,
        ON,
        OFF
    }
}
