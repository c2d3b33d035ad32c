/**
 * Tasks that workers have others run, and the tick once a second, PROTOCOL.md §9.3. A task or a tick is a {@link dev.cetane.worker.Job} of a
 * pool like a request, with another frame and another sink.
 *
 * <p>{@link dev.cetane.task.TaskCalls} takes a worker's call apart, {@link dev.cetane.task.TaskGroup} is what one call waits for,
 * {@link dev.cetane.task.Ticks} wakes a worker. Threads: a call comes on its worker's {@code cetane-reader-N}, which submits the tasks and goes
 * back to reading; each result comes on the reader thread of the worker that ran it, and the last of them writes the reply; the time-out of a
 * group, and ticks, come from {@code cetane-maintenance}.
 */
@NullMarked
package dev.cetane.task;

import org.jspecify.annotations.NullMarked;
