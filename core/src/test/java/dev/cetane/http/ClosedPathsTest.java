package dev.cetane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.http.RawClient.Answer;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths that the application has for itself. */
final class ClosedPathsTest {
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start(config -> {
            config.closedPaths = List.of("octane/resolve-tasks", "octane/dispatch-tasks");
            return config;
        });
        server.dispatcher.answer(
                job -> job.headOfLength(200, 3).data("php").end().done());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/octane/resolve-tasks",
                "/octane/dispatch-tasks",
                "/octane/resolve-tasks/",
                "/octane/resolve-tasks//",
                "/octane/resolve-tasks?x=1",
                "/octane/resolve-tasks/?x",
                "//octane/resolve-tasks",
                "///octane//resolve-tasks",
                "/./octane/./resolve-tasks",
                "/x/../octane/resolve-tasks",
                "/x/%2e%2e/octane/resolve-tasks",
                "/%6fctane/resolve-tasks",
                "/%6Fctane%2fresolve%2Dtasks",
                "/%256fctane/resolve-tasks",
                "/%25256fctane/resolve%252dtasks",
                "/octane%252fresolve-tasks",
                "/octane%5cresolve-tasks",
                "/octane\\resolve-tasks",
                "/OCTANE/Resolve-Tasks",
                "/index.php/octane/resolve-tasks",
                "/index.php//octane/resolve-tasks",
                "/INDEX.php/octane/resolve-tasks",
                "/a/index.php/octane/dispatch-tasks",
                "http://test/octane/resolve-tasks",
                "http://other//octane/resolve-tasks"
            })
    void areAnswered404WithoutPhpHoweverTheyAreWritten(String target) throws IOException {
        for (String method : new String[] {"GET", "POST", "PUT", "OPTIONS"}) {
            try (RawClient client = server.connect()) {
                Answer answer = client.send(
                                method + " " + target + " HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody")
                        .answer();
                assertThat(answer.status()).as(method).isEqualTo(404);
                assertThat(client.endsCleanly()).isTrue();
            }
        }
        try (RawClient client = server.connect()) {
            assertThat(client.send("HEAD " + target + " HTTP/1.0\r\n\r\n")
                            .answerToHead()
                            .status())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/octane",
                "/octane/",
                "/octane/resolve-tasks/1",
                "/xoctane/resolve-tasks",
                "/octane/resolve-task",
                "/?/octane/resolve-tasks",
                "/octane-resolve-tasks",
                "/100%25",
                "/%25zz"
            })
    void areNotOthers(String target) throws IOException {
        try (RawClient client = server.connect()) {
            assertThat(client.get(target).answer().status()).isEqualTo(200);
        }
    }
}
