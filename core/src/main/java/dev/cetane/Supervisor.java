package dev.cetane;

import dev.cetane.files.StaticRoot;
import dev.cetane.http.HttpListener;
import dev.cetane.http.HttpServer;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.ops.ConfigEntry;
import dev.cetane.ops.Exporters;
import dev.cetane.ops.Instance;
import dev.cetane.ops.Metrics;
import dev.cetane.ops.Operator;
import dev.cetane.ops.OpsServer;
import dev.cetane.trace.Tracer;
import dev.cetane.watch.SourceWatcher;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.Generation;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The life of one instance: starts what it is made of, waits until it is told to stop, and drains it. {@link #run} runs on the main
 * thread; the {@link Operator}'s methods come from signals and from the control socket, on their threads.
 *
 * <p>The workers boot while the sockets are bound: a port in use is reported at once, and requests that come during the boot wait in
 * the pool's queue. Not ready until the first worker is.
 */
final class Supervisor implements Operator {

    private enum Phase {
        STARTING,
        RUNNING,
        /** Running requests may finish. */
        DRAINING,
        /** Nothing may. */
        STOPPING
    }

    private final CetaneConfig config;
    private final ApplicationFinder.Found found;
    private final EventLog log;
    private final Ticker ticker = Ticker.system();
    private final Workforce workforce;
    private final Exporters exporters;
    private final @Nullable Tracer tracer;
    private final Metrics metrics;
    private final HttpListener httpListener;
    private final CompletableFuture<String> firstUrl = new CompletableFuture<>();
    private final Instance template;
    private final CountDownLatch stopAsked = new CountDownLatch(1);
    private final Thread main = Thread.currentThread();

    // Guarded by this.
    private Phase phase = Phase.STARTING;
    private List<String> urls = List.of();

    /**
     * Made on the main thread, which then calls {@link #run}.
     *
     * @param directory the instance's own
     */
    Supervisor(CetaneConfig config, ApplicationFinder.Found found, Path directory, EventLog log) {
        this(config, found, directory, log, UnaryOperator.identity());
    }

    /** One whose front door tells another listener, which is made of the usual one and tells that. */
    Supervisor(
            CetaneConfig config,
            ApplicationFinder.Found found,
            Path directory,
            EventLog log,
            UnaryOperator<HttpListener> observer) {
        this.config = config;
        this.found = found;
        this.log = log;
        ApplicationConfig application = found.application();
        this.exporters = new Exporters(config.export(), Cetane.version(), log);
        this.metrics = new Metrics(this::snapshot, ticker, Cetane.version(), exporters);
        this.workforce = new Workforce(
                config,
                application,
                directory,
                ticker,
                log,
                metrics,
                new TaskListener(metrics),
                metrics.application(config.telemetry().applicationSeries(), log));
        metrics.tables(workforce.tables()::usedBytes);
        this.tracer = Tracer.start(config.tracing(), Cetane.version(), ticker, log);
        if (tracer != null) {
            metrics.spans(tracer::count);
        }
        this.httpListener = observer.apply(metrics);
        this.template = new Instance(
                Cetane.version(),
                RunDirectory.pid(),
                application.path() + " (" + application.kind().key() + ")",
                List.of(),
                ticker.now());
    }

    /**
     * Serves until told to stop.
     *
     * @throws CommandException when it cannot start: an address is taken, or the application does not boot
     */
    void run() {
        CompletableFuture<Void> boot = new CompletableFuture<>();
        Thread booting = new Thread(() -> boot(boot), "cetane-boot");
        booting.setDaemon(true);
        booting.start();
        try (exporters;
                Tracer closedSoon = tracer;
                Workforce closedLast = workforce;
                OpsServer ops = new OpsServer(
                        config.ops(), metrics, this::snapshot, this, this::instance, configuration(), ticker, log)) {
            ops.bind();
            try (HttpServer http = HttpServer.start(
                    config.http(),
                    closedLast.requests(),
                    log,
                    ticker,
                    httpListener,
                    scriptName(),
                    staticFiles(),
                    scripts(),
                    closedPaths(),
                    closedSoon,
                    found.application().debug())) {
                publish(http.addresses());
                boot.get();
                if (startsRunning()) {
                    announce(ops.address());
                }
                awaitStop();
                drain(http);
            }
        } catch (InterruptedException e) {
            log.log(Level.WARN, "supervisor.stopped", null, "Stopped at once, running requests were cut");
        } catch (ExecutionException e) {
            throw cannotStart(e.getCause() == null ? e : e.getCause());
        } catch (IOException e) {
            throw cannotStart(e);
        }
    }

    @SuppressWarnings("try") // it works on a thread of its own
    private void awaitStop() throws InterruptedException {
        try (SourceWatcher watcher = config.watch().enabled() ? watcher() : null) {
            if (watcher != null) {
                watcher.start();
            }
            stopAsked.await();
        }
    }

    private SourceWatcher watcher() {
        return new SourceWatcher(this::sourceDirectory, config.watch(), ticker, log, new ReloadOnChange(this, log));
    }

    /** The application's directory; of a script in a directory of a project, as in public, the project's. */
    private Path sourceDirectory() {
        Path directory = staticRoot().application();
        Path parent = directory.getParent();
        boolean project = Files.exists(directory.resolve("composer.json"));
        return !project && parent != null && Files.exists(parent.resolve("composer.json")) ? parent : directory;
    }

    /** Waits until requests are served, and says where. Any other thread. */
    String awaitUrl() throws InterruptedException {
        try {
            return firstUrl.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public CompletableFuture<Integer> reload() {
        return workforce.reload();
    }

    @Override
    public boolean recycle(int workerId) {
        return workforce.recycle(workerId);
    }

    /** A second call, and one during the start, stops at once. */
    @Override
    public void stop(boolean now) {
        synchronized (this) {
            if (now || phase != Phase.RUNNING) {
                phase = Phase.STOPPING;
                main.interrupt();
            } else {
                phase = Phase.DRAINING;
            }
        }
        stopAsked.countDown();
    }

    private void boot(CompletableFuture<Void> boot) {
        try {
            workforce.start();
            boot.complete(null);
        } catch (RuntimeException e) {
            boot.completeExceptionally(e);
        }
    }

    private void drain(HttpServer http) throws InterruptedException, ExecutionException {
        Duration grace = config.http().shutdownGrace();
        log.log(
                Level.INFO,
                "supervisor.draining",
                null,
                "Stopping: running requests may finish within http.shutdown-grace (" + grace.toMillis() + " ms)");
        if (!http.drain(grace)) {
            log.log(
                    Level.WARN,
                    "supervisor.drain-incomplete",
                    null,
                    "Some requests have not finished within http.shutdown-grace and are cut");
        }
        workforce.drain(config.pool().stopGrace());
        log.log(Level.INFO, "supervisor.stopped", null, "Stopped");
    }

    private synchronized void publish(List<SocketAddress> addresses) {
        urls = addresses.stream().map(Supervisor::url).toList();
    }

    /** False when a stop was asked for during the start. */
    private synchronized boolean startsRunning() {
        if (phase != Phase.STARTING) {
            return false;
        }
        phase = Phase.RUNNING;
        return true;
    }

    private synchronized Instance instance() {
        return new Instance(template.version(), template.pid(), template.application(), urls, template.startedAt());
    }

    private List<ConfigEntry> configuration() {
        return config.effective().stream()
                .map(effective -> new ConfigEntry(effective.key(), effective.text(), effective.origin()))
                .toList();
    }

    /** The pool learns last that the instance drains; health and status are to say it from the first moment. */
    private PoolSnapshot snapshot() {
        PoolSnapshot snapshot = workforce.snapshot();
        boolean draining;
        synchronized (this) {
            draining = phase == Phase.DRAINING || phase == Phase.STOPPING;
        }
        return draining ? snapshot.drained() : snapshot;
    }

    private void announce(@Nullable InetSocketAddress ops) {
        Instance instance = instance();
        firstUrl.complete(instance.urls().get(0));
        String where = String.join(", ", instance.urls());
        String health = ops == null ? "" : "; health and metrics on " + url(ops);
        log.log(
                Level.INFO,
                "supervisor.started",
                null,
                "Serving " + instance.application() + " on " + where + health,
                "version",
                instance.version(),
                "workers",
                config.pool().workers(),
                "millis",
                Duration.between(instance.startedAt(), ticker.now()).toMillis());
    }

    /** The front controller as a client would ask for it. */
    private String scriptName() {
        String script = found.application().script();
        String root = found.application().documentRoot();
        if (found.application().kind() == ApplicationKind.CLASSIC) {
            return "/" + config.app().frontController();
        }
        if (script.isEmpty()) {
            return "/index.php";
        }
        return "/" + (root.isEmpty() ? script : script.substring(root.length() + 1));
    }

    /** Octane has these for its own workers, and whoever can send them runs code in them. */
    private List<String> closedPaths() {
        return switch (found.application().kind()) {
            case LARAVEL, FRANKENPHP -> List.of("octane/resolve-tasks", "octane/dispatch-tasks");
            default -> List.of();
        };
    }

    /** Where files are that need no PHP; null when none are served. */
    private @Nullable Supplier<StaticRoot> staticFiles() {
        return switch (config.http().files().serve()) {
            case OFF -> null;
            case ON -> this::staticRoot;
            case AUTO -> hasPublicDirectory() ? this::staticRoot : null;
        };
    }

    /** Beside a worker script, or in a Laravel application without public directory, lies what is nobody's to read. */
    private boolean hasPublicDirectory() {
        ApplicationConfig application = found.application();
        if (!application.kind().isWorkerScript()) {
            return application.kind() != ApplicationKind.LARAVEL
                    || !application.documentRoot().isEmpty();
        }
        Path script = application.path();
        return !config.app().documentRoot().equals("auto")
                || script.endsWith("index.php")
                || (script.getParent() != null && script.getParent().endsWith("public"));
    }

    /** Of the version that serves, so that pages and their files belong together while a deployment's link leads to a newer one already. */
    private StaticRoot staticRoot() {
        ApplicationConfig application = found.application();
        Generation generation = workforce.requests().lastBooted();
        Path path = application.path();
        Path parent = path.getParent();
        Path directory = generation != null
                ? generation.directory()
                : application.kind().isWorkerScript() && parent != null ? parent : path;
        String configured = config.app().documentRoot();
        boolean named = application.kind().isWorkerScript() && !configured.equals("auto");
        return new StaticRoot(directory, directory.resolve(named ? configured : application.documentRoot()));
    }

    /** Where the scripts of a classic application are, symbolic links not resolved; null for other kinds. */
    private @Nullable Supplier<Path> scripts() {
        ApplicationConfig application = found.application();
        return application.kind() == ApplicationKind.CLASSIC
                ? () -> application.path().resolve(application.documentRoot())
                : null;
    }

    private static String url(SocketAddress address) {
        if (address instanceof InetSocketAddress inet) {
            String host = inet.getAddress().getHostAddress();
            return "http://" + (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + inet.getPort();
        }
        return "unix:" + address;
    }

    private static CommandException cannotStart(Throwable cause) {
        return new CommandException(CommandException.FAILED, "cannot start: " + cause.getMessage(), cause);
    }
}
