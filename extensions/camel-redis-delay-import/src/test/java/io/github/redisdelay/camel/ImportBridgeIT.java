// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.imports.ImportBridge;
import io.github.redisdelay.imports.ImportConverter;
import io.github.redisdelay.imports.ImportedMessage;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.camel.ResolveEndpointFailedException;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.health.HealthCheck;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.codec.Kryo5Codec;

/** Consumers that take over from Redisson's RDelayedQueue while applications go on to use it. */
class ImportBridgeIT extends CamelRedisIT {

    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private RBlockingQueue<Object> list;
    private RDelayedQueue<Object> old;

    @BeforeEach
    void openOldQueue() {
        list = redis.client().getBlockingQueue(redis.uniqueQueue(), new Kryo5Codec());
        old = redis.client().getDelayedQueue(list);
    }

    @AfterEach
    void closeOldQueue() {
        old.destroy();
    }

    private String importing(String options) {
        return uri + "?import.from=" + list.getName() + "&import.codec=kryo5" + options;
    }

    private void start(String options, String... routeIds) throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                for (String routeId : routeIds) {
                    from(importing(options))
                            .routeId(routeId)
                            .process(exchange ->
                                    received.add(exchange.getMessage().getBody()));
                }
            }
        });
    }

    private RedisDelayConsumer consumer(String routeId) {
        return (RedisDelayConsumer) context.getRoute(routeId).getConsumer();
    }

    private ImportBridge bridge(String routeId) {
        return (ImportBridge) consumer(routeId).bridge();
    }

    /** An old producer goes on, an old consumer takes what it gets for a while, and two new consumers take the rest. */
    @Test
    void should_deliver_each_message_once_beside_old_producers_and_consumers() throws Exception {
        int messages = 600;
        CompletableFuture<Void> producer = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < messages; i++) {
                old.offer("m" + i, i % 40 * 25L, TimeUnit.MILLISECONDS);
            }
        });
        CompletableFuture<Void> consumer = CompletableFuture.runAsync(() -> {
            try {
                for (int i = 0; i < 50; i++) {
                    Object taken = list.poll(10, TimeUnit.MILLISECONDS);
                    if (taken != null) {
                        received.add(taken);
                    }
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        start("&concurrentConsumers=8", "a", "b");
        producer.get(30, TimeUnit.SECONDS);
        consumer.get(30, TimeUnit.SECONDS);

        await().atMost(Duration.ofSeconds(30)).until(() -> received.size() >= messages);
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isZero());
        Map<Object, Long> times =
                received.stream().collect(Collectors.groupingBy(body -> body, HashMap::new, Collectors.counting()));
        assertThat(times)
                .isEqualTo(IntStream.range(0, messages)
                        .mapToObj(i -> "m" + i)
                        .collect(Collectors.toMap(body -> (Object) body, body -> 1L)));
        assertThat(old.size() + list.size()).isZero();
        long imported = consumer("a").getImported() + consumer("b").getImported();
        assertThat(imported).isBetween(1L, (long) messages);
    }

    @Test
    void should_bring_no_more_than_the_queue_may_hold() throws Exception {
        for (int i = 0; i < 10; i++) {
            old.offer("later " + i, 1, TimeUnit.HOURS);
        }
        context.getComponent("redis-delay", RedisDelayComponent.class)
                .getConfiguration()
                .setMaximumQueueLength(4);
        start("&import.ahead=1d", "a");
        await().until(() -> consumer("a").getImported() == 4);
        assertThat(stats().delayed()).isEqualTo(4);
        assertThat(old.size()).isEqualTo(6);
    }

    @Test
    void should_take_what_is_due_and_more_only_if_it_is_told_to() throws Exception {
        old.offer("later", 1, TimeUnit.HOURS);
        old.offer("now", 0, TimeUnit.MILLISECONDS);
        start("", "a");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("now");
        assertThat(old.contains("later")).isTrue();
        assertThat(stats().delayed()).isZero();

        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(importing("&import.ahead=1d")).routeId("ahead").to("log:none");
            }
        });
        await().untilAsserted(() -> assertThat(stats().delayed()).isOne());
        assertThat(old.contains("later")).isFalse();
    }

    @Test
    void should_stand_still_while_its_consumer_is_suspended_or_stopped() throws Exception {
        start("", "a");
        old.offer("first", 0, TimeUnit.MILLISECONDS);
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("first");

        context.getRouteController().suspendRoute("a");
        await().until(() -> consumer("a").isSuspended());
        await().until(() -> !bridge("a").isUnderWay());
        offerAndTransfer("second");
        assertThat(list.size()).isOne();
        context.getRouteController().resumeRoute("a");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("second");

        ImportBridge stopped = bridge("a");
        context.getRouteController().stopRoute("a");
        await().until(() -> !stopped.isUnderWay());
        offerAndTransfer("third");
        context.getRouteController().startRoute("a");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("third");
        assertThat(list.size()).isZero();
    }

    /** Keeps the bridge in its first slice. */
    private CountDownLatch convertSlowly() throws Exception {
        CountDownLatch converting = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        context.getRegistry().bind("slow", (ImportConverter) payload -> {
            converting.countDown();
            try {
                assertThat(mayGoOn.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return ImportedMessage.of(payload);
        });
        list.addAll(IntStream.range(0, 100).mapToObj(i -> "m" + i).toList());
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?import.converter=#slow&import.from=" + list.getName())
                        .routeId("a")
                        .process(exchange -> received.add(exchange.getMessage().getBody()));
            }
        });
        assertThat(converting.await(30, TimeUnit.SECONDS)).isTrue();
        return mayGoOn;
    }

    @Test
    void should_end_the_slice_under_way_when_its_route_is_stopped() throws Exception {
        CountDownLatch mayGoOn = convertSlowly();
        ImportBridge bridge = bridge("a");
        try (LogLines log = new LogLines("ROOT")) {
            context.getRouteController().stopRoute("a");
            assertThat(bridge.isUnderWay()).isTrue();
            mayGoOn.countDown();
            await().until(() -> !bridge.isUnderWay());
            assertThat(log.of(Level.ERROR)).isEmpty();
            assertThat(log.of(Level.WARN)).isEmpty();
        }
        assertThat(bridge.imported()).isEqualTo(64);
        assertThat(bridge.problem()).isNull();
        assertThat(stats().delayed()).isEqualTo(64);
        assertThat(list.size()).isEqualTo(36);
        assertThat(received).isEmpty();
    }

    @Test
    void should_lose_nothing_when_its_context_is_stopped_within_a_slice() throws Exception {
        CountDownLatch mayGoOn = convertSlowly();
        ImportBridge bridge = bridge("a");
        try (LogLines log = new LogLines("ROOT")) {
            CompletableFuture<Void> stop = CompletableFuture.runAsync(context::stop);
            // The client is closed, and nobody waits for the slice any more.
            await().until(() -> !bridge.isUnderWay());
            mayGoOn.countDown();
            stop.get(30, TimeUnit.SECONDS);
            assertThat(log.of(Level.ERROR)).isEmpty();
            assertThat(log.of(Level.WARN)).isEmpty();
        }
        assertThat(stats().delayed() + received.size()).isZero();
        assertThat(list.size()).isEqualTo(100);
    }

    /** Redisson hands a message over to its list; if a bridge ran, that would be taken away from there. */
    private void offerAndTransfer(Object message) {
        old.offer(message, 0, TimeUnit.MILLISECONDS);
        await().until(() -> list.contains(message));
    }

    @Test
    void should_say_what_it_leaves() throws Exception {
        context.setDevConsole(true);
        start("", "a");
        old.offer(new UUID(1, 2), 0, TimeUnit.MILLISECONDS);
        old.offer("good", 0, TimeUnit.MILLISECONDS);
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("good");
        HealthCheck check = consumer("a").healthCheck(Duration.ofSeconds(30));

        await().untilAsserted(() -> {
            HealthCheck.Result result = check.call();
            assertThat(result.getState()).isEqualTo(HealthCheck.State.UP);
            assertThat(result.getMessage().orElse(""))
                    .startsWith("queue '" + queue + "': Redisson's queue '" + list.getName()
                            + "': left there: 1 not convertible (ready, ")
                    .contains("java.util.UUID");
            assertThat(result.getDetails())
                    .containsEntry("redis.import.from", list.getName())
                    .containsEntry("redis.import.imported", 1L)
                    .containsEntry("redis.import.left", 1L);
        });
        String console = (String) context.getCamelContextExtension()
                .getContextPlugin(org.apache.camel.console.DevConsoleRegistry.class)
                .resolveById("redis-delay")
                .call(org.apache.camel.console.DevConsole.MediaType.TEXT, Map.of());
        assertThat(console)
                .containsPattern("consumers .*import=\\{from=" + list.getName() + ", .*imported=1, .*left=1");
        assertThat(list.size()).isOne();
    }

    @Test
    void should_say_what_is_wrong_with_the_options() {
        context.start();
        for (String[] wrong : List.of(
                new String[] {"?import.codec=raw", "option 'import.codec' is set on a consumer that imports nothing"},
                new String[] {"?import.ahead=1d", "option 'import.ahead' is set on a consumer that imports nothing"},
                new String[] {"?import.from=a", "option 'import.codec' is not set"},
                new String[] {"?import.from=a&import.codec=raw&state=dead", "is set on a consumer of dead letters"},
                new String[] {"?import.from=a&import.codec=raw&import.ahead=x", "option 'import.ahead'"},
                new String[] {
                    "?import.from=a&import.codec=raw&import.dryRun=true", "option 'import.dryRun' is the producer's"
                })) {
            assertThat(problem(wrong[0])).as(wrong[0]).contains(wrong[1]);
        }
    }

    private String problem(String options) {
        try {
            context.getEndpoint(uri + options).createConsumer(exchange -> {});
            return "none";
        } catch (ResolveEndpointFailedException e) {
            return e.getCause().getMessage();
        } catch (Exception e) {
            return e.getMessage();
        }
    }
}
