// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.console.ConsoleAccess;
import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.api.ActionResult;
import io.github.redisdelay.console.api.ConsoleApi;
import io.github.redisdelay.testkit.LogLines;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights of each path. What a request has to be like is tried at the servers. */
class RouterTest {

    private static final String BODY =
            "{\"queue\":\"orders\",\"id\":\"a\",\"cause\":\"g\",\"confirm\":\"orders\",\"job\":\"1\"}";

    private static ConsoleOptions options(ConsoleAccess access, boolean actions) {
        return ConsoleOptions.DEFAULTS
                .withHostNames(List.of("queues.example.org"))
                .withAccess(access)
                .withActions(actions);
    }

    /** Without any Redis. */
    private static final ConsoleApi API = new ConsoleApi(List::of, List::of, ConsoleOptions.DEFAULTS);

    @AfterAll
    static void close() {
        API.close();
    }

    private static Router router(ConsoleAccess access, boolean actions) {
        return new Router(API, options(access, actions));
    }

    private static Request request(String method, String path, String query, Map<String, String> more) {
        Map<String, List<String>> headers = new TreeMap<>();
        headers.put("host", List.of("localhost:8400"));
        if (method.equals("POST")) {
            headers.put("content-type", List.of("application/json"));
            headers.put("x-redis-delay-console", List.of("1"));
        }
        more.forEach((name, value) -> headers.put(name, List.of(value)));
        return new Request(
                method,
                path,
                query,
                headers,
                "127.0.0.1",
                8400,
                false,
                false,
                null,
                new ByteArrayInputStream(BODY.getBytes(StandardCharsets.UTF_8)));
    }

    private static Request of(Route route) {
        return route.isAction()
                ? request("POST", route.path(), null, Map.of())
                : request("GET", route.path(), "queue=orders&id=a&state=delayed&span=hour", Map.of());
    }

    private static String text(Response response) {
        return response.status() + " " + new String(response.body(), StandardCharsets.UTF_8);
    }

    static List<Route> table() {
        return ApiRoutes.of(API);
    }

    static Stream<Route> actions() {
        return table().stream().filter(Route::isAction);
    }

    static Stream<Route> ofOneQueue() {
        return table().stream().filter(route -> route.rule() != Rule.ENTER);
    }

    @Test
    void should_have_each_path_once_and_below_api() {
        assertThat(table())
                .extracting(Route::path)
                .doesNotHaveDuplicates()
                .allMatch(path -> path.matches("api/[a-zA-Z]+"));
        assertThat(table()).extracting(Route::method).containsOnly("GET", "POST");
        assertThat(table().stream().filter(route -> route.rule() == Rule.ENTER).map(Route::path))
                .as("paths that everybody may ask who has any right: their views leave out what is not to be seen")
                .isSubsetOf("api/me", "api/queues", "api/jobs", "api/job");
    }

    @Test
    void should_have_no_parameter_that_is_a_header() {
        assertThat(ApiRoutes.PARAMETERS)
                .allMatch(name -> name.matches("[a-z]+"))
                .doesNotContain("host", "origin", "via", "forwarded", "authorization", "cookie", "from", "user", "te");
    }

    @ParameterizedTest
    @MethodSource("table")
    void should_let_nobody_in_without_rights(Route route) {
        for (ConsoleAccess access : List.<ConsoleAccess>of(
                request -> ConsoleRights.none(),
                request -> null,
                request -> Map.<String, ConsoleRights>of().values().iterator().next())) {
            assertThat(text(router(access, true).answer(of(route)))).startsWith("403 ");
        }
    }

    @Test
    void should_give_the_page_to_nobody_without_rights() {
        Router router = router(request -> ConsoleRights.none(), false);
        for (String path : List.of("", "index.html", "app.js", "nothing.js", "api/nothing", "nothing")) {
            assertThat(text(router.answer(request("GET", path, null, Map.of()))))
                    .as(path)
                    .startsWith("403 ");
        }
    }

    @ParameterizedTest
    @MethodSource("actions")
    void should_change_nothing_when_it_is_read_only(Route route) {
        String answer = text(router(request -> ConsoleRights.all(), false).answer(of(route)));
        assertThat(answer).startsWith("403 ").contains("\"readOnly\"");
    }

    @ParameterizedTest
    @MethodSource("actions")
    void should_change_nothing_for_those_who_may_only_look(Route route) {
        String answer = text(router(request -> ConsoleRights.read(), true).answer(of(route)));
        assertThat(answer).matches("(403 .*\"forbidden\"|404 ).*");
    }

