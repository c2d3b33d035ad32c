package dev.cetane.http;

import dev.cetane.files.Glob;
import dev.cetane.worker.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The time limits of requests by their path: {@code http.route-timeouts}. The first pattern that fits counts. Immutable, any thread. */
public final class RouteTimeouts {
    private final List<Route> routes;

    private record Route(Glob pattern, TimeLimit limit) {}

    private RouteTimeouts(List<Route> routes) {
        this.routes = routes;
    }

    /**
     * The configured ones.
     *
     * @param timeouts patterns for paths in the order in which they are tried, each with its limit, zero for none
     * @throws IllegalArgumentException if one is no pattern
     */
    public static RouteTimeouts of(Map<String, Duration> timeouts) {
        List<Route> routes = new ArrayList<>();
        timeouts.forEach((pattern, time) -> routes.add(
                new Route(Glob.of(pattern), new TimeLimit(time, "http.route-timeouts \"" + pattern + "\""))));
        return new RouteTimeouts(List.copyOf(routes));
    }

    /** The limit for a request; null: {@code pool.request-timeout}. */
    @Nullable
    TimeLimit limit(RequestHead head) {
        // Most installations have none, and pay nothing.
        for (int i = 0; i < routes.size(); i++) {
            if (routes.get(i).pattern.matches(head.path())) {
                return routes.get(i).limit;
            }
        }
        return null;
    }
}
