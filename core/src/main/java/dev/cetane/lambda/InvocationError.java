package dev.cetane.lambda;

import dev.cetane.worker.WorkerException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Why an invocation, or the start, has failed. Immutable.
 *
 * @param type {@code Runtime.} or {@code Function.} and a word in camel case, as the Runtime API wants it
 * @param message for the one who invoked the function
 * @param body the whole error as JSON where the function has made it, else null
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; a copy of an event costs more than all else
record InvocationError(String type, String message, byte @Nullable [] body) {
    /** The API takes no more of an error. */
    private static final int MAX_BODY = 1024 * 1024;

    private static final int MAX_MESSAGE = 64 * 1024;

    InvocationError(String type, String message) {
        this(type, message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message, null);
    }

    /** What is told of a job that has ended without an answer. */
    static InvocationError of(WorkerException problem) {
        String type = switch (problem.kind()) {
            case TIMED_OUT -> "Function.TimedOut";
            case CRASHED -> "Runtime.ExitError";
            case PROTOCOL -> "Runtime.ProtocolError";
            case APPLICATION -> "Function.Unhandled";
            case UNDELIVERABLE -> "Runtime.EventTooLarge";
            case BOOT_FAILED -> "Runtime.InitError";
            default -> "Runtime.NoWorker";
        };
        String detail = problem.publicDetail();
        return new InvocationError(type, detail == null ? String.valueOf(problem.getMessage()) : detail);
    }

    /** What the API gets. */
    byte[] json() {
        if (body != null && body.length <= MAX_BODY) {
            return body;
        }
        ByteWriter json = new ByteWriter();
        json.put("{\"errorMessage\":")
                .unicode(body == null ? message : "The function's description of its error has more than 1 MB.");
        json.put(",\"errorType\":").string(type);
        json.put(",\"stackTrace\":[]}");
        return Arrays.copyOf(json.array(), json.length());
    }
}
