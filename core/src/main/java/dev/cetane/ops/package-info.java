/**
 * Health, metrics and the dashboard on a port of their own, and the control socket of the command line.
 *
 * <p>{@link dev.cetane.ops.Metrics} hears what happens in the pool and on the HTTP side; {@code Meters} lists every meter. {@link
 * dev.cetane.ops.OpsServer} listens: {@code Access} decides who may do what, {@code Routes} what there is at which path. Who watches, in a
 * browser or a terminal, is one of the {@code Watchers}, for all of which {@code Sampler} takes one {@code Sample} a second. {@link
 * dev.cetane.ops.Operator} does what was asked for.
 *
 * <p>Threads: connections live on one event loop, {@code cetane-ops}, apart from those of the HTTP side, and so do samples. {@code Metrics}
 * is told on the threads on which things happen, and read on that event loop.
 */
@NullMarked
package dev.cetane.ops;

import org.jspecify.annotations.NullMarked;
