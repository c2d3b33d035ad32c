package dev.cetane.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an application has measured of one series while a request or a task ran, PROTOCOL.md §5.10. Immutable. Names and values are
 * the worker's: nothing is known of them but that the texts hold no NUL.
 *
 * @param texts the metric's name, then name and value of each of its labels, in the order that the application gave them
 * @param bounds upper bounds of a histogram's buckets, empty where the application has not named any; of other kinds empty
 * @param values what the counter grew by, what the gauge stands at, or each value that the histogram takes; for
 *     {@link Kind#GIVEN_UP} how many measurements
 */
public record Measurement(Kind kind, List<String> texts, List<Double> bounds, List<Double> values) {

    public enum Kind {
        /** Measurements that the worker had no room for. */
        GIVEN_UP(0),
        COUNTER(1),
        GAUGE(2),
        HISTOGRAM(3);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** As in the frame. */
        int code() {
            return code;
        }

        static @Nullable Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    public Measurement {
        texts = List.copyOf(texts);
        bounds = List.copyOf(bounds);
        values = List.copyOf(values);
    }

    /** The metric's name. */
    public String name() {
        return texts.get(0);
    }
}
