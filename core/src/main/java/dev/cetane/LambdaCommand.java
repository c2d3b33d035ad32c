package dev.cetane;

import dev.cetane.Grammar.Invocation;
import dev.cetane.lambda.CpuModel;
import dev.cetane.lambda.InvocationLog;
import dev.cetane.lambda.LambdaConfig;
import dev.cetane.lambda.LambdaRuntime;
import dev.cetane.lambda.Metrics;
import dev.cetane.lambda.MetricsConfig;
import dev.cetane.log.EventLog;
import dev.cetane.shared.SharedTables;
import dev.cetane.shared.TableCalls;
import dev.cetane.task.TaskCalls;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.PoolConfig;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimitCalls;
import dev.cetane.worker.WorkerPool;
import dev.cetane.worker.WorkerServices;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * {@code cetane lambda}: reads what AWS Lambda says of the function in the environment, and runs it. Used by the main thread.
 *
 * <p>Here a class that is not loaded is time that no caller waits for: neither Netty nor the libraries for YAML and command lines are.
 */
final class LambdaCommand {
    static final String RUNTIME_API = "AWS_LAMBDA_RUNTIME_API";
    private static final String INITIALIZATION_TYPE = "AWS_LAMBDA_INITIALIZATION_TYPE";

    /** No more than this run at once in one environment. */
    private static final int MOST_SLOTS = 1024;

    private final PrintStream err;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final Path clientDirectory;

    LambdaCommand(PrintStream err, Map<String, String> environment, Path workingDirectory, Path clientDirectory) {
        this.err = err;
        this.environment = environment;
        this.workingDirectory = workingDirectory;
        this.clientDirectory = clientDirectory;
    }

    /** Returns the exit code; what keeps the function from starting is told to the Runtime API, too. */
    int run(Invocation invocation) {
        InetSocketAddress api = runtimeApi();
        CountDownLatch ended = new CountDownLatch(1);
        try {
            return run(invocation, api, ended);
        } catch (CommandException | ConfigException e) {
            String message = String.valueOf(e.getMessage());
            err.println("cetane: " + message);
            LambdaRuntime.reportInitError(api, Ticker.system(), "Runtime.InvalidConfiguration", message);
            return CommandException.FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return CommandException.FAILED;
        } finally {
            ended.countDown();
        }
    }

    private int run(Invocation invocation, InetSocketAddress api, CountDownLatch ended) throws InterruptedException {
        CetaneConfig config =
                new ConfigLoader(environment, workingDirectory, RunDirectory.pid()).load(flags(invocation));
        int slots = slots();
        OutputStream out = StandardOutput.shared();
        InvocationLog log = new InvocationLog(StandardOutput.lambdaLog(config.log(), out), slots == 1);
        ApplicationConfig application = new ApplicationFinder(
                        config.app(), workersEnvironment(environment), workingDirectory, clientDirectory)
                .find()
                .application();
        if (application.kind() == ApplicationKind.CLASSIC) {
            throw new CommandException(
                    CommandException.FAILED,
                    application.path()
                            + " is a classic application: those cannot run on Lambda yet; name a front controller, a worker script or a directory with Laravel");
        }
        Ticker ticker = Ticker.system();
        String cpu = CpuModel.read();
        Metrics metrics = new Metrics(metricsConfig(config.lambda(), cpu), out, ticker);
        try (RunDirectory directory = runDirectory(config);
                WorkerPool pool = new WorkerPool(
                        poolConfig(config.pool(), slots),
                        OpcacheFileCache.used(application, taskRoot(environment), directory.directory(), log),
                        services(config, ticker, log),
                        directory.directory(),
                        ticker,
                        log,
                        metrics)) {
            LambdaConfig lambda = new LambdaConfig(
                    api,
                    environment.getOrDefault(INITIALIZATION_TYPE, "on-demand"),
                    slots,
                    config.lambda().stream(),
                    config.lambda().timeoutMargin(),
                    config.lambda().basePath(),
                    config.lambda().initLimit(),
                    config.lambda().warmRequest(),
                    directory.directory(),
                    application.debug());
            LambdaRuntime runtime = new LambdaRuntime(lambda, pool, scriptName(application), ticker, log, metrics, cpu);
            Thread stop = new Thread(() -> stop(runtime, ended), "cetane-stop");
            Runtime.getRuntime().addShutdownHook(stop);
            int code = runtime.run();
            try {
                Runtime.getRuntime().removeShutdownHook(stop);
            } catch (IllegalStateException e) {
                // It runs.
            }
            return code;
        }
    }

    /**
     * What the JVM does at SIGTERM. That is all that a function has to hear, so the classes for other signals are not loaded, and no proxy is
     * made, which would be a tenth of a start.
     */
    private static void stop(LambdaRuntime runtime, CountDownLatch ended) {
        runtime.stop();
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // The JVM's own code says that a signal ended it, which the end of an environment is not.
        Runtime.getRuntime().halt(0);
    }

    /** Where the bootstrap has started a worker already, or a new one. */
    private RunDirectory runDirectory(CetaneConfig config) {
        String booted = environment.getOrDefault("CETANE_BOOTED", "");
        return booted.isEmpty()
                ? RunDirectory.create(config.runDirectory(), RunDirectory.pid())
                : RunDirectory.takeOver(Path.of(booted));
    }

