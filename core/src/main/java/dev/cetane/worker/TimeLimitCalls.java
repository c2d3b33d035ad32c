package dev.cetane.worker;

import dev.cetane.protocol.MalformedCallException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Takes the call that gives the running request another time limit, PROTOCOL.md §9.4. Immutable; on the reader thread of the worker that calls.
 */
public final class TimeLimitCalls {
    /** The operation. */
    public static final int RESTART = 0x30;

    private static final byte DONE = 0;
    private static final byte REFUSED = 5;
    private static final int CALL_BYTES = 5;

    private final Duration most;

    /** @param most longest limit that is granted, zero: none is */
    public TimeLimitCalls(Duration most) {
        this.most = most;
    }

    /**
     * Takes one call.
     *
     * @throws MalformedCallException when it does not fit its layout
     */
    public void call(Caller caller, ByteBuffer call) {
        if (call.remaining() != CALL_BYTES) {
            throw new MalformedCallException("a call for a time limit has " + call.remaining() + " bytes");
        }
        long asked = Integer.toUnsignedLong(call.getInt(call.position() + 1));
        long granted = asked == 0 ? most.toMillis() : Math.min(asked, most.toMillis());
        TimeLimit limit =
                new TimeLimit(Duration.ofMillis(granted), "what the application has set by Cetane\\TimeLimit");
        if (granted == 0) {
            refuse(caller, "pool.longest-request is 0, so requests keep their time limits");
        } else if (!caller.restartLimit(limit)) {
            refuse(caller, "no request runs that could have another time limit");
        } else {
            caller.begin().put(DONE).putInt((int) granted);
        }
        caller.reply();
    }

    private static void refuse(Caller caller, String why) {
        caller.begin().put(REFUSED).put(why.getBytes(StandardCharsets.UTF_8));
    }
}
