package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The life of a custom runtime: boots the workers, then serves one invocation after the other in each slot, until the environment ends.
 * {@link #run} runs on the main thread, which waits for nothing but the end; the first slot's thread starts it all, and {@link #stop}
 * comes from a signal.
 */
public final class LambdaRuntime {
    /** Between SIGTERM and SIGKILL Lambda leaves half a second. */
    private static final long STOP_MILLIS = 400;

    /** As AWS's own runtimes exit. */
    private static final int RESTORE_FAILED = 64;

    private final LambdaConfig config;
    private final WorkerPool pool;
    private final CgiVariables variables;
    private final Ticker ticker;
    private final InvocationLog log;
    private final Metrics metrics;
    private final String cpu;
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicInteger slots = new AtomicInteger();
    private volatile boolean stopping;
    private volatile int exitCode;

    /**
     * A runtime that has not begun.
     *
     * @param scriptName path of the front controller as a client would ask for it: {@code /index.php}
     * @param cpu the CPU's model
     */
    public LambdaRuntime(
            LambdaConfig config,
            WorkerPool pool,
            String scriptName,
            Ticker ticker,
            InvocationLog log,
            Metrics metrics,
            String cpu) {
        this.config = config;
        this.pool = pool;
        this.variables = new CgiVariables(scriptName);
        this.ticker = ticker;
        this.log = log;
        this.metrics = metrics;
        this.cpu = cpu;
    }

    /**
     * Serves until the environment ends.
     *
     * @return the exit code: 0 after {@link #stop}, 64 when a copy of a snapshot cannot serve, else 1, and Lambda starts a new environment
     */
    public int run() throws InterruptedException {
        slot(1, this::start).start();
        over.await();
        return exitCode;
    }

    private static Thread slot(int number, Runnable task) {
        Thread thread = new Thread(task, "cetane-lambda-" + number);
        thread.setDaemon(true);
        return thread;
    }

    /** Boots, has the other slots serve, and serves. On the first slot's thread. */
    private void start() {
        CompletableFuture<Void> boot = pool.startBooting();
        try {
            int failed = boot(boot);
            if (failed != 0) {
                end(failed);
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } catch (RuntimeException | Error e) {
            end(initFailed(new IllegalStateException("a fault of Cetane's own: " + e, e)));
            return;
        }
        slots.set(config.slots());
        for (int i = 2; i <= config.slots(); i++) {
            slot(i, () -> loop(boot)).start();
        }
        loop(boot);
    }

    /** Returns 0, or the code to exit with. */
    private int boot(CompletableFuture<Void> boot) throws InterruptedException {
        long begunNanos = ticker.nanos();
        ShutdownExtension extension = new ShutdownExtension(config.runtimeApi(), ticker, log);
        extension.start();
        try {
            boot.get(config.initLimit().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            log.log(
                    Level.INFO,
                    "lambda.boot-goes-on",
                    null,
                    "the application has not booted yet; the first invocation will wait for it");
        } catch (ExecutionException e) {
            return initFailed(e.getCause() == null ? e : e.getCause());
        }
        extension.awaitRegistration();
        if (config.snapStart()) {
            int failed = throughSnapshot();
            if (failed != 0) {
                return failed;
            }
        }
        started(ticker.nanos() - begunNanos);
        return 0;
    }

    /** Returns 0, or the code to exit with. */
    private int throughSnapshot() throws InterruptedException {
        SnapStart snapshot = new SnapStart(config, pool, variables, ticker, log);
        try {
            snapshot.prepare();
        } catch (WorkerException e) {
            return initFailed(e);
        }
        try {
            snapshot.awaitRestore();
            snapshot.restored();
            return 0;
        } catch (IOException | WorkerException e) {
            String message = String.valueOf(e.getMessage());
            log.log(Level.ERROR, "lambda.restore-failed", null, message);
            snapshot.report(message);
            return RESTORE_FAILED;
        }
    }

    private void started(long nanos) {
        metrics.initialised(nanos);
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
        log.log(
                Level.INFO,
                "lambda.started",
                null,
                "ready after " + millis + " ms on " + cpu,
                "cpu",
                cpu,
                "cpus",
                Runtime.getRuntime().availableProcessors(),
                "millis",
                millis,
                "initialization",
                config.initialization(),
                "slots",
                config.slots());
    }

    /** The environment is about to end: lets the workers run their shutdown code, as far as there is time. Any thread. */
    @SuppressWarnings("FutureReturnValueIgnored") // its one action cannot fail
    public void stop() {
        stopping = true;
        metrics.flush();
        pool.drain(Duration.ofMillis(STOP_MILLIS))
                .orTimeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, late) -> over.countDown());
    }

    private void loop(CompletableFuture<Void> boot) {
        try {
            new InvocationLoop(config, pool, boot, variables, ticker, log, metrics).run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            slotFailed(String.valueOf(e.getMessage()));
        } catch (WorkerException e) {
            end(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            end("a fault of Cetane's own: " + e);
        }
    }

    /** The other slots, where there are any, have invocations that are to end well. */
    private void slotFailed(String why) {
        if (slots.decrementAndGet() == 0) {
            end(why);
        } else {
            log.log(Level.ERROR, "lambda.slot-ended", null, why);
        }
    }

    private void end(String why) {
        if (!stopping && over.getCount() > 0) {
            log.log(Level.ERROR, "lambda.ended", null, why);
            metrics.flush();
            end(1);
        }
    }

    /** What fails while the environment ends, fails because it ends. */
    private void end(int code) {
        if (!stopping) {
            exitCode = code;
            over.countDown();
        }
    }

    private int initFailed(Throwable cause) {
        if (stopping) {
            return 1;
        }
        String message = String.valueOf(cause.getMessage());
        log.log(Level.ERROR, "lambda.init-failed", null, message);
        reportInitError(config.runtimeApi(), ticker, "Runtime.InitError", message);
        return 1;
    }

    /** Tells the Runtime API why this environment cannot serve; whether it hears it or not, the process is to exit. */
    public static void reportInitError(InetSocketAddress runtimeApi, Ticker ticker, String type, String message) {
        try (RuntimeApi api = new RuntimeApi(runtimeApi, ticker)) {
            api.initError(new InvocationError(type, message));
        } catch (IOException e) {
            // The message is in the log; nobody is left who could be told.
        }
    }
}
