/**
 * The part that requests take in distributed traces: W3C Trace Context in, out and to PHP, and spans by OTLP.
 *
 * <p>{@link dev.cetane.trace.Tracer} begins a {@link dev.cetane.trace.TraceContext} for each request, which costs a few random numbers, on an
 * event loop. Where spans are exported and the trace is sampled, the HTTP side hands over a {@link dev.cetane.trace.RequestSpan} when the
 * request has ended: it goes into the bounded {@code SpanQueue}, and {@code SpanExporter} sends it from a thread of its own.
 */
@NullMarked
package dev.cetane.trace;

import org.jspecify.annotations.NullMarked;
