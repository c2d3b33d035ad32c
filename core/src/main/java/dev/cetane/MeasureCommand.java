package dev.cetane;

import dev.cetane.Measurements.Part;
import dev.cetane.Measurements.Times;
import dev.cetane.http.HttpListener;
import dev.cetane.http.RequestReport;
import dev.cetane.log.FileReason;
import dev.cetane.worker.ApplicationConfig;
import dev.cetane.worker.ApplicationKind;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.PhpProbe;
import dev.cetane.worker.PipeProbe;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code cetane measure}: one worker, one client, one request after the other through the whole path, and where their time went. The
 * supervisor runs on the main thread, {@link #measure} on {@code cetane-measure}.
 */
final class MeasureCommand {
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);
    private static final int REPORT_SECONDS = 60;
    private static final int MIN_WARM_UP = 50;
    private static final String CPU = "cpu";

    /** In .env, where it is no comment. */
    private static final Pattern DEBUG = Pattern.compile(
            "^[ \\t]*(export[ \\t]+)?APP_DEBUG[ \\t]*=[ \\t]*[\"'(]?(true|1)\\b",
            Pattern.MULTILINE | Pattern.CASE_INSENSITIVE);

    private final Ticker ticker = Ticker.system();
    private final PrintStream out;
    private final ApplicationConfig application;
    private final String target;
    private final int requests;

    private final BlockingQueue<RequestReport> reports = new ArrayBlockingQueue<>(16);
    private final Measurements found = new Measurements();
    private volatile @Nullable CommandException failure;
    private volatile boolean complete;

    MeasureCommand(PrintStream out, ApplicationConfig application, String target, int requests) {
        this.out = out;
        this.application = application;
        this.target = target;
        this.requests = requests;
    }

    /** Measures what this supervisor serves, then stops it; {@code supervisor.run()} has to follow. */
    void startWith(Supervisor supervisor) {
        Thread thread = new Thread(
                () -> {
                    try {
                        measure(URI.create(supervisor.awaitUrl()));
                        complete = true;
                    } catch (CommandException e) {
                        failure = e;
                    } catch (IOException | RuntimeException e) {
                        failure = new CommandException(
                                CommandException.FAILED, "GET " + target + ": " + e.getMessage(), e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } finally {
                        supervisor.stop(false);
                    }
                },
                "cetane-measure");
        thread.setDaemon(true);
        thread.start();
    }

    /** What the front door tells is kept for the thread that measures. */
    HttpListener observing(HttpListener listener) {
        return new Observer(listener, reports);
    }

    /** Prints, saves and compares, after the supervisor has ended; returns the exit code. */
    int finish(@Nullable Path save, @Nullable Measurements before, boolean anyCpu) {
        CommandException failed = failure;
        if (failed != null) {
            throw failed;
        }
        if (!complete) {
            throw new CommandException(CommandException.FAILED, "stopped before the measurement was complete");
        }
        print();
        if (save != null) {
            found.save(save);
            out.println("\nSaved in " + save + ".");
        }
        if (before != null) {
            compare(before, anyCpu);
        }
        return 0;
    }

    private void measure(URI url) throws IOException, InterruptedException {
        facts();
        double pipe = PipeProbe.roundTripNanos(ticker) / 1e3;
        double[] total = new double[requests];
        Map<Part, double[]> parts = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            parts.put(part, part == Part.TOTAL ? total : new double[requests]);
        }
        double[] terminate = new double[requests];
        long cpuMicros = 0;
        long peak = 0;
        Map<Integer, Integer> others = new TreeMap<>();
        try (MeasureClient client = new MeasureClient(new InetSocketAddress(url.getHost(), url.getPort()), target)) {
            int warmUp = Math.max(MIN_WARM_UP, requests / 10);
            long allocated = 0;
            for (int i = -warmUp; i < requests; i++) {
                if (i == 0) {
                    allocated = allocatedBytes();
                }
                long start = ticker.nanos();
                int status = client.get();
                double wall = (ticker.nanos() - start) / 1e3;
                RequestReport report = reports.poll(REPORT_SECONDS, TimeUnit.SECONDS);
                JobReport job = report == null ? null : report.job();
                if (report == null || job == null) {
                    throw new CommandException(
                            CommandException.FAILED,
                            "GET " + target + " was answered " + status
                                    + " without the application; measure a path that it answers");
                }
                if (status >= 500) {
                    throw new CommandException(
                            CommandException.FAILED,
                            "GET " + target + " is answered " + status + "; see the log above");
                }
                if (i < 0) {
                    continue;
                }
                if (status != 200) {
                    others.merge(status, 1, Integer::sum);
                }
                double php = (job.firstByteNanos() + job.toEndNanos()) / 1e3;
                double handler = Math.min(php, (double) job.handlerMicros());
                double ownPipe = Math.min(php - handler, pipe);
                double inside = report.totalNanos() / 1e3;
                total[i] = wall;
                at(parts, Part.APPLICATION)[i] = handler;
                at(parts, Part.PIPE)[i] = ownPipe;
                at(parts, Part.CLIENT)[i] = php - handler - ownPipe;
                at(parts, Part.SUPERVISOR)[i] = Math.max(0, inside - php);
                at(parts, Part.HTTP)[i] = Math.max(0, wall - inside);
                terminate[i] = job.terminateNanos() / 1e3;
                cpuMicros += job.cpuMicros();
                peak = Math.max(peak, job.peakMemoryBytes());
            }
            found.fact("supervisor-bytes-per-request", Math.max(0, allocatedBytes() - allocated) / requests);
        }
        parts.forEach(found::times);
        found.fact("php-cpu-micros-per-request", cpuMicros / requests);
        found.fact("php-peak-memory-bytes", peak);
        found.fact("after-answer-micros-p50", Math.round(Times.of(terminate).p50()));
        found.fact(
                "answers-other-than-200",
                others.entrySet().stream()
                        .map(answer -> answer.getValue() + " × " + answer.getKey())
                        .collect(Collectors.joining(", ")));
    }

    private static double[] at(Map<Part, double[]> parts, Part part) {
        double[] micros = parts.get(part);
        if (micros == null) {
            throw new IllegalArgumentException(part.title());
        }
        return micros;
    }

    private void facts() {
        found.fact("path", target);
        found.fact("requests", requests);
        found.fact("application", application.path() + " (" + application.kind().key() + ")");
        found.fact(CPU, cpuModel());
        found.fact("cpus", Runtime.getRuntime().availableProcessors());
        found.fact("cetane", Cetane.version());
        found.fact("java", Runtime.version());
        List<String> advice = new ArrayList<>();
        try {
            PhpProbe.Facts php = PhpProbe.ask(application, PROBE_TIMEOUT);
            found.fact("php", php.version() + " (" + php.sapi() + ")");
            found.fact("opcache", php.opcache() ? "on" : "off");
            if (!php.opcache()) {
                advice.add(
                        "opcache is off: each worker compiles every file of its own; install it, and set app.ini.opcache."
                                + (application.kind().isCgi() ? "enable" : "enable_cli") + ": 1");
            }
            for (String slow : List.of("xdebug", "pcov", "blackfire", "tideways")) {
                if (php.extensions().contains(slow)) {
                    advice.add(slow + " is loaded, which slows down everything; leave it out of this php.ini");
                }
            }
        } catch (IOException e) {
            found.fact("php", "unknown: " + e.getMessage());
        }
        if (application.debug()) {
            advice.add("app.debug is on; it is for development");
        }
        laravel(advice);
        found.fact("advice", String.join(" | ", advice));
    }

    /** What Laravel does anew at each boot or request unless it was told to keep it. */
    private void laravel(List<String> advice) {
        if (application.kind() != ApplicationKind.LARAVEL) {
            return;
        }
        Path cache = application.path().resolve("bootstrap/cache");
        if (!Files.exists(cache.resolve("config.php"))) {
            advice.add("the configuration is not cached; run php artisan config:cache when you deploy");
        }
        if (!Files.exists(cache.resolve("routes-v7.php"))) {
            advice.add("the routes are not cached; run php artisan route:cache when you deploy");
        }
        try {
            Path file = application.path().resolve(".env");
            if (Files.exists(file) && isDebug(Files.readString(file))) {
                advice.add("APP_DEBUG is on in .env: Laravel keeps what it needs for its error page");
            }
        } catch (IOException e) {
            advice.add(".env cannot be read: " + FileReason.of(e));
        }
    }

    /** Whether this .env says so. */
    static boolean isDebug(String environment) {
        return DEBUG.matcher(environment).find();
    }

    private static String cpuModel() {
        try {
            String info = Files.readString(Path.of("/proc/cpuinfo"));
            for (String name : List.of("model name", "CPU part", "Model")) {
                String model = info.lines()
                        .filter(line -> line.startsWith(name))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse("");
                if (!model.isEmpty()) {
                    return model;
                }
            }
        } catch (IOException e) {
            return "unknown";
        }
        return System.getProperty("os.arch", "unknown");
    }

    /** What all threads that live have allocated so far. */
    private static long allocatedBytes() {
        if (ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads) {
            return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
                    .filter(bytes -> bytes > 0)
                    .sum();
        }
        return 0;
    }

    private void print() {
        out.println(requests + " requests of GET " + target + ", one after the other, to " + found.fact("application")
                + ".");
        out.println("CPU: " + found.fact(CPU) + ", " + found.fact("cpus") + " of them. PHP " + found.fact("php")
                + ", opcache " + found.fact("opcache") + ". Java " + found.fact("java") + ".\n");
        out.println(String.format(Locale.ROOT, "%-18s%12s%12s%12s%9s", "", "p50 µs", "p95 µs", "p99 µs", "share"));
        Times total = found.times(Part.TOTAL);
        double sum = total == null ? 0 : total.p50();
        for (Part part : Part.values()) {
            Times times = found.times(part);
            if (times != null && part != Part.TOTAL) {
                row(part.title(), times, sum);
            }
        }
        if (total != null) {
            row(Part.TOTAL.title(), total, sum);
        }
        out.println("\nAfter the answer: " + found.fact("after-answer-micros-p50")
                + " µs (p50), which no client waits for.");
        out.println("PHP: " + found.fact("php-cpu-micros-per-request") + " µs of CPU a request, peak memory "
                + Long.parseLong(found.fact("php-peak-memory-bytes")) / 1024 + " KiB. Supervisor: "
                + found.fact("supervisor-bytes-per-request") + " bytes allocated a request, this client's among them.");
        if (!found.fact("answers-other-than-200").isEmpty()) {
            out.println("Not every answer was a 200: " + found.fact("answers-other-than-200")
                    + ". Is this the path that you mean?");
        }
        String advice = found.fact("advice");
        if (!advice.isEmpty()) {
            out.println("\nWhat costs time here:");
            for (String line : advice.split(" \\| ", -1)) {
                out.println(" - " + line + ".");
            }
        }
    }

    private void row(String title, Times times, double total) {
        out.println(String.format(
                Locale.ROOT,
                "%-18s%12.1f%12.1f%12.1f%8.0f%%",
                title,
                times.p50(),
                times.p95(),
                times.p99(),
                total == 0 ? 0 : 100 * times.p50() / total));
    }

    private void compare(Measurements before, boolean anyCpu) {
        boolean same =
                before.fact(CPU).equals(found.fact(CPU)) && before.fact("cpus").equals(found.fact("cpus"));
        if (!same && !anyCpu) {
            throw new CommandException(
                    CommandException.FAILED,
                    "--compare: these were measured on " + before.fact("cpus") + " x " + before.fact(CPU) + ", this is "
                            + found.fact("cpus") + " x " + found.fact(CPU)
                            + "; such times say nothing about each other. --any-cpu compares them all the same");
        }
        out.println("\nCompared with the saved run" + (same ? "" : ", of another CPU") + ":");
        for (String fact : List.of("path", "application", "php", "opcache", "cetane", "java")) {
            if (!before.fact(fact).equals(found.fact(fact))) {
                out.println(" - " + fact + ": " + before.fact(fact) + " then, " + found.fact(fact) + " now");
            }
        }
        out.println(String.format(Locale.ROOT, "%-18s%12s%12s%9s   %s", "", "then µs", "now µs", "ratio", "spread"));
        for (Part part : Part.values()) {
            Times then = before.times(part);
            Times now = found.times(part);
            if (then != null && now != null) {
                out.println(String.format(
                        Locale.ROOT,
                        "%-18s%12.1f%12.1f%9s   %s",
                        part.title(),
                        then.p50(),
                        now.p50(),
                        ratio(now.p50(), then.p50()),
                        ratio(now.low(), then.high()) + " … " + ratio(now.high(), then.low())));
            }
        }
        out.println(
                "The spread is that of the quartiles of ten parts of each run; where it holds 1.00, nothing is proved.");
    }

    private static String ratio(double now, double then) {
        return then == 0 ? "-" : String.format(Locale.ROOT, "%.2f", now / then);
    }

    /** Passes everything on, and keeps what has become of each request. On event loops. */
    private record Observer(HttpListener listener, BlockingQueue<RequestReport> reports) implements HttpListener {
        @Override
        public void connectionOpened() {
            listener.connectionOpened();
        }

        @Override
        public void connectionClosed() {
            listener.connectionClosed();
        }

        @Override
        public void connectionRefused() {
            listener.connectionRefused();
        }

        @Override
        public void ended(RequestReport report) {
            // Only a stranger's requests can be too many.
            boolean kept = reports.offer(report);
            if (kept) {
                listener.ended(report);
            }
        }

        @Override
        public void answered(int status, long durationNanos, long receiveNanos, long transferNanos) {
            listener.answered(status, durationNanos, receiveNanos, transferNanos);
        }

        @Override
        public void fileServed(int status) {
            listener.fileServed(status);
        }

        @Override
        public void abandoned(long durationNanos) {
            listener.abandoned(durationNanos);
        }

        @Override
        public void aborted(long durationNanos) {
            listener.aborted(durationNanos);
        }
    }
}
