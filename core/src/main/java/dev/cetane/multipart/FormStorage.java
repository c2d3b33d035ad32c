package dev.cetane.multipart;

import java.nio.ByteBuffer;

/**
 * Where a {@link FormReader} puts what PHP is to get: two texts that grow, see PROTOCOL.md §4.2.1, and the uploaded files, one after the
 * other. Called by the thread that feeds the reader; buffers are valid during a call only.
 */
public interface FormStorage {

    /** The next bytes of the text fields, URL-encoded. */
    void fields(ByteBuffer bytes);

    /** The next bytes of the list of files. */
    void files(ByteBuffer bytes);

    /**
     * A file begins.
     *
     * @return absolute path under which PHP finds it, one char per byte
     */
    String beginUpload();

    /** The next bytes of the file that has begun. */
    void upload(ByteBuffer bytes);

    /** The file has ended; without {@code keep} PHP is not told of it and it is to be deleted. */
    void endUpload(boolean keep);
}
