package dev.cetane.worker;

import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.log.FileReason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A worker's operating-system process, its FIFOs and its end. Lives on the maintenance thread; {@link #send}, {@link #cancel} and
 * {@link #askToStop} go straight to the {@link WorkerLink}.
 *
 * <p>The end of a worker is the exit of its process. What it wrote before is read to the end of the pipes; when a child of the worker
 * holds them open, that wait is cut short. Whatever is left of the process group then is killed: what a worker started ends with it.
 */
final class PhpProcess implements WorkerProcess {
    private static final long PIPES_END_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long OUTPUT_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long OUTPUT_LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int OUTPUT_IDLE_LOOKS = 10;

    private final PoolConfig config;
    private final WorkerServices services;
    private final Path runDirectory;
    private final Ticker ticker;
    private final EventLog log;
    private final Maintenance maintenance;
    private final int workerId;
    private final Generation generation;
    private final Owner owner;

    private @Nullable WorkerLink link;
    private @Nullable WorkerOutput output;
    private volatile @Nullable Process process;
    private volatile boolean outputWatched;
    private boolean exited;
    private boolean killed;
    private boolean ended;

    /** Makes the processes of one pool. */
    record Factory(
            PoolConfig config,
            WorkerServices services,
            Path runDirectory,
            Ticker ticker,
            EventLog log,
            Maintenance maintenance)
            implements WorkerProcess.Factory {
        @Override
        public WorkerProcess create(int workerId, Generation generation, Owner owner) {
            return new PhpProcess(this, workerId, generation, owner);
        }
    }

    private PhpProcess(Factory factory, int workerId, Generation generation, Owner owner) {
        config = factory.config;
        services = factory.services;
        runDirectory = factory.runDirectory;
        ticker = factory.ticker;
        log = factory.log;
        maintenance = factory.maintenance;
        this.workerId = workerId;
        this.generation = generation;
        this.owner = owner;
    }

    private Path fifo(String end) {
        return runDirectory.resolve("worker-" + workerId + "." + end);
    }

    @Override
    public void start() throws IOException {
        Path in = fifo("in");
        Path out = fifo("out");
        Path print = fifo("print");
        // Left by who started this process and PHP at the same moment; PHP boots already.
        Path booted = fifo("pid");
        boolean isBooted = Files.exists(booted);
        if (!isBooted) {
            makeFifos(in, out, print);
        }
        try {
            WorkerOutput printed =
                    new WorkerOutput(workerId, generation.application().kind(), print, config, ticker, log);
            output = printed;
            WorkerLink started = new WorkerLink(
                    workerId,
                    in,
                    out,
                    generation.hello(services, config.requestTimeout()),
                    services,
                    config.requestTimeout(),
                    ticker,
                    log,
                    printed,
                    owner,
                    this::connected,
                    this::pipeEnded);
            link = started;
            Process php = isBooted ? BootedProcess.of(booted) : launch(print);
            process = php;
            started.start();
            watchOutput();
            awaitExit(php);
        } catch (IOException | RuntimeException | Error e) {
            abort();
            throw e;
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // its one action cannot fail
    private void awaitExit(Process php) {
        php.onExit().thenRun(() -> maintenance.execute(this::exited));
    }

    private Process launch(Path print) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(generation.command())
                .directory(generation.directory().toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectErrorStream(true)
                .redirectOutput(print.toFile());
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(generation.application().environment());
        environment.put("CETANE_IN", fifo("in").toString());
        environment.put("CETANE_OUT", fifo("out").toString());
        environment.put("CETANE_WORKER", Integer.toString(workerId));
        Path application = generation.application().kind() == ApplicationKind.LARAVEL
                ? generation.directory()
                : generation.script();
        environment.put("CETANE_APP", application.toString());
        try {
            return builder.start();
        } catch (IOException e) {
            throw new IOException(
                    generation.application().php() + " cannot be started: " + e.getMessage() + "; see app.php", e);
        }
    }

    private static void makeFifos(Path... fifos) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("mkfifo", "-m", "600").redirectErrorStream(true);
        for (Path fifo : fifos) {
            builder.command().add(fifo.toString());
        }
        String said;
        int code;
        try {
            Process mkfifo = builder.start();
            said = new String(mkfifo.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            code = mkfifo.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the FIFOs were made", e);
        }
        if (code != 0) {
            throw new IOException("the FIFOs of a worker cannot be made: " + said);
        }
    }

    @Override
    public long pid() {
        Process started = process;
        return started == null ? 0 : started.pid();
    }

    @Override
    public void send(Exchange exchange) throws IOException, UndeliverableException {
        link().send(exchange);
        watchOutput();
    }

    /** Sees to it that output is looked at now and then; costs nothing while that goes on already. Any thread. */
    private void watchOutput() {
        if (!outputWatched) {
            outputWatched = true;
            maintenance.schedule(() -> lookAtOutput(OUTPUT_LOOK_NANOS, 0), OUTPUT_LOOK_NANOS);
        }
    }

    /**
     * Takes what was printed and comes back: at once while more comes, ever later while nothing does, no more when the worker has had
     * nothing to do for a while.
     */
    private void lookAtOutput(long waitedNanos, int idleLooks) {
        WorkerOutput printed = output;
        if (ended || printed == null) {
            return;
        }
        boolean found = printed.take();
        int idle = found || link().busy() ? 0 : idleLooks + 1;
        if (idle < OUTPUT_IDLE_LOOKS) {
            long wait = found ? OUTPUT_LOOK_AGAIN_NANOS : Math.min(2 * waitedNanos, OUTPUT_LOOK_NANOS);
            maintenance.schedule(() -> lookAtOutput(wait, idle), wait);
        } else {
            outputWatched = false;
            if (link().busy()) {
                // Sent since the look, by a thread that may have seen the old value.
                watchOutput();
            }
        }
    }

    @Override
    public void cancel(Exchange exchange) {
        link().cancel(exchange);
    }

    @Override
    public void askToStop() {
        link().stop();
    }

    /** The link is made before the worker can be ready, and so before anybody can use it. */
    private WorkerLink link() {
        WorkerLink made = link;
        if (made == null) {
            throw new IllegalStateException("worker " + workerId + " was not started");
        }
        return made;
    }

    @Override
    public void terminate() {
        Process started = process;
        if (started != null && !exited && !signalGroup(started, "TERM")) {
            started.destroy();
        }
    }

    @Override
    public void kill() {
        Process started = process;
        killed = true;
        if (started != null && !ended) {
            started.destroyForcibly();
            signalGroup(started, "KILL");
            if (exited) {
                end();
            }
        }
    }

    /** The worker leads a process group where {@code setsid} is there; else there is no such group, which is no error. */
    private boolean signalGroup(Process leader, String signal) {
        try {
            return ProcessGroup.signal(leader.pid(), signal);
        } catch (IOException e) {
            log.log(
                    Level.ERROR,
                    "worker.signal-failed",
                    null,
                    "worker " + workerId + " (pid " + leader.pid() + "): its process group cannot be signalled: "
                            + e.getMessage());
            return false;
        }
    }

    @Override
    public long privateMemoryBytes() {
        Process started = process;
        return started == null ? 0 : WatchedProcess.privateMemoryBytes(started.pid());
    }

    private void exited() {
        exited = true;
        if (ended) {
            return;
        }
        link().processEnded();
        if (killed || link().ended()) {
            end();
        } else {
            awaitPipes(link().progress());
        }
    }

    /** The worker has opened its ends: nobody needs the names any more, and nobody else can open them. Reader thread. */
    private void connected() {
        maintenance.execute(this::deleteFifos);
    }

    /** The reader has come to the end of its pipe. Any thread. */
    private void pipeEnded() {
        maintenance.execute(() -> {
            if (exited) {
                end();
            } else {
                // It has closed its pipe and can do nothing more for anybody; normally its exit is just about to be
                // seen.
                maintenance.schedule(
                        () -> {
                            if (!exited) {
                                kill();
                            }
                        },
                        config.killGrace().toNanos());
            }
        });
    }

    /** Ends when the pipes are not at their end although nothing has arrived for a while and nobody is taking what has. */
    private void awaitPipes(long progress) {
        maintenance.schedule(
                () -> {
                    if (!ended) {
                        long now = link().progress();
                        if (!link().ended() && (now != progress || link().inSink())) {
                            awaitPipes(now);
                        } else {
                            end();
                        }
                    }
                },
                PIPES_END_NANOS);
    }

    private void end() {
        Process gone = process;
        if (ended || gone == null) {
            return;
        }
        ended = true;
        signalGroup(gone, "KILL");
        Exchange untaken = link().close();
        String lines = output == null ? "" : output.close();
        deleteFifos();
        owner.ended(new Ending(gone.exitValue(), untaken, link().bootError(), link().fatal(), lines));
    }

    /** The start has failed half-way. */
    private void abort() {
        ended = true;
        Process started = process;
        if (started != null) {
            started.destroyForcibly();
            signalGroup(started, "KILL");
        }
        if (link != null) {
            link.close();
        }
        if (output != null) {
            output.close();
        }
        deleteFifos();
    }

    private void deleteFifos() {
        for (String end : List.of("in", "out", "print", "pid")) {
            try {
                Files.deleteIfExists(fifo(end));
            } catch (IOException e) {
                log.log(Level.WARN, "worker.fifo-left", null, fifo(end) + " cannot be deleted: " + FileReason.of(e));
            }
        }
    }
}
