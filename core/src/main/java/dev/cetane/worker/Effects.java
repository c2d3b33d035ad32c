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

    void run() {
        if (effects != null) {
            effects.forEach(Runnable::run);
        }
    }
}
