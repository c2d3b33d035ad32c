package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The life of a custom runtime: boots the workers, then serves one invocation after the other in each slot, until the environment ends.
 * {@link #run} runs on the main thread; {@link #stop} comes from a signal.
 */
public final class LambdaRuntime {
    /** Between SIGTERM and SIGKILL Lambda leaves half a second. */
    private static final long STOP_MILLIS = 400;

    private final LambdaConfig config;
    private final WorkerPool pool;
    private final CgiVariables variables;
    private final Ticker ticker;
    private final EventLog log;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile int exitCode;

    /** @param scriptName path of the front controller as a client would ask for it: {@code /index.php} */
    public LambdaRuntime(LambdaConfig config, WorkerPool pool, String scriptName, Ticker ticker, EventLog log) {
        this.config = config;
        this.pool = pool;
        this.variables = new CgiVariables(scriptName);
        this.ticker = ticker;
        this.log = log;
    }

    /**
     * Serves until the environment ends.
     *
     * @return the exit code: 0 after {@link #stop}, else 1, and Lambda starts a new environment
     */
    public int run() throws InterruptedException {
        CompletableFuture<Void> boot = pool.startBooting();
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
        List<Thread> loops = new ArrayList<>();
        for (int i = 1; i <= config.slots(); i++) {
            Thread loop = new Thread(() -> loop(boot), "cetane-lambda-" + i);
            loop.setDaemon(true);
            loops.add(loop);
        }
        loops.forEach(Thread::start);
        over.await();
        return exitCode;
    }

    /** The environment is about to end: lets the workers run their shutdown code, as far as there is time. Any thread. */
    @SuppressWarnings("FutureReturnValueIgnored") // its one action cannot fail
    public void stop() {
        pool.drain(Duration.ofMillis(STOP_MILLIS))
                .orTimeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, late) -> over.countDown());
    }

    private void loop(CompletableFuture<Void> boot) {
        try {
            new InvocationLoop(config, pool, boot, variables, ticker, log).run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | WorkerException e) {
            end(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            end("a fault of Cetane's own: " + e);
        }
    }

    private void end(String why) {
        if (over.getCount() > 0) {
            log.log(Level.ERROR, "lambda.ended", null, why);
            exitCode = 1;
            over.countDown();
        }
    }

    private int initFailed(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        log.log(Level.ERROR, "lambda.init-failed", null, message);
        reportInitError(config.runtimeApi(), "Runtime.InitError", message);
        return 1;
    }

    /** Tells the Runtime API why this environment cannot serve; whether it hears it or not, the process is to exit. */
    public static void reportInitError(InetSocketAddress runtimeApi, String type, String message) {
        try (RuntimeApi api = new RuntimeApi(runtimeApi)) {
            api.initError(new InvocationError(type, message));
        } catch (IOException e) {
            // The message is in the log; nobody is left who could be told.
        }
    }
}
