package dev.cetane.protocol;

/**
 * The DONE frame, PROTOCOL.md §5.6. Immutable. What the worker did not measure is 0.
 *
 * @param handlerMicros from the decoded REQUEST to END, microseconds, at most 2^32 - 1
 * @param terminateMicros from END to DONE, microseconds, at most 2^32 - 1
 * @param cpuMicros CPU time, microseconds, at most 2^32 - 1
 * @param peakMemoryBytes PHP's own peak, bytes
 * @param last the worker takes no further request and is about to exit
 */
public record Done(long handlerMicros, long terminateMicros, long cpuMicros, long peakMemoryBytes, boolean last) {}
