package dev.cetane.lambda;

import dev.cetane.lambda.JsonReader.Span;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members of a JSON object, each where it is in the text, read when it is asked for. Not thread-safe. */
final class EventMembers {
    private final Map<String, Span> spans = new HashMap<>();

    /** Those of another object; of what is none, none. */
    EventMembers read(@Nullable Span object) throws MalformedEventException {
        spans.clear();
        if (object != null && object.isObject()) {
            JsonReader json = object.reader();
            json.beginObject();
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                Span value = json.span();
                if (!value.isNull()) {
                    spans.put(name, value);
                }
            }
        }
        return this;
    }

    /** Where a member is; null when it is missing, or null. */
    @Nullable
    Span get(String name) {
        return spans.get(name);
    }

    boolean has(String name) {
        return spans.containsKey(name);
    }

    /** The members of a member. */
    EventMembers object(String name) throws MalformedEventException {
        return new EventMembers().read(spans.get(name));
    }

    boolean isTrue(String name) {
        Span value = spans.get(name);
        return value != null && value.isTrue();
    }

    /** A string, number or boolean as text. */
    String text(String name, String otherwise) throws MalformedEventException {
        Span span = spans.get(name);
        String text = span == null ? null : span.reader().text();
        return text == null ? otherwise : text;
    }
}
