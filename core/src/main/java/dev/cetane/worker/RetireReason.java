package dev.cetane.worker;

import java.util.Locale;

/** Why a worker left or is to leave. {@link #label()} is the value in metrics and logs. */
public enum RetireReason {
    MAX_REQUESTS,
    MAX_LIFETIME,
    MAX_MEMORY,
    RELOAD,
    DRAIN,
    /** An operator asked for this worker to be replaced. */
    RECYCLED,
    /** The request ran over {@code pool.request-timeout}. */
    TIMED_OUT,
    /** The process ended by a signal or with a code other than 0. */
    CRASHED,
    /** The application called {@code exit()}, or the loop ended by itself, with code 0. */
    EXITED,
    BOOT_FAILED,
    BOOT_TIMED_OUT,
    PROTOCOL_ERROR;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
