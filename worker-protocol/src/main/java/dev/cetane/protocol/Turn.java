package dev.cetane.protocol;

import dev.cetane.protocol.ProtocolException.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is between the supervisor and one worker, PROTOCOL.md §6: what the worker may send next, and which request runs.
 *
 * <p>Two threads take turns as the streams do: the one that dispatches calls {@link #nextRequest} and {@link #begin} while the
 * worker is idle, before it writes the REQUEST frame; from then to DONE the rest belongs to the thread that runs the
 * {@link FrameDecoder}. The state is volatile, so that the reading thread sees the request that it reads the answer to. A CALL that waits for its REPLY
 * belongs to whoever has the reply, and {@link #replied} gives the turn back to the reading thread.
 */
public final class Turn {

    private enum State {
        /** HELLO was or will be sent; READY has not arrived. */
        BOOTING,
        IDLE,
        /** A request was sent; the final HEAD has not arrived. */
        WAITING,
        /** The final HEAD has arrived. */
        ANSWERING,
        /** END or ERROR(EXCEPTION) has arrived; only DONE is missing. */
        TERMINATING,
        /** ERROR(FATAL) has arrived; only DONE with LAST is missing. */
        DYING,
        /** Only the exit of the process is missing. */
        LEAVING
    }

    private enum Call {
        NONE,
        /** A CALL with MORE has arrived: only the rest of it may. */
        UNFINISHED,
        /** A whole CALL has arrived and its REPLY was not written: nothing may arrive. */
        PENDING
    }

    private final Hello offer;
    private volatile State state = State.BOOTING;
    private volatile Call call = Call.NONE;
    private volatile @Nullable Agreement agreement;
    private int request;
    private long promised;
    private long sent;

    /** A conversation that this HELLO opens. */
    public Turn(Hello offer) {
        this.offer = offer;
    }

    /** The number that the next request must have; unsigned. */
    public int nextRequest() {
        return numberAfter(request);
    }

    /** The numbers go round, leaving out 0. */
    static int numberAfter(int request) {
        return request == -1 ? 1 : request + 1;
    }

    /**
     * The request is about to be written.
     *
     * @throws IllegalStateException when the worker is not idle, or the number is not the next
     */
    public void begin(int number) {
        if (state != State.IDLE || number != nextRequest()) {
            throw new IllegalStateException("request " + Integer.toUnsignedString(number) + " begun in state " + state
                    + " after request " + Integer.toUnsignedString(request));
        }
        request = number;
        state = State.WAITING;
    }

    /** Whether the worker can be given a request. */
    public boolean idle() {
        return state == State.IDLE;
    }

    /** Whether the worker has announced that it takes no further request. */
    public boolean leaving() {
        return state == State.LEAVING;
    }

    /** What HELLO and READY have settled, null before READY. */
    public @Nullable Agreement agreement() {
        return agreement;
    }

    /**
     * The REPLY to the pending CALL is about to be written, by whatever thread has it; the worker may speak again.
     *
     * @throws IllegalStateException when no CALL is pending
     */
    public void replied() {
        if (call != Call.PENDING) {
            throw new IllegalStateException("no CALL of request " + Integer.toUnsignedString(request) + " is pending");
        }
        call = Call.NONE;
    }

    /** Whether a CALL waits for its REPLY. */
    public boolean calling() {
        return call == Call.PENDING;
    }

    /** Whether this may be used; nothing needs no agreement. */
    boolean agreed(@Nullable Capability capability) {
        if (capability == null) {
            return true;
        }
        Agreement settled = agreement;
        if (settled == null) {
            // Calls are how an application sets up what its workers share, so they are there while it boots.
            return capability == Capability.CALL && offer.capabilities().contains(capability);
        }
        return settled.has(capability);
    }

    /** Checks a frame by its header alone, before its payload is looked at. */
    void admit(FrameType type, int flags, int number, long length, long offset) {
        State now = state;
        boolean allowed = switch (type) {
            case LOG -> true;
            case ERROR -> now != State.LEAVING;
            case READY -> now == State.BOOTING;
            case HEAD -> now == State.WAITING;
            case DATA, FILE, END -> now == State.ANSWERING;
            case DONE -> now == State.TERMINATING || (now == State.DYING && flags == FrameType.LAST);
            case METRICS -> now == State.TERMINATING || now == State.DYING;
            case CALL -> now != State.IDLE && now != State.LEAVING;
            default -> false;
        };
        Call asked = call;
        if (asked != Call.NONE && type != FrameType.ERROR) {
            allowed = asked == Call.UNFINISHED && type == FrameType.CALL;
        }
        if (!allowed) {
            throw outOfTurn(type.name(), type, number, offset);
        }
        // Which number ERROR may have depends on its kind.
        if (type != FrameType.ERROR && !numberFits(type, number)) {
            throw wrongNumber(type, number, offset);
        }
        if (type == FrameType.DATA) {
            addBody(type, length, offset);
        } else if (type == FrameType.CALL) {
            call = (flags & FrameType.MORE) != 0 ? Call.UNFINISHED : Call.PENDING;
        } else if (type == FrameType.END) {
            if (promised != ResponseHead.UNKNOWN_LENGTH && sent != promised) {
                throw new ProtocolException(
                        Violation.BODY_LENGTH,
                        type,
                        offset,
                        "HEAD of request " + Integer.toUnsignedString(number) + " promised " + promised
                                + " body bytes, END came after " + sent);
            }
            state = State.TERMINATING;
        }
    }

    void ready(Ready ready, long offset) {
        int version = ready.version();
        if (version < offer.lowestVersion() || version > offer.highestVersion()) {
            throw new ProtocolException(
                    Violation.NEGOTIATION,
                    FrameType.READY,
                    offset,
                    "version " + version + " was chosen, " + offer.lowestVersion() + " to " + offer.highestVersion()
                            + " were offered");
        }
        for (String name : ready.facts().getOrDefault(Hello.CAPABILITIES, "").split(" ", -1)) {
            Capability capability = Capability.of(name);
            if (!name.isEmpty() && (capability == null || !offer.capabilities().contains(capability))) {
                throw new ProtocolException(
                        Violation.NEGOTIATION,
                        FrameType.READY,
                        offset,
                        "a capability that was not offered was chosen; offered: "
                                + Capability.format(offer.capabilities()));
            }
        }
        agreement = new Agreement(version, ready.capabilities());
        state = State.IDLE;
    }

    void head(ResponseHead head) {
        if (!head.interim()) {
            promised = head.bodyLength();
            sent = 0;
            state = State.ANSWERING;
        }
    }

    void file(FileRange range, long offset) {
        addBody(FrameType.FILE, range.length(), offset);
    }

    void done(Done done) {
        state = done.last() ? State.LEAVING : State.IDLE;
    }

    void error(ErrorReport.Kind kind, int number, long offset) {
        State now = state;
        boolean running = now == State.WAITING || now == State.ANSWERING;
        boolean allowed = switch (kind) {
            case EXCEPTION, FATAL -> running && call == Call.NONE;
            case BOOT -> now == State.BOOTING && call == Call.NONE;
            case PROTOCOL -> true;
        };
        if (!allowed) {
            throw outOfTurn("ERROR(" + kind + ")", FrameType.ERROR, number, offset);
        }
        boolean numberFits = switch (kind) {
            case EXCEPTION, FATAL -> number == request;
            case BOOT -> number == 0;
            case PROTOCOL -> true;
        };
        if (!numberFits) {
            throw wrongNumber(FrameType.ERROR, number, offset);
        }
        state = switch (kind) {
            case EXCEPTION -> State.TERMINATING;
            case FATAL -> State.DYING;
            case BOOT, PROTOCOL -> State.LEAVING;
        };
    }

    private boolean numberFits(FrameType type, int number) {
        return switch (type) {
            case READY -> number == 0;
            case LOG -> number == 0 || number == request;
            default -> number == request;
        };
    }

    private void addBody(FrameType type, long length, long offset) {
        if (length > (promised == ResponseHead.UNKNOWN_LENGTH ? Long.MAX_VALUE : promised) - sent) {
            throw new ProtocolException(
                    Violation.BODY_LENGTH,
                    type,
                    offset,
                    "HEAD of request " + Integer.toUnsignedString(request) + " promised "
                            + (promised == ResponseHead.UNKNOWN_LENGTH ? "no length, the count overflows" : promised)
                            + " body bytes, " + sent + " came and this frame brings " + length);
        }
        sent += length;
    }

    private ProtocolException outOfTurn(String what, FrameType type, int number, long offset) {
        String when = switch (call) {
            case NONE -> place();
            case UNFINISHED -> "where the rest of a CALL is due";
            case PENDING -> "while its CALL waits for the REPLY";
        };
        return new ProtocolException(
                Violation.TURN, type, offset, what + " for request " + Integer.toUnsignedString(number) + " " + when);
    }

    private String place() {
        return switch (state) {
            case BOOTING -> "before READY";
            case IDLE -> "while no request runs";
            case WAITING -> "before the final HEAD of request " + Integer.toUnsignedString(request);
            case ANSWERING -> "after the final HEAD of request " + Integer.toUnsignedString(request);
            case TERMINATING -> "where DONE of request " + Integer.toUnsignedString(request) + " is due";
            case DYING -> "where DONE with LAST of request " + Integer.toUnsignedString(request) + " is due";
            case LEAVING -> "after the worker's last frame";
        };
    }

    private ProtocolException wrongNumber(FrameType type, int number, long offset) {
        return new ProtocolException(
                Violation.REQUEST_NUMBER,
                type,
                offset,
                "request number " + Integer.toUnsignedString(number) + ", the last request begun is "
                        + Integer.toUnsignedString(request));
    }
}
