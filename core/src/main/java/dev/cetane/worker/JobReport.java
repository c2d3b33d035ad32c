package dev.cetane.worker;

/**
 * What one request cost, in nanoseconds unless said otherwise; times that are not known are 0. The phases from {@code queueNanos} to
 * {@code toEndNanos} follow each other without a gap, from submit to END; or to the failure, in place of what it has prevented.
 * Immutable.
 *
 * @param workerId the worker that served it
 * @param queueNanos from submit to the moment a worker was picked, less {@code bootNanos}
 * @param bootNanos how much of that wait the worker that was picked spent booting; 0 when it was up before the request came
 * @param dispatchNanos from that to the end of the write of the REQUEST frame, or to the final HEAD if that came earlier
 * @param firstByteNanos from that to the final HEAD
 * @param toEndNanos from the final HEAD to END; includes waits for a client that is slower than PHP
 * @param terminateNanos from END to DONE, as the supervisor saw it; the client does not wait for it
 * @param handlerMicros as DONE reports it, microseconds
 * @param cpuMicros CPU time as DONE reports it, microseconds
 * @param peakMemoryBytes PHP's own peak, bytes
 */
public record JobReport(
        int workerId,
        long queueNanos,
        long bootNanos,
        long dispatchNanos,
        long firstByteNanos,
        long toEndNanos,
        long terminateNanos,
        long handlerMicros,
        long cpuMicros,
        long peakMemoryBytes) {}
