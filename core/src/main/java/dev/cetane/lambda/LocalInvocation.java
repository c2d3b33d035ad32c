package dev.cetane.lambda;

import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * An event of {@link LocalFront} on its way through {@link LocalRuntimeApi}. Made by the thread of the client that waits for {@code answer};
 * completed by the thread of the runtime's call.
 *
 * @param deadlineMillis Unix milliseconds
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record LocalInvocation(String id, byte[] event, long deadlineMillis, CompletableFuture<Answer> answer) {

    /**
     * What the runtime has posted.
     *
     * @param isError whether to {@code /error}
     * @param isStreamed whether the body arrives as it is made
     * @param body to be read by the client's thread, and before {@code taken}
     * @param taken to be counted down when the body was read: only then the runtime hears that its answer has arrived
     */
    record Answer(boolean isError, boolean isStreamed, String contentType, InputStream body, CountDownLatch taken) {}
}
