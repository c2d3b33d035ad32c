package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.lambda.EventReader.Event;
import dev.cetane.lambda.EventReader.Warmer;
import dev.cetane.log.EventLog.Level;
import dev.cetane.multipart.FormLimits;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One slot: takes an invocation, has it answered, and only when its worker is done takes the next. On a thread of its own.
 *
 * <p>What a worker does after its answer counts as part of the invocation: Lambda freezes the sandbox at {@code /next}, and must not
 * freeze it in the middle of something.
 */
final class InvocationLoop {
    private static final byte[] WARM = "\"Lambda is warm\"".getBytes(StandardCharsets.US_ASCII);

    /** What a worker that is killed at the end of its time may take to be gone. */
    private static final long AFTER_DEADLINE_MILLIS = 5_000;

    /** How often in a row a slot of many may fail, with pauses that grow from the first to the last. */
    private static final int MOST_FAILURES = 10;

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LAST_PAUSE_MILLIS = 32_000;

    private final LambdaConfig config;
    private final WorkerPool pool;
    private final CompletableFuture<Void> boot;
    private final CgiVariables variables;
    private final Ticker ticker;
    private final InvocationLog log;
    private final Metrics metrics;
    private final RuntimeApi api;
    private final EventReader events;
    private final InvocationJob.Buffers buffers = new InvocationJob.Buffers(new ByteWriter(), new ByteWriter());

    /** @param boot ends when the first worker has booted, or has failed to */
    InvocationLoop(
            LambdaConfig config,
            WorkerPool pool,
            CompletableFuture<Void> boot,
            CgiVariables variables,
            Ticker ticker,
            InvocationLog log,
            Metrics metrics) {
        this.config = config;
        this.pool = pool;
        this.boot = boot;
        this.variables = variables;
        this.ticker = ticker;
        this.log = log;
        this.metrics = metrics;
        api = new RuntimeApi(config.runtimeApi(), ticker);
        events = new EventReader(config.basePath());
    }

    /**
     * Takes one invocation after the other, for ever.
     *
     * @throws IOException when there is no sense in going on: the API cannot be reached or understood. Where other slots run the slot tries
     *     again a few times, ever later
     * @throws WorkerException when the application has not booted; the invocation that waited for it was answered
     * @throws InterruptedException when the thread was interrupted
     */
    void run() throws IOException, InterruptedException {
        int failures = 0;
        try (api) {
            while (true) {
                try {
                    Invocation invocation = api.next();
                    failures = 0;
                    run(invocation);
                } catch (IOException e) {
                    failures++;
                    if (!config.managed() || failures > MOST_FAILURES) {
                        throw e;
                    }
                    pause(failures, e);
                }
            }
        }
    }

