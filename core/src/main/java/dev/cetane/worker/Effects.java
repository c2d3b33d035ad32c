package dev.cetane.worker;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/** What an action under the pool's lock wants done once the lock is released, in order. Used by the one thread that acts. */
final class Effects {
    private @Nullable ArrayList<Runnable> effects;

    void add(Runnable effect) {
        if (effects == null) {
            effects = new ArrayList<>();
        }
        effects.add(effect);
    }

    /** Runs all of them even when one throws; the first exception is thrown in the end. */
    void run() {
        if (effects == null) {
            return;
        }
        RuntimeException first = null;
        for (Runnable effect : effects) {
            try {
                effect.run();
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
