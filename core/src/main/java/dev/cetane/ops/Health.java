package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.WorkerState;

/**
 * Whether requests can be served. Immutable.
 *
 * @param ready whether a request that came now would be served, perhaps after a wait in the queue
 * @param reason one clause for people; names no path and no message of the application
 */
record Health(boolean ready, String reason) {

    /** A busy pool is ready; one that drains, is dead, is booting, or has a full queue is not. */
    static Health of(PoolSnapshot pool) {
        int idle = pool.count(WorkerState.IDLE);
        int busy = pool.count(WorkerState.BUSY);
        if (pool.draining()) {
            return new Health(false, "draining");
        }
        if (idle + busy == 0) {
            if (pool.lastBootFailure() != null) {
                return new Health(false, "no worker is up, the last boot failed");
            }
            return new Health(false, pool.count(WorkerState.STARTING) > 0 ? "booting" : "no worker is up");
        }
        // Without a queue a busy pool refuses requests by design, which is no reason to take it out of service.
        if (idle == 0 && pool.queueLimit() > 0 && pool.queued() >= pool.queueLimit()) {
            return new Health(false, "the queue is full (" + pool.queued() + " wait)");
        }
        return new Health(true, idle + " idle, " + busy + " busy, " + pool.queued() + " waiting");
    }
}
