package dev.cetane.trace;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code tracing} section of the configuration. Immutable; the loader has checked every range.
 *
 * @param enabled whether requests have traces at all (false)
 * @param accept whose traces are continued (trusted proxies')
 * @param answer whom an answer tells its trace (everybody)
 * @param sampleRatio how many of the traces that begin here are recorded, 0 to 1 (1)
 * @param export where spans are sent, null for nowhere
 */
public record TracingConfig(
        boolean enabled,
        Audience accept,
        Audience answer,
        double sampleRatio,
        @Nullable Export export) {

    /** Of all clients. */
    public enum Audience {
        NONE,
        /** {@code http.trusted-proxies}. */
        TRUSTED,
        ALL;

        /** Whether a client belongs to it. */
        public boolean contains(boolean trusted) {
            return this == ALL || (this == TRUSTED && trusted);
        }
    }

    /**
     * Where and how spans are sent by OTLP over HTTP.
     *
     * @param headers additional header fields, by name
     * @param gzip whether they are compressed
     * @param resource attributes of this program as those who look at traces know it
     * @param queueSize most requests whose spans wait (2048)
     * @param interval longest time that they wait for more to be sent with them (5s)
     * @param timeout longest time for one try (10s)
     */
    public record Export(
            URI collector,
            Map<String, String> headers,
            boolean gzip,
            Map<String, String> resource,
            int queueSize,
            Duration interval,
            Duration timeout) {}
}
