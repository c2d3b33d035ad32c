package dev.cetane.tests;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Two workers that were stopped by SIGSTOP, and a request that was given to the first of them, which cannot take it. */
final class FrozenPair {
    final RunningCetane cetane;
    final long first;
    final long second;

    private final CompletableFuture<HttpResponse<String>> request;

    FrozenPair(RunningCetane.Starter starter, String target, String requestId) {
        cetane = starter.workers(2).start();
        cetane.awaitStatus("both are idle", status -> status.at("/workers/idle").asInt() == 2);
        List<Long> pids = cetane.workerPids();
        pids.forEach(pid -> Processes.signal(pid, "STOP"));
        request = CompletableFuture.supplyAsync(() -> cetane.get(target, "X-Request-Id", requestId));
        first = cetane.awaitRunning(target).path("pid").asLong();
        second = pids.get(0) == first ? pids.get(1) : pids.get(0);
    }

    /** What becomes of the request in the end. */
    HttpResponse<String> answer() throws InterruptedException, ExecutionException, TimeoutException {
        return request.get(60, TimeUnit.SECONDS);
    }
}
