package dev.cetane.worker;

import dev.cetane.protocol.ReplyEncoder;
import java.nio.ByteBuffer;

/** A worker that keeps the last reply it got. */
public final class RecordingCaller implements Caller {
    private final ReplyEncoder encoder = new ReplyEncoder();
    private final int workerId;
    private final boolean runsTasks;

    /** The last reply; null when the call was not answered. */
    public byte[] reply;

    /** The limit that its request was given; null when it has its own. */
    public TimeLimit limit;

    /** How many replies it got. */
    public int replies;

    public RecordingCaller(int workerId, boolean runsTasks) {
        this.workerId = workerId;
        this.runsTasks = runsTasks;
    }

    @Override
    public int workerId() {
        return workerId;
    }

    @Override
    public boolean runsTasks() {
        return runsTasks;
    }

    @Override
    public boolean restartLimit(TimeLimit anew) {
        limit = anew;
        return !runsTasks;
    }

    @Override
    public ByteBuffer begin() {
        return encoder.begin();
    }

    @Override
    public void reply() {
        ByteBuffer frame = encoder.finish(1, false);
        frame.position(12);
        reply(frame);
    }

    @Override
    public void reply(ByteBuffer whole) {
        reply = new byte[whole.remaining()];
        whole.get(reply);
        replies++;
    }
}
