package dev.cetane.worker;

/**
 * What one request cost, in nanoseconds unless said otherwise; times that are not known are 0. Immutable.
 *
 * @param workerId the worker that served it
 * @param queueNanos from submit to the moment a worker was picked
 * @param dispatchNanos from that to the end of the write of the REQUEST frame, or to the final HEAD if that came earlier
 * @param firstByteNanos from that to the final HEAD
 * @param transferNanos from the final HEAD to END
 * @param terminateNanos from END to DONE, as the supervisor saw it
 * @param handlerMicros as DONE reports it, microseconds
 * @param cpuMicros CPU time as DONE reports it, microseconds
 * @param peakMemoryBytes PHP's own peak, bytes
 */
public record JobReport(
        int workerId,
        long queueNanos,
        long dispatchNanos,
        long firstByteNanos,
        long transferNanos,
        long terminateNanos,
        long handlerMicros,
        long cpuMicros,
        long peakMemoryBytes) {}
