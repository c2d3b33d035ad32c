package dev.cetane.ops;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who is told the metrics beside whoever asks for them: the {@code metrics} section of the configuration. Immutable.
 *
 * @param otlp where OTLP is sent over HTTP, null for nowhere
 * @param statsd where StatsD datagrams are sent, null for nowhere
 * @param dialect how they carry tags
 * @param interval between two pushes of OTLP, and of what StatsD is told that is no event
 */
public record ExportConfig(@Nullable URI otlp, @Nullable InetSocketAddress statsd, Dialect dialect, Duration interval) {

    /** Dialects of StatsD. */
    public enum Dialect {
        /** No tags: their values become part of the name. */
        ETSY,
        DATADOG,
        TELEGRAF
    }

    /** Nobody. */
    public static final ExportConfig NONE = new ExportConfig(null, null, Dialect.DATADOG, Duration.ofSeconds(10));
}
