package dev.cetane.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.cetane.log.RecordingLog;
import dev.cetane.worker.PoolSnapshot;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.WorkerState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OpsServerTest {

    @TempDir
    Path directory;

    private volatile PoolSnapshot pool = Pools.of(WorkerState.IDLE, WorkerState.BUSY);
    private final ScriptedOperator operator = new ScriptedOperator();
    private final StillClock clock = new StillClock();
    private OpsServer server;
    private SocketAddress tcp;
    private SocketAddress control;

    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("control.sock");
        server = server(new OpsConfig(loopback(0), socket));
        server.bind();
        tcp = server.address();
        control = UnixDomainSocketAddress.of(socket);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void readinessFollowsThePool() throws IOException {
        assertThat(ask(tcp, get("/health/ready")))
                .startsWith("HTTP/1.1 200 OK\r\n")
                .endsWith("\r\n\r\nok: 1 idle, 1 busy, 0 waiting\n");

        pool = Pools.draining(WorkerState.IDLE);

        assertThat(ask(tcp, get("/health/ready")))
                .startsWith("HTTP/1.1 503 Service Unavailable\r\n")
                .endsWith("\r\n\r\nunavailable: draining\n");
        assertThat(ask(tcp, get("/health/live"))).startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void healthIsJsonForWhoeverAsksForIt() throws IOException {
        pool = Pools.of(WorkerState.STARTING);

        String answer = ask(
                tcp,
                "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n");

        assertThat(answer)
                .startsWith("HTTP/1.1 503 ")
                .contains("content-type: application/json\r\n")
                .endsWith("\r\n\r\n{\"status\":\"unavailable\",\"reason\":\"booting\"}\n");
    }

    @Test
    void metricsAreInPrometheusText() throws IOException {
        assertThat(ask(tcp, get("/metrics")))
                .startsWith("HTTP/1.1 200 OK\r\n")
                .contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n")
                .contains("cetane_workers{state=\"idle\"} 1.0\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health/ready", "/health/live", "/metrics", "/none"})
    void headHasTheHeadersOfGetAndNoBody(String path) throws IOException {
        String head = ask(tcp, get(path).replace("GET", "HEAD"));

        assertThat(head).contains("content-length: ").endsWith("\r\n\r\n").doesNotContain("content-length: 0\r\n");
    }

    @ParameterizedTest
    @CsvSource({
        "/status,200,405",
        "/workers,404,405",
        "/stop,404,405",
        "/stop?now,404,405",
        "/health,404,405",
        "/top,404,405",
        "/reload,403,403",
        "/workers/1/recycle,403,403",
        "/,200,405",
        "/config,200,405",
        "/workers//recycle,404,405",
        "/../dashboard.html,404,405"
    })
    void withoutATokenTheNetworkGetsReadingAndNothingElse(String path, String get, String post) throws IOException {
        assertThat(ask(tcp, get(path))).startsWith("HTTP/1.1 " + get + " ");
        assertThat(ask(tcp, get(path).replace("GET", "POST"))).startsWith("HTTP/1.1 " + post + " ");
        assertThat(operator.calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "TRACE", "OPTIONS"})
    void otherMethodsAreRefused(String method) throws IOException {
        assertThat(ask(tcp, get("/metrics").replace("GET", method)))
                .startsWith("HTTP/1.1 405 Method Not Allowed\r\n")
                .contains("allow: GET, HEAD\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"evil.example", "evil.example:9180", "127.0.0.1.evil.example", "localhost.evil.example", ""})
    void aForeignHostNameIsRefusedOnLoopback(String host) throws IOException {
        assertThat(ask(tcp, "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 403 Forbidden\r\n")
                .doesNotContain("cetane_");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LOCALHOST:9180", "127.0.0.1:9180", "10.1.2.3", "[::1]:9180"})
    void thisMachineAndAddressesAreAllowedAsHost(String host) throws IOException {
        assertThat(ask(tcp, "GET /health/live HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void withoutAHostOnlyHttp10IsServed() throws IOException {
        assertThat(ask(tcp, "GET /health/live HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 OK\r\n");
        assertThat(ask(tcp, "GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 403 ");
    }

    @Test
    void aConnectionIsKeptForTheNextRequest() throws IOException {
        String both = ask(tcp, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/health/ready"));

        assertThat(both).containsSubsequence("HTTP/1.1 200 OK\r\n", "ok: alive\n", "HTTP/1.1 200 OK\r\n", "ok: 1 idle");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nonsense\r\n\r\n",
                "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET / HTTP/1.1\r\nX: %s\r\n\r\n"
            })
    void whatIsNoSmallRequestIsAnsweredWith400AndClosed(String request) throws IOException {
        assertThat(ask(tcp, request.replace("%s", "x".repeat(20_000)))).startsWith("HTTP/1.1 400 ");
    }

    @Test
    void aBodyThatIsTooLargeIsRefused() throws IOException {
        assertThat(ask(tcp, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"))
                .startsWith("HTTP/1.1 413 ");
    }

    @Test
    void whoAsksForMuchAtOnceIsAnsweredInPartAndDisconnected() throws IOException {
        try (SocketChannel channel = SocketChannel.open(tcp)) {
            write(channel, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500));
            assertThat(answersBeforeTheEnd(channel)).isBetween(1, 100);
        }
    }

    @Test
    void whoAsksAndReadsNothingIsDisconnected() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 4_096);
            channel.connect(tcp);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 400_000; i++) {
                            write(channel, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        assertThat(ask(tcp, get("/health/live"))).startsWith("HTTP/1.1 200 ");
    }

    /** How many come before the connection ends; a reset is an end too. */
    private static int answersBeforeTheEnd(SocketChannel channel) {
        StringBuilder answers = new StringBuilder();
        ByteBuffer in = ByteBuffer.allocate(65_536);
        boolean open = true;
        while (open) {
            try {
                open = channel.read(in) >= 0;
            } catch (IOException e) {
                open = false;
            }
            answers.append(StandardCharsets.UTF_8.decode(in.flip()));
            in.clear();
        }
        return answers.toString().split("HTTP/1.1 200 ", -1).length - 1;
    }

    @Test
    void connectionsAboveTheLimitAreToldSoWhileNoneHasBeenIdleForLong() throws IOException {
        List<SocketChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < 64; i++) {
                SocketChannel channel = SocketChannel.open(tcp);
                open.add(channel);
                write(channel, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(1);
            }
            assertThat(ask(tcp, get("/metrics")))
                    .startsWith("HTTP/1.1 503 Service Unavailable\r\n")
                    .contains("Retry-After: 1\r\n")
                    .endsWith("Too many connections are open here; try again.\n");
            assertThat(ask(control, "GET /health/live HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 OK\r\n");
        } finally {
            for (SocketChannel channel : open) {
                channel.close();
            }
        }
    }

    @Test
    void whoHoldsConnectionsOpenKeepsNobodyOutAndDashboardsStay() throws IOException {
        List<SocketChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < 64; i++) {
                clock.nanos = i;
                SocketChannel channel = SocketChannel.open(tcp);
                open.add(channel);
                // The first is a dashboard, the second is slow to send what it wants, the others have had an answer.
                write(
                        channel,
                        i == 0
                                ? "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                : "GET /health/live HTTP/1.1\r\nHost: localhost\r\n" + (i == 1 ? "" : "\r\n"));
                if (i == 1) {
                    // Who comes later is answered, so that one was accepted before the clock goes on.
                    assertThat(ask(tcp, get("/health/live"))).startsWith("HTTP/1.1 200 ");
                } else {
                    assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(1);
                }
            }
            clock.nanos = 1_000_000_100;
            for (int i = 1; i <= 3; i++) {
                SocketChannel another = SocketChannel.open(tcp);
                open.add(another);
                write(another, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
                assertThat(answer(another)).startsWith("HTTP/1.1 200 ");
                // The one that has been idle for longest has made room, and is told so if it never had an answer.
                if (i == 1) {
                    assertThat(answer(open.get(i))).startsWith("HTTP/1.1 503 ");
                }
                assertThat(answersBeforeTheEnd(open.get(i))).isZero();
            }
            write(open.get(4), "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(answer(open.get(4))).contains("ok: alive");
            assertThat(answer(open.get(0))).contains("event: sample");
        } finally {
            for (SocketChannel channel : open) {
                channel.close();
            }
        }
    }

    /** What comes next. */
    private static String answer(SocketChannel channel) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(65_536);
        assertThat(channel.read(in)).isPositive();
        return StandardCharsets.UTF_8.decode(in.flip()).toString();
    }

    @Test
    void theControlSocketShowsTheStatusForPeople() throws IOException {
        pool = Pools.queued(2, 128, WorkerState.IDLE, WorkerState.BUSY);

        assertThat(body(ask(control, "GET /status HTTP/1.0\r\n\r\n")))
                .startsWith("cetane 1.2.3, pid 42, up ")
                .contains(", ready\n")
                .endsWith("""
                        application  /srv/app (laravel)
                        listens on   http://127.0.0.1:8080
                        workers      2 wanted, 1 idle, 1 busy
                        queue        2 of 128
                        generation   1
                        """);
        assertThat(body(ask(control, "GET /workers HTTP/1.0\r\n\r\n"))).isEqualTo("""
                        ID  ROLE     PID   STATE  FOR  REQUESTS  MEMORY   AGE    GENERATION  REQUEST
                        1   request  1001  idle   2s   10        1.0 MiB  1m 2s  1
                        2   request  1002  busy   2s   20        2.0 MiB  1m 2s  1           GET /?[2J
                        """);
    }

    @Test
    void workersThatRunTasksAreShownBesideTheOthers() throws IOException {
        pool = Pools.queued(0, 128, WorkerState.BUSY).with(Pools.tasks(3, 512, WorkerState.IDLE));

        assertThat(body(ask(control, "GET /status HTTP/1.0\r\n\r\n"))).contains("""
                        workers      1 wanted, 1 busy
                        queue        0 of 128
                        task workers 1 wanted, 1 idle
                        task queue   3 of 512
                        """);
        assertThat(body(ask(control, "GET /workers HTTP/1.0\r\n\r\n")))
                .containsPattern("\n1 +request +1001 +busy")
                .containsPattern("\n101 +task +1101 +idle");
        JsonNode status = new ObjectMapper().readTree(body(ask(control, "GET /status?json HTTP/1.0\r\n\r\n")));
        assertThat(status.at("/workers/busy").asInt()).isEqualTo(1);
        assertThat(status.at("/workers/idle").asInt()).isEqualTo(0);
        assertThat(status.at("/tasks/workers/idle").asInt()).isEqualTo(1);
        assertThat(status.at("/tasks/queue/depth").asInt()).isEqualTo(3);
        JsonNode workers = new ObjectMapper().readTree(body(ask(control, "GET /workers?json HTTP/1.0\r\n\r\n")));
        assertThat(workers.get(1).get("role").asText()).isEqualTo("task");
    }

    @Test
    void theControlSocketShowsTheStatusForMachines() throws IOException {
        JsonNode status = new ObjectMapper().readTree(body(ask(control, "GET /status?json HTTP/1.0\r\n\r\n")));
        assertThat(status.get("pid").asInt()).isEqualTo(42);
        assertThat(status.get("ready").asBoolean()).isTrue();
        assertThat(status.get("urls").get(0).asText()).isEqualTo("http://127.0.0.1:8080");
        assertThat(status.get("workers").get("idle").asInt()).isEqualTo(1);
        assertThat(status.get("last_boot_failure").isNull()).isTrue();

        JsonNode workers = new ObjectMapper().readTree(body(ask(control, "GET /workers?json HTTP/1.0\r\n\r\n")));
        assertThat(workers.get(1).get("state").asText()).isEqualTo("busy");
        assertThat(workers.get(1).get("request").asText()).isEqualTo("GET /\u001b[2J");
        assertThat(workers.get(1).get("memory_bytes").asLong()).isEqualTo(2_097_152);
    }

    @Test
    void aReloadIsAnsweredWhenItHasEnded() throws IOException {
        operator.reload.complete(7);
        assertThat(ask(control, "POST /reload HTTP/1.0\r\n\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\n")
                .endsWith("\r\n\r\nGeneration 7 serves.\n");
        assertThat(operator.calls).containsExactly("reload");
    }

    @Test
    void aReloadThatFailsIsAnsweredWithTheApplicationsMessage() throws IOException {
        operator.reload.completeExceptionally(new IllegalStateException("PHP Parse error in app.php:3"));
        assertThat(ask(control, "POST /reload HTTP/1.0\r\n\r\n"))
                .startsWith("HTTP/1.1 409 Conflict\r\n")
                .endsWith("\r\n\r\nPHP Parse error in app.php:3\n");
    }

    @Test
    void workersAreRecycledAndTheInstanceStoppedByPost() throws IOException {
        assertThat(ask(control, "POST /workers/3/recycle HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 202 ");
        assertThat(ask(control, "POST /workers/9/recycle HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 404 ");
        assertThat(ask(control, "POST /stop HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 202 ");
        assertThat(ask(control, "POST /stop?now HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 202 ");

        assertThat(operator.calls).containsExactly("recycle 3", "recycle 9", "stop", "stop now");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/stop", "/reload", "/workers/3/recycle"})
    void nothingIsDoneByGet(String path) throws IOException {
        assertThat(ask(control, "GET " + path + " HTTP/1.0\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ")
                .contains("allow: POST\r\n");
        assertThat(operator.calls).isEmpty();
    }

    @Test
    void fromElsewhereOnlyHealthIsAnsweredWithoutAToken() throws IOException {
        InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
        try (OpsServer open = server(new OpsConfig(everywhere, directory.resolve("open.sock")))) {
            open.bind();
            SocketAddress there = loopback(open.address().getPort());
            assertThat(ask(there, get("/health/ready"))).startsWith("HTTP/1.1 200 ");
            for (String path : List.of("/", "/metrics", "/config", "/events", "/dashboard.js")) {
                assertThat(ask(there, get(path))).startsWith("HTTP/1.1 403 ").contains("ops.token");
            }
        }
        String token = "0123456789abcdef";
        try (OpsServer guarded = server(new OpsConfig(everywhere, directory.resolve("guarded.sock"), token, null))) {
            guarded.bind();
            SocketAddress there = loopback(guarded.address().getPort());
            assertThat(ask(there, get("/"))).startsWith("HTTP/1.1 200 ");
            assertThat(ask(there, get("/metrics")))
                    .startsWith("HTTP/1.1 401 ")
                    .contains("www-authenticate: Bearer realm=\"cetane\"\r\n");
            String presented = "Connection: close\r\nAuthorization: Bearer " + token + "\r\n";
            assertThat(ask(there, get("/metrics").replace("Connection: close\r\n", presented)))
                    .startsWith("HTTP/1.1 200 ");
            String recycle = "POST /workers/%s/recycle HTTP/1.1\r\nHost: localhost\r\n" + presented + "\r\n";
            assertThat(ask(there, recycle.replace("%s", "3"))).startsWith("HTTP/1.1 202 ");
            for (String unknown : List.of("4", "x", "-1", "99999999999999999999", "3%20")) {
                assertThat(ask(there, recycle.replace("%s", unknown)))
                        .startsWith("HTTP/1.1 404 ")
                        .contains("There is no worker ")
                        .contains("cetane workers lists them");
            }
        }
        assertThat(operator.calls).containsExactly("recycle 3", "recycle 4");
    }

    @Test
    void theDashboardIsWholeAndTalksToNobodyElse() throws IOException {
        String page = ask(tcp, get("/"));
        assertThat(page)
                .contains("content-security-policy: default-src 'none'; script-src 'self'; ")
                .contains("frame-ancestors 'none'")
                .contains("x-frame-options: DENY\r\n")
                .contains("referrer-policy: no-referrer\r\n")
                .doesNotContain("access-control-allow");
        var references = Pattern.compile("(?:src|href)=\"([^\"#]+)\"").matcher(body(page));
        List<String> files = new ArrayList<>();
        while (references.find()) {
            files.add(references.group(1));
            assertThat(ask(tcp, get(references.group(1)))).startsWith("HTTP/1.1 200 ");
        }
        assertThat(files).contains("/uplot.js", "/uplot.css", "/dashboard.js").allMatch(file -> file.startsWith("/"));
    }

    @Test
    void theConfigurationInForceIsShownWithoutWhatLooksLikeCredentials() throws IOException {
        JsonNode config = new ObjectMapper().readTree(body(ask(tcp, get("/config"))));
        assertThat(config.at("/configuration/0/value").asText()).isEqualTo("2");
        assertThat(config.at("/configuration/1/value").asText()).isEqualTo("***");
        assertThat(config.path("actions").asBoolean()).isFalse();
    }

    @Test
    void topSendsAPageAfterTheOtherInTheOrderThatIsAskedFor() throws IOException {
        try (SocketChannel channel = SocketChannel.open(control)) {
            write(channel, "GET /top?requests HTTP/1.0\r\n\r\n");
            StringBuilder pages = new StringBuilder();
            ByteBuffer in = ByteBuffer.allocate(65_536);
            while (pages.chars().filter(c -> c == '\f').count() < 2) {
                assertThat(channel.read(in)).isPositive();
                pages.append(StandardCharsets.UTF_8.decode(in.flip()));
                in.clear();
            }
            String second = pages.toString().split("\f", -1)[1];
            assertThat(second).startsWith("cetane 1.2.3, pid 42, up ").contains("requests  0/s", "queue 0 of 128");
            assertThat(second.indexOf("1002")).isLessThan(second.indexOf("1001"));
        }
        assertThat(ask(control, "GET /top?nonsense HTTP/1.0\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ")
                .contains("id, busy, requests, memory, age");
    }

    @Test
    void anAddressInUseIsNamed() {
        InetSocketAddress taken = (InetSocketAddress) tcp;
        try (OpsServer second = server(new OpsConfig(taken, directory.resolve("second.sock")))) {
            assertThatThrownBy(second::bind)
                    .isInstanceOf(IOException.class)
                    .hasMessage(
                            "ops.listen 127.0.0.1:" + taken.getPort() + " cannot be bound: Address already in use; stop"
                                    + " what listens there, or choose another address with ops.listen (--ops)");
        }
    }

    @Test
    void withoutATcpAddressOnlyTheControlSocketListens() throws IOException {
        try (OpsServer quiet = server(new OpsConfig(null, directory.resolve("quiet.sock")))) {
            quiet.bind();

            assertThat(quiet.address()).isNull();
            assertThat(ask(
                            UnixDomainSocketAddress.of(directory.resolve("quiet.sock")),
                            "GET /health/live HTTP/1.0\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 OK\r\n");
        }
    }

    private OpsServer server(OpsConfig config) {
        Metrics metrics = new Metrics(() -> pool, Ticker.system(), "1.2.3");
        Instance instance = new Instance(
                "1.2.3",
                42,
                "/srv/app (laravel)",
                List.of("http://127.0.0.1:8080"),
                Instant.parse("2026-01-01T00:00:00Z"));
        return new OpsServer(
                config,
                metrics,
                () -> pool,
                operator,
                () -> instance,
                List.of(
                        new ConfigEntry("pool.workers", "2", "default"),
                        new ConfigEntry("app.ini.session.save_path", "tcp://redis?auth=hunter2", "cetane.yaml:3")),
                clock,
                new RecordingLog());
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    }

    private static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    /** Sends the text and reads until the server closes. */
    private static String ask(SocketAddress address, String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(address)) {
            write(channel, request);
            StringBuilder answer = new StringBuilder();
            ByteBuffer in = ByteBuffer.allocate(65_536);
            while (channel.read(in) >= 0) {
                answer.append(StandardCharsets.UTF_8.decode(in.flip()));
                in.clear();
            }
            return answer.toString();
        }
    }

    private static void write(SocketChannel channel, String text) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    /** Stands still unless the test moves it. */
    private static final class StillClock implements Ticker {
        private volatile long nanos = 1;

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public Instant now() {
            return Instant.parse("2026-01-01T00:01:00Z");
        }
    }

    /** Notes what it is asked for, and answers as told. */
    private static final class ScriptedOperator implements Operator {
        final List<String> calls = new CopyOnWriteArrayList<>();
        final CompletableFuture<Integer> reload = new CompletableFuture<>();

        @Override
        public CompletableFuture<Integer> reload() {
            calls.add("reload");
            return reload;
        }

        @Override
        public boolean recycle(int workerId) {
            calls.add("recycle " + workerId);
            return workerId == 3;
        }

        @Override
        public void stop(boolean now) {
            calls.add(now ? "stop now" : "stop");
        }
    }
}
