package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may read and who may act, by where they come from, what they present, and what their browser says of them. */
final class AccessTest {
    private static final String TOKEN = "0123456789abcdef";
    private static final String READ_TOKEN = "fedcba9876543210";

    private static int status(Access.Door door, Access.Purpose purpose, boolean tokens, String... fields) {
        OpsConfig config = new OpsConfig(null, Path.of("/control"), tokens ? TOKEN : null, tokens ? READ_TOKEN : null);
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        request.headers().set("Host", "127.0.0.1:9180");
        for (int i = 0; i < fields.length; i += 2) {
            request.headers().set(fields[i], fields[i + 1]);
        }
        Access.@Nullable Refusal refusal = new Access(door, config).check(request, purpose);
        return refusal == null ? 200 : refusal.status().code();
    }

    @ParameterizedTest
    @CsvSource({
        // door, purpose, without tokens, none given, read token given, token given
        "LOOPBACK, HEALTH, 200, 200, 200, 200",
        "LOOPBACK, PAGE,   200, 200, 200, 200",
        "LOOPBACK, READ,   200, 200, 200, 200",
        "LOOPBACK, ACT,    403, 401, 401, 200",
        "NETWORK,  HEALTH, 200, 200, 200, 200",
        "NETWORK,  PAGE,   403, 200, 200, 200",
        "NETWORK,  READ,   403, 401, 200, 200",
        "NETWORK,  ACT,    403, 401, 401, 200",
        "CONTROL,  HEALTH, 200, 200, 200, 200",
        "CONTROL,  READ,   200, 200, 200, 200",
        "CONTROL,  ACT,    200, 200, 200, 200"
    })
    void who_may_do_what(Access.Door door, Access.Purpose purpose, int unset, int none, int read, int full) {
        assertThat(status(door, purpose, false)).isEqualTo(unset);
        assertThat(status(door, purpose, true)).isEqualTo(none);
        assertThat(status(door, purpose, true, "Authorization", "Bearer " + READ_TOKEN))
                .isEqualTo(read);
        assertThat(status(door, purpose, true, "Authorization", "bearer " + TOKEN))
                .isEqualTo(full);
    }

    @ParameterizedTest
    @CsvSource({
        "Bearer 0123456789abcde",
        "Bearer 0123456789abcdefg",
        "Basic 0123456789abcdef",
        "0123456789abcdef",
        "Bearer",
        "'Bearer '"
    })
    void what_is_not_the_token_is_not_taken_for_it(String authorization) {
        assertThat(status(Access.Door.LOOPBACK, Access.Purpose.ACT, true, "Authorization", authorization))
                .isEqualTo(401);
    }

    @ParameterizedTest
    @CsvSource({
        "Origin, http://127.0.0.1:9180, 200",
        "Origin, https://127.0.0.1:9180, 200",
        "Origin, http://127.0.0.1:8080, 403",
        "Origin, http://evil.example, 403",
        "Origin, null, 403",
        "Sec-Fetch-Site, same-origin, 200",
        "Sec-Fetch-Site, none, 200",
        "Sec-Fetch-Site, same-site, 403",
        "Sec-Fetch-Site, cross-site, 403"
    })
    void pages_of_other_sites_neither_read_nor_act_even_with_the_token(String field, String value, int wanted) {
        String[] fields = {"Authorization", "Bearer " + TOKEN, field, value};
        assertThat(status(Access.Door.LOOPBACK, Access.Purpose.READ, true, fields))
                .isEqualTo(wanted);
        assertThat(status(Access.Door.LOOPBACK, Access.Purpose.ACT, true, fields))
                .isEqualTo(wanted);
        assertThat(status(Access.Door.NETWORK, Access.Purpose.READ, true, fields))
                .isEqualTo(wanted);
    }

    @Test
    void a_link_from_elsewhere_leads_to_the_page_which_holds_no_figures() {
        assertThat(status(Access.Door.LOOPBACK, Access.Purpose.PAGE, false, "Sec-Fetch-Site", "cross-site"))
                .isEqualTo(200);
    }

    @Test
    void a_name_that_was_rebound_to_this_machine_is_refused_even_with_the_token() {
        assertThat(status(
                        Access.Door.LOOPBACK,
                        Access.Purpose.READ,
                        true,
                        "Host",
                        "evil.example:9180",
                        "Origin",
                        "http://evil.example:9180",
                        "Authorization",
                        "Bearer " + TOKEN))
                .isEqualTo(403);
    }

    @Test
    void tokens_are_not_printed() {
        assertThat(new OpsConfig(null, Path.of("/control"), TOKEN, READ_TOKEN).toString())
                .doesNotContain(TOKEN)
                .doesNotContain(READ_TOKEN);
    }
}
