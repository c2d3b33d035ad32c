/**
 * The pool of PHP workers: processes, pipes, states. A front door gives a {@link dev.cetane.worker.Job} to the
 * {@link dev.cetane.worker.WorkerPool} and is called back with the answer; everything else here is how that works.
 *
 * <p>A worker is one PHP process with two FIFOs. {@code WorkerPool} holds the jobs, {@code Staff} the workers, {@code Roster} decides which
 * workers there should be; one lock guards all three, and an action under it returns the effects that are run after it.
 * {@code PhpProcess} is a worker's process, {@code WorkerLink} its pipes, {@code WorkerOutput} what it prints, {@code Exchange} one job's
 * way through all of it. Threads:
 *
 * <pre>
 *  front door's thread     submit: takes an idle worker, encodes the job, writes its frame; or queues it
 *  cetane-reader-N         reads worker N's frames, calls the job's sink, gives the worker its next job
 *  cetane-maintenance      spawns, kills, times, recycles, reloads; reads what is printed during long requests
 * </pre>
 */
@NullMarked
package dev.cetane.worker;

import org.jspecify.annotations.NullMarked;
