package dev.cetane.http;

import dev.cetane.multipart.FormLimits;
import dev.cetane.protocol.Capability;
import dev.cetane.protocol.Ready;
import dev.cetane.worker.Dispatcher;
import org.jspecify.annotations.Nullable;

/** What the workers' PHP takes of multipart forms, by what the worker that was ready last has said. Thread-safe. */
final class FormRules {
    private final Dispatcher dispatcher;
    private volatile @Nullable Known known;

    private record Known(Ready ready, @Nullable FormLimits limits) {}

    FormRules(Dispatcher dispatcher) {
        this.dispatcher = dispatcher;
    }

    /** Whether a worker has been ready; before that nobody knows how a form is to be read. */
    boolean known() {
        return dispatcher.lastReady() != null;
    }

    /** The limits of PHP, null when the workers want the bodies of forms as they come. */
    @Nullable
    @SuppressWarnings(
            "ReferenceEquality") // the same worker's facts are the same object; comparing their text would cost every
    // form
    FormLimits limits() {
        Ready ready = dispatcher.lastReady();
        if (ready == null) {
            return null;
        }
        Known last = known;
        if (last == null || last.ready != ready) {
            last = new Known(
                    ready, ready.capabilities().contains(Capability.FORM) ? FormLimits.of(ready.facts()) : null);
            known = last;
        }
        return last.limits;
    }
}
