package dev.cetane.protocol;

import java.util.List;

/**
 * The decoded HEAD frame: an interim (1xx) or the final head of an answer, PROTOCOL.md §5.2. Immutable.
 *
 * @param status 100 to 999, never 101
 * @param reason reason phrase, empty when the worker gave none
 * @param bodyLength bytes that DATA and FILE will carry, or {@link #UNKNOWN_LENGTH}
 * @param headers names and values in turn ({@code name0, value0, name1, value1, …}) in the order and case the worker sent
 *     them, one char per byte (ISO-8859-1). Not yet checked for tokens and line breaks: the front door does that. A line without
 *     a colon has the empty name, which is no token either.
 */
public record ResponseHead(int status, String reason, long bodyLength, List<String> headers) {

    /** The body's length is known only when END arrives. */
    public static final long UNKNOWN_LENGTH = -1;

    /** Whether this is an interim head, after which another head follows. */
    public boolean interim() {
        return status < 200;
    }
}
