package dev.cetane.protocol;

import java.nio.ByteBuffer;

/** Encodes the supervisor's frames other than REQUEST, which has its own {@link RequestEncoder}. Stateless. */
public final class ControlFrames {

    private ControlFrames() {}

    /**
     * HELLO, PROTOCOL.md §4.1.
     *
     * @throws FrameTooLargeException when settings and entries do not fit into one frame
     * @throws IllegalArgumentException when a name is empty, or a char is NUL or above 255
     */
    public static ByteBuffer hello(Hello hello) {
        byte[] settings = Wire.pairList(hello.settings());
        byte[] server = Wire.pairList(hello.server());
        ByteBuffer out = Wire.frame(FrameType.HELLO, 0, 4L + settings.length + server.length, 0);
        out.putShort((short) hello.lowestVersion()).putShort((short) hello.highestVersion());
        return out.put(settings).put(server).flip();
    }

    /** CANCEL, PROTOCOL.md §4.3, for a request that was sent and whose DONE has not arrived. */
    public static ByteBuffer cancel(int request) {
        return Wire.frame(FrameType.CANCEL, 0, 0, request).flip();
    }

    /** STOP, PROTOCOL.md §4.4. */
    public static ByteBuffer stop() {
        return Wire.frame(FrameType.STOP, 0, 0, 0).flip();
    }
}
