package dev.cetane.worker;

import dev.cetane.protocol.Ready;
import dev.cetane.protocol.ResponseHead;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A worker's process that does what the test says. */
final class ScriptedProcess implements WorkerProcess {
    final int workerId;
    final Generation generation;
    final Owner owner;
    private final ManualTicker ticker;

    Exchange running;
    boolean started;
    boolean ready;
    boolean askedToStop;
    boolean terminated;
    boolean killed;
    boolean ended;
    boolean cancelled;
    long memoryBytes;

    /** Where the processes of a test are made. */
    static final class Factory implements WorkerProcess.Factory {
        final List<ScriptedProcess> made = new ArrayList<>();
        private final ManualTicker ticker;
        String startFailure;
        boolean nextSendFails;

        Factory(ManualTicker ticker) {
            this.ticker = ticker;
        }

        @Override
        public WorkerProcess create(int workerId, Generation generation, Owner owner) {
            ScriptedProcess process = new ScriptedProcess(this, workerId, generation, owner);
            made.add(process);
            return process;
        }

        List<ScriptedProcess> alive() {
            return made.stream()
                    .filter(process -> process.started && !process.ended)
                    .toList();
        }

        ScriptedProcess last() {
            return made.get(made.size() - 1);
        }
    }

    private final Factory factory;

    private ScriptedProcess(Factory factory, int workerId, Generation generation, Owner owner) {
        this.factory = factory;
        this.workerId = workerId;
        this.generation = generation;
        this.owner = owner;
        ticker = factory.ticker;
    }

    // ---- what the pool asks ----

    @Override
    public void start() throws IOException {
        if (factory.startFailure != null) {
            throw new IOException(factory.startFailure);
        }
        started = true;
    }

    @Override
    public long pid() {
        return 1000L + workerId;
    }

    @Override
    public void send(Exchange exchange) throws IOException, UndeliverableException {
        if (!ready || ended || askedToStop) {
            throw new AssertionError("worker " + workerId + " is given a job but is not idle");
        }
        if (running != null) {
            throw new AssertionError("worker " + workerId + " is given a second job");
        }
        if (factory.nextSendFails) {
            factory.nextSendFails = false;
            throw new IOException("Broken pipe");
        }
        try {
            exchange.job.encode(null);
        } catch (IllegalArgumentException e) {
            throw new UndeliverableException(e.getMessage(), e);
        } catch (NullPointerException noEncoder) {
            // The pool does not look into the frame.
        }
        running = exchange;
        exchange.sent(ticker.nanos());
    }

    @Override
    public void cancel(Exchange exchange) {
        cancelled = true;
    }

    @Override
    public void askToStop() {
        askedToStop = true;
    }

    @Override
    public void terminate() {
        terminated = true;
    }

    @Override
    public void kill() {
        killed = true;
    }

    @Override
    public long privateMemoryBytes() {
        return memoryBytes;
    }

    // ---- what the test says ----

    void becomeReady() {
        ready = true;
        owner.ready(new Ready(1, Map.of()));
    }

    void head() {
        running.head(new ResponseHead(200, "", -1, List.of()), ticker.nanos());
    }

    void answer() {
        answer(false);
    }

    void answer(boolean last) {
        Exchange exchange = running;
        head();
        exchange.end(ticker.nanos());
        running = null;
        if (last) {
            ready = false;
        }
        owner.finished(exchange, last);
        exchange.done(0, 0, 0, ticker.nanos());
    }

    void violate() {
        owner.violated("Protocol violation for the test");
    }

    void exit(int code) {
        end(new Ending(code, null, null, null, ""));
    }

    void exitWithoutHavingRead(int code) {
        end(new Ending(code, running, null, null, ""));
    }

    void failBoot(String message) {
        end(new Ending(1, null, message, null, ""));
    }

    private void end(Ending ending) {
        ended = true;
        owner.ended(ending);
        running = null;
    }
}
