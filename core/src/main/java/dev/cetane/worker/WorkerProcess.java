package dev.cetane.worker;

import dev.cetane.protocol.Ready;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One worker's process and pipes, as the pool sees it. Methods say which thread calls them; none is called with the pool's lock held,
 * and none blocks longer than a process takes to be started.
 */
interface WorkerProcess {

    /** Starts the process and its threads. Maintenance thread, once. */
    void start() throws IOException;

    /** Process id, 0 before {@link #start}. Any thread. */
    long pid();

    /**
     * Encodes the job and writes its REQUEST frame. Dispatching thread.
     *
     * @throws UndeliverableException the job cannot be written as one frame; nothing was written
     * @throws IOException the worker is gone and has taken nothing
     */
    void send(Exchange exchange) throws IOException, UndeliverableException;

    /** Tells the worker that the client of this exchange has left, if it is still the running one. Any thread. */
    void cancel(Exchange exchange);

    /** Writes STOP: the worker leaves once idle. Any thread. */
    void askToStop();

    /** SIGTERM to the process group. Maintenance thread. */
    void terminate();

    /** SIGKILL to the process group; what is still in the pipe is not waited for. Maintenance thread. */
    void kill();

    /** Resident memory that the process does not share, bytes; 0 when unknown. Any thread. */
    long privateMemoryBytes();

    /** What a process tells the pool. */
    interface Owner {

        /** READY has arrived. Reader thread, once. */
        void ready(Ready ready);

        /**
         * DONE has arrived: the worker can take its next job, and may have it when this returns. Reader thread.
         *
         * @param last the worker takes no further request and is about to exit
         */
        void finished(Exchange exchange, boolean last);

        /** The exchange has another time limit. Reader thread. */
        void limited(Exchange exchange);

        /** The worker broke the protocol. Reader or dispatching thread; what the worker still sends is of no use. */
        void violated(String message);

        /** The process has ended and nothing more of it will arrive. Maintenance thread, once, the last call. */
        void ended(Ending ending);
    }

    /**
     * A fatal error of PHP, which the process does not survive.
     *
     * @param request {@link Job#describe()} of the request that caused it
     */
    record Fatal(String message, String request, String requestId) {}

    /**
     * How a process ended.
     *
     * @param exitCode as the process left it; 128 + n for signal n; {@link #UNKNOWN} when only its parent knows
     * @param untaken the exchange whose frame the worker has not read to its end, so that another worker can serve it
     * @param bootError the message of ERROR(BOOT), if one came
     * @param fatal the fatal error that it told of, if it did
     * @param lastOutput the last lines it printed, may be empty
     */
    record Ending(
            int exitCode,
            @Nullable Exchange untaken,
            @Nullable String bootError,
            @Nullable Fatal fatal,
            String lastOutput) {
        /** Of a process that is not the supervisor's own child. */
        static final int UNKNOWN = -1;

        boolean clean() {
            return exitCode == 0;
        }

        /** By SIGKILL: nothing that the application does to itself, so no sign that the next one fares the same. */
        boolean killed() {
            return exitCode == 128 + 9;
        }

        /** For people: {@code exit code 255}, {@code signal 9 (KILL)}. */
        String describe() {
            if (exitCode == UNKNOWN) {
                return "an unknown cause";
            }
            int signal = exitCode - 128;
            return switch (signal) {
                case 1 -> "signal 1 (HUP)";
                case 2 -> "signal 2 (INT)";
                case 3 -> "signal 3 (QUIT)";
                case 4 -> "signal 4 (ILL)";
                case 6 -> "signal 6 (ABRT)";
                case 7 -> "signal 7 (BUS)";
                case 8 -> "signal 8 (FPE)";
                case 9 -> "signal 9 (KILL)";
                case 11 -> "signal 11 (SEGV)";
                case 13 -> "signal 13 (PIPE)";
                case 15 -> "signal 15 (TERM)";
                default -> signal > 0 && signal <= 64 ? "signal " + signal : "exit code " + exitCode;
            };
        }
    }

    /** The job cannot be written as one frame; its message says why. */
    final class UndeliverableException extends Exception {
        private static final long serialVersionUID = 1;

        UndeliverableException(String message, @Nullable Throwable cause) {
            super(message, cause, false, false);
        }
    }

    /** Makes processes that are not yet started; the pool's seam for tests. */
    interface Factory {
        WorkerProcess create(int workerId, Generation generation, Owner owner);

        /** No worker is left, and none is made any more: ends what they have shared. */
        default void close() {}
    }
}
