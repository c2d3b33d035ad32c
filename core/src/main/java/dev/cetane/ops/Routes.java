package dev.cetane.ops;

import dev.cetane.ops.Access.Purpose;
import dev.cetane.worker.PhpStack;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** What there is at which path, for the connections of one listener. Runs on the ops event loop. */
final class Routes {
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final String RECYCLE = "/recycle";
    private static final String TRACE = "/trace";
    private static final String WORKERS = "/workers/";

    /** What the listeners share. */
    record Context(
            Metrics metrics,
            Supplier<PoolSnapshot> pool,
            Operator operator,
            Supplier<Instance> instance,
            Ticker ticker,
            DashboardPage page,
            DashboardEvents events,
            Watchers watchers,
            List<ConfigEntry> configuration) {}

    private final Access access;
    private final Context context;

    Routes(Access access, Context context) {
        this.access = access;
        this.context = context;
    }

    /** Answers the request, at once or later. */
    void take(Reply reply, OpsHandler connection) {
        String uri = reply.request().uri();
        int question = uri.indexOf('?');
        String path = question < 0 ? uri : uri.substring(0, question);
        String query = question < 0 ? "" : uri.substring(question + 1);
        Access.Refusal refusal = access.check(reply.request(), purpose(path));
        if (refusal != null) {
            reply.refuse(refusal);
        } else if (isAction(path)) {
            if (isMethod(reply, List.of(HttpMethod.POST))) {
                act(reply, path, query, connection);
            }
        } else if (isMethod(reply, List.of(HttpMethod.GET, HttpMethod.HEAD))) {
            show(reply, path, query, connection);
        }
    }

    private Purpose purpose(String path) {
        if (path.startsWith("/health/")) {
            return Purpose.HEALTH;
        }
        if (context.page().has(path)) {
            return Purpose.PAGE;
        }
        return isAction(path) ? Purpose.ACT : Purpose.READ;
    }

    /** To stop the instance is for whoever can open the control socket alone. */
    private boolean isAction(String path) {
        return path.equals("/reload")
                || (path.startsWith(WORKERS)
                        && path.endsWith(RECYCLE)
                        && path.length() > WORKERS.length() + RECYCLE.length())
                || (path.equals("/stop") && access.isControl());
    }

    private void act(Reply reply, String path, String query, OpsHandler connection) {
        switch (path) {
            case "/reload" -> reload(reply, connection);
            case "/stop" -> {
                context.operator().stop(query.equals("now"));
                reply.text(HttpResponseStatus.ACCEPTED, "Stopping.\n");
            }
            default -> recycle(reply, path.substring(WORKERS.length(), path.length() - RECYCLE.length()));
        }
    }

    private void show(Reply reply, String path, String query, OpsHandler connection) {
        if (access.isControl() && showToUser(reply, path, query, connection)) {
            return;
        }
        switch (path) {
            // Asking the pool proves that its lock is not held for ever.
            case "/health/live" -> {
                boolean draining = context.pool().get().draining();
                health(reply, new Health(true, draining ? "draining" : "alive"));
            }
            case "/health/ready" -> health(reply, Health.of(context.pool().get()));
            case "/metrics" ->
                reply.send(HttpResponseStatus.OK, PROMETHEUS, context.metrics().scrape());
            case "/status" -> {
                FpmStatus.Page page = fpmStatus().page(query);
                reply.send(HttpResponseStatus.OK, page.type(), page.text());
            }
            case "/events" -> watch(reply, new DashboardEvents.Stream(context.events()), connection);
            case "/config" ->
                reply.json(context.events()
                        .configuration(context.instance().get(), context.configuration(), access.actionsPossible()));
            default -> {
                if (context.page().has(path)) {
                    reply.send(context.page().answer(path));
                } else {
                    reply.text(
                            HttpResponseStatus.NOT_FOUND,
                            "There are / (the dashboard), /health/live, /health/ready, /metrics and /status here.\n");
                }
            }
        }
    }

