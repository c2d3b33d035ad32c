package dev.cetane.worker;

/** Where a worker stands in its life. The reason for leaving, {@link RetireReason}, is separate. */
public enum WorkerState {
    /** The process is started or booting its application; READY has not arrived. */
    STARTING,
    /** Booted and waiting for a request. */
    IDLE,
    /** Serving a request, up to DONE. */
    BUSY,
    /** Asked or forced to leave; its process has not ended yet. */
    RETIRING,
    /** Its process has ended. */
    STOPPED
}