    /** What the function's own configuration says, unless it is said in Cetane's words. */
    private ConfigLoader.Flags flags(Invocation invocation) {
        List<String> sets = new ArrayList<>();
        // A function is configured by variables: all of them are meant for it.
        unlessSet(Settings.APP_PASS_ENVIRONMENT, "*", sets);
        String format = environment.getOrDefault("AWS_LAMBDA_LOG_FORMAT", "").toLowerCase(Locale.ROOT);
        if (environment.getOrDefault(INITIALIZATION_TYPE, "").equals("lambda-managed-instances")) {
            // They take nothing else.
            sets.add(Settings.LOG_FORMAT.key() + "=json");
        } else if (format.equals("json") || format.equals("text")) {
            unlessSet(Settings.LOG_FORMAT, format, sets);
        }
        String level = level(environment.getOrDefault("AWS_LAMBDA_LOG_LEVEL", ""));
        if (!level.isEmpty()) {
            unlessSet(Settings.LOG_LEVEL, level, sets);
        }
        sets.addAll(invocation.all("--set"));
        return new ConfigLoader.Flags(
                application(invocation), invocation.value("--config"), sets, List.of(), null, null);
    }

    /** Without what the launcher sets for this JVM. */
    static Map<String, String> workersEnvironment(Map<String, String> environment) {
        Map<String, String> passed = new HashMap<>(environment);
        passed.keySet().removeAll(List.of("MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "_JAVA_SR_SIGNUM"));
        return passed;
    }

    /** A level of Lambda's in Cetane's words, empty for none. */
    private static String level(String lambda) {
        return switch (lambda.toUpperCase(Locale.ROOT)) {
            case "TRACE", "DEBUG" -> "debug";
            case "INFO" -> "info";
            case "WARN" -> "warn";
            case "ERROR", "FATAL" -> "error";
            default -> "";
        };
    }

    private MetricsConfig metricsConfig(CetaneConfig.Lambda lambda, String cpu) {
        return new MetricsConfig(
                lambda.metrics(),
                lambda.metricsEvery(),
                environment.getOrDefault("AWS_LAMBDA_FUNCTION_NAME", "unknown"),
                environment.getOrDefault("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
                cpu);
    }

    private void unlessSet(Setting<?> setting, String value, List<String> sets) {
        if (!environment.containsKey(setting.variable())) {
            sets.add(setting.key() + "=" + value);
        }
    }

    private @Nullable String application(Invocation invocation) {
        String handler = environment.getOrDefault("_HANDLER", "");
        if (invocation.app() != null || handler.isEmpty() || environment.containsKey(Settings.APP_PATH.variable())) {
            return invocation.app();
        }
        return taskRoot(environment).resolve(handler).normalize().toString();
    }

    /** Where a function's files lie. */
    static Path taskRoot(Map<String, String> environment) {
        return Path.of(environment.getOrDefault("LAMBDA_TASK_ROOT", "/var/task"));
    }

    private InetSocketAddress runtimeApi() {
        String address = environment.getOrDefault(RUNTIME_API, "");
        int colon = address.lastIndexOf(':');
        String port = address.substring(colon + 1);
        if (colon <= 0 || !port.matches("[0-9]{1,5}")) {
            throw new CommandException(
                    CommandException.WRONG_USE,
                    RUNTIME_API + " is \"" + address
                            + "\", no HOST:PORT: this command is run by AWS Lambda, or beside something that speaks its Runtime API");
        }
        return new InetSocketAddress(address.substring(0, colon), Integer.parseInt(port));
    }

    private int slots() {
        String concurrency = environment.getOrDefault("AWS_LAMBDA_MAX_CONCURRENCY", "1");
        if (!concurrency.matches("[1-9][0-9]{0,3}")) {
            throw new CommandException(
                    CommandException.FAILED,
                    "AWS_LAMBDA_MAX_CONCURRENCY is \"" + concurrency + "\", no number from 1 to 9999");
        }
        return Math.min(MOST_SLOTS, Integer.parseInt(concurrency));
    }

    /** A worker for each slot. The loops know the deadline of each invocation, so the pool has no limits of its own. */
    static PoolConfig poolConfig(PoolConfig pool, int slots) {
        return pool.with(slots, slots, Duration.ZERO, pool.requestTimeout());
    }

    /** Tables live as long as the environment; there are no task workers, so tasks run in the request. */
    static WorkerServices services(CetaneConfig config, Ticker ticker, EventLog log) {
        SharedTables tables = new SharedTables(config.sharing().tableBytes(), log);
        return new WorkerServices(
                new WorkerCalls(
                        tables,
                        new TableCalls(tables, ticker),
                        new TaskCalls(null, Duration.ZERO),
                        // The deadline is Lambda's: no request gets another.
                        new TimeLimitCalls(Duration.ZERO)),
                WorkerServices.Role.REQUEST,
                0,
                new AtomicInteger()::incrementAndGet,
                null);
    }

    /** The front controller as a client would ask for it. */
    static String scriptName(ApplicationConfig application) {
        String script = application.script();
        String root = application.documentRoot();
        if (script.isEmpty()) {
            return "/index.php";
        }
        return "/" + (root.isEmpty() ? script : script.substring(root.length() + 1));
    }
}
