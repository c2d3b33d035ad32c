package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Takes a request in the form in which its worker wants it: as a REQUEST frame ({@link RequestEncoder}), or as the records of FastCGI.
 * {@link #server} comes for each entry, then at most one of the others. Used by one thread at a time, the one that dispatches.
 */
public interface RequestWriter {

    /**
     * What follows is no HTTP request but an event, PROTOCOL.md §4.2.2: entries are those of its context, the body is the event. Comes
     * before any entry.
     *
     * @throws IllegalStateException when the worker takes no events
     */
    default void event() {
        throw new IllegalStateException("the worker takes no events, only HTTP requests");
    }

    /**
     * Adds one {@code $_SERVER} entry; each char is written as one byte (ISO-8859-1). That no name comes twice is the caller's duty.
     *
     * @throws RuntimeException with a message for people when the name is empty, there is a NUL, or it does not fit
     */
    void server(String name, String value);

    /**
     * The body itself; copied, so the array may be used again at once.
     *
     * @throws RuntimeException with a message for people when it does not fit behind the entries
     */
    void body(byte[] bytes, int offset, int length);

    /** The body itself, the remaining bytes of the buffer; copied, the buffer's position moves to its limit. */
    void body(ByteBuffer bytes);

    /** The body is in this file, which stays there until the job has ended. */
    void bodyFile(Path file);

    /**
     * The body is a form, in memory.
     *
     * @param fields the text fields, PROTOCOL.md §4.2.1; copied, the buffer's position moves to its limit
     * @param files the list of files, likewise
     * @throws IllegalStateException when the worker takes no forms that were read for it
     */
    void form(ByteBuffer fields, ByteBuffer files);

    /**
     * The body is a form in two files.
     *
     * @param fields absolute path of the text fields' file, one char per byte; empty when there are no fields
     * @param files path of the list of files, likewise
     * @throws IllegalStateException when the worker takes no forms that were read for it
     */
    void formFiles(String fields, String files);

    /**
     * It is no request but a task, PROTOCOL.md §4.5: without entries and body.
     *
     * @param piece the task, or its first {@link RequestEncoder#TASK_BYTES} bytes; copied, the buffer's position moves to its limit
     * @param more whether the worker has to ask for the rest
     * @throws IllegalStateException when the worker takes no tasks
     */
    default void task(ByteBuffer piece, boolean more) {
        throw new IllegalStateException("the worker takes no tasks");
    }

    /**
     * It is no request but a tick, PROTOCOL.md §4.6.
     *
     * @throws IllegalStateException when the worker takes no ticks
     */
    default void tick() {
        throw new IllegalStateException("the worker takes no ticks");
    }

    /**
     * It is no request: the worker becomes part of a snapshot, PROTOCOL.md §4.8.
     *
     * @throws IllegalStateException when the worker knows of no snapshots
     */
    default void checkpoint() {
        throw new IllegalStateException("the worker knows of no snapshots");
    }

    /**
     * It is no request: the worker was restored from a snapshot, PROTOCOL.md §4.8.
     *
     * @throws IllegalStateException when the worker knows of no snapshots
     */
    default void restored() {
        throw new IllegalStateException("the worker knows of no snapshots");
    }
}
