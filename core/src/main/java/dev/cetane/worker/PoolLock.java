package dev.cetane.worker;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The one lock of a pool: held for a few instructions, never during input or output. */
final class PoolLock {
    private final ReentrantLock lock = new ReentrantLock();

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    boolean held() {
        return lock.isHeldByCurrentThread();
    }

    /** Changes state under the lock, then runs the effects without it. */
    void act(Consumer<Effects> action) {
        Effects effects = new Effects();
        lock.lock();
        try {
            action.accept(effects);
        } finally {
            lock.unlock();
        }
        effects.run();
    }

    /** Reads state under the lock. */
    <T> T read(Supplier<T> state) {
        lock.lock();
        try {
            return state.get();
        } finally {
            lock.unlock();
        }
    }
}
