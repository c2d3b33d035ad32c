package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the dashboard shows of the configuration. */
final class ConfigEntryTest {

    @ParameterizedTest
    @CsvSource({
        "app.ini.session.save_path, tcp://redis:6379?auth=hunter2",
        "app.ini.session.save_path, tcp://redis:6379?auth[]=shop&auth[]=hunter2",
        "app.ini.session.save_path, tcp://redis:6379?auth[pass]=hunter2",
        "app.ini.session.save_path, tcp://redis:6379?auth%5Bpass%5D=hunter2",
        "app.ini.session.save_path, redis://:hunter2@redis",
        "app.ini.session.save_path, redis://:hun/ter2@redis",
        "app.ini.pdo.dsn.shop, 'mysql:host=db;password = hunter2'",
        "app.ini.mysqli.default_pw, hunter2",
        "app.ini.newrelic.license, hunter2",
        "app.ini.elastic_apm.secret_token, hunter2",
        "app.ini.datadog.API-KEY, hunter2",
        "metrics.otlp, https://collector/v1/metrics?api_key=hunter2",
        "metrics.otlp, https://user:hunter2@collector/v1/metrics"
    })
    void what_looks_like_credentials_is_not_shown(String key, String value) {
        assertThat(new ConfigEntry(key, value, "cetane.yaml:3").shown()).isEqualTo("***");
    }

    @ParameterizedTest
    @CsvSource({
        "pool.workers, 4",
        "ops.token, ''",
        "app.ini.session.save_path, /var/lib/php/sessions",
        "app.ini.session.name, KEYS",
        "app.ini.opcache.preload, /srv/token/preload.php",
        "metrics.otlp, http://127.0.0.1:4318/v1/metrics",
        "http.listen, 0.0.0.0:8080"
    })
    void all_else_is(String key, String value) {
        assertThat(new ConfigEntry(key, value, "cetane.yaml:3").shown()).isEqualTo(value);
    }
}
