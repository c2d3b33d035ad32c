package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code cetane top}, with and without a terminal. */
@Timeout(180)
final class TopTest {
    /** A line with its number, from 1. */
    private static final Pattern LINE = Pattern.compile("\033\\[([0-9]+);1H\033\\[K([^\033]*)");

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    @Test
    void without_a_terminal_it_prints_one_page_of_what_happens() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(2).start();
        try (Load load = new Load(cetane, 2, "/")) {
            load.awaitAnswers(100);
            Command.Run top = cetane.command("top", "--sort", "requests").run();
            assertThat(top.err()).isEmpty();
            assertThat(top.code()).isZero();
            assertThat(top.out())
                    .startsWith("cetane ")
                    .contains("pid " + cetane.pid(), ", ready, generation 1", "p50 ", "first_byte ")
                    .containsPattern("requests  [1-9][0-9]*/s")
                    .containsPattern("ID +ROLE +PID +STATE")
                    .doesNotContain("\033", "\f");
        }
    }

    @Test
    void an_order_that_there_is_not_is_refused_with_those_there_are() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        Command.Run top = cetane.command("top", "--sort", "beauty").run();
        assertThat(top.code()).isEqualTo(1);
        assertThat(top.err()).contains("beauty", "busy, requests, memory, age");
        assertThat(cetane.command("top", "--sort", "../stop").run().code()).isEqualTo(2);
        assertThat(cetane.command("top", "--count", "0").run().err())
                .contains("--count = \"0\" is no whole number in 1 …");
    }

    @Test
    void on_a_terminal_pages_replace_each_other_and_letters_change_the_order() throws Exception {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(3).start();
        String command = RunningCetane.LAUNCHER + " top --sort id --run-directory " + cetane.runDirectory();
        ProcessBuilder builder = new ProcessBuilder("script", "--quiet", "--return", "--command", command, "/dev/null");
        builder.redirectErrorStream(true);
        builder.environment().put("CETANE_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
        Process process = builder.start();
        try (OutputStream keys = process.getOutputStream();
                InputStream screen = process.getInputStream()) {
            String first = readPages(screen, 2);
            List<String> lines = screen(first, 24, 200);
            assertThat(lines.get(0)).startsWith("cetane ");
            assertThat(lines.subList(6, 10))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("ID  ROLE"),
                            line -> assertThat(line).startsWith("1 "),
                            line -> assertThat(line).startsWith("2 "),
                            line -> assertThat(line).startsWith("3 "));
            assertThat(lines.get(11)).startsWith("Sort by b busy");
            List<String> small = screen(first, 9, 20);
            assertThat(small.get(0)).startsWith("cetane ");
            assertThat(small.get(7)).startsWith("1 ");
            assertThat(small.get(8)).isEqualTo("Sort by b busy, r re");
            cetane.get("/count");
            cetane.get("/count");
            keys.write("r\n".getBytes(StandardCharsets.UTF_8));
            keys.flush();
            // Idle workers are taken last in, first out: one of them has served both.
            String sorted = readPages(screen, 3);
            assertThat(screen(sorted, 24, 200).get(7)).containsPattern("idle +[0-9a-z ]+ +2 ");
            keys.write("q\n".getBytes(StandardCharsets.UTF_8));
            keys.flush();
            assertThat(process.waitFor(RunningCetane.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** What a terminal of that size shows when all of this has come: what does not fit into a line is cut, and no line is below the last one. */
    private static List<String> screen(String text, int rows, int columns) {
        String[] lines = new String[rows];
        Arrays.fill(lines, "");
        Matcher place = LINE.matcher(text);
        while (place.find()) {
            String line = place.group(2);
            assertThat(line).as("a line break would scroll").doesNotContain("\n");
            lines[Math.min(rows, Integer.parseInt(place.group(1))) - 1] =
                    line.substring(0, Math.min(columns, line.length()));
        }
        assertThat(text.indexOf("\033[?7l")).as("lines are cut").isLessThan(text.indexOf("\033[2;1H"));
        return List.of(lines);
    }

    /** What comes until that many pages are whole. */
    private static String readPages(InputStream screen, int count) throws IOException {
        StringBuilder text = new StringBuilder();
        byte[] in = new byte[8_192];
        int whole = 0;
        while (whole < count) {
            int read = screen.read(in);
            if (read < 0) {
                throw new AssertionError("it has ended: " + text);
            }
            text.append(new String(in, 0, read, StandardCharsets.UTF_8));
            whole = text.toString().split("and Enter\\.", -1).length - 1;
        }
        return text.toString();
    }

    @Test
    void it_ends_with_the_instance() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        Thread stopper = new Thread(() -> {
            cetane.awaitStatus("top watches", status -> true);
            cetane.signal("TERM");
        });
        stopper.start();
        Command.Run top = cetane.command("top", "--count", "100000").run();
        assertThat(top.code()).isIn(1, 3);
        assertThat(cetane.awaitExit()).isZero();
    }
}
