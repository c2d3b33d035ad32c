/**
 * The HTTP front door: accepts connections, turns requests into jobs for a {@link dev.cetane.worker.Dispatcher} and streams the
 * answers back.
 *
 * <p>A request's way, in the order of the classes: {@code HttpServer} binds and accepts; {@code RequestDecoder} makes messages of
 * bytes and rejects what is not exactly HTTP/1.x; {@code ExchangeHandler} serves one connection, one exchange after the other;
 * {@code RequestHead} is the checked head; {@code BodyReader} receives the {@code RequestBody}: a {@code WholeBody} in memory or in a
 * {@code SpoolFile}, or a {@code FormBody}, read into text fields and uploaded files; {@code HttpJob} goes to the dispatcher, writes the request's {@code $_SERVER} through {@code ServerVariables}, and brings the answer, made by {@code
 * ResponseEncoder}, back to the connection.
 *
 * <p>A request for a file takes a shorter way: {@code StaticFiles} looks for it and gives the connection a {@code StaticAnswer}.
 *
 * <p>Threads: a connection lives on one event loop ({@code cetane-http-N}) that never blocks; bodies are written to disk by {@code
 * cetane-spool-N}; an answer comes from the worker's reader thread, which waits while the client is slower than the worker. The one
 * hand-over between those is {@code HttpJob}.
 */
@NullMarked
package dev.cetane.http;

import org.jspecify.annotations.NullMarked;
