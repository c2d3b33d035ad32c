package dev.cetane.watch;

import java.time.Duration;
import java.util.List;

/**
 * The {@code watch} section of the configuration. Immutable; the loader has checked it.
 *
 * @param enabled whether anything is watched
 * @param paths what is watched, see {@link WatchRules}
 * @param ignore what is not, of that
 * @param debounce how long nothing may change before a change is told of
 */
public record WatchConfig(boolean enabled, List<String> paths, List<String> ignore, Duration debounce) {}
