package dev.cetane.worker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Which workers there are, and which there should be: numbers, generations, replacement and back-off. Decides only, and is guarded by
 * the pool's lock.
 *
 * <p>There are never more than {@code target + 1} processes: the one above the target is the replacement that boots before the worker
 * it replaces leaves.
 */
final class Roster {
    private static final int BACKOFF_JITTER_PERCENT = 20;

    private final PoolConfig config;
    private final IntSupplier ids;
    private final RandomGenerator random;
    private final List<Worker> workers = new ArrayList<>();

    /** Null before the first start. */
    private @Nullable Generation current;

    private int lastGeneration;

    /** Whether a worker of the current generation has ever become ready. */
    private boolean proven;

    /** What the pool falls back to when the current generation turns out not to boot. */
    private @Nullable Generation fallback;

    private int bootFailures;
    private long retryAtNanos;
    private @Nullable String lastBootFailure;

    Roster(PoolConfig config, IntSupplier ids, RandomGenerator random) {
        this.config = config;
        this.ids = ids;
        this.random = random;
    }

    List<Worker> workers() {
        return Collections.unmodifiableList(workers);
    }

    /** Number of the current generation, 0 before the first. */
    int generation() {
        return current == null ? 0 : current.number();
    }

    @Nullable
    String lastBootFailure() {
        return lastBootFailure;
    }

    int bootFailures() {
        return bootFailures;
    }

    /** When the next boot may be tried; means something after a failed boot only. */
    long retryAtNanos() {
        return retryAtNanos;
    }

    // ---- who is to come ----

    /**
     * Makes the next worker that should be started now, null when none should. After a failed boot one worker at a time is tried, until
     * one becomes ready.
     */
    @Nullable
    Worker recruit(long nowNanos) {
        Generation generation = current;
        if (generation == null) {
            return null;
        }
        int starting = 0;
        int serving = 0;
        boolean due = false;
        for (Worker worker : workers) {
            if (worker.state() == WorkerState.STARTING) {
                starting++;
            } else if (worker.serving()) {
                serving++;
                due |= worker.due != null;
            }
        }
        int staying = starting + serving;
        boolean wanted = staying < config.workers() || (due && staying == config.workers());
        boolean backingOff = bootFailures > 0 && (starting > 0 || nowNanos - retryAtNanos < 0);
        if (!wanted || backingOff || workers.size() > config.workers()) {
            return null;
        }
        Worker worker = new Worker(
                ids.getAsInt(),
                generation,
                bootFailures > 0,
                (int) jittered(config.maxRequests()),
                jittered(config.maxLifetime().toNanos()),
                jittered(config.maxMemoryBytes()),
                nowNanos);
        workers.add(worker);
        return worker;
    }

    private long jittered(long limit) {
        long spread = limit / 100 * config.jitterPercent() + limit % 100 * config.jitterPercent() / 100;
        return spread == 0 ? limit : limit - random.nextLong(spread + 1);
    }

    /** A worker has become ready. */
    void booted(Worker worker) {
        bootFailures = 0;
        lastBootFailure = null;
        if (isCurrent(worker)) {
            proven = true;
            fallback = null;
        }
    }

    /**
     * A worker did not become ready, or left before it served anything: the next try comes later, and later each time.
     *
     * @param killed it was killed from outside, which says nothing about the next one: the wait does not grow
     */
    void bootFailed(Worker worker, String message, boolean killed, long nowNanos) {
        lastBootFailure = message;
        if (bootFailures == 0 || worker.probe) {
            bootFailures += killed && bootFailures > 0 ? 0 : 1;
            long wait = config.backoffInitial().toNanos();
            long longest = config.backoffMax().toNanos();
            for (int i = 1; i < bootFailures && wait < longest; i++) {
                wait *= 2;
            }
            wait = Math.min(wait, longest);
            long spread = wait * BACKOFF_JITTER_PERCENT / 100;
            retryAtNanos = nowNanos + wait - (spread == 0 ? 0 : random.nextLong(spread + 1));
        }
    }

    // ---- who is to go ----

    /** Whether a worker that is due can leave because its replacement is there. */
    boolean surplus() {
        int serving = 0;
        for (Worker worker : workers) {
            if (worker.serving()) {
                serving++;
            }
        }
        return serving > config.workers();
    }

    /** An idle worker that is due, null when there is none. */
    @Nullable
    Worker idleDue() {
        for (Worker worker : workers) {
            if (worker.state() == WorkerState.IDLE && worker.due != null) {
                return worker;
            }
        }
        return null;
    }

    void remove(Worker worker) {
        workers.remove(worker);
    }

    @Nullable
    Worker find(int id) {
        for (Worker worker : workers) {
            if (worker.id == id) {
                return worker;
            }
        }
        return null;
    }

    // ---- generations ----

    int nextGenerationNumber() {
        return lastGeneration + 1;
    }

    /** Workers of this generation are to replace all others. */
    void replaceAllBy(Generation next) {
        if (proven) {
            fallback = current;
        }
        current = next;
        lastGeneration = next.number();
        proven = false;
        bootFailures = 0;
        for (Worker worker : workers) {
            if (worker.due == null) {
                worker.due = RetireReason.RELOAD;
            }
        }
    }

    private boolean isCurrent(Worker worker) {
        return worker.generation.number() == generation();
    }

    /**
     * The current generation does not boot: back to the one before, if that still serves.
     *
     * @return whether it was given up
     */
    boolean giveUpCurrent() {
        Generation previous = fallback;
        if (proven || previous == null) {
            return false;
        }
        boolean served = false;
        for (Worker worker : workers) {
            served |= worker.serving() && worker.generation.number() == previous.number();
        }
        if (!served) {
            return false;
        }
        current = previous;
        proven = true;
        fallback = null;
        bootFailures = 0;
        for (Worker worker : workers) {
            if (worker.generation.number() != previous.number()) {
                worker.due = RetireReason.RELOAD;
            } else if (worker.due == RetireReason.RELOAD) {
                worker.due = null;
            }
        }
        return true;
    }

    /** Whether all workers that serve are of the current generation, and as many as there should be. */
    boolean switched() {
        int serving = 0;
        for (Worker worker : workers) {
            if (worker.serving()) {
                if (!isCurrent(worker)) {
                    return false;
                }
                serving++;
            }
        }
        return serving >= config.workers();
    }
}
