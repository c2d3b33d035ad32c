package dev.cetane.ops;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The {@code ops} section of the configuration. Immutable; the loader has checked every range.
 *
 * @param listen address of health and metrics, loopback unless told otherwise (127.0.0.1:9180); null: off
 * @param controlSocket Unix socket in the private run directory over which the command line asks and acts
 */
public record OpsConfig(@Nullable InetSocketAddress listen, Path controlSocket) {}
