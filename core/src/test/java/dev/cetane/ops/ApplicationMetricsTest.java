package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.log.EventLog;
import dev.cetane.protocol.Measurement;
import dev.cetane.protocol.Measurement.Kind;
import dev.cetane.worker.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ApplicationMetricsTest {

    private static final int MOST_SERIES = 5;

    private final List<String> warnings = new ArrayList<>();
    private final Metrics metrics = new Metrics(Pools::of, Ticker.system(), "1");
    private final EventLog log = new EventLog() {
        @Override
        public boolean enabled(Level level) {
            return true;
        }

        @Override
        public void log(Level level, String event, @Nullable String requestId, String message, Object... fields) {
            warnings.add(event + ": " + message);
        }
    };
    private final Consumer<List<Measurement>> application =
            Objects.requireNonNull(metrics.application(MOST_SERIES, log));

    @Test
    void a_counter_adds_up_with_its_labels_in_any_order_and_with_or_without_total() {
        counter(2, "orders", "country", "de", "paid", "");
        counter(3, "orders", "paid", "", "country", "de");
        counter(0.5, "orders_total", "paid", "", "country", "de");
        counter(1, "orders", "country", "fr", "paid", "");

        assertThat(metrics.scrape())
                .contains("app_orders_total{country=\"de\",paid=\"\"} 5.5\n")
                .contains("app_orders_total{country=\"fr\",paid=\"\"} 1.0\n");
        assertThat(warnings).isEmpty();
    }

    @Test
    void a_gauge_stands_where_it_was_set_last_and_may_be_negative() {
        tell(Kind.GAUGE, List.of(), List.of(7.0), "stock_count");
        tell(Kind.GAUGE, List.of(), List.of(-2.5), "stock_count");

        assertThat(metrics.scrape()).contains("app_stock_count -2.5\n");
    }

    @Test
    void a_histogram_counts_in_its_own_buckets_or_in_those_for_seconds() {
        tell(Kind.HISTOGRAM, List.of(10.0, 100.0), List.of(5.0, 10.0, 50.0, 5000.0), "basket");
        tell(Kind.HISTOGRAM, List.of(), List.of(0.3), "wait");

        assertThat(metrics.scrape())
                .contains("app_basket_bucket{le=\"10.0\"} 2\n")
                .contains("app_basket_bucket{le=\"100.0\"} 3\n")
                .contains("app_basket_bucket{le=\"+Inf\"} 4\n")
                .contains("app_basket_sum 5065.0\n")
                .contains("app_wait_bucket{le=\"0.25\"} 0\n")
                .contains("app_wait_bucket{le=\"0.5\"} 1\n");
    }

    @Test
    void a_label_is_quoted_so_that_it_cannot_make_a_line_of_its_own() {
        counter(1, "visits", "page", "\"\\\n} 1\nadmin 1");

        assertThat(metrics.scrape())
                .contains("app_visits_total{page=\"\\\"\\\\\\n} 1\\nadmin 1\"} 1.0\n")
                .doesNotContain("\nadmin");
    }

    @Test
    void one_series_too_many_is_counted_and_logged_once_and_the_others_go_on() {
        for (int i = 0; i < MOST_SERIES + 3; i++) {
            counter(1, "users", "id", Integer.toString(i));
        }
        counter(1, "another");
        counter(1, "users", "id", "0");

        assertThat(metrics.scrape())
                .contains("app_users_total{id=\"0\"} 2.0\n")
                .contains("app_users_total{id=\"4\"} 1.0\n")
                .doesNotContain("app_users_total{id=\"5\"}")
                .doesNotContain("app_another")
                .contains(refused("too_many_series", 4));
        assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("metrics.refused: The application's counter users ")
                .contains("metrics.application-series (5)");
    }

    @Test
    void what_has_no_usable_name_label_or_value_is_refused() {
        int refused = 0;
        for (String name :
                List.of("", "1a", "a-b", "a b", "_a", "a\n", "é", "x".repeat(121), "a_bucket", "a_info", "_total")) {
            counter(1, name);
            refused++;
        }
        tell(Kind.GAUGE, List.of(), List.of(1.0), "a_total");
        refused++;
        for (String label : List.of("", "le", "quantile", "__name__", "a-b", "x".repeat(121))) {
            counter(1, "a", label, "v");
            refused++;
        }
        counter(1, "a", "l", "v".repeat(257));
        counter(1, "a", "l", "1", "l", "2");
        counter(1, "a", "a", "", "b", "", "c", "", "d", "", "e", "", "f", "", "g", "", "h", "", "i", "");
        refused += 3;
        for (double value : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            counter(value, "a");
            refused++;
        }
        for (List<Double> bounds : List.of(
                List.of(0.0),
                List.of(-1.0),
                List.of(2.0, 1.0),
                List.of(1.0, 1.0),
                List.of(Double.NaN),
                List.of(Double.POSITIVE_INFINITY),
                ascending(33))) {
            tell(Kind.HISTOGRAM, bounds, List.of(1.0), "a");
            refused++;
        }

        assertThat(metrics.scrape()).doesNotContain("app_").contains(refused("invalid", refused));
        assertThat(warnings).hasSize(1);
    }

    @Test
    void what_contradicts_an_earlier_measurement_is_refused() {
        counter(1, "a", "l", "v");
        tell(Kind.HISTOGRAM, List.of(1.0), List.of(1.0), "h");

        tell(Kind.GAUGE, List.of(), List.of(1.0), "a", "l", "v");
        counter(1, "a");
        counter(1, "a", "other", "v");
        tell(Kind.HISTOGRAM, List.of(2.0), List.of(1.0), "h");
        tell(Kind.GAUGE, List.of(), List.of(1.0), "h_count");
        tell(Kind.GAUGE, List.of(), List.of(1.0), "h_sum");

        assertThat(metrics.scrape())
                .contains("app_a_total{l=\"v\"} 1.0\n")
                .contains("app_h_count 1\n")
                .contains(refused("contradicting", 6));
        assertThat(warnings).hasSize(1);
    }

    @Test
    void what_a_worker_gave_up_is_counted() {
        tell(Kind.GIVEN_UP, List.of(), List.of(17.0), "");
        tell(Kind.GIVEN_UP, List.of(), List.of(Double.NaN), "");

        assertThat(metrics.scrape()).contains(refused("given_up", 18));
    }

    @Test
    void none_are_taken_where_there_may_be_no_series() {
        assertThat(metrics.application(0, log)).isNull();
    }

    private void counter(double by, String... texts) {
        tell(Kind.COUNTER, List.of(), List.of(by), texts);
    }

    private void tell(Kind kind, List<Double> bounds, List<Double> values, String... texts) {
        application.accept(List.of(new Measurement(kind, List.of(texts), bounds, values)));
    }

    private static List<Double> ascending(int count) {
        List<Double> bounds = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            bounds.add((double) i);
        }
        return bounds;
    }

    private static String refused(String reason, int count) {
        return "cetane_application_measurements_refused_total{reason=\"" + reason + "\"} " + count + ".0\n";
    }
}
