package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.protocol.Ready;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The pool's log lines and failure messages: who, what, the numbers, the next step. Stateless; called without the pool's lock. */
final class PoolJournal {
    private final PoolConfig config;
    private final EventLog log;

    PoolJournal(PoolConfig config, EventLog log) {
        this.config = config;
        this.log = log;
    }

    // ---- messages ----

    WorkerException overloaded(int workers, int queued) {
        return new WorkerException(
                WorkerException.Kind.OVERLOADED,
                "the queue is full: " + workers + " workers, " + queued + " requests wait, pool.queue-size is "
                        + config.queueSize() + "; raise pool.workers, or make requests shorter");
    }

    WorkerException queueTimeout(Exchange exchange, int workers, int queued) {
        return new WorkerException(
                WorkerException.Kind.QUEUE_TIMEOUT,
                exchange.job.describe() + " found no idle worker within pool.queue-timeout ("
                        + text(config.queueTimeout()) + "): " + workers + " workers, " + queued
                        + " requests wait; raise pool.workers, or make requests shorter");
    }

    static WorkerException draining(String what) {
        return new WorkerException(WorkerException.Kind.DRAINING, what);
    }

    static WorkerException cancelled(Exchange exchange) {
        return new WorkerException(
                WorkerException.Kind.CANCELLED,
                "the client of " + exchange.job.describe() + " left before a worker was idle");
    }

    static WorkerException abandoned(Exchange exchange) {
        return new WorkerException(
                WorkerException.Kind.CANCELLED,
                "the client of " + exchange.job.describe() + " left before the answer was complete");
    }

    WorkerException timedOut(String worker, Exchange exchange) {
        TimeLimit own = exchange.limit();
        String limit = own == null
                ? "pool.request-timeout (" + text(config.requestTimeout()) + ")"
                : own.origin() + " (" + text(own.time()) + ")";
        return new WorkerException(
                WorkerException.Kind.TIMED_OUT,
                exchange.job.describe() + " ran longer than " + limit + " on " + worker
                        + ", which is killed and replaced; make the request shorter or raise the limit");
    }

    static WorkerException crashed(String worker, Exchange exchange, WorkerProcess.Ending ending) {
        String how = ending.clean() ? "left with exit code 0 and no complete answer" : "died by " + ending.describe();
        return new WorkerException(
                WorkerException.Kind.CRASHED,
                worker + " " + how + " while it served " + exchange.job.describe() + lastOutput(ending.lastOutput()));
    }

    static WorkerException untaken(Exchange exchange) {
        return new WorkerException(
                WorkerException.Kind.CRASHED,
                "two workers in turn were gone before they took " + exchange.job.describe());
    }

    static WorkerException violation(String worker, Exchange exchange, String message) {
        return new WorkerException(
                WorkerException.Kind.PROTOCOL,
                worker + " was killed while it served " + exchange.job.describe() + ". " + message);
    }

    static WorkerException undeliverable(Exchange exchange, WorkerProcess.UndeliverableException e) {
        return new WorkerException(
                WorkerException.Kind.UNDELIVERABLE,
                exchange.job.describe() + " does not fit into a request frame: " + e.getMessage(),
                null,
                e);
    }

    /** Why a worker did not become ready. */
    String bootFailure(RetireReason reason, Generation generation, WorkerProcess.Ending ending) {
        String application = "the application at " + generation.application().path();
        String error = ending.bootError();
        if (reason == RetireReason.BOOT_TIMED_OUT) {
            return application + " was not ready within pool.boot-timeout (" + text(config.bootTimeout())
                    + "); raise the limit if it needs that long" + lastOutput(ending.lastOutput());
        }
        if (error != null) {
            return application + " could not be booted: " + error;
        }
        return application + " could not be booted: " + generation.application().php() + " ended with "
                + ending.describe() + " before it was ready" + lastOutput(ending.lastOutput());
    }

