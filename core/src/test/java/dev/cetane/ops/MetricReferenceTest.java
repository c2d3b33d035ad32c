package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Keeps the table of metrics in the README equal to the meters and to what a scrape shows of them. {@code -Dcetane.update=true} writes
 * it instead.
 */
final class MetricReferenceTest {
    private static final Path README = Path.of("../README.md");
    private static final String BEGIN = "<!-- metrics: made from the table of meters, do not edit -->";
    private static final String END = "<!-- end of metrics -->";

    private final String scraped = new Metrics(Pools::of, Ticker.system(), "VERSION").scrape();

    @Test
    void theReadmeListsEveryMetric() throws IOException {
        String text = Files.readString(README);
        assertThat(text).contains(BEGIN).contains(END);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        String expected = text.substring(0, begin) + "\n" + table() + text.substring(text.indexOf(END));
        if (Boolean.getBoolean("cetane.update")) {
            Files.writeString(README, expected);
        }
        assertThat(Files.readString(README))
                .as("run mvn test -Dtest=MetricReferenceTest -Dcetane.update=true to write it anew")
                .isEqualTo(expected);
    }

    private String table() {
        StringBuilder table = new StringBuilder(
                "\n| Prometheus | OTLP, StatsD | type | labels | what it is |\n|---|---|---|---|---|\n");
        for (Meters meter : Meters.values()) {
            String name = prometheusName(meter);
            assertThat(scraped).contains("# TYPE " + name + " " + prometheusType(meter) + "\n");
            table.append("| `")
                    .append(name)
                    .append("` | `")
                    .append(meter.meterName())
                    .append("` | ");
            table.append(prometheusType(meter))
                    .append(" | ")
                    .append(labels(meter, name))
                    .append(" | ");
            table.append(meter.doc()).append(" |\n");
        }
        return table.append('\n').toString();
    }

    private static String prometheusName(Meters meter) {
        String name = meter.meterName().replace('.', '_');
        String unit = meter.type() == Meters.Type.TIMER ? "_seconds" : meter.unit() == null ? "" : "_" + meter.unit();
        return name + unit + (meter.type() == Meters.Type.COUNTER ? "_total" : "");
    }

    private static String prometheusType(Meters meter) {
        return switch (meter.type()) {
            case TIMER -> "histogram";
            case COUNTER -> "counter";
            case GAUGE -> "gauge";
        };
    }

    /** As they are shown: every series is there from the start. */
    private String labels(Meters meter, String name) {
        if (meter.tag() == null) {
            return "";
        }
        Set<String> values = new TreeSet<>();
        Matcher matcher = Pattern.compile("(?m)^" + name + "(?:_count)?\\{" + meter.tag() + "=\"([^\"]*)\"}")
                .matcher(scraped);
        while (matcher.find()) {
            values.add(matcher.group(1));
        }
        assertThat(values).as("%s", meter).isNotEmpty();
        return "`" + meter.tag() + "`: " + String.join(", ", values);
    }
}
