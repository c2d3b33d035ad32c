package dev.cetane.files;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Conditions of a request, in the precedence of RFC 9110, 13.2.2. Without state. */
final class Preconditions {

    /** What comes of them. */
    enum Outcome {
        /** The answer is sent. */
        SEND,
        /** 304: the client has it. */
        NOT_MODIFIED,
        /** 412. */
        FAILED
    }

    private Preconditions() {}

    /**
     * @param entityTag strong, null when there is none
     * @param modified seconds since the epoch, null when that is not known
     */
    static Outcome evaluate(FileRequest request, @Nullable String entityTag, @Nullable Long modified, Instant now) {
        if (request.ifMatch() != null) {
            if (!lists(request.ifMatch(), entityTag, false)) {
                return Outcome.FAILED;
            }
        } else if (request.ifUnmodifiedSince() != null && modified != null) {
            Long date = HttpTime.parse(request.ifUnmodifiedSince(), now);
            if (date != null && modified > date) {
                return Outcome.FAILED;
            }
        }
        if (request.ifNoneMatch() != null) {
            return lists(request.ifNoneMatch(), entityTag, true) ? Outcome.NOT_MODIFIED : Outcome.SEND;
        }
        if (request.ifModifiedSince() != null && modified != null) {
            Long date = HttpTime.parse(request.ifModifiedSince(), now);
            return date != null && modified <= date ? Outcome.NOT_MODIFIED : Outcome.SEND;
        }
        return Outcome.SEND;
    }

    /** Whether a {@code Range} counts: always without {@code If-Range}, else if that names exactly what there is now. */
    static boolean rangeApplies(FileRequest request, @Nullable String entityTag, @Nullable Long modified, Instant now) {
        String condition = request.ifRange();
        if (condition == null) {
            return true;
        }
        String value = condition.strip();
        if (value.startsWith("\"") || value.startsWith("W/")) {
            return value.equals(entityTag);
        }
        // A time is a strong validator only when the file can't have changed twice in its second.
        Long date = HttpTime.parse(value, now);
        return date != null && date.equals(modified) && now.getEpochSecond() - date > 1;
    }

    /** Whether the list of entity tags holds this one, or is {@code *}. */
    private static boolean lists(String field, @Nullable String entityTag, boolean weak) {
        String list = field.strip();
        if (list.equals("*")) {
            return true;
        }
        for (int i = 0; i < list.length(); ) {
            char c = list.charAt(i);
            if (c == ',' || c == ' ' || c == '\t') {
                i++;
                continue;
            }
            boolean weakTag = list.startsWith("W/", i);
            int start = weakTag ? i + 2 : i;
            int end = start < list.length() && list.charAt(start) == '"' ? list.indexOf('"', start + 1) : -1;
            if (end < 0) {
                return false;
            }
            if ((weak || !weakTag) && list.substring(start, end + 1).equals(entityTag)) {
                return true;
            }
            i = end + 1;
        }
        return false;
    }
}