    /** What only the instance's user sees. Returns whether it was that. */
    private boolean showToUser(Reply reply, String path, String query, OpsHandler connection) {
        boolean json = query.equals("json");
        if (path.startsWith(WORKERS) && path.endsWith(TRACE) && path.length() > WORKERS.length() + TRACE.length()) {
            trace(reply, path.substring(WORKERS.length(), path.length() - TRACE.length()));
            return true;
        }
        switch (path) {
            case "/status" -> {
                StatusPage page = statusPage();
                reply.send(HttpResponseStatus.OK, type(json), json ? page.statusJson() : page.statusText());
            }
            case "/workers" -> {
                StatusPage page = statusPage();
                reply.send(HttpResponseStatus.OK, type(json), json ? page.workersJson() : page.workersText());
            }
            case "/top" -> {
                TopPage.Order order = TopPage.Order.of(query);
                if (order == null) {
                    reply.text(
                            HttpResponseStatus.BAD_REQUEST,
                            "--sort = \"" + query + "\" is none of " + TopPage.Order.NAMES + "\n");
                } else {
                    watch(reply, new TopPage(order), connection);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void watch(Reply reply, Feed feed, OpsHandler connection) {
        connection.busy(context.watchers().open(reply, feed));
    }

    private StatusPage statusPage() {
        return new StatusPage(
                context.instance().get(), context.pool().get(), context.ticker().now());
    }

    private FpmStatus fpmStatus() {
        return new FpmStatus(
                context.instance().get(),
                context.pool().get(),
                context.metrics().figures(),
                context.ticker().now());
    }

    private static String type(boolean json) {
        return json ? Reply.JSON : Reply.TEXT;
    }

    private static void health(Reply reply, Health health) {
        HttpResponseStatus status = health.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        String accept = reply.request().headers().get(HttpHeaderNames.ACCEPT, "");
        if (accept.contains(Reply.JSON)) {
            StringBuilder json = new StringBuilder("{");
            Json.field(json, "status", health.ready() ? "ok" : "unavailable");
            Json.field(json, "reason", health.reason());
            reply.send(status, Reply.JSON, json.append("}\n").toString());
        } else {
            String word = health.ready() ? "ok: " : "unavailable: ";
            reply.text(status, word + health.reason() + "\n");
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // whenComplete's: it has told the client
    private void reload(Reply reply, OpsHandler connection) {
        connection.busy(true);
        context.operator()
                .reload()
                .whenComplete((generation, failure) -> reply.channel()
                        .executor()
                        .execute(() -> {
                            connection.busy(false);
                            if (failure == null) {
                                reply.text(HttpResponseStatus.OK, "Generation " + generation + " serves.\n");
                            } else {
                                reply.text(HttpResponseStatus.CONFLICT, message(failure) + "\n");
                            }
                        }));
    }

    private void trace(Reply reply, String id) {
        for (PoolSnapshot.WorkerSnapshot worker : context.pool().get().allWorkers()) {
            if (Integer.toString(worker.id()).equals(id) && worker.pid() != 0) {
                String what = worker.request() == null ? "runs nothing" : "runs " + worker.request();
                reply.text(
                        HttpResponseStatus.OK,
                        "Worker " + id + " (pid " + worker.pid() + ") " + what + ".\n" + PhpStack.describe(worker.pid())
                                + "\n");
                return;
            }
        }
        refuseWorker(reply, id, "has no process yet; try again");
    }

    /** Who asks for a worker mostly has a list in mind that has changed since. */
    private void refuseWorker(Reply reply, String id, String why) {
        List<PoolSnapshot.WorkerSnapshot> workers = context.pool().get().allWorkers();
        boolean isThere = workers.stream()
                .anyMatch(worker -> Integer.toString(worker.id()).equals(id));
        IntSummaryStatistics ids =
                workers.stream().mapToInt(PoolSnapshot.WorkerSnapshot::id).summaryStatistics();
        reply.text(
                HttpResponseStatus.NOT_FOUND,
                isThere
                        ? "Worker " + id + " " + why + ".\n"
                        : "There is no worker " + (id.matches("[0-9]{1,20}") ? id : "of that name") + ": "
                                + (workers.isEmpty()
                                        ? "there is none at all just now.\n"
                                        : "there are " + ids.getCount() + ", from " + ids.getMin() + " to "
                                                + ids.getMax() + "; cetane workers lists them.\n"));
    }

    private void recycle(Reply reply, String id) {
        boolean found = id.matches("[0-9]{1,9}") && context.operator().recycle(Integer.parseInt(id));
        if (found) {
            reply.text(HttpResponseStatus.ACCEPTED, "Worker " + id + " is being replaced.\n");
        } else {
            refuseWorker(reply, id, "is leaving already");
        }
    }

    private static String message(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return String.valueOf(cause.getMessage());
    }

    private static boolean isMethod(Reply reply, List<HttpMethod> allowed) {
        if (allowed.contains(reply.request().method())) {
            return true;
        }
        String methods =
                String.join(", ", allowed.stream().map(HttpMethod::name).toList());
        FullHttpResponse response = Reply.response(
                HttpResponseStatus.METHOD_NOT_ALLOWED,
                Reply.TEXT,
                ("Not with this method, but with " + methods + ".\n").getBytes(StandardCharsets.US_ASCII));
        response.headers().set(HttpHeaderNames.ALLOW, methods);
        reply.send(response);
        return false;
    }
}
