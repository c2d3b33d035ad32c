package dev.cetane.fastcgi;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/** Sends a body as STDIN records. */
public final class StdinRecords {
    /** A multiple of eight bytes, as the specification advises. */
    private static final int CONTENT_BYTES = FastCgi.MOST_CONTENT_BYTES / 8 * 8;

    private StdinRecords() {}

    /** Sends the whole file and the empty record behind it; blocks while the other side takes nothing. */
    public static void send(FileChannel from, WritableByteChannel to) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(FastCgi.HEADER_BYTES);
        long size = from.size();
        for (long position = 0; position < size; ) {
            int length = (int) Math.min(CONTENT_BYTES, size - position);
            writeHeader(header, length, to);
            long end = position + length;
            while (position < end) {
                long sent = from.transferTo(position, end - position, to);
                if (sent <= 0) {
                    throw new EOFException("the file has become shorter");
                }
                position += sent;
            }
        }
        writeHeader(header, 0, to);
    }

    private static void writeHeader(ByteBuffer header, int length, WritableByteChannel to) throws IOException {
        header.clear();
        FastCgi.putHeader(header, FastCgi.STDIN, length);
        header.flip();
        while (header.hasRemaining()) {
            to.write(header);
        }
    }
}
