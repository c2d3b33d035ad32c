package dev.cetane.files;

import org.jspecify.annotations.Nullable;

/**
 * What of a GET or HEAD request decides how a file is sent: its path and the values of fields, null where it has none. Immutable.
 *
 * @param path decoded and normalized, one char a byte, with a slash in front
 * @param head whether the method is HEAD
 */
public record FileRequest(
        String path,
        boolean head,
        @Nullable String ifMatch,
        @Nullable String ifUnmodifiedSince,
        @Nullable String ifNoneMatch,
        @Nullable String ifModifiedSince,
        @Nullable String ifRange,
        @Nullable String range,
        @Nullable String acceptEncoding) {}
