package dev.cetane.ops;

import java.time.Instant;
import java.util.List;

/**
 * What {@code cetane status} says about the instance beside its pool. Immutable.
 *
 * @param application kind and path, for people
 * @param urls where it takes requests
 */
public record Instance(String version, long pid, String application, List<String> urls, Instant startedAt) {}
