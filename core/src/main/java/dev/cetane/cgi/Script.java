package dev.cetane.cgi;

import java.util.function.BiConsumer;

/**
 * The PHP file of a classic application that a path names, as a client would ask for it. Immutable.
 *
 * @param name path below the document root, with a slash in front; {@code SCRIPT_NAME}
 * @param pathInfo what the path has behind that; {@code PATH_INFO}
 */
public record Script(String name, String pathInfo) {

    /** Writes what PHP needs to know of it; the rest, {@code SCRIPT_FILENAME} above all, is the worker's to add. */
    void write(BiConsumer<String, String> out) {
        out.accept("SCRIPT_NAME", name);
        out.accept("DOCUMENT_URI", name + pathInfo);
        if (!pathInfo.isEmpty()) {
            out.accept("PATH_INFO", pathInfo);
        }
    }
}
