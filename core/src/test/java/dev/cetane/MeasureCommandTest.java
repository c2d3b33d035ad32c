package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code cetane measure} reads of an application. */
final class MeasureCommandTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "APP_DEBUG=true",
                "APP_NAME=a\nAPP_DEBUG=1\n",
                "APP_NAME=a\r\nAPP_DEBUG = \"true\"\r\n",
                "export APP_DEBUG='true'",
                "APP_DEBUG=(true)"
            })
    void debugging_is_on(String environment) {
        assertThat(MeasureCommand.isDebug(environment)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "APP_DEBUG=false",
                "# APP_DEBUG=true",
                "MY_APP_DEBUG=true",
                "APP_DEBUG=\ntrue",
                "APP_NAME=APP_DEBUG=true"
            })
    void debugging_is_off(String environment) {
        assertThat(MeasureCommand.isDebug(environment)).isFalse();
    }
}
