package dev.cetane.worker;

import dev.cetane.log.EventLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a classic application: connections to the children of one {@code php-cgi} a generation. What has to do with those is guarded by its
 * monitor, and happens on the maintenance thread but for a {@link #close} that finds no worker.
 */
final class FastCgiWorkers implements WorkerProcess.Factory {
    /** So that the name of a socket is no longer than that of the control socket. */
    private static final int SOCKET_NUMBERS = 10_000;

    private final PoolConfig config;
    private final Path runDirectory;
    private final Ticker ticker;
    private final EventLog log;
    private final Maintenance maintenance;

    // Guarded by this.
    private final List<FastCgiMaster> masters = new ArrayList<>();
    private @Nullable FastCgiMaster latest;
    private int started;

    /** By process id, the worker whose connection a child serves: a child that has left one may take another. */
    private final ConcurrentHashMap<Long, FastCgiWorker> children = new ConcurrentHashMap<>();

    FastCgiWorkers(PoolConfig config, Path runDirectory, Ticker ticker, EventLog log, Maintenance maintenance) {
        this.config = config;
        this.runDirectory = runDirectory;
        this.ticker = ticker;
        this.log = log;
        this.maintenance = maintenance;
    }

    @Override
    public WorkerProcess create(int workerId, Generation generation, WorkerProcess.Owner owner) {
        return new FastCgiWorker(this, workerId, generation, owner, config, ticker, log, maintenance);
    }

    /** The php-cgi of that generation, started where there is none that lives; counts one worker of it. */
    synchronized FastCgiMaster employ(Generation generation) throws IOException {
        FastCgiMaster found = null;
        for (FastCgiMaster master : masters) {
            if (master.isAlive() && master.generation().equals(generation)) {
                found = master;
            }
        }
        if (found == null) {
            Path socket = runDirectory.resolve("php" + ++started % SOCKET_NUMBERS + ".sock");
            found = new FastCgiMaster(generation, socket, config, ticker, log, maintenance);
            masters.add(found);
        }
        found.workers++;
        latest = found;
        masters.stream().filter(this::isIdle).toList().forEach(this::dismiss);
        return found;
    }

    /** One worker less; a php-cgi that has none is kept only while its generation is the one that workers are started for. */
    synchronized void release(FastCgiMaster master) {
        master.workers--;
        if (isIdle(master)) {
            dismiss(master);
        }
    }

    private boolean isIdle(FastCgiMaster master) {
        return master.workers == 0 && (master != latest || !master.isAlive());
    }

    private void dismiss(FastCgiMaster master) {
        if (masters.remove(master)) {
            master.stop();
        }
    }

    /** The child serves that worker's connection. Reader thread. */
    void claim(long pid, FastCgiWorker worker) {
        children.put(pid, worker);
    }

    /** Whether the child serves that worker's connection, and no later one. Any thread. */
    boolean owns(FastCgiWorker worker, long pid) {
        return children.get(pid) == worker;
    }

    void disclaim(long pid, FastCgiWorker worker) {
        children.remove(pid, worker);
    }

    /** No worker is left, and none is started any more. */
    @Override
    public synchronized void close() {
        List.copyOf(masters).forEach(this::dismiss);
    }
}
