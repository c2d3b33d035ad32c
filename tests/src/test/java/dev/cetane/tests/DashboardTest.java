package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard in a real browser. */
@Timeout(300)
final class DashboardTest {
    private static final String TOKEN = "a-token-of-the-tests-0123456789";
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");

    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static Browser browser;

    @BeforeAll
    static void startBrowser() throws IOException {
        browser = Browser.start();
    }

    @BeforeEach
    void forgetOthers() {
        browser.open("about:blank").forgetProblems();
    }

    @AfterAll
    static void stopBrowser() throws IOException {
        browser.close();
    }

    private static Browser open(RunningCetane cetane) {
        return browser.looks(1280, 1000, false)
                .open(cetane.opsUrl() + "/")
                .until("the dashboard is connected", "document.getElementById('state').textContent === 'ready'");
    }

    @Test
    void values_change_under_load_and_a_kill_shows_up_with_its_last_words() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(2).start();
        open(cetane)
                .until("the workers are shown", "document.querySelectorAll('#workers > li.idle').length === 2")
                .until("nothing happens yet", "document.getElementById('rate').textContent.startsWith('0 ')");
        assertThat(browser.text("#application")).contains("by-path.php");
        assertThat(browser.evaluate(
                                "document.querySelectorAll('header button:not([hidden]), main button:not([hidden])').length")
                        .asInt())
                .as("without a token there are no actions")
                .isEqualTo(1);

        try (Load load = new Load(cetane, 4, "/?secret=hunter2")) {
            load.awaitAnswers(200);
            browser.until("the throughput is shown", "parseFloat(document.getElementById('rate').textContent) > 0")
                    .until("latency too", "/[0-9]+ (µs|ms)/.test(document.getElementById('p50').textContent)")
                    .until("each chart is drawn", "document.querySelectorAll('.chart canvas').length === 4")
                    .until("the slowest are listed", "document.querySelectorAll('#slow tr .bar').length >= 5");
        }
        assertThat(browser.evaluate("document.body.innerText").asText())
                .contains("GET /?…")
                .doesNotContain("hunter2");

        cetane.get("/exit-with-last-words");
        cetane.get("/die-before-head");
        browser.until("the kill is told of", "document.querySelector('#ends')?.innerText.includes('signal 9 (KILL)')")
                .until("and the exit", "document.querySelector('#ends').textContent.includes('exit code 3')");
        assertThat(browser.evaluate("document.querySelector('#ends').textContent")
                        .asText())
                .contains("GET /die-before-head")
                .contains("GET /exit-with-last-words")
                .contains("last words");
        browser.until("restarts are counted", "/crashed 2/.test(document.getElementById('restarts').textContent)");
        browser.screenshot(SCREENSHOTS.resolve("dashboard-crash.png"), true);
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void a_fatal_error_is_told_with_what_php_said_and_the_request() {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(1).start();
        open(cetane);
        cetane.get("/fatal");
        browser.until("the message is shown", "document.querySelector('#ends').textContent.includes('out of memory')");
        assertThat(browser.evaluate("document.querySelector('#ends').textContent")
                        .asText())
                .contains("GET /fatal");
    }

