package dev.cetane.worker;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.protocol.ReplyEncoder;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one worker: puts the pieces of one together, has it answered, and hands out a long reply, or a long task, piece by piece.
 * Belongs to the worker's reader thread from the CALL until it is given to the handler, then to whoever replies: the turn of the protocol
 * makes sure that the two are never at it together, and the volatile fields that the one sees what the other has done.
 */
final class CallLine implements Caller {
    /** Most bytes of a call that comes in several frames. */
    static final int MAX_CALL_BYTES = 8 << 20;

    /** The operation that asks for the rest of a REPLY or a TASK. */
    private static final byte REST = 0x00;

    /** The link to the worker. */
    interface Pipe {
        /** Takes a frame to the worker. */
        void reply(ByteBuffer frame);

        /** As {@link Caller#restartLimit}. */
        boolean restartLimit(TimeLimit limit);
    }

    private final int workerId;
    private final WorkerServices services;
    private final Pipe pipe;
    private @Nullable ReplyEncoder encoder;
    private byte[] gathered = {};
    private int gatheredBytes;
    private volatile int request;
    private volatile @Nullable ByteBuffer rest;

    CallLine(int workerId, WorkerServices services, Pipe pipe) {
        this.workerId = workerId;
        this.services = services;
        this.pipe = pipe;
    }

    @Override
    public int workerId() {
        return workerId;
    }

    @Override
    public boolean runsTasks() {
        return services.role() == WorkerServices.Role.TASK;
    }

    /** A CALL frame has arrived. Reader thread. */
    void take(int number, ByteBuffer payload, boolean more) {
        if (more || gatheredBytes > 0) {
            gather(payload);
            if (more) {
                return;
            }
            payload = ByteBuffer.wrap(gathered, 0, gatheredBytes);
            gatheredBytes = 0;
        }
        request = number;
        if (payload.get(payload.position()) == REST) {
            sendRest(payload);
        } else {
            rest = null;
            services.calls().call(this, payload);
        }
        if (gatheredBytes == 0 && gathered.length > ReplyEncoder.MAX_BYTES) {
            gathered = new byte[0];
        }
    }

    private void gather(ByteBuffer piece) {
        int bytes = gatheredBytes + piece.remaining();
        if (bytes > MAX_CALL_BYTES) {
            throw new MalformedCallException(
                    "a call has " + bytes + " bytes or more, at most " + MAX_CALL_BYTES + " are allowed");
        }
        if (bytes > gathered.length) {
            gathered = Arrays.copyOf(gathered, Math.min(MAX_CALL_BYTES, Math.max(bytes, 2 * gathered.length)));
        }
        int length = piece.remaining();
        piece.get(gathered, gatheredBytes, length);
        gatheredBytes += length;
    }

    private void sendRest(ByteBuffer payload) {
        ByteBuffer left = rest;
        if (payload.remaining() != 1 || left == null) {
            throw new MalformedCallException("the rest of something that has none is asked for");
        }
        send(left);
    }

    /** The part of a task that its frame did not hold; null when it held all. The thread that sends the task, before it does. */
    void keep(@Nullable ByteBuffer ofTask) {
        rest = ofTask;
    }

    @Override
    public boolean restartLimit(TimeLimit limit) {
        return pipe.restartLimit(limit);
    }

    @Override
    public ByteBuffer begin() {
        return encoder().begin();
    }

    @Override
    public void reply() {
        pipe.reply(encoder().finish(request, false));
    }

    @Override
    public void reply(ByteBuffer whole) {
        send(whole);
    }

    private void send(ByteBuffer left) {
        int length = Math.min(left.remaining(), ReplyEncoder.MAX_BYTES);
        boolean more = length < left.remaining();
        encoder().begin().put(left.slice(left.position(), length));
        left.position(left.position() + length);
        rest = more ? left : null;
        pipe.reply(encoder().finish(request, more));
    }

    private ReplyEncoder encoder() {
        ReplyEncoder made = encoder;
        if (made == null) {
            made = new ReplyEncoder();
            encoder = made;
        }
        return made;
    }

    /** The worker has ended. */
    void end() {
        services.calls().left(this);
    }
}
