package dev.cetane.ops;

import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Pools as tests of health, metrics and status want them. */
final class Pools {
    private Pools() {}

    static PoolSnapshot of(WorkerState... states) {
        return pool(0, 0, 128, false, null, states);
    }

    static PoolSnapshot queued(int queued, int limit, WorkerState... states) {
        return pool(0, queued, limit, false, null, states);
    }

    static PoolSnapshot draining(WorkerState... states) {
        return pool(0, 0, 128, true, null, states);
    }

    static PoolSnapshot bootFailed(String message) {
        return pool(0, 0, 128, false, message);
    }

    /** Workers that run tasks, their ids from 101 on. */
    static PoolSnapshot tasks(int queued, int limit, WorkerState... states) {
        return pool(100, queued, limit, false, null, states);
    }

    private static PoolSnapshot pool(
            int idsAbove, int queued, int limit, boolean draining, @Nullable String failure, WorkerState... states) {
        List<WorkerSnapshot> workers = new ArrayList<>();
        for (WorkerState state : states) {
            int id = idsAbove + workers.size() + 1;
            boolean busy = state == WorkerState.BUSY;
            workers.add(new WorkerSnapshot(
                    id,
                    1000 + id,
                    state,
                    null,
                    1,
                    id * 10L,
                    2_500_000_000L,
                    62_000_000_000L,
                    id * 1_048_576L,
                    busy ? "GET /\u001b[2J" : null,
                    busy ? "r" + id : null));
        }
        return new PoolSnapshot(states.length, queued, limit, 9, 4, 1, draining, failure, workers, null);
    }
}
