package dev.cetane.worker;

import java.time.Duration;

/**
 * How long one job may run, in place of {@code pool.request-timeout}. Immutable.
 *
 * @param time zero: without limit
 * @param origin who says so, for the log, as in {@code http.route-timeouts "/reports/**"}
 */
public record TimeLimit(Duration time, String origin) {}
