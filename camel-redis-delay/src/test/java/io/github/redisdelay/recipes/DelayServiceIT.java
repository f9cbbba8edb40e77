// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DelayServiceIT extends RecipeIT {

    /** A request that another system has received. */
    private record Call(String path, Headers headers, String body) {}

    private final HttpClient client = HttpClient.newHttpClient();
    private final JdkHttp service;
    private final HttpServer shop; // which wants to be called back
    private final String shopAddress;
    private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();
    private volatile int status = 200; // that the shop answers with

    DelayServiceIT() {
        try {
            service = new JdkHttp();
            shop = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        shop.createContext("/", this::call);
        shop.start();
        shopAddress = "http://localhost:" + shop.getAddress().getPort();
    }

    private void call(HttpExchange request) throws IOException {
        try (request) {
            String body = new String(request.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            request.getResponseHeaders().set("Location", shopAddress + "/elsewhere");
            calls.add(new Call(request.getRequestURI().getPath(), request.getRequestHeaders(), body));
            request.sendResponseHeaders(status, -1);
        }
    }

    @AfterEach
    void stopServers() {
        service.close();
        shop.stop(0);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new DelayService();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("jdk", service);
        registry.bind("http", new JdkHttp.Client());
        registry.bind("callbacks", new DelayService.Callbacks(Set.of(shopAddress)));
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String path) throws Exception {
        return client.send(
                request.uri(URI.create(service.address() + "/messages/" + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, String url, String when) throws Exception {
        return send(
                HttpRequest.newBuilder()
                        .POST(HttpRequest.BodyPublishers.ofString("{\"order\":\"A-1\"}"))
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer secret")
                        .header("CamelRedisDelayOperation", "purge")
                        .header("CamelRedisDelayLimit", "1"),
                path + "?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8) + when);
    }

    private void add() throws Exception {
        assertThat(post("orders/A-1", shopAddress + "/due", "&delay=30m").statusCode())
                .isEqualTo(200);
    }

    @Test
    void should_call_back_when_it_is_due() throws Exception {
        HttpResponse<String> answer = post("orders/A-1", shopAddress + "/due", "&delay=30m");
        assertThat(Instant.ofEpochMilli(Long.parseLong(answer.body())))
                .isBetween(Instant.now().plusSeconds(1700), Instant.now().plusSeconds(1900));
        assertThat(answer.headers().map()).doesNotContainKeys("authorization", "url", "topic");
        assertThat(minutesToWait("callbacks")).isEqualTo(30);
        makeDue("callbacks");
        await().until(() -> isEmpty("callbacks"));
        Call call = calls.remove();
        assertThat(call.path()).isEqualTo("/due");
        assertThat(call.body()).isEqualTo("{\"order\":\"A-1\"}");
        assertThat(call.headers().getFirst("Content-Type")).isEqualTo("application/json");
        assertThat(call.headers().getFirst("topic")).isEqualTo("orders");
        assertThat(call.headers().getFirst("id")).isEqualTo("A-1");
        assertThat(call.headers()).doesNotContainKeys("Authorization", "Url", "Delay");
    }

    @Test
    void should_take_a_time_as_well() throws Exception {
        Instant tomorrow = Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.MILLIS);
        assertThat(post("orders/A-1", shopAddress, "&at=" + tomorrow).body())
                .isEqualTo(String.valueOf(tomorrow.toEpochMilli()));
    }

    @Test
    void should_take_a_repeated_request_for_the_same_message() throws Exception {
        add();
        add();
        assertThat(stats("callbacks").delayed()).isOne();
        makeDue("callbacks");
        await().until(() -> isEmpty("callbacks"));
        add();
        assertThat(isEmpty("callbacks")).as("it was sent already").isTrue();
        assertThat(calls).hasSize(1);
    }

    @Test
    void should_forget_what_is_deleted() throws Exception {
        add();
        assertThat(send(HttpRequest.newBuilder().DELETE(), "orders/A-1").body()).isEqualTo("delayed");
        assertThat(isEmpty("callbacks")).isTrue();
        assertThat(send(HttpRequest.newBuilder().DELETE(), "orders/A-1").body()).isEqualTo("none");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            orders/A-1      | ''           | CamelRedisDelayDelay
            orders/A-1      | &delay=5S    | '5S'
            orders/A-1      | &at=tomorrow | tomorrow
            Orders/A-1      | &delay=30m   | topic
            orders%2FA/1    | &delay=30m   | topic
            orders/A%0D%0A1 | &delay=30m   | control character
            """)
    void should_say_what_is_wrong(String path, String when, String text) throws Exception {
        HttpResponse<String> answer = post(path, shopAddress, when);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains(text);
        assertThat(isEmpty("callbacks")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://localhost:1/due",
                "{shop}@evil.example/due",
                "{shop}.evil.example/due",
                "https:due",
                "file:///etc/passwd",
                "//localhost/due",
                "{shop}\\@evil.example",
                ""
            })
    void should_not_call_what_is_not_allowed(String url) throws Exception {
        HttpResponse<String> answer = post("orders/A-1", url.replace("{shop}", shopAddress), "&delay=30m");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(isEmpty("callbacks")).isTrue();
    }

    @Test
    void should_not_call_what_others_have_put_into_the_queue() {
        String other = service.address() + "/messages/orders/A-1";
        template.sendBodyAndHeaders("redis-delay:callbacks", "x", Map.of("url", other));
        await().until(() -> stats("callbacks").delayed() == 1 && minutesToWait("callbacks") > 0);
        Object waiting = template.requestBody("redis-delay:callbacks?operation=list", (Object) null);
        assertThat(waiting.toString()).contains("must be at one of");
    }

    @ParameterizedTest
    @ValueSource(ints = {503, 404, 302})
    void should_call_by_the_steps_until_it_is_taken(int refusal) throws Exception {
        status = refusal;
        add();
        for (int minutes : new int[] {1, 3, 10}) {
            int before = calls.size();
            makeDue("callbacks");
            await().until(() -> calls.size() == before + 1 && stats("callbacks").delayed() == 1);
            assertThat(minutesToWait("callbacks")).isBetween(minutes * 8 / 10L, minutes * 12 / 10L + 1);
        }
        status = 204;
        makeDue("callbacks");
        await().until(() -> isEmpty("callbacks"));
        assertThat(calls).hasSize(4).extracting(Call::path).containsOnly("/due");
    }

    @Test
    void should_keep_what_nobody_took() throws Exception {
        status = 503;
        add();
        for (int tries = 1; tries <= 10; tries++) {
            int expected = tries;
            makeDue("callbacks");
            await().until(() -> calls.size() == expected && stats("callbacks").leased() == 0);
        }
        assertThat(stats("callbacks").dead()).isOne();
        assertThat(stats("callbacks").delayed()).isZero();
    }
}
