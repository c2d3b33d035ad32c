package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cetane.http.ScriptedDispatcher.Running;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server as a whole: what it listens on, and how it ends. */
final class HttpServerTest {

    private static TestServer onUnix(Path socket, Transport transport) throws IOException {
        return TestServer.start(config -> {
            config.listen = List.of(UnixDomainSocketAddress.of(socket));
            config.transport = transport;
            return config;
        });
    }

    private static String getOverUnix(Path socket) throws IOException {
        try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            client.write(ByteBuffer.wrap(
                    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @ParameterizedTest
    @EnumSource
    void listensOnTcp(Transport transport) throws Exception {
        try (TestServer server = TestServer.start(config -> {
                    config.transport = transport;
                    return config;
                });
                RawClient client = server.connect()) {
            server.dispatcher.answer(
                    job -> job.respond(200, job.request().server().get("REMOTE_ADDR")));
            assertThat(client.get("/").answer().text()).isEqualTo("127.0.0.1");
            assertThat(client.get("/").answer().text()).isEqualTo("127.0.0.1");
        }
    }

    @Test
    void listensOnIpv6AndIpv4() throws Exception {
        InetSocketAddress v6 = new InetSocketAddress(NetUtil.LOCALHOST6, 0);
        InetSocketAddress v4 = new InetSocketAddress(NetUtil.LOCALHOST4, 0);
        try (TestServer server = TestServer.start(config -> {
            config.listen = List.of(v6, v4);
            return config;
        })) {
            server.dispatcher.answer(
                    job -> job.respond(200, job.request().server().get("SERVER_ADDR")));
            try (RawClient client =
                    new RawClient((InetSocketAddress) server.server.addresses().get(0))) {
                assertThat(client.get("/").answer().text()).isEqualTo("::1");
            }
            try (RawClient client =
                    new RawClient((InetSocketAddress) server.server.addresses().get(1))) {
                assertThat(client.get("/").answer().text()).isEqualTo("127.0.0.1");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void listensOnAUnixSocketForOwnerAndGroup(Transport transport, @TempDir Path directory) throws Exception {
        Path socket = directory.resolve("http.sock");
        try (TestServer server = onUnix(socket, transport)) {
            server.dispatcher.answer(job -> job.respond(200, "over unix"));
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                    .isEqualTo("rw-rw----");
            assertThat(server.server.addresses()).containsExactly(UnixDomainSocketAddress.of(socket));
            assertThat(getOverUnix(socket)).startsWith("HTTP/1.1 200 OK").endsWith("over unix");
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void aSocketThatADeadServerLeftIsReplaced(@TempDir Path directory) throws Exception {
        Path socket = directory.resolve("http.sock");
        ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        dead.bind(UnixDomainSocketAddress.of(socket));
        dead.close();
        assertThat(socket).exists();
        try (TestServer server = onUnix(socket, Transport.best())) {
            server.dispatcher.answer(job -> job.respond(200, "alive"));
            assertThat(getOverUnix(socket)).endsWith("alive");
        }
    }

    @Test
    void aSocketThatSomebodyListensOnIsLeftAlone(@TempDir Path directory) throws Exception {
        Path socket = directory.resolve("http.sock");
        try (TestServer first = onUnix(socket, Transport.best())) {
            first.dispatcher.answer(job -> job.respond(200, "first"));
            assertThatThrownBy(() -> onUnix(socket, Transport.best()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("unix:" + socket)
                    .hasMessageContaining("http.listen");
            assertThat(getOverUnix(socket)).endsWith("first");
        }
    }

    @Test
    void aFileThatIsNoSocketIsLeftAlone(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("http.sock"), "precious");
        assertThatThrownBy(() -> onUnix(file, Transport.best()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no socket");
        assertThat(file).hasContent("precious");
    }

    @Test
    void aPortInUseNamesTheAddressAndTheNextStep() throws Exception {
        try (TestServer first = TestServer.start()) {
            assertThatThrownBy(() -> TestServer.start(config -> {
                        config.listen = List.of(first.address());
                        return config;
                    }))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("127.0.0.1:" + first.address().getPort())
                    .hasMessageContaining("Address already in use")
                    .hasMessageContaining("http.listen");
        }
    }

    @Test
    void aDrainClosesIdleConnectionsAndFinishesWhatRuns() throws Exception {
        try (TestServer server = TestServer.start();
                RawClient idle = server.connect();
                RawClient busy = server.connect()) {
            idle.get("/");
            server.dispatcher.take().respond(200, "");
            idle.answer();
            busy.get("/");
            Running job = server.dispatcher.take();
            InetSocketAddress address = server.address();
            CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> {
                try {
                    return server.server.drain(Duration.ofSeconds(10));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(idle.atEnd()).isTrue();
            assertThat(drained).isNotDone();
            assertThatThrownBy(() -> new RawClient(address)).isInstanceOf(ConnectException.class);
            job.respond(200, "finished");
            RawClient.Answer answer = busy.answer();
            assertThat(answer.text()).isEqualTo("finished");
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(drained.get(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aDrainGivesUpAfterItsGrace() throws Exception {
        try (TestServer server = TestServer.start();
                RawClient client = server.connect()) {
            client.get("/");
            Running job = server.dispatcher.take();
            assertThat(server.server.drain(Duration.ofMillis(50))).isFalse();
            server.server.close();
            assertThat(client.atEnd()).isTrue();
            assertThat(server.dispatcher.takeCancelled()).isSameAs(job.job);
            job.respond(200, "nobody hears this");
        }
    }

    @Test
    void anUploadThatRunsWhenTheDrainBeginsIsServed() throws Exception {
        try (TestServer server = TestServer.start();
                RawClient client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
            assertThat(client.answer().status()).isEqualTo(100);
            server.server.stopAccepting();
            server.door.connections().drain();
            client.send("hello");
            Running job = server.dispatcher.take();
            assertThat(job.request().text()).isEqualTo("hello");
            job.respond(200, "ok");
            assertThat(client.answer().field("connection")).isEqualTo("close");
            assertThat(client.atEnd()).isTrue();
        }
    }
}
