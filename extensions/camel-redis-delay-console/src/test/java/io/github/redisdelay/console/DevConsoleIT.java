// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.ConsumerSideIT;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.console.DevConsole;
import org.apache.camel.console.DevConsoleRegistry;
import org.apache.camel.util.json.JsonObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The developer console, as Camel's registry of consoles finds it. */
class DevConsoleIT extends ConsumerSideIT {

    private final Semaphore go = new Semaphore(0);

    @AfterEach
    void letGo() {
        go.release(1000);
    }

    private DevConsole console() {
        DevConsoleRegistry registry = context.getCamelContextExtension().getContextPlugin(DevConsoleRegistry.class);
        registry.loadDevConsoles();
        return registry.getConsole("redis-delay").orElseThrow();
    }

    private String text(Map<String, Object> options) {
        return (String) console().call(DevConsole.MediaType.TEXT, options);
    }

    private List<JsonObject> json(String list, Map<String, Object> options) {
        JsonObject root = (JsonObject) console().call(DevConsole.MediaType.JSON, options);
        assertThat(root.toJson()).as("JSON of plain values").isNotEmpty();
        return root.getCollection(list);
    }

    @Test
    void should_show_each_queue_once_and_what_its_consumers_do() throws Exception {
        context.setDevConsole(true);
        schedule("working", "secret body");
        schedule("due", "secret body");
        schedule("later", "secret body", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        bury("failed", "secret body");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).routeId("work").process(exchange -> go.tryAcquire(20, TimeUnit.SECONDS));
                from("direct:in").to(uri + "?delay=1s");
                from(uri + "-idle?state=dead")
                        .routeId("idle")
                        .autoStartup(false)
                        .log("x");
            }
        });
        await().untilAsserted(() -> {
            assertThat(stats().leased()).isOne();
            assertThat(stats().consumers()).isOne(); // it tells that it is there beside its claims
        });

        assertThat(json("queues", Map.of())).hasSize(2);
        JsonObject row = json("queues", Map.of()).get(0);
        assertThat(row)
                .containsEntry("queue", queue)
                .containsEntry("address", redis.address())
                .containsEntry("delayed", 2L)
                .containsEntry("overdue", 1L)
                .containsEntry("leased", 1L)
                .containsEntry("dead", 1L)
                .containsEntry("consumers", 1)
                .containsEntry("paused", false);
        assertThat(row.getLong("nextDueMillis")).isBetween(3_500_000L, 3_600_000L);
        assertThat(row.getLong("roundTripMicros")).isPositive();
        assertThat(json("consumers", Map.of())).singleElement().satisfies(consumer -> assertThat(consumer)
                .containsEntry("name", "work")
                .containsEntry("queue", queue)
                .containsEntry("processing", 1)
                .containsEntry("concurrentConsumers", 1)
                .containsEntry("failingMillis", 0L)
                .hasEntrySatisfying("longestRunningMillis", millis -> assertThat((Long) millis)
                        .isNotNegative()));
        assertThat(text(Map.of()))
                .contains("queues {queue=" + queue + ", ", "delayed=2, overdue=1, leased=1, dead=1, ")
                .contains("consumers {name=work, queue=" + queue + ", ")
                .doesNotContain("secret");

        assertThat(json("queues", Map.of("limit", "1"))).hasSize(1);
        assertThat(json("queues", Map.of("filter", queue + "-i*")))
                .singleElement()
                .satisfies(idle -> assertThat(idle).containsEntry("queue", queue + "-idle"));
        assertThat(json("consumers", Map.of("filter", queue + "-i*"))).isEmpty();
        assertThatThrownBy(() -> text(Map.of("limit", "x")))
                .hasMessage("option 'limit' is 'x': give a whole number, 1 or more");
        assertThatThrownBy(() -> text(Map.of("limit", "0"))).hasMessageContaining("it must be 1 or more");

        letGo();
        context.getRouteController().stopRoute("work");
        assertThat(json("consumers", Map.of())).isEmpty();
    }

    @Test
    void should_show_the_schedule_that_a_consumer_declares() throws Exception {
        context.setDevConsole(true);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?cron=0 2 * * *").routeId("nightly").log("x");
                from(uri + "?every=1h&scheduleId=poll").routeId("poll").log("x");
            }
        });
        List<JsonObject> consumers = json("consumers", Map.of());
        assertThat(consumers).anySatisfy(nightly -> {
            assertThat(nightly).containsEntry("schedule", queue).containsEntry("rule", "cron 0 2 * * * UTC");
            assertThat(nightly.getLong("nextRunTime"))
                    .isGreaterThan(System.currentTimeMillis())
                    .satisfies(time -> assertThat(time % 86_400_000).isEqualTo(7_200_000));
        });
        assertThat(consumers).anySatisfy(poll -> assertThat(poll)
                .containsEntry("schedule", "poll")
                .containsEntry("rule", "every 1h")
                .doesNotContainKey("nextRunTime"));
    }

    @Test
    void should_say_soon_that_redis_does_not_answer() throws Exception {
        context.setDevConsole(true);
        try (RedisServer server = RedisServer.dedicated()) {
            String to = "redis-delay:frozen?requestTimeout=30s&address=" + server.address();
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to(to);
                    from(to).routeId("frozen").log("x");
                }
            });
            context.getEndpoint("redis-delay:nobody?address=redis://own:geheim@localhost:1");
            assertThat(text(Map.of()))
                    .contains("queue=nobody", "error=not connected}\n", "delayed=0, ")
                    .doesNotContain("geheim");
            template.sendBody(to + "&delay=5s", "x"); // the consumer wants to claim it then
            freeze(server);
            long begun = System.nanoTime();
            assertThat(text(Map.of())).contains("queue=frozen", "error=no answer within 2000 ms}\n");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
            server.kill();
            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(text(Map.of("filter", "frozen")))
                    .containsPattern("consumers \\{name=frozen.*, error="));
            context.getShutdownStrategy().setTimeout(1);
            context.stop();
        }
    }

    private static void freeze(RedisServer server) throws IOException {
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.getOutputStream().write("CLIENT PAUSE 60000 ALL\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('+');
        }
    }
}
