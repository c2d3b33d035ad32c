package dev.cetane.protocol;

import java.nio.file.Path;

/**
 * The FILE frame, PROTOCOL.md §5.4. Immutable. Whether the file exists and holds the range is for the supervisor to check.
 *
 * @param path absolute path
 * @param offset first byte to send
 * @param length bytes to send, 0 or more; offset + length fits into a long
 * @param delete whether the supervisor deletes the file when it was sent or the answer has failed
 */
public record FileRange(Path path, long offset, long length, boolean delete) {}
