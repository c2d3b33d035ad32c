package dev.cetane.ops;

import dev.cetane.http.RequestReport;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.Ticker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The slowest requests of the last minutes. {@link #offer} runs on a request's path, on any thread, and takes the monitor only for a
 * request that is among them; all else is guarded by this.
 */
final class SlowRequests {
    /** How many are kept of each window. */
    static final int MOST = 20;

    private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(5);
    private static final int MOST_TRACES = 64;
    private static final int MOST_CHARS = 512;

    private static final Comparator<Entry> SLOWEST_FIRST = Comparator.comparingLong(Entry::totalNanos)
            .thenComparing(Entry::epochMillis)
            .reversed();

    /**
     * One request, with all times in nanoseconds.
     *
     * @param epochMillis when it ended
     * @param status what the client got, 0 when it left first
     * @param job what it cost the pool; null when it was not served to its end
     * @param stack PHP's stack while it ran, when somebody has looked
     */
    record Entry(
            String id,
            String request,
            long epochMillis,
            int status,
            long totalNanos,
            long receiveNanos,
            long transferNanos,
            @Nullable JobReport job,
            @Nullable String stack) {}

    private final Ticker ticker;

    /** The stacks of requests that still run. */
    private final Map<String, String> traces = new LinkedHashMap<>();

    private List<Entry> window = new ArrayList<>();
    private List<Entry> windowBefore = new ArrayList<>();
    private long version;

    /** What a request must have taken to be among them. Written under the monitor. */
    private volatile long thresholdNanos;

    private volatile long windowEndNanos;

    SlowRequests(Ticker ticker) {
        this.ticker = ticker;
        windowEndNanos = ticker.nanos() + WINDOW_NANOS;
    }

    void offer(RequestReport report) {
        long total = report.totalNanos();
        if (total > thresholdNanos || report.startNanos() + total - windowEndNanos > 0) {
            add(report);
        }
    }

    private synchronized void add(RequestReport report) {
        turn(report.startNanos() + report.totalNanos());
        if (report.totalNanos() <= thresholdNanos) {
            return;
        }
        String request = report.describe();
        window.add(new Entry(
                report.id(),
                request.length() > MOST_CHARS ? request.substring(0, MOST_CHARS) + "…" : request,
                ticker.now().toEpochMilli(),
                report.status(),
                report.totalNanos(),
                report.receiveNanos(),
                report.transferNanos(),
                report.job(),
                traces.remove(report.id())));
        window.sort(SLOWEST_FIRST);
        if (window.size() > MOST) {
            window.remove(MOST);
        }
        if (window.size() == MOST) {
            thresholdNanos = window.get(MOST - 1).totalNanos();
        }
        version++;
    }

    /** PHP's stack while the request runs, or has just ended: shown with it once it is among the slowest. */
    synchronized void traced(String requestId, String stack) {
        for (int i = 0; i < window.size(); i++) {
            Entry entry = window.get(i);
            if (entry.id().equals(requestId)) {
                window.set(
                        i,
                        new Entry(
                                entry.id(),
                                entry.request(),
                                entry.epochMillis(),
                                entry.status(),
                                entry.totalNanos(),
                                entry.receiveNanos(),
                                entry.transferNanos(),
                                entry.job(),
                                stack));
                version++;
                return;
            }
        }
        traces.put(requestId, stack);
        if (traces.size() > MOST_TRACES) {
            traces.remove(traces.keySet().iterator().next());
        }
    }

    /** The slowest, slowest first. */
    synchronized List<Entry> list() {
        turn(ticker.nanos());
        List<Entry> all = new ArrayList<>(window);
        all.addAll(windowBefore);
        all.sort(SLOWEST_FIRST);
        return List.copyOf(all.subList(0, Math.min(all.size(), MOST)));
    }

    /** Another number whenever the list has changed. */
    synchronized long version() {
        turn(ticker.nanos());
        return version;
    }

    private void turn(long nowNanos) {
        long late = nowNanos - windowEndNanos;
        if (late > 0) {
            windowBefore = late > WINDOW_NANOS ? new ArrayList<>() : window;
            window = new ArrayList<>();
            thresholdNanos = 0;
            windowEndNanos = nowNanos + WINDOW_NANOS;
            version++;
        }
    }
}
