/**
 * The pool of PHP workers: processes, pipes, states. A front door gives a {@link dev.cetane.worker.Job} to the
 * {@link dev.cetane.worker.WorkerPool} and is called back with the answer; everything else here is how that works.
 *
 * <p>A worker is one PHP process with two FIFOs. {@code WorkerPool} holds the jobs, {@code Staff} the workers, {@code Roster} decides which
 * workers there should be; one lock guards all three, and an action under it returns the effects that are run after it.
 * {@code PhpProcess} is a worker's process, {@code WorkerLink} its pipes, {@code WorkerOutput} what it prints, {@code Exchange} one job's
 * way through all of it.
 *
 * <p>A worker of a classic application is a child of a {@code php-cgi} and one connection to it: {@code FastCgiWorker} and {@code FastCgiConnection} stand where
 * {@code PhpProcess} and {@code WorkerLink} do, {@code FastCgiMaster} is the php-cgi, {@code FastCgiWorkers} knows those there are. Threads:
 *
 * <pre>
 *  front door's thread     submit: takes an idle worker, encodes the job, writes its frame; or queues it
 *  cetane-reader-N         reads worker N's frames, calls the job's sink, gives the worker its next job; has its calls answered
 *  cetane-maintenance      spawns, kills, times, recycles, reloads; reads what is printed during long requests
 *  cetane-body-N           sends a body that is in a file to the child of worker N; classic applications only
 *  cetane-php-cgi-output   reads what a php-cgi and its children print; classic applications only
 * </pre>
 */
@NullMarked
package dev.cetane.worker;

import org.jspecify.annotations.NullMarked;
