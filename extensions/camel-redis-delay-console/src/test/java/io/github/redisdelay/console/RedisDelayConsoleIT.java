// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.TestPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisDelayConsoleIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> get(String url) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    }

    /** The client may first have to notice that the connection which it has kept is closed. */
    private void assertNobodyListens(String url) {
        Awaitility.await()
                .untilAsserted(() -> assertThatThrownBy(() -> get(url)).isInstanceOf(java.net.ConnectException.class));
    }

    @Test
    void should_serve_the_page_and_who_one_is() throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
                RedisDelayConsole console = RedisDelayConsole.on(client).port(0).start()) {
            HttpResponse<String> page = get(console.url());
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .startsWith("default-src 'none';");
            HttpResponse<String> me = get(console.url() + "api/me");
            assertThat(me.statusCode()).isEqualTo(200);
            assertThat(me.body()).contains("\"readOnly\":true");
        }
    }

    @Test
    void should_stop_with_the_context_and_leave_no_thread() throws Exception {
        String url;
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:" + redis.uniqueQueue() + "?address=" + redis.address())
                            .to("log:received");
                }
            });
            RedisDelayConsole console = RedisDelayConsole.on(context).port(0).start();
            context.start();
            url = console.url();
            assertThat(get(url + "api/me").statusCode()).isEqualTo(200);
        }
        assertNobodyListens(url);
        Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> assertThat(
                        Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("RedisDelayConsole") || name.startsWith("HTTP-Dispatcher")));
    }

    @Test
    void should_refuse_to_end_a_schedule_that_a_route_of_its_context_declares() throws Exception {
        String queue = redis.uniqueQueue();
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:" + queue + "?every=1h&address=" + redis.address())
                            .to("log:received");
                }
            });
            context.start();
            RedisDelayConsole console =
                    RedisDelayConsole.on(context).actions(true).port(0).start();
            String messages = console.url() + "api/messages?state=delayed&queue=" + queue;
            Awaitility.await().untilAsserted(() -> assertThat(get(messages).body())
                    .contains("\"rule\":\"every 1h\"", "\"declaredBy\":\"route\""));
            String due = get(messages).body().replaceAll(".*\"due\":\"([^\"]+)\".*", "$1");
            HttpResponse<String> refused = http.send(
                    HttpRequest.newBuilder(URI.create(console.url() + "api/cancel"))
                            .header("Content-Type", "application/json")
                            .header("X-Redis-Delay-Console", "1")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"queue\":\"" + queue + "\",\"id\":\"" + queue
                                    + "\",\"state\":\"delayed\",\"due\":\"" + due + "\"}"))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("is declared by a route: pause the queue");
        }
    }

    private DelayQueueClient client() {
        return DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
    }

    @Test
    void should_not_listen_beyond_this_machine_without_an_access_hook() {
        try (DelayQueueClient client = client();
                RedisDelayConsole console =
                        RedisDelayConsole.on(client).host("0.0.0.0").port(0)) {
            assertThatThrownBy(console::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "the console does not listen on host '0.0.0.0' without an access hook: every client could see the"
                                    + " messages. Set access(...), such as ConsoleAccess.basic(user, hash), or listen on 127.0.0.1");
            assertThatThrownBy(console::url).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void should_ask_for_the_password_when_it_has_an_access_hook() throws Exception {
        String hash = PasswordHash.of("s3cret".toCharArray());
        try (DelayQueueClient client = client();
                RedisDelayConsole console = RedisDelayConsole.on(client)
                        .host("0.0.0.0")
                        .port(0)
                        .access(ConsoleAccess.basic("ann", hash))
                        .start()) {
            String url = "http://localhost:" + URI.create(console.url()).getPort() + "/api/me";
            HttpResponse<String> asked = get(url);
            assertThat(asked.statusCode()).isEqualTo(401);
            assertThat(asked.headers().firstValue("WWW-Authenticate").orElseThrow())
                    .startsWith("Basic ");
            String login = java.util.Base64.getEncoder().encodeToString("ann:s3cret".getBytes());
            HttpResponse<String> me = http.send(
                    HttpRequest.newBuilder(URI.create(url))
                            .header("Authorization", "Basic " + login)
                            .build(),
                    BodyHandlers.ofString());
            assertThat(me.statusCode()).isEqualTo(200);
            assertThat(me.body()).contains("\"user\":\"ann\"");
        }
    }

    @Test
    void should_say_which_option_is_wrong() throws Exception {
        try (DelayQueueClient client = client();
                RedisDelayConsole console = RedisDelayConsole.on(client)) {
            assertThatThrownBy(() -> console.port(70_000)).hasMessageContaining("port is 70000");
            assertThatThrownBy(() -> console.host(" ")).hasMessageContaining("host is empty");
            assertThatThrownBy(() -> console.hostNames("http://x")).hasMessageContaining("hostNames has 'http://x'");
            assertThatThrownBy(() -> console.hiddenHeaders("(")).hasMessageContaining("hiddenHeaders is '('");
            assertThatThrownBy(() -> console.queues("a{b")).hasMessageContaining("a{b");
            assertThatThrownBy(RedisDelayConsole::on).hasMessageContaining("a console needs a client");
            console.port(0).start();
            assertThatThrownBy(() -> console.port(1)).hasMessageContaining("set its options before");
            assertThatThrownBy(console::start).hasMessageContaining("listens already");
            int taken = URI.create(console.url()).getPort();
            try (RedisDelayConsole second = RedisDelayConsole.on(client).port(taken)) {
                assertThatThrownBy(second::start)
                        .hasMessageContaining("cannot listen on 127.0.0.1 port " + taken + ": choose a free port");
            }
            console.close();
            assertThatThrownBy(console::start).hasMessageContaining("has been closed");
        }
    }

    @Test
    void should_leave_the_components_connection_open_when_it_is_closed() throws Exception {
        String queue = redis.uniqueQueue();
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to("redis-delay:" + queue + "?delay=1h&address=" + redis.address());
                }
            });
            context.start();
            RedisDelayConsole console = RedisDelayConsole.on(context).port(0).start();
            assertThat(get(console.url() + "api/me").statusCode()).isEqualTo(200);
            console.close();
            context.createProducerTemplate().sendBody("direct:in", "x");
            try (DelayQueueClient client = client()) {
                assertThat(client.queue(queue).admin().stats().get().delayed()).isEqualTo(1);
            }
        }
    }

    @Test
    void should_connect_by_itself() throws Exception {
        try (DelayQueueClient client = client();
                RedisDelayConsole console = RedisDelayConsole.on(redis.address())
                        .port(0)
                        .queues("orders")
                        .start()) {
            assertThat(get(console.url() + "api/queues").body()).contains("\"orders\"");
        }
        assertThatThrownBy(() -> RedisDelayConsole.on("http://user:s3cret@localhost"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write redis://host:6379")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void should_say_that_redis_cannot_be_reached() throws Exception {
        try (RedisDelayConsole console =
                RedisDelayConsole.on("redis://:s3cret@127.0.0.1:1").port(0).start()) {
            assertThat(get(console.url()).statusCode()).isEqualTo(200);
            HttpResponse<String> queues = get(console.url() + "api/queues");
            assertThat(queues.statusCode()).isEqualTo(503);
            assertThat(queues.body()).contains("\"unreachable\"").doesNotContain("s3cret");
        }
    }

    private static DefaultCamelContext context(String... properties) {
        DefaultCamelContext context = new DefaultCamelContext();
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            context.getPropertiesComponent().addInitialProperty("camel.redis-delay.console." + parts[0], parts[1]);
        }
        return context;
    }

    @Test
    void should_be_started_by_properties() throws Exception {
        int port = TestPorts.next();
        String me = "http://localhost:" + port + "/api/me";
        try (DefaultCamelContext context =
                context("enabled=true", "port=" + port, "environment=TEST", "actions=true")) {
            context.getRegistry().bind("access", (ConsoleAccess)
                    request -> ConsoleRights.read().as("hook"));
            context.start();
            assertThat(get(me).body()).contains("\"environment\":\"TEST\"", "\"user\":\"hook\"");
        }
        assertNobodyListens(me);
        for (String[] off : new String[][] {
            {"port=" + port}, {"enabled=false", "port=" + port},
        }) {
            try (DefaultCamelContext context = context(off)) {
                context.start();
                assertThatThrownBy(() -> get(me))
                        .as(String.join(" ", off))
                        .isInstanceOf(java.net.ConnectException.class);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "enabled=yes, camel.redis-delay.console.enabled is 'yes': it must be true or false",
        "port=x, camel.redis-delay.console.port is 'x': it must be a number",
        "hosts=x, there is no option camel.redis-delay.console.hosts",
        "host=0.0.0.0, without an access hook"
    })
    void should_not_start_with_wrong_properties(String wrong, String error) throws Exception {
        try (DefaultCamelContext context = context("enabled=true", "port=0", wrong)) {
            assertThatThrownBy(context::start).hasStackTraceContaining(error);
        }
    }

    @Test
    void should_not_start_with_two_access_hooks_instead_of_ignoring_both() throws Exception {
        try (DefaultCamelContext context = context("enabled=true", "port=0")) {
            context.getRegistry().bind("first", (ConsoleAccess) request -> ConsoleRights.none());
            context.getRegistry().bind("second", (ConsoleAccess) request -> ConsoleRights.none());
            assertThatThrownBy(context::start).hasStackTraceContaining("there are 2 beans of type ConsoleAccess");
        }
    }

    @Test
    void should_wait_for_replicas_where_the_routes_do() throws Exception {
        String queue = redis.uniqueQueue();
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:schedule")
                            .to("redis-delay:" + queue + "?waitForReplicas=1&replicationTimeout=100ms&address="
                                    + redis.address());
                }
            });
            context.start();
            RedisDelayConsole console =
                    RedisDelayConsole.on(context).port(0).actions(true).start();
            HttpRequest pause = HttpRequest.newBuilder(URI.create(console.url() + "api/pause"))
                    .header("Content-Type", "application/json")
                    .header("X-Redis-Delay-Console", "1")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"queue\":\"" + queue + "\"}"))
                    .build();
            // The console's own client may still be connecting.
            Awaitility.await().untilAsserted(() -> {
                HttpResponse<String> answer = http.send(pause, BodyHandlers.ofString());
                assertThat(answer.statusCode()).isEqualTo(503);
                assertThat(answer.body()).contains("replica");
            });
        }
    }

    @Test
    void should_show_the_queues_of_one_redis_while_another_does_not_answer() throws Exception {
        String queue = redis.uniqueQueue();
        try (java.net.ServerSocket silent = new java.net.ServerSocket(0);
                DefaultCamelContext context = new DefaultCamelContext()) {
            context.start();
            context.getEndpoint("redis-delay:silent?address=redis://127.0.0.1:" + silent.getLocalPort());
            context.getEndpoint("redis-delay:" + queue + "?address=" + redis.address());
            try (RedisDelayConsole console =
                    RedisDelayConsole.on(context).port(0).start()) {
                Awaitility.await()
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> get(console.url() + "api/queues").body().contains('"' + queue + '"'));
                long begun = System.nanoTime();
                assertThat(get(console.url() + "api/me").statusCode()).isEqualTo(200);
                console.close();
                assertThat(Duration.ofNanos(System.nanoTime() - begun))
                        .as("how long the silent one is waited for")
                        .isLessThan(Duration.ofSeconds(5));
            }
        }
    }
}
