package dev.cetane.multipart;

import java.nio.ByteBuffer;

/**
 * Cuts a body into parts as it arrives, in pieces of any size. Not thread-safe.
 *
 * <p>As in PHP, a delimiter is looked for in two ways. Before a part it is a whole line. Behind a part's content it is found wherever a
 * line begins with it, so text behind the boundary still ends the part, but begins no new one. What follows the closing delimiter is
 * searched for parts, too.
 */
final class MultipartParser {

    /** What becomes of a part whose head was read. */
    enum Next {
        READ,
        SKIP,
        /** Nothing more of the body is looked at. */
        STOP
    }

    /** Takes the parts. */
    interface PartHandler {
        /** A head is complete; the headers are valid during the call. */
        Next begin(PartHeaders headers);

        /** The next bytes of the content, at least one; valid during the call. */
        void data(ByteBuffer bytes);

        /** The content has ended, by a delimiter or with the body. */
        void end(boolean byDelimiter);
    }

    private enum State {
        BOUNDARY,
        HEADERS,
        CONTENT,
        STOPPED
    }

    private final Delimiter delimiter;
    private final PartHandler handler;
    private final PartHeaders headers = new PartHeaders();
    private final int longestLine;

    /** A carriage return and the delimiter: what content may end with that is not known to be content yet. */
    private final ByteBuffer held;

    private State state = State.BOUNDARY;
    private byte[] line;
    private int lineLength;
    private boolean returnHeld;
    private int matched;

    MultipartParser(Delimiter delimiter, PartHandler handler) {
        this.delimiter = delimiter;
        this.handler = handler;
        this.longestLine = delimiter.longestLine();
        this.line = new byte[Math.min(longestLine, Math.max(256, delimiter.length()))];
        this.held = ByteBuffer.allocate(delimiter.length() + 1).put((byte) '\r');
        for (int i = 0; i < delimiter.length(); i++) {
            held.put(delimiter.at(i));
        }
    }

    /** Takes the bytes from position to limit, all of them. */
    void read(ByteBuffer in) throws PartHeadersTooLargeException {
        while (in.hasRemaining() && state != State.STOPPED) {
            if (state == State.CONTENT) {
                readContent(in);
            } else {
                readLine(in);
            }
        }
        in.position(in.limit());
    }

    /** The body is complete, or cut. */
    void finish() {
        if (state == State.HEADERS) {
            // A line that the body's end has cut is no header any more, it is what the part contains.
            begin();
            if (state == State.CONTENT && lineLength > 0) {
                handler.data(ByteBuffer.wrap(line, 0, lineLength));
            }
        }
        if (state == State.CONTENT) {
            // The beginning of a delimiter is dropped with the line end before it, a carriage return alone is not.
            if (returnHeld && matched == 0) {
                passHeld(0, 1);
            }
            handler.end(false);
        }
        state = State.STOPPED;
    }

    private void readLine(ByteBuffer in) throws PartHeadersTooLargeException {
        int from = in.position();
        int to = Math.min(in.limit(), from + longestLine - lineLength);
        int lineFeed = Delimiter.lineFeed(in, from, to);
        int end = lineFeed < 0 ? to : lineFeed;
        append(in, from, end - from);
        if (lineFeed >= 0) {
            in.position(lineFeed + 1);
            if (lineLength > 0 && line[lineLength - 1] == '\r') {
                lineLength--;
            }
        } else {
            in.position(to);
            if (lineLength < longestLine) {
                return;
            }
        }
        int length = lineLength;
        lineLength = 0;
        takeLine(length);
    }

    private void append(ByteBuffer in, int from, int count) {
        int needed = lineLength + count;
        if (needed > line.length) {
            byte[] longer = new byte[Math.min(longestLine, Math.max(needed, 2 * line.length))];
            System.arraycopy(line, 0, longer, 0, lineLength);
            line = longer;
        }
        in.get(from, line, lineLength, count);
        lineLength = needed;
    }

    private void takeLine(int length) throws PartHeadersTooLargeException {
        if (state == State.BOUNDARY) {
            if (delimiter.isLine(line, length)) {
                headers.clear();
                state = State.HEADERS;
            }
        } else if (length == 0 || line[0] == 0) {
            begin();
        } else {
            headers.add(line, length);
        }
    }

    private void begin() {
        headers.complete();
        state = switch (handler.begin(headers)) {
            case READ -> State.CONTENT;
            case SKIP -> State.BOUNDARY;
            case STOP -> State.STOPPED;
        };
        returnHeld = false;
        matched = 0;
    }

    /** Passes content on up to the delimiter, or all of it but what may be the beginning of one. */
    private void readContent(ByteBuffer in) {
        if ((matched > 0 || returnHeld) && !resume(in)) {
            return;
        }
        int start = in.position();
        int limit = in.limit();
        int from = start;
        while (true) {
            int lineFeed = Delimiter.lineFeed(in, from, limit);
            if (lineFeed < 0) {
                returnHeld = limit > start && in.get(limit - 1) == '\r';
                pass(in, start, returnHeld ? limit - 1 : limit);
                in.position(limit);
                return;
            }
            int next = lineFeed + 1;
            if (next < limit && in.get(next) != '-') {
                from = next;
                continue;
            }
            int count = delimiter.matches(in, lineFeed);
            boolean found = count == delimiter.length();
            if (found || lineFeed + count == limit) {
                boolean afterReturn = lineFeed > start && in.get(lineFeed - 1) == '\r';
                pass(in, start, afterReturn ? lineFeed - 1 : lineFeed);
                in.position(lineFeed + count);
                if (found) {
                    endContent();
                } else {
                    returnHeld = afterReturn;
                    matched = count;
                }
                return;
            }
            from = lineFeed + count;
        }
    }

    /** Goes on with what was held back; true when that has turned out to be content, and more of it follows. */
    private boolean resume(ByteBuffer in) {
        while (in.hasRemaining() && in.get(in.position()) == delimiter.at(matched)) {
            in.get();
            matched++;
            if (matched == delimiter.length()) {
                endContent();
                return false;
            }
        }
        if (!in.hasRemaining()) {
            return false;
        }
        passHeld(returnHeld ? 0 : 1, 1 + matched);
        returnHeld = false;
        matched = 0;
        return true;
    }

    private void passHeld(int from, int to) {
        held.limit(to).position(from);
        handler.data(held);
    }

    private void pass(ByteBuffer in, int from, int to) {
        if (to > from) {
            int limit = in.limit();
            in.limit(to).position(from);
            handler.data(in);
            in.limit(limit);
        }
    }

    /** The delimiter was found; it is also what a line begins with that may begin the next part. */
    private void endContent() {
        state = State.BOUNDARY;
        delimiter.copyLine(line);
        lineLength = delimiter.length() - 1;
        handler.end(true);
    }
}