    private static String lastOutput(String lines) {
        return lines.isEmpty() ? "" : "; its last output: " + lines;
    }

    // ---- lines ----

    void started(Worker worker) {
        log.log(
                Level.DEBUG,
                "worker.started",
                null,
                worker.name() + " boots " + worker.generation.script(),
                "worker",
                worker.id,
                "pid",
                worker.pid(),
                "generation",
                worker.generation.number());
    }

    void booted(Worker worker, Ready ready, long bootNanos) {
        log.log(
                Level.INFO,
                "worker.ready",
                null,
                worker.name() + " is ready after " + millis(bootNanos) + " ms: PHP " + ready.php() + ", " + ready.sapi()
                        + ", " + ready.client(),
                "worker",
                worker.id,
                "pid",
                worker.pid(),
                "generation",
                worker.generation.number(),
                "boot_ms",
                millis(bootNanos));
    }

    void stopped(Worker worker, WorkerEnd end) {
        log.log(
                end.planned() ? Level.INFO : Level.WARN,
                "worker.stopped",
                end.requestId(),
                worker.name() + " stopped: " + end.reason().label().replace('_', ' ') + ", " + end.exit()
                        + (end.request() == null
                                ? ""
                                : (end.planned() ? ", after " : ", while it served ") + end.request())
                        + (end.planned() ? "" : lastOutput(end.lastOutput())),
                "worker",
                worker.id,
                "pid",
                worker.pid(),
                "reason",
                end.reason().label(),
                "exit",
                end.exit(),
                "requests",
                end.requests(),
                "age_ms",
                millis(end.ageNanos()));
    }

    void bootFailed(String message, int failures, long retryNanos) {
        log.log(
                Level.ERROR,
                "worker.boot-failed",
                null,
                message + "; trying again in " + millis(Math.max(0, retryNanos)) + " ms",
                "failures",
                failures,
                "retry_ms",
                millis(Math.max(0, retryNanos)));
    }

    /** Before the worker is killed: PHP is asked where it is. Returns that. */
    String timedOut(Worker worker, Exchange exchange, WorkerException failure) {
        String stack = PhpStack.describe(worker.pid());
        log.log(
                Level.WARN,
                "request.timed-out",
                exchange.job.id(),
                message(failure) + "; PHP was in\n" + stack,
                "worker",
                worker.id,
                "pid",
                worker.pid());
        return stack;
    }

    void violated(Worker worker, @Nullable Exchange exchange, String message) {
        log.log(
                Level.ERROR,
                "worker.protocol-error",
                exchange == null ? null : exchange.job.id(),
                worker.name() + " is killed. " + message,
                "worker",
                worker.id,
                "pid",
                worker.pid());
    }

    void due(Worker worker, RetireReason reason, String measure) {
        log.log(
                Level.INFO,
                "worker.due",
                null,
                worker.name() + " is to be replaced: " + measure,
                "worker",
                worker.id,
                "pid",
                worker.pid(),
                "reason",
                reason.label());
    }

    void handedOn(Worker worker, Exchange exchange) {
        log.log(
                Level.INFO,
                "request.handed-on",
                exchange.job.id(),
                worker.name() + " was gone before it took " + exchange.job.describe() + "; another worker gets it",
                "worker",
                worker.id);
    }

    void untakenTwice(Exchange exchange, WorkerException failure) {
        log.log(Level.WARN, "request.failed", exchange.job.id(), message(failure));
    }

    void pool(Level level, String event, String message, Object... fields) {
        log.log(level, event, null, message, fields);
    }

    static String message(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : message;
    }

    static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    /** {@code 30s}, {@code 1500ms}, {@code 5m}: as the configuration writes it. */
    static String text(Duration duration) {
        if (duration.toMillis() % 1000 != 0) {
            return String.format(Locale.ROOT, "%dms", duration.toMillis());
        }
        long seconds = duration.toSeconds();
        return seconds >= 60 && seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }
}
