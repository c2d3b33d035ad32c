package dev.cetane.multipart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.multipart.FormCases.Case;
import dev.cetane.multipart.FormCases.Settings;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The same bodies to PHP itself, and to the reader and the PHP client: both must come to the same variables. */
final class FormOracleTest {
    private static final Map<Settings, PhpOracle> ORACLES = new EnumMap<>(Settings.class);
    private static final Map<Settings, FormClient> CLIENTS = new EnumMap<>(Settings.class);

    @BeforeAll
    static void start() {
        for (Settings settings : Settings.values()) {
            ORACLES.put(settings, PhpOracle.start(settings.ini));
            CLIENTS.put(settings, FormClient.start(settings.ini));
        }
    }

    @AfterAll
    static void stop() {
        ORACLES.values().forEach(PhpOracle::close);
        CLIENTS.values().forEach(FormClient::close);
    }

    @Test
    void everyFormIsWhatPhpMakesOfIt() {
        List<Case> cases = FormCases.all();
        assertThat(cases).hasSizeGreaterThan(700);
        SoftAssertions all = new SoftAssertions();
        for (Case form : cases) {
            String expected = ORACLES.get(form.settings()).ask(form.contentType(), form.bytes());
            FormClient client = CLIENTS.get(form.settings());
            FormLimits limits = form.settings().limits;
            all.assertThat(client.ask(form.contentType(), form.bytes(), limits, rest -> rest.remaining()))
                    .as(form.name())
                    .isEqualTo(expected);
            if (form.body().length() < 20_000) {
                all.assertThat(client.ask(form.contentType(), form.bytes(), limits, rest -> 1))
                        .as(form.name() + ", byte by byte")
                        .isEqualTo(expected);
            }
        }
        all.assertAll();
    }

    /** Bodies made of what forms are made of, in any order: whatever PHP makes of them is right. */
    @Test
    void whatNobodyThoughtOfIsWhatPhpMakesOfIt() {
        String[] tokens = {
            "\r\n",
            "\r\n",
            "\n",
            "\r",
            "--B",
            "\r\n--B\r\n",
            "\r\n--B--",
            "--",
            "B",
            "x",
            "\0",
            " ",
            ";",
            ":",
            "=",
            "\"",
            "'",
            "\\",
            "[",
            "]",
            "a",
            "name=",
            "filename=",
            "name=\"a\"",
            "filename=\"b\"",
            "Content-Type: text/x",
            "\r\n--B\r\nContent-Disposition: form-data; ",
            "\r\n--B\r\nContent-Disposition: form-data; name=\"f[]\"; filename=\"",
            "\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n",
            "\r\n\r\n",
            "\u00ff"
        };
        long seed = Long.getLong("cetane.seed", 20_260_801L);
        int rounds = Integer.getInteger("cetane.rounds", 1500);
        Random random = new Random(seed);
        PhpOracle oracle = ORACLES.get(Settings.DEFAULT);
        FormClient client = CLIENTS.get(Settings.DEFAULT);
        for (int round = 0; round < rounds; round++) {
            StringBuilder body = new StringBuilder("--B\r\n");
            for (int i = random.nextInt(40); i >= 0; i--) {
                body.append(tokens[random.nextInt(tokens.length)]);
            }
            byte[] bytes = body.toString().getBytes(StandardCharsets.ISO_8859_1);
            String expected = oracle.ask(FormCases.TYPE, bytes);
            String actual = client.ask(
                    FormCases.TYPE, bytes, FormLimits.PHP_DEFAULTS, rest -> 1 + random.nextInt(rest.remaining()));
            assertThat(actual)
                    .as("seed " + seed + ", round " + round + ": " + body)
                    .isEqualTo(expected);
        }
    }
}