    @Test
    void with_a_token_a_worker_is_recycled_by_the_keyboard_alone() {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("ops.token", TOKEN)
                .start();
        open(cetane).until("the worker can be recycled", "document.querySelector('#workers button:not([hidden])')");
        String worker = browser.text("#workers .head span");
        browser.evaluate("document.querySelector('#workers button').focus()");
        browser.press("Enter", 13).until("the token is asked for", "document.getElementById('ask').open");
        browser.type(TOKEN).press("Enter", 13);
        browser.until("it is replaced", "document.querySelector('#workers .head span').innerText !== '" + worker + "'");
        assertThat(browser.text("#message")).contains("is being replaced");
        assertThat(browser.evaluate("document.getElementById('configuration').textContent")
                        .asText())
                .contains("ops.token***")
                .doesNotContain(TOKEN);
        browser.evaluate("document.getElementById('reload').click()");
        browser.until(
                "the reload is reported", "document.getElementById('message').innerText.includes('Generation 2')");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void it_is_readable_on_a_phone_and_in_the_dark() throws IOException {
        RunningCetane cetane = INSTANCES.worker("by-path.php").workers(3).start();
        open(cetane);
        browser.looks(390, 844, true).open(cetane.opsUrl() + "/");
        try (Load load = new Load(cetane, 2, "/")) {
            load.awaitAnswers(100);
            browser.until("charts are drawn", "document.querySelectorAll('.chart canvas').length === 4")
                    .until("it is dark", "document.documentElement.dataset.theme === 'dark'");
            assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                    .as("nothing is wider than the window")
                    .isLessThanOrEqualTo(390);
            browser.screenshot(SCREENSHOTS.resolve("dashboard-phone.png"), true);
        }
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void a_slow_request_shows_where_php_was_on_every_screen() throws IOException {
        RunningCetane cetane = INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/laravel"))
                .workers(2)
                .set("pool.slow-request", "100ms")
                .start();
        assertThat(cetane.get("/slow?ms=500").statusCode()).isEqualTo(200);
        open(cetane)
                .until("charts are drawn", "document.querySelectorAll('.chart canvas').length === 4")
                .until("the stack can be opened", "document.querySelector('#slow details summary')")
                .evaluate("document.querySelector('#slow details summary').click()");
        String stack = browser.text("#slow details[open] pre");
        assertThat(stack.lines())
                .startsWith("#0 usleep()")
                .anyMatch(line -> line.matches("#1 App.Http.Controllers.TroubleController::slow\\(\\) at .*:[0-9]+"))
                .hasSizeGreaterThan(20);
        browser.screenshot(SCREENSHOTS.resolve("dashboard-stack.png"), true);
        // The list is made anew when it changes; what was opened stays open.
        assertThat(cetane.get("/slow?ms=300").statusCode()).isEqualTo(200);
        browser.until("the next one is listed", "document.querySelectorAll('#slow .bar').length === 2")
                .until(
                        "the first one's stack is open",
                        "document.querySelectorAll('#slow details[open]').length === 1");
        for (int width : new int[] {1280, 390}) {
            browser.looks(width, 844, true)
                    .until("it is dark", "document.documentElement.dataset.theme === 'dark'")
                    .until("nothing is wider than the window", "document.documentElement.scrollWidth <= " + width);
            browser.screenshot(SCREENSHOTS.resolve("dashboard-stack-" + width + ".png"), true);
        }
        assertThat(browser.problems()).isEmpty();
    }

    /** The picture in README.md is this one; {@code -Dcetane.update=true} puts it there. */
    @Test
    void the_demo_application_makes_a_picture(@TempDir Path directory) throws IOException {
        Path application =
                Files.createSymbolicLink(directory.resolve("shop"), RunningCetane.TESTS.resolve("apps/laravel"));
        RunningCetane cetane = INSTANCES
                .application(application)
                .set("app.environment.DEMO_STORAGE", Files.createDirectory(directory.resolve("storage")))
                .workers(4)
                .set("ops.token", TOKEN)
                .start();
        browser.looks(1280, 1130, false).open(cetane.opsUrl() + "/");
        try (Load pages = new Load(cetane, 2, "/bench");
                Load json = new Load(cetane, 1, "/json");
                Load slow = new Load(cetane, 1, "/slow?ms=30")) {
            pages.awaitAnswers(50);
            cetane.get("/oom");
            browser.until("a minute's worth is shown", "document.querySelectorAll('#slow .bar').length >= 20")
                    .until("the crash is told of", "document.querySelectorAll('#ends details').length > 0")
                    .until(
                            "some seconds are drawn",
                            "(window.performance.now() > 25000) && document.querySelectorAll('canvas').length === 4");
            Path picture = SCREENSHOTS.resolve("dashboard.png");
            browser.screenshot(picture, false);
            if (Boolean.getBoolean("cetane.update")) {
                Files.copy(
                        picture,
                        RunningCetane.TESTS.resolveSibling("core").resolve("dashboard.png"),
                        StandardCopyOption.REPLACE_EXISTING);
            }
            browser.screenshot(SCREENSHOTS.resolve("dashboard-whole.png"), true);
            json.awaitAnswers(1);
            slow.awaitAnswers(1);
        }
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void a_page_of_another_site_can_neither_read_nor_act() {
        RunningCetane cetane = INSTANCES
                .worker("by-path.php")
                .workers(1)
                .set("ops.token", TOKEN)
                .start();
        RunningCetane other = INSTANCES.worker("by-path.php").workers(1).start();
        browser.open(other.opsUrl() + "/")
                .until("it is there", "document.getElementById('state').textContent === 'ready'");
        int before = browser.problems().size();
        for (String what : new String[] {"'/events'", "'/config'", "'/metrics'", "'/reload', {method: 'POST'}"}) {
            URI there = URI.create(cetane.opsUrl());
            String request = what.replaceFirst("'", "'" + there);
            assertThat(browser.evaluate("fetch(" + request + ").then(a => 'read ' + a.status, e => 'refused')")
                            .asText())
                    .as(what)
                    .isEqualTo("refused");
        }
        assertThat(browser.problems().size()).as("the browser says why").isGreaterThan(before);
        assertThat(cetane.status().path("generation").asInt()).isEqualTo(1);
    }
}
