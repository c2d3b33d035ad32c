package dev.cetane.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes REQUEST frames, PROTOCOL.md §4.2, into one buffer that belongs to a worker and is used again for each of its requests.
 * Used by one thread at a time, the one that dispatches: {@link #begin}, {@link #server} for each entry, at most one of
 * {@link #body}, {@link #bodyFile}, {@link #form} and {@link #formFiles}, {@link #finish}. A request that was given up half-way is forgotten by the next
 * {@code begin}. {@link #task}, {@link #tick}, {@link #checkpoint} or {@link #restored} instead of the entries and the body make it another frame.
 *
 * <p>Names and values are two separate lists on the wire, so each is gathered apart until both lengths are known.
 */
public final class RequestEncoder implements RequestWriter {

    /** How many bytes of a task one TASK frame holds. */
    public static final int TASK_BYTES = FrameType.TASK.maxPayload() - Integer.BYTES;

    private static final int MAX_PAYLOAD = FrameType.REQUEST.maxPayload();
    private static final int FIXED_BYTES = FrameType.REQUEST.minPayload();
    private static final long MAX_TIMEOUT_MILLIS = 0xFFFF_FFFFL;

    private final ByteBuffer frame = ByteBuffer.allocateDirect(FrameType.HEADER_BYTES + MAX_PAYLOAD);
    private final JoinedTexts names = new JoinedTexts();
    private final JoinedTexts values = new JoinedTexts();
    private final CharsetEncoder latin1 = StandardCharsets.ISO_8859_1.newEncoder();
    private ByteBuffer lists = ByteBuffer.allocate(2048);
    private boolean listsOpen;
    private boolean bodyWritten;
    private boolean formsAllowed;
    private boolean tasksAllowed;
    private boolean ticksAllowed;
    private int number;
    private int timeout;
    private boolean eventsAllowed;
    private boolean snapshotsAllowed;
    private boolean event;

    /** Whether {@link Capability#FORM} was agreed on with the worker that gets the frames; not so at first. */
    public void allowForms(boolean allowed) {
        formsAllowed = allowed;
    }

    /** Whether {@link Capability#TASK} and {@link Capability#TICK} were agreed on; not so at first. */
    public void allowTasks(boolean tasks, boolean ticks) {
        tasksAllowed = tasks;
        ticksAllowed = ticks;
    }

    /** Whether {@link Capability#EVENT} was agreed on with the worker that gets the frames; not so at first. */
    public void allowEvents(boolean allowed) {
        eventsAllowed = allowed;
    }

    /** Whether {@link Capability#SNAPSHOT} was agreed on with the worker that gets the frames; not so at first. */
    public void allowSnapshots(boolean allowed) {
        snapshotsAllowed = allowed;
    }

    @Override
    public void event() {
        if (!eventsAllowed || !listsOpen || names.count() > 0) {
            throw new IllegalStateException(
                    eventsAllowed ? "an entry came before event()" : "the worker takes no events, only HTTP requests");
        }
        event = true;
        frame.put(1, (byte) FrameType.EVENT.code());
    }

    /**
     * Starts a request.
     *
     * @param request number of the request, unsigned and not 0, see {@link Turn#nextRequest}
     * @param receivedAtSeconds since 1970-01-01T00:00Z
     * @param timeoutMillis what is left of the time limit, 0: none; more than 2^32 - 1 is sent as that
     */
    public void begin(int request, double receivedAtSeconds, long timeoutMillis) {
        if (request == 0 || timeoutMillis < 0) {
            throw new IllegalArgumentException("request number " + request + ", time-out " + timeoutMillis
                    + " ms: 0 and negative are not allowed");
        }
        names.clear();
        values.clear();
        listsOpen = true;
        bodyWritten = false;
        event = false;
        frame.clear();
        Wire.putHeader(frame, FrameType.REQUEST, 0, 0, request);
        number = request;
        timeout = (int) Math.min(timeoutMillis, MAX_TIMEOUT_MILLIS);
        frame.putDouble(receivedAtSeconds).putInt(timeout);
    }

    @Override
    public void task(ByteBuffer piece, boolean more) {
        if (!tasksAllowed) {
            throw new IllegalStateException(
                    "the worker takes no tasks: its script has to say what runs them, with Worker::onTask()");
        }
        replace(FrameType.TASK, more ? FrameType.MORE : 0);
        frame.putInt(timeout).put(piece);
    }

    @Override
    public void tick() {
        if (!ticksAllowed) {
            throw new IllegalStateException("the worker takes no ticks");
        }
        replace(FrameType.TICK, 0);
    }

    @Override
    public void checkpoint() {
        snapshot(FrameType.CHECKPOINT);
    }

    @Override
    public void restored() {
        snapshot(FrameType.RESTORED);
    }

    private void snapshot(FrameType type) {
        if (!snapshotsAllowed) {
            throw new IllegalStateException("the worker knows of no snapshots");
        }
        replace(type, 0);
    }

    private void replace(FrameType type, int flags) {
        if (!listsOpen || names.count() > 0) {
            throw new IllegalStateException("a " + type + " has neither entries nor a body");
        }
        listsOpen = false;
        bodyWritten = true;
        frame.clear();
        Wire.putHeader(frame, type, flags, 0, number);
    }

    /**
     * Adds one {@code $_SERVER} entry; each char is written as one byte (ISO-8859-1). That no name comes twice is the caller's
     * duty.
     *
     * @throws FrameTooLargeException when the frame is full
     * @throws IllegalArgumentException when the name is empty, or there is a NUL; for a char above 255 the call that follows the
     *     last entry throws it
     */
    @Override
    public void server(String name, String value) {
        if (!listsOpen) {
            throw new IllegalStateException("server(" + name + ") outside begin and body");
        }
        if (name.isEmpty() || name.indexOf(0) >= 0 || value.indexOf(0) >= 0) {
            throw new IllegalArgumentException("$_SERVER entry '" + name.replace('\0', '?') + "' with a value of "
                    + value.length() + " chars: the name is empty, or there is a NUL");
        }
        int separators = names.count() == 0 ? 0 : 2;
        long needed = (long) MAX_PAYLOAD - available() + separators + name.length() + value.length();
        if (needed > MAX_PAYLOAD) {
            throw new FrameTooLargeException(FrameType.REQUEST, needed);
        }
        names.add(name);
        values.add(value);
    }

    /** How many bytes the body may still have. */
    public int available() {
        return MAX_PAYLOAD - FIXED_BYTES - names.length() - values.length();
    }

    /**
     * The body itself; copied, so the array may be used again at once.
     *
     * @throws FrameTooLargeException when it does not fit behind the entries
     */
    @Override
    public void body(byte[] bytes, int offset, int length) {
        closeLists(length);
        frame.put(bytes, offset, length);
    }

    /** The body itself, the remaining bytes of the buffer; copied, the buffer's position moves to its limit. */
    @Override
    public void body(ByteBuffer bytes) {
        closeLists(bytes.remaining());
        frame.put(bytes);
    }

    /** The body is in this file, which the supervisor deletes after DONE. The path is made absolute. */
    @Override
    public void bodyFile(Path file) {
        String path = BytePath.toText(file.toAbsolutePath());
        closeLists(path.length());
        frame.putShort(2, (short) FrameType.BODY_IN_FILE);
        putText(path);
    }

    /**
     * The body is a form, in memory.
     *
     * @param fields the text fields, PROTOCOL.md §4.2.1; copied, the buffer's position moves to its limit
     * @param files the list of files, likewise
     * @throws FrameTooLargeException when they do not fit behind the entries
     * @throws IllegalStateException when {@link #allowForms} forbids it
     */
    @Override
    public void form(ByteBuffer fields, ByteBuffer files) {
        requireForms();
        int fieldBytes = fields.remaining();
        closeLists(Integer.BYTES + fieldBytes + files.remaining());
        frame.putShort(2, (short) FrameType.FORM);
        frame.putInt(fieldBytes).put(fields).put(files);
    }

    /**
     * The body is a form in two files, which the supervisor deletes after DONE.
     *
     * @param fields absolute path of the text fields' file, one char per byte; empty when there are no fields
     * @param files path of the list of files, likewise
     * @throws IllegalStateException when {@link #allowForms} forbids it
     */
    @Override
    public void formFiles(String fields, String files) {
        requireForms();
        closeLists(fields.length() + 1 + files.length());
        frame.putShort(2, (short) (FrameType.FORM | FrameType.BODY_IN_FILE));
        putText(fields);
        frame.put((byte) 0);
        putText(files);
    }

    /** The whole frame from position to limit, to be written before the next {@link #begin}. */
    public ByteBuffer finish() {
        if (!bodyWritten) {
            closeLists(0);
        }
        frame.putInt(4, frame.position() - FrameType.HEADER_BYTES);
        bodyWritten = false;
        return frame.flip();
    }

    private void requireForms() {
        if (event) {
            throw new IllegalStateException("an event is no form");
        }
        if (!formsAllowed) {
            throw new IllegalStateException(
                    "the worker takes no forms: its client is older than that of other workers");
        }
    }

    private void putText(String text) {
        for (int i = 0; i < text.length(); i++) {
            frame.put((byte) text.charAt(i));
        }
    }

    private void closeLists(int bodyLength) {
        if (!listsOpen) {
            throw new IllegalStateException("no request has begun, or its body was already written");
        }
        if (bodyLength > available()) {
            throw new FrameTooLargeException(FrameType.REQUEST, (long) MAX_PAYLOAD - available() + bodyLength);
        }
        int bytes = names.length() + values.length();
        if (bytes > lists.capacity()) {
            lists = ByteBuffer.allocate(Math.max(bytes, 2 * lists.capacity()));
        }
        lists.clear();
        int bad = names.encode(latin1, lists);
        if (bad < 0) {
            bad = values.encode(latin1, lists);
        }
        if (bad >= 0) {
            throw new IllegalArgumentException(
                    "$_SERVER entry " + bad + " of " + names.count() + " has a char above 255 in its name or value");
        }
        listsOpen = false;
        bodyWritten = true;
        frame.putInt(names.length()).putInt(values.length()).putInt(bodyLength);
        frame.put(lists.array(), 0, bytes);
    }
}
