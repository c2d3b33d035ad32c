/**
 * The AWS Lambda front door: takes invocations from the Runtime API, gives them to the {@link dev.cetane.worker.WorkerPool}, and sends
 * the answers back. The JDK only, and little of that: what is loaded here is paid for at each cold start.
 *
 * <p>{@code LambdaRuntime} is the life of the process, {@code InvocationLoop} one slot of it, {@code RuntimeApi} its connection.
 * {@code EventReader} makes of an event's JSON either an {@code HttpEvent} or leaves it as it is; {@code InvocationJob} is its way
 * through the pool, and an {@code Answer} writes what the caller gets. Threads:
 *
 * <pre>
 *  main                starts the pool, waits for the loops
 *  cetane-lambda-N     loop N: /next, event, submit; waits until the worker is done or time is up; reads what the API says of the answer
 *  cetane-reader-N     of the pool: takes the worker's answer and posts it, so that no thread has to wake up for it
 * </pre>
 */
@NullMarked
package dev.cetane.lambda;

import org.jspecify.annotations.NullMarked;