    @ParameterizedTest
    @MethodSource("ofOneQueue")
    void should_keep_to_the_rights_of_another_queue(Route route) {
        ConsoleAccess access = request ->
                ConsoleRights.byQueue(queue -> queue.equals("mails") ? ConsoleRights.all() : ConsoleRights.none());
        String answer = text(router(access, true).answer(of(route)));
        assertThat(answer).matches("(403 .*\"forbidden\"|404 ).*");
    }

    @Test
    void should_log_each_change_in_one_line() {
        Route route =
                Route.post("api/pause", Rule.may(ConsoleAction.PAUSE), call -> new ActionResult("done", "It is."));
        Router router = new Router(
                List.of(route), options(request -> ConsoleRights.all().as("eve\nINFO forged"), true));
        try (LogLines lines = new LogLines(Audit.class)) {
            Request request = new Request(
                    "POST",
                    "api/pause",
                    null,
                    request("POST", "api/pause", null, Map.of()).headers(),
                    "10.0.0.7",
                    8400,
                    false,
                    false,
                    null,
                    new ByteArrayInputStream("{\"queue\":\"orders\",\"id\":\"a\\r\\n\\u2028b\",\"any\\nother\":1}"
                            .getBytes(StandardCharsets.UTF_8)));
            assertThat(router.answer(request).status()).isEqualTo(200);
            assertThat(lines.of(Level.INFO))
                    .containsExactly(
                            "console: 'eve?INFO forged' from 10.0.0.7: pause, queue 'orders', id 'a???b': done");
        }
    }

    @Test
    void should_answer_to_its_names_only() {
        Router router = router(request -> ConsoleRights.read(), false);
        for (String host : List.of(
                "LOCALHOST:8400",
                "127.0.0.1:8400",
                "127.1.2.3:8400",
                "[::1]:8400",
                "[::ffff:127.0.0.1]:8400",
                "queues.example.org",
                "Queues.Example.Org:443")) {
            assertThat(router.answer(request("GET", "api/me", null, Map.of("host", host)))
                            .status())
                    .as(host)
                    .isEqualTo(200);
        }
        for (String host : List.of(
                "example.org",
                "xqueues.example.org",
                "queues.example.org.evil.com",
                "[::2]:8400",
                "localhost",
                "localhost:8401",
                "127.0.0.1:84000",
                "[::1]:80")) {
            assertThat(router.answer(request("GET", "api/me", null, Map.of("host", host)))
                            .status())
                    .as(host)
                    .isEqualTo(421);
        }
    }

    private static int change(String host, String origin, boolean secure) {
        Request request = request("POST", "api/pause", null, Map.of("host", host, "origin", origin));
        return router(any -> ConsoleRights.all(), true)
                .answer(new Request(
                        request.method(),
                        request.path(),
                        null,
                        request.headers(),
                        "10.0.0.7",
                        8400,
                        secure,
                        true,
                        null,
                        request.body()))
                .status();
    }

    /** A request that is no other site's fails later, as there is no Redis. */
    @Test
    void should_take_a_page_by_tls_for_its_own_where_tls_may_have_been() {
        String proxy = "queues.example.org";
        assertThat(change(proxy, "https://" + proxy, false))
                .as("TLS ends at a proxy")
                .isEqualTo(400);
        assertThat(change(proxy, "http://" + proxy, false)).isEqualTo(400);
        assertThat(change(proxy, "https://" + proxy, true)).isEqualTo(400);
        assertThat(change(proxy, "http://" + proxy, true)).isEqualTo(403);
        assertThat(change("localhost:8400", "http://localhost:8400", false)).isEqualTo(400);
        assertThat(change("localhost:8400", "https://localhost:8400", false)).isEqualTo(403);
        assertThat(change("localhost:8400", "https://localhost:8400", true)).isEqualTo(400);
    }

    @Test
    void should_know_the_port_of_a_loopback_name_that_is_not_told() {
        for (boolean secure : List.of(false, true)) {
            Request request = request("GET", "api/me", null, Map.of("host", "localhost"));
            Request told = new Request(
                    request.method(),
                    request.path(),
                    null,
                    request.headers(),
                    "127.0.0.1",
                    80,
                    secure,
                    false,
                    null,
                    request.body());
            assertThat(router(ConsoleAccess.localOnly(), false).answer(told).status())
                    .isEqualTo(secure ? 421 : 200);
        }
    }

