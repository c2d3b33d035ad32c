package dev.cetane.protocol;

import org.jspecify.annotations.Nullable;

/** The frames of PROTOCOL.md §3 with their limits, §7. */
public enum FrameType {
    HELLO(0x01, Direction.TO_WORKER, 20, 61_428),
    REQUEST(0x02, Direction.TO_WORKER, 24, 57_332, FrameType.BODY_IN_FILE | FrameType.FORM),
    CANCEL(0x03, Direction.TO_WORKER, 0, 0),
    STOP(0x04, Direction.TO_WORKER, 0, 0),
    READY(0x41, Direction.FROM_WORKER, 10, 65_524),
    HEAD(0x42, Direction.FROM_WORKER, 12, 65_524),
    DATA(0x43, Direction.FROM_WORKER, 1, 16_777_216),
    FILE(0x44, Direction.FROM_WORKER, 17, 65_524, FrameType.DELETE, Capability.FILE, false),
    END(0x45, Direction.FROM_WORKER, 0, 0),
    DONE(0x46, Direction.FROM_WORKER, 20, 20, FrameType.LAST),
    ERROR(0x47, Direction.FROM_WORKER, 1, 65_524),
    LOG(0x48, Direction.FROM_WORKER, 1, 65_524),

    TASK(0x06, Direction.TO_WORKER, 4, 57_332, FrameType.MORE, Capability.TASK, false),
    TICK(0x07, Direction.TO_WORKER, 0, 0, 0, Capability.TICK, false),
    REPLY(0x08, Direction.TO_WORKER, 1, 57_332, FrameType.MORE, Capability.CALL, false),
    CALL(0x49, Direction.FROM_WORKER, 1, 65_524, FrameType.MORE, Capability.CALL, false),
    CHECKPOINT(0x0A, Direction.TO_WORKER, 0, 0, 0, Capability.SNAPSHOT, false),
    RESTORED(0x0B, Direction.TO_WORKER, 0, 0, 0, Capability.SNAPSHOT, false),
    EVENT(0x05, Direction.TO_WORKER, 24, 57_332, FrameType.BODY_IN_FILE, Capability.EVENT, false),
    METRICS(0x4B, Direction.FROM_WORKER, 6, 65_524, 0, Capability.METRICS, false),

    PING(0x09, Direction.TO_WORKER, Capability.PING),
    PONG(0x4A, Direction.FROM_WORKER, Capability.PING);

    /** Who sends a frame. */
    public enum Direction {
        TO_WORKER,
        FROM_WORKER
    }

    /** First byte of every frame. */
    public static final int MAGIC = 0xCE;

    /** Bytes of magic, type, flags, length and request number. */
    public static final int HEADER_BYTES = 12;

    /** REQUEST and EVENT: the body field is the path of the file that holds the body. */
    public static final int BODY_IN_FILE = 0x0001;

    /** REQUEST: the body field is a multipart form that the supervisor has read; needs {@link Capability#FORM}. */
    public static final int FORM = 0x0002;

    /** FILE: the supervisor deletes the file. */
    public static final int DELETE = 0x0001;

    /** CALL: the next CALL goes on with it. REPLY and TASK: the worker asks for the rest. */
    public static final int MORE = 0x0001;

    /** DONE: the worker takes no further request. */
    public static final int LAST = 0x0001;

    private static final @Nullable FrameType[] BY_CODE = new @Nullable FrameType[256];

    static {
        for (FrameType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;
    private final Direction direction;
    private final int minPayload;
    private final int maxPayload;
    private final int flags;
    private final @Nullable Capability capability;
    private final boolean reserved;

    FrameType(int code, Direction direction, int minPayload, int maxPayload) {
        this(code, direction, minPayload, maxPayload, 0, null, false);
    }

    FrameType(int code, Direction direction, int minPayload, int maxPayload, int flags) {
        this(code, direction, minPayload, maxPayload, flags, null, false);
    }

    FrameType(int code, Direction direction, Capability capability) {
        this(code, direction, 0, 0, 0, capability, true);
    }

    FrameType(
            int code,
            Direction direction,
            int minPayload,
            int maxPayload,
            int flags,
            @Nullable Capability capability,
            boolean reserved) {
        this.code = code;
        this.direction = direction;
        this.minPayload = minPayload;
        this.maxPayload = maxPayload;
        this.flags = flags;
        this.capability = capability;
        this.reserved = reserved;
    }

    /** The type with this code, null when there is none. */
    static @Nullable FrameType of(int code) {
        return BY_CODE[code & 0xFF];
    }

    public int code() {
        return code;
    }

    public Direction direction() {
        return direction;
    }

    /** Fewest payload bytes. */
    public int minPayload() {
        return minPayload;
    }

    /** Most payload bytes. */
    public int maxPayload() {
        return maxPayload;
    }

    /** The flag bits that may be set. */
    public int flags() {
        return flags;
    }

    /** What must have been agreed on before this frame is sent, null when nothing. */
    public @Nullable Capability capability() {
        return capability;
    }

    /** Named in the specification, but of no version that this codec speaks: always a violation. */
    public boolean reserved() {
        return reserved;
    }
}
