package dev.cetane.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.cgi.CgiVariables;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events that are no JSON (RFC 8259), no whole requests, or say what nobody may say; {@code tests/events} has those that are well. */
final class EventReaderTest {
    private static final String HTTP =
            "\"requestContext\":{\"domainName\":\"d.example\",\"http\":{\"method\":\"POST\"}}";

    private static Invocation invocation(String event) {
        byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
        return new Invocation("id", 0, "", "", "", "", "", "", bytes, bytes.length);
    }

    private static EventReader.Event read(String event) throws MalformedEventException {
        return new EventReader("auto").read(invocation(event));
    }

    private static HttpEvent http(String members) throws MalformedEventException {
        return Objects.requireNonNull(read("{" + members + "," + HTTP + "}").http());
    }

    private static void assertMalformed(String event, String why) {
        assertThatThrownBy(() -> read(event))
                .as(event)
                .isInstanceOf(MalformedEventException.class)
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "}",
                "{]",
                "[1,",
                "[1 2]",
                "[1,]",
                "{\"a\":1,}",
                "{\"a\" 1}",
                "{a:1}",
                "{\"a\":}",
                "{\"a\":1}{}",
                "{\"a\":1} x",
                "nul",
                "truth",
                "\"no end",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\u12G4\"",
                "\"\\",
                "\"a\nb\"",
                "\"a\u0001b\"",
                "\u00e4"
            })
    void whatIsNoJsonIsMalformed(String event) {
        assertThatThrownBy(() -> read(event)).isInstanceOf(MalformedEventException.class);
    }

    @Test
    void nestingHasAnEndBeforeTheStackHas() throws MalformedEventException {
        assertThat(read("[".repeat(512) + "]".repeat(512)).http()).isNull();
        assertMalformed("[".repeat(600_000), "levels");
        assertMalformed("{\"a\":".repeat(600_000), "levels");
    }

    @ParameterizedTest
    @ValueSource(strings = {"!!!", "YQ=x", "Y", "YQ==YQ==", "Y Q=="})
    void aBodyThatSaysItIsBase64AndIsNotIsMalformed(String body) {
        assertMalformed("{\"isBase64Encoded\":true,\"body\":\"" + body + "\"," + HTTP + "}", "base64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[1]", "1", "true"})
    void aBodyThatIsNoTextIsMalformed(String body) {
        assertMalformed("{\"body\":" + body + "," + HTTP + "}", "no text");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\\n", "\\r", "\\u0000", "\\u000a"})
    void aLineBreakOrNulInWhatBecomesAVariableIsMalformed(String escape) {
        assertMalformed("{\"headers\":{\"x-a\":\"b" + escape + "c\"}," + HTTP + "}", "x-a");
        assertMalformed("{\"multiValueHeaders\":{\"x-a\":[\"d\",\"b" + escape + "c\"]}," + HTTP + "}", "x-a");
        assertMalformed("{\"cookies\":[\"a=b" + escape + "c\"]," + HTTP + "}", "cookies");
        assertMalformed("{\"requestContext\":{\"http\":{\"method\":\"GET" + escape + "\"}}}", "method");
        assertMalformed(
                "{\"requestContext\":{\"http\":{\"method\":\"GET\",\"protocol\":\"HTTP/1.1" + escape + "\"}}}",
                "protocol");
        assertMalformed(
                "{\"requestContext\":{\"http\":{\"method\":\"GET\",\"sourceIp\":\"::1" + escape + "\"}}}", "sourceIp");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-amzn-request-context", "X-Amzn-Lambda-Context", "x-amz-tenant-id", "X-VAPOR-SOURCE-IP"})
    void whatOnlyAdaptersSayIsNotTakenFromClients(String name) throws MalformedEventException {
        assertThat(http("\"headers\":{\"" + name + "\":\"spoofed\",\"x-b\":\"kept\"}")
                        .fields())
                .containsExactly("HTTP_X_B", "kept");
        assertThat(http("\"multiValueHeaders\":{\"" + name + "\":[\"spoofed\"],\"x-b\":[\"kept\"]}")
                        .fields())
                .containsExactly("HTTP_X_B", "kept");
    }

    @Test
    void theLengthOfTheBodyIsWhatIsThereWhateverAFieldSays() throws MalformedEventException {
        HttpEvent event = http(
                "\"headers\":{\"content-length\":\"99\",\"x-b\":\"c\"},\"isBase64Encoded\":true,\"body\":\"YWI=\"");
        assertThat(event.bodyBytes()).isEqualTo(2);
        assertThat(event.fields()).containsExactly("HTTP_X_B", "c");
        assertThat(http("\"headers\":{\"content-length\":\"0\"}").bodyBytes()).isZero();
        assertThat(http("\"headers\":{}").bodyBytes()).isEqualTo(CgiVariables.NO_BODY);
    }

    @ParameterizedTest
    @CsvSource({"443,443", "65536,65536", "123456,''", "80a,''", "-1,''", "'8 0',''"})
    void aPortIsDigits(String sent, String port) throws MalformedEventException {
        assertThat(http("\"headers\":{\"x-forwarded-port\":\"" + sent + "\"}")
                        .client()
                        .serverPort())
                .isEqualTo(port);
    }

    @Test
    void withoutAHostThereIsTheDomainOfTheApi() throws MalformedEventException {
        assertThat(http("\"headers\":{}").client().host()).isEqualTo("d.example");
        assertThat(http("\"headers\":{\"host\":\"own.example:8443\"}").client().host())
                .isEqualTo("own.example:8443");
    }

    @Test
    void textInEscapesAndPairsOfThemIsTheTextThatItStandsFor() throws MalformedEventException {
        byte[] body = http("\"body\":\"\\ud83d\\ude00 \\u00e4\\u20ac \\ud83d! \\\"\\\\\\/\\b\\f\\n\\r\\t\"")
                .body();
        assertThat(new String(body, StandardCharsets.UTF_8))
                .isEqualTo("\ud83d\ude00 \u00e4\u20ac \ufffd! \"\\/\b\f\n\r\t");
    }

    @Test
    void onlyTrueMakesAWarmer() throws MalformedEventException {
        assertThat(read("{\"warmer\":true}").warmer()).isEqualTo(EventReader.Warmer.BREF);
        assertThat(read("{\"vaporWarmer\":true}").warmer()).isEqualTo(EventReader.Warmer.VAPOR);
        for (String value : new String[] {"false", "null", "1", "\"true\""}) {
            assertThat(read("{\"warmer\":" + value + "}").warmer()).isEqualTo(EventReader.Warmer.NONE);
        }
    }

    @Test
    void aTargetThatCannotBeOneIsMalformed() {
        assertMalformed("{\"rawPath\":\"/../..\"," + HTTP + "}", "cannot be understood");
    }
}
