package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A worker that has served thousands of requests of every sort is as large as it was after the first ones: the client keeps nothing of
 * a request. {@code bash tests/bench/run --only=memory} does the same with more of them.
 */
@Timeout(300)
final class MemoryTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final int WARM_UP = 3_000;
    private static final int REQUESTS = 20_000;
    /** What PHP's allocator may have handed out more: less than a byte for each request. */
    private static final long USED_BYTES = 16 * 1024;
    /** What the process may have grown by, outside PHP's allocator too: one step of malloc, which are of 132 KiB. */
    private static final long DATA_BYTES = 140 * 1024;

    private static final List<String> REQUEST_MIX = List.of(
            "GET /?n=%1$d HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /some/path?n=%1$d&a[]=1&a[]=2 HTTP/1.1\r\nHost: a\r\nCookie: a=%1$d; b[x]=2\r\nX-Field-%2$d: v\r\n\r\n",
            "GET /?n=%1$d HTTP/1.1\r\nHost: a\r\nCookie: PHPSESSID=memory%2$d\r\n\r\n",
            withBody("application/x-www-form-urlencoded", "field=value+%1$06d&other[key][]=%2$d"),
            withBody("application/json", "{\"number\": \"%1$06d\"}"),
            withBody(
                    "multipart/form-data; boundary=B",
                    String.join(
                            "\r\n",
                            "--B",
                            "Content-Disposition: form-data; name=\"f\"; filename=\"f\"",
                            "",
                            "file %1$06d",
                            "--B",
                            "Content-Disposition: form-data; name=\"t\"",
                            "",
                            "text %1$06d",
                            "--B--",
                            "")));

    @TempDir
    Path sessions;

    private static String withBody(String type, String body) {
        int length = String.format(body, 0, 0).length();
        return "POST /?n=%1$d HTTP/1.1\r\nHost: a\r\nContent-Type: " + type + "\r\nContent-Length: " + length
                + "\r\n\r\n" + body;
    }

    /** What PHP's allocator has handed out, and all memory of the process that is its own, in bytes. */
    private record Size(long used, long data) {}

    private RunningCetane start(String application) {
        return INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/memory").resolve(application))
                .workers(1)
                .set("app.ini.session.save_path", sessions)
                .set("app.ini.session.gc_probability", 0)
                .start();
    }

    private static Size after(int requests, RunningCetane cetane, String extra) throws IOException {
        String body = "";
        try (RawClient client = cetane.connect()) {
            for (int i = 0; i < requests; i++) {
                String request = String.format(REQUEST_MIX.get(i % REQUEST_MIX.size()), i % 1_000_000, i % 10);
                RawClient.Answer answer =
                        client.send(request.replace("?n=", "?" + extra + "n=")).answer();
                assertThat(answer.status()).as(request).isEqualTo(200);
                body = answer.body();
            }
        }
        return new Size(Long.parseLong(body), data(cetane.workerPids().get(0)));
    }

    /** Unlike the resident size it does not depend on when the kernel joins pages to large ones. */
    private static long data(long pid) throws IOException {
        for (String line :
                Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"), StandardCharsets.US_ASCII)) {
            if (line.startsWith("VmData:")) {
                return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new AssertionError("no VmData of " + pid);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "worker.php", "frankenphp.php"})
    void a_worker_does_not_grow(String application) throws IOException {
        RunningCetane cetane = start(application);
        Size before = after(WARM_UP, cetane, "");
        Size after = after(REQUESTS, cetane, "");
        assertThat(after.used - before.used).as("used").isLessThan(USED_BYTES);
        assertThat(after.data - before.data).as("data").isLessThan(DATA_BYTES);
    }

    @Test
    void a_small_leak_of_an_application_is_seen() throws IOException {
        RunningCetane cetane = start("");
        Size before = after(WARM_UP, cetane, "leak&");
        Size after = after(REQUESTS / 4, cetane, "leak&");
        assertThat(after.used - before.used).as("used").isGreaterThan(USED_BYTES);
        assertThat(after.data - before.data).as("data").isGreaterThan(DATA_BYTES);
    }
}
