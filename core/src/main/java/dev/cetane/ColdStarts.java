package dev.cetane;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.lambda.WarmRequest;
import dev.cetane.log.EventLog;
import dev.cetane.log.TextEventLog;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.PoolListener;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Cold starts of an application: a PHP process of its own boots it and answers one request, as the first one of an environment on Lambda. The
 * JVM's start is not in it. On the main thread.
 */
final class ColdStarts {
    private final CetaneConfig config;
    private final CgiVariables variables;
    private final String target;
    private final int runs;
    private final Path runDirectory;
    private final Ticker ticker = Ticker.system();
    private final EventLog nowhere =
            new TextEventLog(OutputStream.nullOutputStream(), EventLog.Level.ERROR, Ticker.system()::now, false);

    /**
     * One cold start.
     *
     * @param status of the answer, 0 for a function that takes events
     * @param problem why there was none, empty when there was
     */
    record Start(double millis, int status, String problem) {
        boolean isLike(Start other) {
            return status == other.status && problem.isEmpty() == other.problem.isEmpty();
        }
    }

    /** Median and quartiles, milliseconds. */
    record Times(double low, double median, double high) {
        static Times of(double... millis) {
            double[] sorted = millis.clone();
            Arrays.sort(sorted);
            return new Times(
                    sorted[sorted.length / 4],
                    sorted[sorted.length / 2],
                    sorted[sorted.length - 1 - sorted.length / 4]);
        }
    }

    /** Starts without something and with it, in turns. */
    record Comparison(Times without, Times with) {
        double saved() {
            return without.median() - with.median();
        }

        /** Whether the difference is more than what starts of one kind differ by. */
        boolean isClear() {
            return without.low() > with.high() || with.low() > without.high();
        }
    }

    /** Brings about or takes away what is compared. */
    interface Change {
        void make() throws IOException;
    }

    /**
     * @param target path and query of the first request
     * @param scriptName the script as a client would ask for it
     * @param runs how many of each kind make a comparison, at least 1
     */
    ColdStarts(CetaneConfig config, String scriptName, String target, int runs, Path runDirectory) {
        this.config = config;
        this.variables = new CgiVariables(scriptName);
        this.target = target;
        this.runs = runs;
        this.runDirectory = runDirectory;
    }

    /**
     * One of them. A request that fails is no failure of the start.
     *
     * @throws WorkerException when the application does not boot
     */
    Start once(ApplicationConfig application) throws InterruptedException {
        long begun = ticker.nanos();
        try (WorkerPool pool = new WorkerPool(
                LambdaCommand.poolConfig(config.pool(), 1),
                application,
                LambdaCommand.services(config, ticker, nowhere),
                runDirectory,
                ticker,
                nowhere,
                new PoolListener() {})) {
            pool.start();
            int status = 0;
            String problem = "";
            try {
                status = new WarmRequest(target, pool, variables, runDirectory).send();
            } catch (WorkerException e) {
                problem = String.valueOf(e.getMessage());
            }
            return new Start((ticker.nanos() - begun) / 1e6, status, problem);
        }
    }

    /** Compares the one application with the other, each after its change, in turns. */
    Comparison compare(Change leave, ApplicationConfig without, Change bring, ApplicationConfig with)
            throws IOException, InterruptedException {
        double[] first = new double[runs];
        double[] second = new double[runs];
        for (int i = 0; i < runs; i++) {
            // Which one comes first alternates, so that neither always follows the other.
            boolean turn = i % 2 == 1;
            if (turn) {
                bring.make();
                second[i] = once(with).millis();
            }
            leave.make();
            first[i] = once(without).millis();
            if (!turn) {
                bring.make();
                second[i] = once(with).millis();
            }
        }
        bring.make();
        return new Comparison(Times.of(first), Times.of(second));
    }
}
