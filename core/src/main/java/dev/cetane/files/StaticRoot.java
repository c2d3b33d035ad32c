package dev.cetane.files;

import java.nio.file.Path;

/**
 * Where the files of the version that serves now are. Immutable.
 *
 * @param application the application's directory; {@code http.static.link-targets} are relative to it
 * @param documentRoot the public directory
 */
public record StaticRoot(Path application, Path documentRoot) {}