    @Test
    void should_let_in_local_browsers_only_by_default() {
        Router router = router(ConsoleAccess.localOnly(), false);
        for (String peer : List.of(
                "127.0.0.1",
                "127.0.0.2",
                "::1",
                "0:0:0:0:0:0:0:1",
                "::ffff:127.0.0.1",
                "[::1]",
                "[0:0:0:0:0:0:0:1%lo]")) {
            assertThat(router.answer(from(peer)).status()).as(peer).isEqualTo(200);
        }
        List<String> others = new ArrayList<>(List.of(
                "10.0.0.7",
                "0.0.0.0",
                "::",
                "fe80::1",
                "localhost",
                "",
                "127.0.0.1.evil.com",
                "::ffff:10.0.0.7",
                "[127.0.0.1",
                "127.0.0.1]",
                "[::1].evil.com",
                "[fe80::1%127.0.0.1]",
                "127.0.0.1, 10.0.0.7"));
        others.add(null);
        for (String peer : others) {
            assertThat(router.answer(from(peer)).status())
                    .as(String.valueOf(peer))
                    .isEqualTo(403);
        }
    }

    private static Request from(String peer) {
        Request request = request("GET", "api/me", null, Map.of());
        return new Request(
                request.method(),
                request.path(),
                request.query(),
                request.headers(),
                peer,
                8400,
                false,
                false,
                null,
                request.body());
    }

    @Test
    void should_send_a_file_again_only_when_it_has_changed() {
        Router router = router(request -> ConsoleRights.read(), false);
        Response first = router.answer(request("GET", "", null, Map.of()));
        String etag = first.headers().get("ETag");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.headers()).containsEntry("Cache-Control", "no-cache");
        Response second = router.answer(request("GET", "index.html", null, Map.of("if-none-match", etag)));
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.body()).isEmpty();
        assertThat(router.answer(request("GET", "", null, Map.of("if-none-match", "\"other\"")))
                        .status())
                .isEqualTo(200);
        assertThat(router.answer(request("GET", "api/me", null, Map.of())).headers())
                .containsEntry("Cache-Control", "no-store")
                .doesNotContainKey("ETag");
    }

    @Test
    void should_send_the_headers_that_browsers_obey_with_each_answer() {
        Router router = router(request -> ConsoleRights.read(), false);
        for (Request request : List.of(
                request("GET", "", null, Map.of()),
                request("GET", "api/me", null, Map.of()),
                request("GET", "nothing", null, Map.of()),
                request("GET", "", null, Map.of("host", "evil.com")))) {
            Map<String, String> headers = router.answer(request).headers();
            assertThat(headers.get("Content-Security-Policy"))
                    .isEqualTo(
                            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
                                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'");
            assertThat(headers)
                    .containsEntry("X-Content-Type-Options", "nosniff")
                    .containsEntry("Referrer-Policy", "no-referrer")
                    .containsEntry("X-Frame-Options", "DENY")
                    .containsEntry("Cross-Origin-Resource-Policy", "same-origin");
            assertThat(headers.keySet())
                    .noneMatch(name -> name.startsWith("Access-Control") || name.equals("Set-Cookie"));
        }
    }

    /** A record with all that a view may hold. */
    public record Sample(String text, Long none, Instant time, long[] counts, List<Object> many, boolean yes) {}

    @Test
    void should_write_records_as_json() {
        Sample sample = new Sample(
                "\"</script>\n\u2028",
                null,
                Instant.parse("2026-11-22T14:03:11.2Z"),
                new long[] {1, 9007199254740993L},
                List.of(new ActionResult("done", "x"), "y"),
                true);
        assertThat(Json.text(sample))
                .contains("\"none\":null")
                .contains("\"time\":\"2026-11-22T14:03:11.200000Z\"")
                .contains("\"counts\":[1,9007199254740993]")
                .contains("\"many\":[{\"outcome\":\"done\",\"text\":\"x\"},\"y\"]")
                .contains("\"yes\":true")
                .doesNotContain("\n");
    }

    @Test
    void should_take_only_what_a_parameter_may_be() {
        Set<String> known = Set.of("id", "state");
        assertThat(Parameters.ofQuery(null, known)).isEmpty();
        assertThat(Parameters.ofQuery("id=a%2Fb+c%F0%9F%98%80%26&state", known))
                .containsEntry("id", "a/b c\uD83D\uDE00&")
                .containsEntry("state", "");
    }
}
