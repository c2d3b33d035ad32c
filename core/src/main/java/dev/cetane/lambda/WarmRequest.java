package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.protocol.Ready;
import dev.cetane.protocol.RequestWriter;
import dev.cetane.worker.PoolSnapshot.WorkerSnapshot;
import dev.cetane.worker.WorkerException;
import dev.cetane.worker.WorkerPool;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A GET as an HTTP API would send it, which nobody outside has asked for: {@code lambda.warm-request}. A function that takes events gets
 * it as an event. Immutable.
 *
 * @param target path and query
 */
public record WarmRequest(String target, WorkerPool pool, CgiVariables variables, Path spoolDirectory) {
    /** How long it, or a hook of the application, may take. */
    static final long SECONDS = 60;

    /**
     * Has the pool's one idle worker answer it, and waits until that is idle again.
     *
     * @return the answer's status; 0 for a function that takes events
     * @throws WorkerException when the worker fails, or is not done within a minute
     */
    public int send() throws InterruptedException {
        WorkerNotice notice = new WorkerNotice("the first request", this::write);
        List<WorkerSnapshot> workers = pool.snapshot().workers();
        if (workers.isEmpty() || pool.offer(notice, workers.get(0).id()) == 0) {
            throw new WorkerException(WorkerException.Kind.CRASHED, "no worker is left for " + target);
        }
        await(notice, "GET " + target, pool);
        return notice.status();
    }

    /** Waits for what a worker was given. */
    static void await(WorkerNotice notice, String what, WorkerPool pool) throws InterruptedException {
        try {
            notice.ended().get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof WorkerException failure
                    ? failure
                    : new WorkerException(WorkerException.Kind.APPLICATION, String.valueOf(e.getCause()));
        } catch (TimeoutException e) {
            WorkerException late = new WorkerException(
                    WorkerException.Kind.TIMED_OUT, what + " has not ended within " + SECONDS + " s");
            pool.abort(notice, late);
            throw late;
        }
    }

    void write(RequestWriter out) {
        int mark = target.indexOf('?');
        ByteWriter json = new ByteWriter();
        json.put("{\"version\":\"2.0\",\"rawPath\":").unicode(mark < 0 ? target : target.substring(0, mark));
        json.put(",\"rawQueryString\":").unicode(mark < 0 ? "" : target.substring(mark + 1));
        json.put(
                ",\"headers\":{\"host\":\"localhost\",\"user-agent\":\"Cetane-Warm-Request\"},\"isBase64Encoded\":false"
                        + ",\"requestContext\":{\"stage\":\"$default\",\"http\":{\"method\":\"GET\",\"path\":\"/\","
                        + "\"protocol\":\"HTTP/1.1\",\"sourceIp\":\"127.0.0.1\"}}}");
        Invocation invocation =
                new Invocation("warm", 0, "", "", "", "", "", "application/json", json.array(), json.length());
        Ready ready = pool.lastReady();
        boolean events = ready != null && InvocationLoop.takesAllEvents(ready);
        try {
            HttpEvent http =
                    events ? null : new EventReader("").read(invocation).http();
            // A few bytes: they never take a file.
            EventBody body = EventBody.whole(spoolDirectory, "warm", json.array(), events ? json.length() : 0);
            new InvocationRequest(invocation, http, body, variables).encode(out);
        } catch (MalformedEventException e) {
            throw new IllegalArgumentException("lambda.warm-request " + target + ": " + e.getMessage(), e);
        }
    }
}
