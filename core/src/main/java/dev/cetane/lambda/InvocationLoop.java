package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.lambda.EventReader.Event;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.multipart.FormLimits;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.JobPool;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One slot: takes an invocation, has it answered, and only when its worker is done takes the next. On a thread of its own.
 *
 * <p>What a worker does after its answer counts as part of the invocation: Lambda freezes the sandbox at {@code /next}, and must not
 * freeze it in the middle of something.
 */
final class InvocationLoop {
    private static final byte[] WARM = "\"Lambda is warm\"".getBytes(StandardCharsets.US_ASCII);

    /** Long enough for another environment to get the next of several warming events. */
    private static final long WARM_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** What a worker that is killed at the end of its time may take to be gone. */
    private static final long AFTER_DEADLINE_MILLIS = 5_000;

    private final LambdaConfig config;
    private final JobPool pool;
    private final CompletableFuture<Void> boot;
    private final CgiVariables variables;
    private final Ticker ticker;
    private final EventLog log;
    private final RuntimeApi api;
    private final EventReader events;
    private final InvocationJob.Buffers buffers = new InvocationJob.Buffers(new ByteWriter(), new ByteWriter());

    /** @param boot ends when the first worker has booted, or has failed to */
    InvocationLoop(
            LambdaConfig config,
            JobPool pool,
            CompletableFuture<Void> boot,
            CgiVariables variables,
            Ticker ticker,
            EventLog log) {
        this.config = config;
        this.pool = pool;
        this.boot = boot;
        this.variables = variables;
        this.ticker = ticker;
        this.log = log;
        api = new RuntimeApi(config.runtimeApi());
        events = new EventReader(config.basePath());
    }

    /**
     * Takes one invocation after the other, for ever.
     *
     * @throws IOException when there is no sense in going on: the API cannot be reached or understood
     * @throws WorkerException when the application has not booted; the invocation that waited for it was answered
     * @throws InterruptedException when the thread was interrupted
     */
    void run() throws IOException, InterruptedException {
        try (api) {
            while (true) {
                Invocation invocation = api.next();
                serve(invocation);
            }
        }
    }

    private void serve(Invocation invocation) throws IOException, InterruptedException {
        long endMillis = invocation.deadlineMillis() == 0
                ? Long.MAX_VALUE
                : invocation.deadlineMillis() - config.margin().toMillis();
        EventBody body = null;
        try {
            Event event = events.read(invocation);
            if (event.warmer()) {
                LockSupport.parkNanos(WARM_NANOS);
                api.post(invocation.requestId(), "application/json", WARM, WARM.length);
                confirmed(invocation, api.confirm());
                return;
            }
            Ready ready;
            try {
                ready = awaitBoot(endMillis);
            } catch (WorkerException e) {
                fail(invocation, "Runtime.InitError", String.valueOf(e.getMessage()));
                throw e;
            }
            if (ready == null) {
                fail(
                        invocation,
                        "Function.TimedOut",
                        "The application had not booted when the time of this invocation was over.");
                return;
            }
            HttpEvent http = takesAllEvents(ready) ? null : event.http();
            if (http == null && !ready.capabilities().contains(Capability.EVENT)) {
                fail(
                        invocation,
                        "Function.UnexpectedEvent",
                        "The event is no HTTP request, and this application takes HTTP requests only. Functions for other events use Cetane\\Lambda\\Handler.");
                return;
            }
            body = http == null
                    ? EventBody.whole(
                            config.spoolDirectory(), invocation.requestId(), invocation.event(), invocation.length())
                    : EventBody.of(config.spoolDirectory(), invocation.requestId(), http, formLimits(ready));
            if (!body.remark().isEmpty()) {
                log.log(
                        Level.WARN,
                        "request.form-cut",
                        invocation.requestId(),
                        "of the form something was left out: " + body.remark());
            }
            submit(invocation, http, body, endMillis);
        } catch (MalformedEventException e) {
            fail(invocation, "Runtime.MalformedEvent", String.valueOf(e.getMessage()));
        } catch (UncheckedIOException e) {
            fail(invocation, "Runtime.NoSpace", String.valueOf(e.getMessage()));
        } finally {
            if (body != null) {
                body.discard();
            }
        }
    }

    private void submit(Invocation invocation, @Nullable HttpEvent http, EventBody body, long endMillis)
            throws IOException, InterruptedException {
        InvocationJob job =
                new InvocationJob(config, invocation, http, body, limit(endMillis), variables, api, log, buffers);
        pool.submit(job);
        if (!job.await(remaining(endMillis))) {
            pool.abort(
                    job,
                    new WorkerException(
                            WorkerException.Kind.TIMED_OUT,
                            job.describe() + " was given up: the invocation's deadline, less lambda.timeout-margin of "
                                    + config.margin().toMillis() + " ms, is over"));
            if (!job.await(AFTER_DEADLINE_MILLIS)) {
                throw new RuntimeApiException(
                        "an invocation could not be ended: its answer is not taken, or its worker cannot be killed");
            }
        }
        confirmed(invocation, job.confirm());
    }

    /** What the worker has said of itself; null when it is not there in time. */
    private @Nullable Ready awaitBoot(long endMillis) throws InterruptedException {
        Ready ready = pool.lastReady();
        if (ready != null) {
            return ready;
        }
        try {
            boot.get(remaining(endMillis), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof WorkerException failure
                    ? failure
                    : new WorkerException(WorkerException.Kind.BOOT_FAILED, String.valueOf(e.getCause()));
        }
        return pool.lastReady();
    }

    private static boolean takesAllEvents(Ready ready) {
        return ready.capabilities().contains(Capability.EVENT)
                && !ready.facts().getOrDefault("events", "").equals("other");
    }

    private static @Nullable FormLimits formLimits(Ready ready) {
        return ready.capabilities().contains(Capability.FORM) ? FormLimits.of(ready.facts()) : null;
    }

    private TimeLimit limit(long endMillis) {
        Duration time = endMillis == Long.MAX_VALUE
                ? Duration.ZERO
                : Duration.ofMillis(Math.max(1, endMillis - ticker.now().toEpochMilli()));
        return new TimeLimit(time, "the function's deadline less lambda.timeout-margin");
    }

    private long remaining(long endMillis) {
        return endMillis == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : Math.max(1, endMillis - ticker.now().toEpochMilli());
    }

    private void fail(Invocation invocation, String type, String message) throws IOException {
        log.log(Level.ERROR, "invocation.failed", invocation.requestId(), message, "type", type);
        api.postError(invocation.requestId(), new InvocationError(type, message));
        confirmed(invocation, api.confirm());
    }

    /** Looks at what the API says of an answer: whatever it is, the answer counts as given. */
    private void confirmed(Invocation invocation, @Nullable Reply reply) throws RuntimeApiException {
        if (reply == null || reply.status() / 100 == 2) {
            return;
        }
        String message = "the Runtime API answered " + reply.status() + " to the answer: "
                + reply.text().strip();
        switch (reply.status()) {
            case 410 ->
                log.log(
                        Level.INFO,
                        "invocation.late",
                        invocation.requestId(),
                        "the answer came after the invocation's end and was dropped");
            case 413 -> log.log(Level.ERROR, "invocation.too-large", invocation.requestId(), message);
            case 400, 403 -> log.log(Level.ERROR, "invocation.refused", invocation.requestId(), message);
            default -> {
                if (reply.status() >= 500) {
                    throw new RuntimeApiException(message);
                }
                log.log(Level.ERROR, "invocation.refused", invocation.requestId(), message);
            }
        }
    }
}
