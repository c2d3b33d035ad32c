package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code $_SERVER} holds; expected values are those of nginx with php-fpm for a front controller. */
final class ServerVariablesTest {
    private static final Peer CLIENT = new Peer("192.0.2.1", "50000", "192.0.2.9", "8080", false);
    private static final Peer PROXY = new Peer("10.0.0.1", "50000", "10.0.0.9", "8080", true);

    private static Map<String, String> of(Peer peer, String method, String target, String... fields)
            throws RefusedException {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), target);
        for (int i = 0; i < fields.length; i += 2) {
            request.headers().add(fields[i], fields[i + 1]);
        }
        if (!request.headers().contains("Host")) {
            request.headers().add("Host", "shop.test");
        }
        RequestHead head = RequestHead.of(request, 8192);
        Map<String, String> server = new LinkedHashMap<>();
        new ServerVariables("/index.php", new TrustedProxies(List.of("10.0.0.0/8", "fd00::/8")))
                .write(
                        head,
                        null,
                        peer,
                        "the-id",
                        head.contentLength(),
                        (name, value) -> assertThat(server.put(name, value))
                                .as(name + " comes once")
                                .isNull());
        return server;
    }

    private static Map<String, String> get(String target, String... fields) throws RefusedException {
        return of(CLIENT, "GET", target, fields);
    }

    @Test
    void aPlainRequest() throws RefusedException {
        assertThat(get("/en/shop?b=1&a=%20", "User-Agent", "x"))
                .containsOnly(
                        Map.entry("REQUEST_METHOD", "GET"),
                        Map.entry("REQUEST_URI", "/en/shop?b=1&a=%20"),
                        Map.entry("QUERY_STRING", "b=1&a=%20"),
                        Map.entry("SERVER_PROTOCOL", "HTTP/1.1"),
                        Map.entry("CONTENT_TYPE", ""),
                        Map.entry("CONTENT_LENGTH", ""),
                        Map.entry("SCRIPT_NAME", "/index.php"),
                        Map.entry("PHP_SELF", "/index.php"),
                        Map.entry("DOCUMENT_URI", "/index.php"),
                        Map.entry("REQUEST_SCHEME", "http"),
                        Map.entry("REMOTE_ADDR", "192.0.2.1"),
                        Map.entry("REMOTE_PORT", "50000"),
                        Map.entry("SERVER_ADDR", "192.0.2.9"),
                        Map.entry("SERVER_PORT", "8080"),
                        Map.entry("SERVER_NAME", "shop.test"),
                        Map.entry("HTTP_HOST", "shop.test"),
                        Map.entry("HTTP_USER_AGENT", "x"),
                        Map.entry("REQUEST_ID", "the-id"));
    }

    @Test
    void aBodyIsDescribedWithoutPrefix() throws RefusedException {
        Map<String, String> server = of(CLIENT, "POST", "/", "Content-Type", "text/plain", "Content-Length", "12");
        assertThat(server).containsEntry("CONTENT_TYPE", "text/plain").containsEntry("CONTENT_LENGTH", "12");
        assertThat(server).doesNotContainKeys("HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH");
    }

    @ParameterizedTest
    @CsvSource({
        "/,'',/index.php",
        "/index.php,'',/index.php",
        "/index.phpx,'',/index.php",
        "/index.php/en,/en,/index.php/en",
        "/index.php/en?a=b,/en,/index.php/en",
        "/index.php/,/,/index.php/",
        "/index.php/a%20b,/a b,/index.php/a b",
        "/index%2ephp/en,/en,/index.php/en",
        "/other.php/en,'',/index.php",
        "/index.php//a///b,/a/b,/index.php/a/b",
        "/index.php/./a/../b/.,/b/,/index.php/b/",
        "/index.php/%2e%2e/a,'',/index.php",
        "/index.php/a..b/.c,/a..b/.c,/index.php/a..b/.c",
        "//index.php/..,'',/index.php",
        "/INDEX.PHP/en,'',/index.php",
        "//index.php/en,/en,/index.php/en"
    })
    void pathInfoIsWhatFollowsTheFrontController(String target, String pathInfo, String self) throws RefusedException {
        Map<String, String> server = get(target);
        assertThat(server.getOrDefault("PATH_INFO", "")).isEqualTo(pathInfo);
        assertThat(server).containsEntry("PHP_SELF", self).containsEntry("SCRIPT_NAME", "/index.php");
        assertThat(server).containsEntry("REQUEST_URI", target);
    }

    @Test
    void theQueryBeginsAtTheFirstQuestionMark() throws RefusedException {
        assertThat(get("/a?b?c")).containsEntry("QUERY_STRING", "b?c");
        assertThat(get("/a?")).containsEntry("QUERY_STRING", "").containsEntry("REQUEST_URI", "/a?");
        assertThat(get("/a")).containsEntry("QUERY_STRING", "");
    }

    @Test
    void repeatedFieldsAreJoined() throws RefusedException {
        assertThat(get(
                        "/", "X-A", "1", "x-a", "2", "Cookie", "a=1", "X-A", "3", "Cookie", "b=2", "Accept", "x",
                        "ACCEPT", "y"))
                .containsEntry("HTTP_X_A", "1, 2, 3")
                .containsEntry("HTTP_COOKIE", "a=1; b=2")
                .containsEntry("HTTP_ACCEPT", "x, y");
    }

    @Test
    void anEmptyFieldStays() throws RefusedException {
        assertThat(get("/", "X-Empty", "")).containsEntry("HTTP_X_EMPTY", "");
    }

    @Test
    void namesThatPhpCouldMistakeAreDropped() throws RefusedException {
        assertThat(get("/", "Proxy", "evil", "X_Real_Ip", "1", "X-Real_Ip", "2", "X-Real-Ip", "3", "_", "4"))
                .containsEntry("HTTP_X_REAL_IP", "3")
                .doesNotContainKeys("HTTP_PROXY", "HTTP__");
    }

    /** As nginx does with ignore_invalid_headers. */
    @Test
    void namesWithOddCharactersAreDropped() throws RefusedException {
        assertThat(get("/", "X.a", "1", "X!", "2", "X~b", "3", "X9-z", "4", "1", "2"))
                .containsEntry("HTTP_X9_Z", "4")
                .containsEntry("HTTP_1", "2")
                .doesNotContainKeys("HTTP_X.A", "HTTP_X!", "HTTP_X~B");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/..", "/../a", "/a/../..", "/a/%2e%2e/%2E%2e/b", "//..", "/./.."})
    void aPathThatLeavesTheRootIsRefused(String target) {
        assertThatThrownBy(() -> get(target)).isInstanceOf(RefusedException.class);
    }

    @Test
    void bytesBeyondAsciiArriveUnchanged() throws RefusedException {
        assertThat(get("/\u00e4?\u00fc", "X-A", "\u00ff\u0080"))
                .containsEntry("REQUEST_URI", "/\u00e4?\u00fc")
                .containsEntry("QUERY_STRING", "\u00fc")
                .containsEntry("HTTP_X_A", "\u00ff\u0080");
    }

    @Test
    void basicCredentialsAreDecoded() throws RefusedException {
        assertThat(get("/", "Authorization", "basic dXNlcjpwYTpzcw=="))
                .containsEntry("PHP_AUTH_USER", "user")
                .containsEntry("PHP_AUTH_PW", "pa:ss")
                .containsEntry("HTTP_AUTHORIZATION", "basic dXNlcjpwYTpzcw==");
    }

    @ParameterizedTest
    @CsvSource({"Basic dXNlcg==", "Basic dXNlcgA6cHc=", "Basic !", "Basic", "Bearer abc", "''"})
    void otherCredentialsAreNot(String authorization) throws RefusedException {
        assertThat(get("/", "Authorization", authorization))
                .doesNotContainKeys("PHP_AUTH_USER", "PHP_AUTH_PW", "PHP_AUTH_DIGEST");
    }

    @Test
    void digestCredentialsAreHandedOn() throws RefusedException {
        assertThat(get("/", "Authorization", "Digest username=\"a\", realm=\"b\""))
                .containsEntry("PHP_AUTH_DIGEST", "username=\"a\", realm=\"b\"");
    }

    @ParameterizedTest
    @CsvSource({"shop.test:81,shop.test", "[::1]:81,[::1]", "[::1],[::1]", "shop.test:,shop.test"})
    void theServersNameIsTheHostWithoutItsPort(String host, String name) throws RefusedException {
        assertThat(get("/", "Host", host))
                .containsEntry("SERVER_NAME", name)
                .containsEntry("SERVER_PORT", "8080")
                .containsEntry("HTTP_HOST", host);
    }

    @Test
    void theTargetsAuthorityGoesBeforeHost() throws RefusedException {
        assertThat(get("http://other.test:82/a?b", "Host", "shop.test"))
                .containsEntry("HTTP_HOST", "other.test:82")
                .containsEntry("SERVER_NAME", "other.test")
                .containsEntry("REQUEST_URI", "/a?b");
    }

    @Test
    void aUnixSocketHasNoAddresses() throws RefusedException {
        Peer unix = Peer.of(null, null, new TrustedProxies(List.of()));
        assertThat(of(unix, "GET", "/", "Host", "shop.test:81"))
                .containsEntry("REMOTE_ADDR", "unix:")
                .containsEntry("REMOTE_PORT", "")
                .containsEntry("SERVER_ADDR", "unix:")
                .containsEntry("SERVER_PORT", "81");
        assertThat(of(unix, "GET", "/")).containsEntry("SERVER_PORT", "80");
    }

    // ---- proxies ----

    @Test
    void whatAStrangerForwardsDoesNotCount() throws RefusedException {
        assertThat(get(
                        "/",
                        "X-Forwarded-For",
                        "1.1.1.1",
                        "X-Forwarded-Proto",
                        "https",
                        "X-Forwarded-Host",
                        "evil",
                        "Forwarded",
                        "for=2.2.2.2"))
                .containsEntry("REMOTE_ADDR", "192.0.2.1")
                .containsEntry("HTTP_HOST", "shop.test")
                .containsEntry("REQUEST_SCHEME", "http")
                .doesNotContainKey("HTTPS")
                .containsEntry("HTTP_X_FORWARDED_FOR", "1.1.1.1");
    }

    @Test
    void whatATrustedProxyForwardsCounts() throws RefusedException {
        assertThat(of(
                        PROXY,
                        "GET",
                        "/",
                        "X-Forwarded-For",
                        "198.51.100.7",
                        "X-Forwarded-Proto",
                        "https",
                        "X-Forwarded-Host",
                        "shop.example:8443"))
                .containsEntry("REMOTE_ADDR", "198.51.100.7")
                .containsEntry("REMOTE_PORT", "")
                .containsEntry("REQUEST_SCHEME", "https")
                .containsEntry("HTTPS", "on")
                .containsEntry("HTTP_HOST", "shop.example:8443")
                .containsEntry("SERVER_NAME", "shop.example")
                .containsEntry("SERVER_PORT", "8443");
    }

    @Test
    void thePortFollowsTheScheme() throws RefusedException {
        assertThat(of(PROXY, "GET", "/", "X-Forwarded-Proto", "https")).containsEntry("SERVER_PORT", "443");
        assertThat(of(PROXY, "GET", "/", "X-Forwarded-Proto", "http")).containsEntry("SERVER_PORT", "80");
        assertThat(of(PROXY, "GET", "/", "X-Forwarded-Proto", "https", "X-Forwarded-Port", "8443"))
                .containsEntry("SERVER_PORT", "8443");
        assertThat(of(PROXY, "GET", "/")).containsEntry("SERVER_PORT", "8080").containsEntry("REMOTE_ADDR", "10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "198.51.100.7|198.51.100.7",
                "1.1.1.1, 198.51.100.7|198.51.100.7",
                "1.1.1.1, 198.51.100.7, 10.9.9.9|198.51.100.7",
                "10.1.1.1, 10.2.2.2|10.1.1.1",
                "unknown, 10.2.2.2|10.2.2.2",
                "1.1.1.1, nonsense|10.0.0.1",
                "198.51.100.7:1234|198.51.100.7",
                "[2001:db8::1]:1234|2001:db8::1",
                "2001:db8::1|2001:db8::1",
                "2001:db8::1, fd00::5|2001:db8::1",
                "2001:0DB8:0:0:0:0:0:1|2001:db8::1",
                "fe80::1%<script>|10.0.0.1",
                "198.51.100.7, |198.51.100.7",
                "',,'|10.0.0.1",
                "'<script>'|10.0.0.1",
                "''|10.0.0.1"
            })
    void theRightmostHopThatIsNoProxyIsTheClient(String forwardedFor, String client) throws RefusedException {
        assertThat(of(PROXY, "GET", "/", "X-Forwarded-For", forwardedFor)).containsEntry("REMOTE_ADDR", client);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "for=198.51.100.7;proto=https;host=shop.example|198.51.100.7|https|shop.example",
                "For=\"[2001:db8::1]:80\"; Proto=HTTPS|2001:db8::1|https|shop.test",
                "for=1.1.1.1;proto=https, for=198.51.100.7;proto=http|198.51.100.7|http|shop.test",
                "for=198.51.100.7;proto=https, for=10.1.1.1;proto=http|198.51.100.7|https|shop.test",
                "for=_hidden|10.0.0.1|http|shop.test",
                "for=\"1.1.1.1, 2.2.2.2\"|10.0.0.1|http|shop.test",
                "for=198.51.100.7;host=\"a b\"|198.51.100.7|http|shop.test",
                "for=198.51.100.7;proto=ftp|198.51.100.7|http|shop.test",
                "for=198.51.100.7, proto=https|10.0.0.1|https|shop.test",
                ",|10.0.0.1|http|shop.test",
                ";;,=|10.0.0.1|http|shop.test"
            })
    void theForwardedField(String forwarded, String client, String scheme, String host) throws RefusedException {
        assertThat(of(PROXY, "GET", "/", "Forwarded", forwarded))
                .containsEntry("REMOTE_ADDR", client)
                .containsEntry("REQUEST_SCHEME", scheme)
                .containsEntry("HTTP_HOST", host);
    }

    /** Most proxies set X-Forwarded-* and pass on whatever Forwarded the client invented. */
    @Test
    void forwardedDoesNotCountBesideXForwarded() throws RefusedException {
        assertThat(of(PROXY, "GET", "/", "Forwarded", "for=6.6.6.6;host=evil", "X-Forwarded-For", "198.51.100.7"))
                .containsEntry("REMOTE_ADDR", "198.51.100.7")
                .containsEntry("HTTP_HOST", "shop.test");
    }

    @ParameterizedTest
    @CsvSource({"10.0.0.0/33", "10.0.0/8", "example.com", "fd00::/129", "10.0.0.0/x", "''"})
    void anEntryThatIsNoNetworkIsAnError(String entry) {
        assertThatThrownBy(() -> new TrustedProxies(List.of(entry)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("http.trusted-proxies");
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8,10.255.0.1,true",
        "10.0.0.0/8,11.0.0.1,false",
        "10.0.0.0/9,10.128.0.1,false",
        "10.0.0.0/9,10.127.0.1,true",
        "0.0.0.0/0,1.2.3.4,true",
        "0.0.0.0/0,::1,false",
        "192.0.2.1,192.0.2.1,true",
        "192.0.2.1,192.0.2.2,false",
        "fd00::/8,fdff::1,true",
        "fd00::/8,fe00::1,false"
    })
    void networks(String network, String address, boolean trusted) {
        assertThat(new TrustedProxies(List.of(network)).trusts(address)).isEqualTo(trusted);
    }

    @Test
    void requestIdsThatDoNotFitALogAreReplaced() {
        assertThat(RequestId.isFit("a-Z0.9_~:=@/+")).isTrue();
        assertThat(RequestId.isFit("x".repeat(128))).isTrue();
        assertThat(RequestId.isFit("x".repeat(129))).isFalse();
        assertThat(RequestId.isFit("")).isFalse();
        assertThat(RequestId.isFit("a b")).isFalse();
        assertThat(RequestId.isFit("a\u001b[0m")).isFalse();
        assertThat(RequestId.next()).matches("[0-9a-f]{16}").isNotEqualTo(RequestId.next());
    }
}
