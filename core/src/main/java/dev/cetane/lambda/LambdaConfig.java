package dev.cetane.lambda;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The {@code lambda} section of the configuration, and what the environment says of this function. Immutable.
 *
 * @param runtimeApi where the Runtime API is
 * @param initialization what AWS_LAMBDA_INITIALIZATION_TYPE says
 * @param slots how many invocations run at once: one, or {@code AWS_LAMBDA_MAX_CONCURRENCY}
 * @param stream whether the sender is to get answers as they are made
 * @param margin how long before its deadline an invocation is given up, so that the caller is told why
 * @param basePath what is taken away from the front of each path; {@code auto}: the stage's name where it is part of it
 * @param initLimit longest wait for the application to boot before the first {@code /next}: a longer boot goes on in the first invocation
 * @param warmRequest path and query of the request that workers serve before a snapshot is taken of them; empty for none
 * @param spoolDirectory where large bodies and uploaded files are kept while they are needed
 * @param debug whether error messages may go to clients
 */
public record LambdaConfig(
        InetSocketAddress runtimeApi,
        String initialization,
        int slots,
        boolean stream,
        Duration margin,
        String basePath,
        Duration initLimit,
        String warmRequest,
        Path spoolDirectory,
        boolean debug) {
    /** The environment becomes a snapshot, and serves in copies only. */
    boolean snapStart() {
        return initialization.equals("snap-start");
    }

    /** The environment goes on with other invocations when one slot fails, and nothing is ever frozen. */
    boolean managed() {
        return slots > 1;
    }
}
