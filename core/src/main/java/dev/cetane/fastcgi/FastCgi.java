package dev.cetane.fastcgi;

import java.nio.ByteBuffer;

/** Numbers of FastCGI 1.0, and the header that every record begins with: version, type, request id, length, padding. */
final class FastCgi {
    static final int HEADER_BYTES = 8;
    static final int MOST_CONTENT_BYTES = 0xFFFF;

    static final int VERSION = 1;
    static final int REQUEST_ID = 1;

    static final int BEGIN_REQUEST = 1;
    static final int END_REQUEST = 3;
    static final int PARAMS = 4;
    static final int STDIN = 5;
    static final int STDOUT = 6;
    static final int STDERR = 7;

    static final int ROLE_RESPONDER = 1;
    static final int KEEP_CONNECTION = 1;
    static final int END_REQUEST_BYTES = 8;
    static final int REQUEST_COMPLETE = 0;

    private FastCgi() {}

    static void putHeader(ByteBuffer out, int type, int contentBytes) {
        out.put((byte) VERSION).put((byte) type).putShort((short) REQUEST_ID);
        out.putShort((short) contentBytes).put((byte) 0).put((byte) 0);
    }
}
