/**
 * Health and metrics on a port of their own, and the control socket of the command line.
 *
 * <p>{@link dev.cetane.ops.Metrics} hears what happens in the pool and on the HTTP side; {@code Meters} lists every meter. {@link
 * dev.cetane.ops.OpsServer} answers {@code /health/live}, {@code /health/ready} and {@code /metrics} to anybody who can reach its TCP
 * port, and beside them {@code /status}, {@code /workers}, {@code /reload}, {@code /stop} to whoever can open its Unix socket, which
 * is the instance's user alone. {@link dev.cetane.ops.Operator} does what was asked for.
 *
 * <p>Threads: connections live on one event loop, {@code cetane-ops}, apart from those of the HTTP side. {@code Metrics} is told on
 * the threads on which things happen, and rendered on the event loop.
 */
@NullMarked
package dev.cetane.ops;

import org.jspecify.annotations.NullMarked;
