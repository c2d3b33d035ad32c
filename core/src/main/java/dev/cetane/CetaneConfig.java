package dev.cetane;

import dev.cetane.http.HttpConfig;
import dev.cetane.lambda.MetricsConfig;
import dev.cetane.log.EventLog;
import dev.cetane.ops.ExportConfig;
import dev.cetane.ops.OpsConfig;
import dev.cetane.trace.TracingConfig;
import dev.cetane.watch.WatchConfig;
import dev.cetane.worker.PoolConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The whole configuration, checked. Immutable.
 *
 * @param file the file it was read from, null when there was none
 * @param app the application as configured; {@link ApplicationFinder} looks what is there
 * @param runDirectory holds one directory for each running instance
 * @param effective every key with its text and where that came from, in the order of {@link Settings#ALL}
 */
record CetaneConfig(
        @Nullable Path file,
        App app,
        PoolConfig pool,
        Sharing sharing,
        HttpConfig http,
        Lambda lambda,
        OpsConfig ops,
        Telemetry telemetry,
        ExportConfig export,
        TracingConfig tracing,
        WatchConfig watch,
        Log log,
        Path runDirectory,
        List<Effective> effective) {

    /**
     * The {@code app} section.
     *
     * @param kind {@code auto} or the key of a kind
     * @param path absolute, symbolic links not resolved
     * @param php {@code auto}, a command name, or a path
     * @param documentRoot {@code auto} or a path below the application's directory
     * @param frontController path below the document root
     * @param environment variables set for the workers
     * @param passEnvironment names of variables that are passed on; a trailing {@code *} stands for any rest
     */
    record App(
            String kind,
            Path path,
            String php,
            String documentRoot,
            String frontController,
            Map<String, String> ini,
            Map<String, String> environment,
            List<String> passEnvironment,
            boolean debug) {}

    /**
     * What workers do for each other: the part of the {@code pool} section that is about tasks and tables.
     *
     * @param taskWorkers workers that run tasks, 0: none
     * @param taskQueueSize most tasks that wait for one
     * @param taskTimeout longest time a task may run, zero: none
     * @param tableBytes most bytes of all shared tables together
     */
    record Sharing(int taskWorkers, int taskQueueSize, Duration taskTimeout, long tableBytes) {}

    /**
     * The {@code lambda} section.
     *
     * @param timeoutMargin how long before its deadline an invocation is given up
     * @param basePath {@code auto}, or what is taken away from the front of each path
     * @param initLimit how long the start waits for the application
     * @param metricsEvery for how many invocations there is one line of metrics
     * @param warmRequest what workers are asked for before a snapshot is taken; may be empty
     */
    record Lambda(
            boolean stream,
            Duration timeoutMargin,
            String basePath,
            Duration initLimit,
            MetricsConfig.Mode metrics,
            int metricsEvery,
            String warmRequest) {}

    /**
     * What is told about requests and by the application.
     *
     * @param slowRequest how long a request may run before the log says where it is, zero: as long as it likes
     * @param applicationSeries most series of the application's own, 0: none are taken
     */
    record Telemetry(Duration slowRequest, int applicationSeries) {}

    /** The {@code log} section. */
    record Log(Format format, EventLog.Level level) {
        enum Format {
            AUTO,
            TEXT,
            JSON
        }
    }

    /** One key as it is in force; the text of a secret is masked. */
    record Effective(String key, String text, String origin) {}
}
