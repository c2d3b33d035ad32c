package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.worker.FastCgiConnection.Phase;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A worker that is a child of {@code php-cgi}: it serves one connection for as long as that is open, and nothing else. Lives on the maintenance
 * thread; {@link #send} and {@link #cancel} go straight to the {@link FastCgiConnection}.
 *
 * <p>The end of the worker is the end of the child's process, which is looked for once the connection has ended. How it ended php-cgi alone is told; a signal
 * is seen before that, if the look comes in time.
 */
final class FastCgiWorker implements WorkerProcess {
    private static final long CONNECT_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final FastCgiWorkers workers;
    private final Generation generation;
    private final Owner owner;
    private final PoolConfig config;
    private final Maintenance maintenance;
    private final FastCgiConnection connection;

    private @Nullable FastCgiMaster master;
    private volatile @Nullable WatchedProcess child;
    private volatile int endingSignal;
    private boolean askedToLeave;
    private boolean killed;
    private boolean watched;
    private boolean ended;

    FastCgiWorker(
            FastCgiWorkers workers,
            int workerId,
            Generation generation,
            Owner owner,
            PoolConfig config,
            Ticker ticker,
            EventLog log,
            Maintenance maintenance) {
        this.workers = workers;
        this.generation = generation;
        this.owner = owner;
        this.config = config;
        this.maintenance = maintenance;
        connection =
                new FastCgiConnection(workerId, generation, config, ticker, log, owner, this::found, this::readerEnded);
    }

    @Override
    public void start() throws IOException {
        master = workers.employ(generation);
        connect();
    }

    /** Again and again until php-cgi listens. */
    private void connect() {
        if (ended) {
            return;
        }
        if (killed || askedToLeave || !master().isAlive()) {
            end();
        } else if (!connection.connect(master().socket())) {
            maintenance.schedule(this::connect, CONNECT_AGAIN_NANOS);
        }
    }

    /** The master is there before anything can happen to the worker. */
    private FastCgiMaster master() {
        FastCgiMaster started = master;
        if (started == null) {
            throw new IllegalStateException("the worker was not started");
        }
        return started;
    }

    /**
     * The child on the other side has said who it is. Reader thread.
     *
     * @return whether it is what it says
     */
    private boolean found(long pid) {
        WatchedProcess process = WatchedProcess.of(pid);
        if (process == null || process.parent() != master().pid()) {
            return false;
        }
        workers.claim(pid, this);
        child = process;
        return true;
    }

    @Override
    public long pid() {
        WatchedProcess process = child;
        return process == null ? 0 : process.pid();
    }

    @Override
    public void send(Exchange exchange) throws IOException, UndeliverableException {
        connection.send(exchange);
    }

    @Override
    public void cancel(Exchange exchange) {
        connection.cancel(exchange);
    }

    @Override
    public void askToStop() {
        maintenance.execute(this::terminate);
    }

    /** Told to leave, a child finishes the request that runs; an idle one notices when its connection is closed. */
    @Override
    public void terminate() {
        askedToLeave = true;
        WatchedProcess process = child;
        if (process != null && isOwn(process)) {
            process.terminate();
        }
        if (!connection.busy()) {
            connection.hangUp();
        }
    }

    @Override
    public void kill() {
        killed = true;
        WatchedProcess process = child;
        if (process != null && isOwn(process)) {
            process.kill();
        }
        connection.hangUp();
        if (process != null) {
            watch();
        } else if (connection.phase() == Phase.NEW) {
            end();
        }
    }

    @Override
    public long privateMemoryBytes() {
        WatchedProcess process = child;
        return process == null ? 0 : WatchedProcess.privateMemoryBytes(process.pid());
    }

    private boolean isOwn(WatchedProcess process) {
        return workers.owns(this, process.pid());
    }

    /** On the reader thread, which is the first to know of an end. */
    private void readerEnded() {
        WatchedProcess process = child;
        if (process != null) {
            endingSignal = process.endingSignal();
        }
        connection.hangUp();
        maintenance.execute(this::connectionEnded);
    }

    private void connectionEnded() {
        WatchedProcess process = child;
        if (process == null) {
            end();
            return;
        }
        if (!ended && !askedToLeave && isOwn(process) && process.isAlive()) {
            // It serves nobody any more: what it still does ends it, or the kill that the pool or this has in mind.
            process.terminate();
            if (connection.phase() != Phase.RELEASED) {
                maintenance.schedule(this::killIfThere, config.killGrace().toNanos());
            }
            askedToLeave = connection.phase() == Phase.RELEASED;
        }
        watch();
    }

    private void killIfThere() {
        if (!ended) {
            kill();
        }
    }

    private void watch() {
        if (!watched) {
            watched = true;
            look(LOOK_NANOS);
        }
    }

    /** Ends once the child has ended, or has taken another worker's connection. */
    private void look(long waitNanos) {
        WatchedProcess process = child;
        if (ended || process == null) {
            return;
        }
        if (endingSignal == 0) {
            endingSignal = process.endingSignal();
        }
        if (!isOwn(process) || !process.isAlive()) {
            end();
        } else {
            maintenance.schedule(() -> look(Math.min(2 * waitNanos, MOST_LOOK_NANOS)), waitNanos);
        }
    }

    private void end() {
        if (ended) {
            return;
        }
        ended = true;
        FastCgiMaster parent = master();
        WatchedProcess process = child;
        if (process != null) {
            workers.disclaim(process.pid(), this);
        }
        Exchange untaken = connection.close();
        String output = process == null ? parent.lastOutput() : connection.lastOutput();
        int exitCode = killed ? 128 + 9 : askedToLeave ? 0 : parent.exitCode();
        if (exitCode == Ending.UNKNOWN && endingSignal != 0) {
            exitCode = 128 + endingSignal;
        }
        workers.release(parent);
        owner.ended(new Ending(exitCode, untaken, connection.bootError(), null, output));
    }
}
