package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.RequestWriter;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What SnapStart asks for before the first {@code /next}: workers that are warm and hold nothing that a copy must not have, a wait
 * during which Lambda takes the snapshot, and workers that know that they are a copy. Runs on the main thread, once.
 */
final class SnapStart {
    private final LambdaConfig config;
    private final WorkerPool pool;
    private final CgiVariables variables;
    private final Ticker ticker;
    private final InvocationLog log;

    SnapStart(LambdaConfig config, WorkerPool pool, CgiVariables variables, Ticker ticker, InvocationLog log) {
        this.config = config;
        this.pool = pool;
        this.variables = variables;
        this.ticker = ticker;
        this.log = log;
    }

    /**
     * Warms the workers and tells them of the snapshot.
     *
     * @throws WorkerException when one of them fails: there is to be no snapshot
     */
    void prepare() throws InterruptedException {
        if (!config.warmRequest().isEmpty()) {
            WarmRequest request = new WarmRequest(config.warmRequest(), pool, variables, config.spoolDirectory());
            tellAll("the warm request", request::write);
        }
        tell("CHECKPOINT", RequestWriter::checkpoint);
    }

    /** Waits through the snapshot. In every copy the wait ends. */
    void awaitRestore() throws IOException {
        long begunNanos = ticker.nanos();
        try (RuntimeApi api = new RuntimeApi(config.runtimeApi(), ticker)) {
            api.restoreNext();
        }
        log.log(
                Level.INFO,
                "lambda.restored",
                null,
                "restored from a snapshot",
                "waited-millis",
                TimeUnit.NANOSECONDS.toMillis(ticker.nanos() - begunNanos));
    }

    /**
     * Tells the workers that they are a copy.
     *
     * @throws WorkerException when one of them fails: this copy cannot serve
     */
    void restored() throws InterruptedException {
        tell("RESTORED", RequestWriter::restored);
    }

    /** Tells the Runtime API why this copy cannot serve. */
    void report(String message) {
        try (RuntimeApi api = new RuntimeApi(config.runtimeApi(), ticker)) {
            api.restoreError(new InvocationError("Runtime.RestoreHookFailed", message));
        } catch (IOException e) {
            // The message is in the log; nobody is left who could be told.
        }
    }

    private void tell(String what, Consumer<RequestWriter> writer) throws InterruptedException {
        Ready ready = pool.lastReady();
        if (ready != null && ready.capabilities().contains(Capability.SNAPSHOT)) {
            tellAll(what, writer);
        }
    }

    private void tellAll(String what, Consumer<RequestWriter> writer) throws InterruptedException {
        List<WorkerNotice> given = new ArrayList<>();
        for (WorkerSnapshot worker : pool.snapshot().workers()) {
            WorkerNotice notice = new WorkerNotice(what, writer);
            if (pool.offer(notice, worker.id()) != 0) {
                given.add(notice);
            }
        }
        for (WorkerNotice notice : given) {
            WarmRequest.await(notice, what, pool);
        }
    }
}
