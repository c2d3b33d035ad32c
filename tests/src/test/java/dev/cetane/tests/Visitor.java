package dev.cetane.tests;

import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A browser of one person at the demo Laravel application: keeps the session's cookie. One thread. */
final class Visitor {
    private static final Pattern SESSION = Pattern.compile("^(\\w+_session)=([^;]+)");

    private final RunningCetane cetane;
    private String cookie = "";

    Visitor(RunningCetane cetane) {
        this.cetane = cetane;
    }

    HttpResponse<String> get(String target) {
        HttpResponse<String> answer = cookie.isEmpty() ? cetane.get(target) : cetane.get(target, "Cookie", cookie);
        for (String field : answer.headers().allValues("Set-Cookie")) {
            Matcher session = SESSION.matcher(field);
            if (session.find()) {
                cookie = session.group();
            }
        }
        return answer;
    }
}
