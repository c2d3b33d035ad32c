package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A worker script that was written for FrankenPHP is found, started and served without a change or a setting. */
@Timeout(180)
final class FrankenPhpTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static RunningCetane cetane;

    @BeforeAll
    static void start() {
        cetane = script().start();
    }

    private static RunningCetane.Starter script() {
        return INSTANCES
                .application(RunningCetane.TESTS.resolve("apps/frankenphp/worker.php"))
                .workers(1);
    }

    @Test
    void its_superglobals_are_those_of_the_request_and_it_is_booted_once() {
        JsonNode first = RunningCetane.json(cetane.get("/?a[]=1", "Cookie", "c=d"));
        JsonNode second = RunningCetane.json(cetane.get("/"));

        assertThat(first.at("/query/a/0").asText()).isEqualTo("1");
        assertThat(first.at("/cookies/c").asText()).isEqualTo("d");
        assertThat(first.at("/worker").asText()).isEqualTo("1");
        assertThat(second.at("/query").isEmpty()).isTrue();
        assertThat(second.at("/booted").asInt()).isEqualTo(first.at("/booted").asInt());
    }

    @Test
    void its_fields_and_cookies_are_sent() {
        HttpResponse<String> answer = cetane.get("/");

        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(answer.headers().firstValue("Set-Cookie")).hasValue("seen=1");
    }

    @Test
    void early_hints_come_before_the_answer() throws Exception {
        try (RawClient client = cetane.connect()) {
            client.get("/hints");

            RawClient.Answer hints = client.head();
            assertThat(hints.status()).isEqualTo(103);
            assertThat(hints.fields()).containsEntry("link", "</style.css>; rel=preload; as=style");
            RawClient.Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.fields()).doesNotContainKey("link");
            assertThat(answer.body()).isEqualTo("hinted");
        }
    }

    @Test
    void an_answer_that_is_finished_early_is_whole() {
        assertThat(cetane.get("/finish").body()).isEqualTo("finished");
    }

    @Test
    void an_exception_costs_one_request_and_not_the_worker() {
        int booted = RunningCetane.json(cetane.get("/")).at("/booted").asInt();

        assertThat(cetane.get("/throw").statusCode()).isEqualTo(500);
        assertThat(RunningCetane.json(cetane.get("/")).at("/booted").asInt()).isEqualTo(booted);
    }

    @Test
    void an_exit_answers_and_another_worker_takes_over() {
        HttpResponse<String> left = cetane.get("/exit");

        assertThat(left.statusCode()).isEqualTo(418);
        assertThat(left.body()).isEqualTo("left");
        assertThat(cetane.get("/finish").body()).isEqualTo("finished");
    }

    @Test
    void a_script_that_leaves_after_its_own_number_of_requests_is_replaced_and_nobody_notices() {
        RunningCetane shortLived =
                script().set("app.environment.MAX_REQUESTS", 2).start();

        for (int i = 0; i < 7; i++) {
            assertThat(shortLived.get("/finish").body()).isEqualTo("finished");
        }
    }
}
