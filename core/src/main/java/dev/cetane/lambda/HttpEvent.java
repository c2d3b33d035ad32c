package dev.cetane.lambda;

import dev.cetane.cgi.ClientConnection;
import dev.cetane.cgi.RequestTarget;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request that came as an event. Immutable; strings hold one char per byte.
 *
 * @param format how its answer is written
 * @param fields names of {@code FieldNames} and values in turn, each name once, without Content-Length
 * @param bodyBytes length of the body, {@code CgiVariables.NO_BODY} when there is none
 * @param requestContext JSON as it stands in the event, {@code []} when it has none, as Bref gives it
 * @param pathParameters JSON, null when there are none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; a copy of an event costs more than all else
record HttpEvent(
        AnswerFormat format,
        String method,
        RequestTarget target,
        String protocol,
        ClientConnection client,
        List<String> fields,
        byte[] body,
        long bodyBytes,
        String requestContext,
        @Nullable String pathParameters) {

    String describe() {
        return method + " " + target.target();
    }

    String field(String name) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equals(name)) {
                return fields.get(i + 1);
            }
        }
        return "";
    }
}
