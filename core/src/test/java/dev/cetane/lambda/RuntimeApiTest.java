package dev.cetane.lambda;

import static dev.cetane.lambda.ScriptedApi.reply;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.lambda.ApiConnection.DeadConnectionException;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The calls of the Runtime API, on connections that die and with replies as HTTP/1.1 (RFC 9112) allows them. */
@Timeout(60)
final class RuntimeApiTest {
    private static final String ID = "Lambda-Runtime-Aws-Request-Id: a\r\n";
    private static final String ACCEPTED = reply(202, "", "{}");

    private static RuntimeApi of(ScriptedApi api) {
        return new RuntimeApi(api.address(), Ticker.system());
    }

    private static void post(RuntimeApi api, String id) throws IOException {
        byte[] body = "[1]".getBytes(StandardCharsets.US_ASCII);
        api.post(id, "application/json", body, body.length);
    }

    private static String text(Invocation invocation) {
        return new String(invocation.event(), 0, invocation.length(), StandardCharsets.UTF_8);
    }

    @Test
    void oneConnectionServesAllCalls() throws IOException {
        try (ScriptedApi script = new ScriptedApi(reply(200, ID, "{}"), ACCEPTED, reply(200, ID, "{}"));
                RuntimeApi api = of(script)) {
            api.next();
            post(api, "a");
            assertThat(requireNonNull(api.confirm()).status()).isEqualTo(202);
            api.next();
            assertThat(script.requests())
                    .extracting(ScriptedApi.Request::connection)
                    .containsExactly(1, 1, 1);
            assertThat(script.requests().get(1).head())
                    .startsWith("POST /2018-06-01/runtime/invocation/a/response HTTP/1.1\r\n");
        }
    }

    @Test
    void anAnswerIsSentOnceMoreWhereAConnectionThatWasOpenHasTurnedOutToBeDead() throws IOException {
        try (ScriptedApi script = new ScriptedApi(reply(200, ID, "{}"), "", ACCEPTED);
                RuntimeApi api = of(script)) {
            api.next();
            post(api, "a");
            assertThat(requireNonNull(api.confirm()).status()).isEqualTo(202);
            assertThat(script.requests())
                    .extracting(ScriptedApi.Request::connection)
                    .containsExactly(1, 1, 2);
            assertThat(script.requests().get(2))
                    .usingRecursiveComparison()
                    .ignoringFields("connection")
                    .isEqualTo(script.requests().get(1));
        }
    }

    @Test
    void anAnswerThatANewConnectionHasTakenIsNotSentASecondTime() throws IOException {
        try (ScriptedApi script = new ScriptedApi("", ACCEPTED);
                RuntimeApi api = of(script)) {
            post(api, "a");
            assertThatThrownBy(api::confirm).isInstanceOf(DeadConnectionException.class);
            assertThat(script.requests()).hasSize(1);
        }
    }

    @Test
    void aSecondDeathOfTheConnectionIsTheEnd() throws IOException {
        try (ScriptedApi script = new ScriptedApi(reply(200, ID, "{}"), "", "", reply(200, ID, "{}"));
                RuntimeApi api = of(script)) {
            api.next();
            assertThatThrownBy(api::next).isInstanceOf(DeadConnectionException.class);
            assertThat(script.requests()).hasSize(3);
        }
    }

    @Test
    void aConnectionThatTheApiWantsClosedIsNotUsedAgain() throws IOException {
        try (ScriptedApi script =
                        new ScriptedApi(reply(200, ID + "Connection: close\r\n", "{}"), "", reply(200, ID, "{}"));
                RuntimeApi api = of(script)) {
            api.next();
            post(api, "a");
            assertThatThrownBy(api::confirm).as("it was a new one").isInstanceOf(DeadConnectionException.class);
            assertThat(script.requests())
                    .extracting(ScriptedApi.Request::connection)
                    .containsExactly(1, 2);
        }
    }

    @Test
    void interimRepliesArePassedOverAndChunksArePutTogether() throws IOException {
        String chunked = "HTTP/1.1 200 OK\r\n" + ID + "Transfer-Encoding: chunked\r\n\r\n"
                + "3;name=value\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nTrailer: x\r\n\r\n";
        try (ScriptedApi script =
                        new ScriptedApi("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + chunked, reply(200, ID, "{}"));
                RuntimeApi api = of(script)) {
            assertThat(text(api.next())).isEqualTo("{\"a\":1}");
            assertThat(text(api.next())).as("nothing of it is left").isEqualTo("{}");
        }
    }

    @Test
    void aReplyWithoutALengthEndsWithItsConnection() throws IOException {
        String reply = "HTTP/1.1 200 OK\r\n" + ID + "\r\n{\"a\":1}";
        try (ScriptedApi script = new ScriptedApi(reply).closing();
                RuntimeApi api = of(script)) {
            assertThat(text(api.next())).isEqualTo("{\"a\":1}");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 301, 403, 500})
    void nextWithAnyOtherStatusIsNoInvocationWhateverElseItSays(int status) throws IOException {
        try (ScriptedApi script = new ScriptedApi(reply(status, ID, status == 204 ? "" : "{}"));
                RuntimeApi api = of(script)) {
            assertThatThrownBy(api::next)
                    .isInstanceOf(RuntimeApiException.class)
                    .hasMessageContaining("" + status);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
                "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4000001\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}more\r\n0\r\n\r\n"
            })
    void whatIsNoHttpOrPromisesTooMuchIsRefusedAndTheConnectionIsClosed(String raw) throws IOException {
        try (ScriptedApi script = new ScriptedApi(raw);
                RuntimeApi api = of(script)) {
            assertThatThrownBy(api::next).isInstanceOf(RuntimeApiException.class);
        }
    }

    @Test
    void aHeadOfMoreThan256KilobytesIsRefused() throws IOException {
        for (String head :
                new String[] {"x: " + "y".repeat(300_000), ("x: " + "y".repeat(1_000) + "\r\n").repeat(300)}) {
            try (ScriptedApi script = new ScriptedApi("HTTP/1.1 200 OK\r\n" + ID + head + "\r\n\r\n");
                    RuntimeApi api = of(script)) {
                assertThatThrownBy(api::next).isInstanceOf(RuntimeApiException.class);
            }
        }
    }
}