    private void pause(int failures, IOException cause) throws InterruptedException {
        long millis = Math.min(LAST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures - 1, 16));
        log.log(
                Level.WARN,
                "lambda.slot-pauses",
                null,
                cause.getMessage() + "; this slot tries again in " + millis + " ms");
        api.close();
        TimeUnit.MILLISECONDS.sleep(millis);
    }

    private void run(Invocation invocation) throws IOException, InterruptedException {
        InvocationFigures figures = new InvocationFigures();
        long fetchedNanos = ticker.nanos();
        figures.fetchNanos = fetchedNanos - api.receivedSinceNanos();
        log.running(invocation.requestId());
        try {
            serve(invocation, figures, fetchedNanos);
            metrics.record(invocation, figures);
        } finally {
            log.running(null);
        }
    }

    private void serve(Invocation invocation, InvocationFigures figures, long fetchedNanos)
            throws IOException, InterruptedException {
        long endMillis = invocation.deadlineMillis() == 0
                ? Long.MAX_VALUE
                : invocation.deadlineMillis() - config.margin().toMillis();
        EventBody body = null;
        HttpEvent http = null;
        try {
            Event event = events.read(invocation);
            Ready ready;
            try {
                ready = awaitBoot(endMillis);
            } catch (WorkerException e) {
                fail(invocation, figures, "Runtime.InitError", String.valueOf(e.getMessage()));
                throw e;
            }
            if (ready == null) {
                fail(
                        invocation,
                        figures,
                        "Function.TimedOut",
                        "The application had not booted when the time of this invocation was over.");
                return;
            }
            if (event.warmer() != Warmer.NONE) {
                TimeUnit.MILLISECONDS.sleep(event.warmer().millis());
                answer(invocation, figures, WARM, WARM.length);
                return;
            }
            http = takesAllEvents(ready) ? null : event.http();
            if (http == null && !ready.capabilities().contains(Capability.EVENT)) {
                fail(
                        invocation,
                        figures,
                        "Function.UnexpectedEvent",
                        "The event is no HTTP request, and this application takes HTTP requests only. Functions for other events use Cetane\\Lambda\\Handler.");
                return;
            }
            body = http == null
                    ? EventBody.whole(
                            config.spoolDirectory(), invocation.requestId(), invocation.event(), invocation.length())
                    : EventBody.of(config.spoolDirectory(), invocation.requestId(), http, formLimits(ready));
            body.store();
            if (!body.remark().isEmpty()) {
                log.log(
                        Level.WARN,
                        "request.form-cut",
                        invocation.requestId(),
                        "of the form something was left out: " + body.remark());
            }
            figures.convertNanos = ticker.nanos() - fetchedNanos;
            submit(new InvocationRequest(invocation, http, body, variables), figures, endMillis);
        } catch (MalformedEventException e) {
            fail(invocation, figures, "Runtime.MalformedEvent", String.valueOf(e.getMessage()));
        } catch (RefusedRequestException e) {
            log.log(Level.WARN, "request.refused", invocation.requestId(), String.valueOf(e.getMessage()));
            refuse(invocation, figures, http, e.status());
        } catch (UncheckedIOException e) {
            fail(invocation, figures, "Runtime.NoSpace", String.valueOf(e.getMessage()));
        } finally {
            if (body != null) {
                body.discard();
            }
        }
    }

    private void submit(InvocationRequest request, InvocationFigures figures, long endMillis)
            throws IOException, InterruptedException {
        InvocationJob job = new InvocationJob(config, request, limit(endMillis), api, ticker, log, figures, buffers);
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
        confirmed(request.invocation(), figures, job.confirm(remaining(endMillis)));
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

    /** Whether HTTP requests are given as the events that they came as. */
    static boolean takesAllEvents(Ready ready) {
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

    private void fail(Invocation invocation, InvocationFigures figures, String type, String message)
            throws IOException {
        log.log(Level.ERROR, "invocation.failed", invocation.requestId(), message, "type", type);
        figures.failure = type;
        figures.sentAtNanos = ticker.nanos();
        api.postError(invocation.requestId(), new InvocationError(type, message));
        confirmed(invocation, figures, api.confirm());
    }

    private void refuse(Invocation invocation, InvocationFigures figures, @Nullable HttpEvent http, int status)
            throws IOException {
        if (http == null) {
            throw new IllegalStateException("only a request can be refused");
        }
        figures.failure = Integer.toString(status);
        ByteWriter answer = buffers.answer();
        answer.clear();
        http.format().writeFailure(status, HttpStatus.text(status), answer);
        answer(invocation, figures, answer.array(), answer.length());
    }

    private void answer(Invocation invocation, InvocationFigures figures, byte[] json, int length) throws IOException {
        figures.sentAtNanos = ticker.nanos();
        api.post(invocation.requestId(), "application/json", json, length);
        confirmed(invocation, figures, api.confirm());
    }

    /** Looks at what the API says of an answer: whatever it is, the answer counts as given. */
    private void confirmed(Invocation invocation, InvocationFigures figures, @Nullable Reply reply)
            throws RuntimeApiException {
        if (reply == null) {
            return;
        }
        figures.sendNanos = ticker.nanos() - figures.sentAtNanos;
        if (reply.status() / 100 == 2) {
            return;
        }
        String message = "the Runtime API answered " + reply.status() + " to the answer: "
                + reply.text().strip();
        if (reply.status() >= 500) {
            throw new RuntimeApiException(message);
        }
        figures.failure = "Runtime.Refused" + reply.status();
        switch (reply.status()) {
            case 410 -> late(invocation, figures.report);
            case 413 -> log.log(Level.ERROR, "invocation.too-large", invocation.requestId(), message);
            default -> log.log(Level.ERROR, "invocation.refused", invocation.requestId(), message);
        }
    }

    /** The API has given the invocation up before; a worker that takes so long is one that something is wrong with. */
    private void late(Invocation invocation, @Nullable JobReport report) {
        log.log(
                Level.WARN,
                "invocation.late",
                invocation.requestId(),
                "the answer came after the invocation's end and was dropped"
                        + (report == null ? "" : "; worker " + report.workerId() + " is replaced"));
        if (report != null) {
            pool.recycle(report.workerId());
        }
    }
}
