package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.util.Map;

/** The reading side of a supervisor: a buffer, a decoder and its turn, led to any place of the conversation. */
final class Listener {

    static final Hello OFFER = Hello.current(Map.of("capabilities", "file form task tick call metrics"), Map.of());
    static final Ready ANSWER = new Ready(1, Map.of("capabilities", "file call metrics"));

    final Turn turn;
    final RecordedCalls heard = new RecordedCalls();
    final FrameDecoder decoder;
    private final ByteBuffer buffer;

    Listener(Hello offer, ByteBuffer buffer) {
        this.turn = new Turn(offer);
        this.decoder = new FrameDecoder(turn, heard);
        this.buffer = buffer;
    }

    static Listener booting() {
        return new Listener(OFFER, ByteBuffer.allocateDirect(FrameDecoder.BUFFER_BYTES));
    }

    static Listener idle() {
        return booting().hears(WorkerFrameEncoder.ready(ANSWER));
    }

    static Listener waiting() {
        Listener listener = idle();
        listener.turn.begin(1);
        return listener;
    }

    static Listener answering(long length) {
        return waiting().hears(WorkerFrameEncoder.head(1, Frames.head(200, length)));
    }

    static Listener terminating() {
        return answering(0).hears(WorkerFrameEncoder.end(1));
    }

    /** A worker that serves this request, after all before it. */
    static Listener serving(int request) {
        Listener listener = idle();
        for (int n = 1; n < request; n++) {
            listener.turn.begin(n);
            listener.hears(WorkerFrameEncoder.head(n, Frames.head(200, 0)), WorkerFrameEncoder.end(n), Frames.done(n));
        }
        listener.turn.begin(request);
        return listener;
    }

    /** Gives the bytes to the decoder as reads do, no more than the buffer holds at once. */
    Listener hears(ByteBuffer... frames) {
        for (ByteBuffer frame : frames) {
            hears(frame, Integer.MAX_VALUE);
        }
        return this;
    }

    Listener hears(ByteBuffer bytes, int pieceBytes) {
        while (bytes.hasRemaining()) {
            int piece = Math.min(Math.min(buffer.remaining(), bytes.remaining()), pieceBytes);
            if (piece == 0) {
                throw new AssertionError("the decoder left a full buffer over");
            }
            buffer.put(bytes.slice(bytes.position(), piece));
            bytes.position(bytes.position() + piece);
            buffer.flip();
            decoder.decode(buffer);
            buffer.compact();
        }
        return this;
    }
}
