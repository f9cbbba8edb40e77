// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.GoldenFile;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.camel.Exchange;
import org.apache.camel.Producer;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The meters in a registry. */
class MetersIT extends ConsumerSideIT {

    private static final String NAME = "camel.redis.delay.";

    private final MeterRegistry meters = new SimpleMeterRegistry();

    private void bind() {
        context.getRegistry().bind("myMeters", meters);
    }

    private double count(String name, String... tags) {
        return meters.get(NAME + name).tag("queue", queue).tags(tags).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    private void assertCount(String name, double count, String... tags) {
        await().untilAsserted(() -> assertThat(count(name, tags)).as(name).isEqualTo(count));
    }

    private double gauge(String name) {
        return meters.get(NAME + name).tag("queue", queue).gauge().value();
    }

    /** The figures are asked for every five seconds. */
    private void assertGauge(String name, double value) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(gauge(name)).as(name).isEqualTo(value));
    }

    private long timed(String name, String... tags) {
        return meters.get(NAME + name).tags(tags).timer().count();
    }

    /** The timer is made at the end of the first call, which the caller may hear of before. */
    private void assertCalled(String script) {
        await().ignoreExceptionsInstanceOf(MeterNotFoundException.class)
                .untilAsserted(() -> assertThat(timed("call", "script", script, "failed", "false"))
                        .isPositive());
    }

    private static Set<String> names(MeterRegistry registry) {
        return registry.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .filter(name -> name.startsWith(NAME))
                .collect(Collectors.toSet());
    }

    private List<Meter> ofQueues() {
        return meters.getMeters().stream()
                .filter(meter -> meter.getId().getTag("queue") != null)
                .toList();
    }

    @Test
    void should_count_and_measure_a_message_on_its_way() throws Exception {
        bind();
        start(consume("", this::take));
        send(uri, "x", Map.of());
        next();
        assertCount("scheduled", 1);
        assertCount("delivered", 1, "routeId", "consumer", "deadLetters", "false");
        await().untilAsserted(
                        () -> assertThat(timed("acknowledge", "queue", queue)).isOne());
        assertThat(timed("lateness", "queue", queue)).isOne();
        assertThat(timed("processing", "queue", queue)).isOne();
        for (String script : List.of("schedule", "claim", "acknowledge")) {
            assertCalled(script);
        }
        assertCount("retried", 0);
    }

    @Test
    void should_not_call_late_what_its_group_holds_back() throws Exception {
        bind();
        context.start();
        Map<String, Object> group = Map.of(RedisDelayConstants.GROUP, "acme");
        send(uri, "x", group);
        send(uri, "y", group);
        assertGauge("parked", 1);
        assertGauge("overdue", 1);
        start(consume("", this::take));
        next();
        next();
        assertCount("delivered", 2, "routeId", "consumer", "deadLetters", "false");
        assertThat(timed("lateness", "queue", queue)).isZero();
    }

    @Test
    void should_count_what_becomes_due_soon_without_what_groups_park() throws Exception {
        bind();
        context.start();
        for (String delay : List.of("0s", "50s", "4m", "10m")) {
            send(uri, delay, Map.of(RedisDelayConstants.DELAY, delay));
        }
        Map<String, Object> group = Map.of(RedisDelayConstants.GROUP, "acme");
        send(uri, "first", group);
        send(uri, "parked", group);
        assertGauge("parked", 1);
        assertThat(meters.get(NAME + "due").tag("queue", queue).gauges())
                .extracting(gauge -> gauge.getId().getTag("within") + " " + gauge.value())
                .containsExactlyInAnyOrder("1m 3.0", "5m 4.0");
    }

    @Test
    void should_have_these_names() throws Exception {
        bind();
        start(consume("", this::take));
        send(uri, "x", Map.of());
        next();
        assertCalled("acknowledge");
        // This registry shows the buckets of timers as gauges.
        GoldenFile.assertSame(
                "meters.txt",
                names(meters).stream()
                        .filter(name -> !name.endsWith(".histogram"))
                        .sorted()
                        .toList());
    }

    @Test
    void should_measure_how_late_a_message_is_and_how_long_it_is_processed() throws Exception {
        bind();
        schedule("a", "x", Envelope.Settings.NONE, DueTime.at(Instant.now().minusSeconds(100)));
        AtomicLong workNanos = new AtomicLong();
        start(consume("", exchange -> {
            long begin = System.nanoTime();
            await().until(() -> stats().leased() == 1);
            workNanos.set(System.nanoTime() - begin);
        }));
        await().untilAsserted(
                        () -> assertThat(timed("acknowledge", "queue", queue)).isOne());
        assertThat(meters.get(NAME + "lateness").timer().max(TimeUnit.SECONDS)).isBetween(99.0, 160.0);
        assertThat(workNanos).hasPositiveValue();
        assertThat(meters.get(NAME + "processing").timer().max(TimeUnit.NANOSECONDS))
                .isGreaterThanOrEqualTo(workNanos.get());
    }

    @Test
    void should_count_a_run_as_a_message_and_measure_it_from_its_time_of_the_rule() throws Exception {
        bind();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").to(uri + "?every=1h");
            }
        });
        template.sendBodyAndHeader("direct:in", "x", RedisDelayConstants.SCHEDULE_ID, "poll");
        stored().reschedule("poll", DueTime.at(Instant.now().minusSeconds(100)))
                .result()
                .join();
        context.addRoutes(consume("?redeliveryDelay=1ms", exchange -> {
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1) {
                throw new IllegalStateException("once");
            }
        }));
        await().untilAsserted(
                        () -> assertThat(timed("acknowledge", "queue", queue)).isEqualTo(2));
        assertCount("scheduled", 1);
        assertCount("delivered", 2);
        assertCount("retried", 1);
        assertThat(meters.get(NAME + "lateness").timer().max(TimeUnit.SECONDS)).isBetween(99.0, 160.0);
        assertThat(stats().delayed()).isOne();
    }

    @Test
    void should_count_what_fails_expires_and_is_given_up() throws Exception {
        bind();
        Envelope.Settings expired = new Envelope.Settings(null, Duration.ofMillis(1), null);
        schedule("expired", "x", expired, DueTime.at(Instant.now().minusSeconds(100)));
        schedule("fails", "x");
        start(consume(FAST + "&maximumRedeliveries=2", exchange -> {
            throw new IllegalStateException("no");
        }));
        assertCount("dead.lettered", 2);
        assertCount("retried", 2);
        assertCount("expired", 1);
        assertCount("delivered", 3);
        assertCount("dropped", 0);
    }

    @Test
    void should_count_what_is_dropped() throws Exception {
        bind();
        schedule("fails", "x");
        start(consume(FAST + "&maximumRedeliveries=0&deadLetter=false", exchange -> {
            throw new IllegalStateException("no");
        }));
        assertCount("dropped", 1);
        assertCount("dead.lettered", 0);
    }

    @ParameterizedTest
    @CsvSource({"5, true", "0, true", "0, false"})
    void should_count_no_end_that_comes_too_late(int redeliveries, boolean deadLetter) throws Exception {
        bind();
        schedule("gone", "x");
        start(consume(FAST + "&maximumRedeliveries=" + redeliveries + "&deadLetter=" + deadLetter, exchange -> {
            stored().cancel("gone").result().join(); // another client's
            throw new IllegalStateException("no");
        }));
        await().untilAsserted(
                        () -> assertThat(timed("processing", "queue", queue)).isOne());
        await().until(() -> consumer().getProcessing() == 0); // Redis has answered
        assertThat(List.of(count("retried"), count("dead.lettered"), count("dropped"), count("expired")))
                .containsOnly(0.0);
        assertThat(timed("acknowledge", "queue", queue)).isZero();
    }

    @Test
    void should_count_changes_of_delayed_messages_only() {
        bind();
        context.start();
        for (int i = 0; i < 6; i++) {
            send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "m" + i));
        }
        send(uri + "?delay=1h&onDuplicate=ignore", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "m0"));
        send(uri + "?delay=1h", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "m0"));
        send(uri + "?operation=cancel", null, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("m0", "m1", "none")));
        send(uri + "?operation=promote", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "m2"));
        send(uri + "?operation=promote", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "none"));
        send(uri + "?operation=promote&limit=2", null, Map.of());
        assertThat(count("scheduled")).isEqualTo(6);
        assertThat(count("cancelled")).isEqualTo(2);
        assertThat(count("promoted")).isEqualTo(3);
    }

    @Test
    void should_count_the_messages_of_a_list() {
        bind();
        context.start();
        send(uri + "?delay=1h&batching=true", List.of("a", "b", "c"), Map.of());
        assertThat(count("scheduled")).isEqualTo(3);
    }

    @Test
    void should_measure_the_messages_of_a_batch_and_those_that_are_polled() throws Exception {
        bind();
        for (int i = 0; i < 3; i++) {
            schedule("m" + i, "x");
        }
        start(consume("?batching=true&batchSize=3&batchTimeout=5s", this::take));
        next();
        await().untilAsserted(() ->
                assertThat(timed("acknowledge", "routeId", "consumer")).isEqualTo(3));
        context.getRouteController().stopRoute("consumer");

        schedule("polled", "x");
        var template = context.createConsumerTemplate();
        Exchange exchange = template.receive(uri, 10_000);
        assertThat(count("delivered", "routeId", "")).isOne();
        template.doneUoW(exchange);
        await().untilAsserted(
                        () -> assertThat(timed("acknowledge", "routeId", "")).isOne());
        assertThat(timed("processing", "routeId", "")).isOne();
    }

    @Test
    void should_tell_the_dead_letters_from_the_queue() throws Exception {
        bind();
        schedule("fails", "x");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + FAST + "&maximumRedeliveries=0")
                        .routeId("queue")
                        .throwException(new IllegalStateException());
                from(uri + "?state=dead").routeId("letters").process(MetersIT.this::take);
            }
        });
        next();
        assertCount("delivered", 1, "routeId", "queue", "deadLetters", "false");
        assertCount("delivered", 1, "routeId", "letters", "deadLetters", "true");
        assertThat(meters.get(NAME + "dead").gauges()).hasSize(1);
    }

    @Test
    void should_show_the_figures_of_the_queue() {
        bind();
        schedule("late", "x", Envelope.Settings.NONE, DueTime.at(Instant.now().minusSeconds(100)));
        schedule("later", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        stored().admin().pause().result().join();
        context.getEndpoint(uri);
        context.start();
        send(uri + "?operation=stats", null, Map.of());
        assertGauge("delayed", 2);
        assertThat(gauge("overdue")).isOne();
        assertThat(gauge("oldest.overdue")).isBetween(99.0, 160.0);
        assertThat(gauge("leased")).isZero();
        assertThat(gauge("dead")).isZero();
        assertThat(gauge("consumers")).isZero();
        assertThat(gauge("paused")).isOne();
    }

    @Test
    void should_tag_as_Camel_does_and_show_neither_ids_nor_addresses() throws Exception {
        bind();
        start(consume("", this::take));
        send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "secret-id"));
        next();
        await().untilAsserted(
                        () -> assertThat(timed("acknowledge", "queue", queue)).isOne());
        assertThat(meters.getMeters()).isNotEmpty().allSatisfy(meter -> {
            assertThat(meter.getId().getTag("camelContext")).isEqualTo(context.getName());
            assertThat(meter.getId().getTag("kind")).isEqualTo("CamelRedisDelay");
            assertThat(meter.getId().getTag("component")).isEqualTo("redis-delay");
            assertThat(meter.getId().getTags())
                    .extracting(Tag::getValue)
                    .noneMatch(value -> value.contains("secret-id")
                            || value.contains("://")
                            || value.contains(redis.server().host()));
        });
    }

    @Test
    void should_share_the_meters_of_a_queue_until_its_last_user_stops() throws Exception {
        bind();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:a").routeId("a").to(uri + "?delay=1h&requestTimeout=7s");
                from("direct:b").routeId("b").to(uri + "?delay=1h");
                from(uri).routeId("c").to("mock:c");
            }
        });
        assertThat(meters.get(NAME + "delayed").gauges()).hasSize(1);
        context.getRouteController().stopRoute("c");
        assertThat(meters.find(NAME + "delivered").counters()).isEmpty();
        context.getRouteController().stopRoute("a");
        context.removeRoute("a");
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        assertThat(component.clients().size())
                .as("the client of the first user reads the figures")
                .isEqualTo(2);
        template.sendBody("direct:b", "x");
        assertCount("scheduled", 1);
        context.getRouteController().startRoute("c");
        assertThat(meters.get(NAME + "delivered").counters()).hasSize(1);
        context.getRouteController().stopRoute("c");
        context.getRouteController().stopRoute("b");
        context.removeRoute("b");
        assertThat(ofQueues()).isEmpty();
        assertThat(component.clients().size()).isOne();
        context.stop();
        assertThat(meters.getMeters()).isEmpty();
    }

    @Test
    void should_count_from_all_users_of_a_queue_in_one_meter() {
        bind();
        context.start();
        send(uri + "?delay=1h", "x", Map.of());
        send(uri + "?delay=2h", "x", Map.of());
        assertThat(meters.get(NAME + "scheduled").counters()).hasSize(1);
        assertThat(count("scheduled")).isEqualTo(2);
    }

    @Test
    void should_give_each_component_meters_of_its_own() throws Exception {
        bind();
        RedisDelayComponent second = new RedisDelayComponent();
        second.getConfiguration().setRedisson(redis.client());
        context.addComponent("second", second);
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:a").routeId("a").to(uri + "?delay=1h");
                from("direct:b").routeId("b").to(uri.replace("redis-delay:", "second:") + "?delay=1h");
            }
        });
        template.sendBody("direct:a", "x");
        template.sendBody("direct:b", "x");
        assertCount("scheduled", 1, "component", "redis-delay");
        assertCount("scheduled", 1, "component", "second");
        assertThat(meters.get(NAME + "delayed").gauges())
                .hasSize(2)
                .extracting(gauge -> gauge.getId().getTag("server"))
                .as("one Redis")
                .containsOnly(meters.get(NAME + "delayed").gauge().getId().getTag("server"));
        context.getRouteController().stopRoute("a");
        context.removeRoute("a");
        template.sendBody("direct:b", "x");
        assertCount("scheduled", 2, "component", "second");
        assertGauge("delayed", 3);
        context.removeComponent("redis-delay");
        assertCount("scheduled", 2, "component", "second");
        assertThat(meters.get(NAME + "call").timers()).isNotEmpty();
    }

    @Test
    void should_tell_queues_of_one_name_apart() throws Exception {
        bind();
        try (RedisServer server = RedisServer.dedicated()) {
            context.start();
            send(uri + "?delay=1h", "x", Map.of());
            send(uri + "?delay=1h&keyPrefix=other", "x", Map.of());
            send(uri + "?delay=1h&address=" + server.address(), "x", Map.of());
            assertThat(meters.get(NAME + "scheduled").tag("queue", queue).counters())
                    .hasSize(3)
                    .allSatisfy(counter -> assertThat(counter.count()).isOne());
            await().untilAsserted(() -> assertThat(meters.find(NAME + "call").timers())
                    .extracting(timer -> timer.getId().getTag("server"))
                    .doesNotContainNull()
                    .anyMatch(name -> !name.equals(meters.get(NAME + "scheduled")
                            .tag("keyPrefix", "other")
                            .counter()
                            .getId()
                            .getTag("server"))));
            context.stop();
        }
    }

    @Test
    void should_not_make_meters_without_bound() throws Exception {
        bind();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").toD(uri + "-${body}?operation=stats&keyPrefix=" + queue);
            }
        });
        for (int i = 0; i < 300; i++) {
            assertThat(send("direct:in", i, Map.of()).isFailed()).isFalse();
        }
        assertThat(meters.get(NAME + "scheduled").counters()).hasSize(256);
        context.stop();
        assertThat(meters.getMeters()).isEmpty();
    }

    @Test
    void should_leave_nothing_behind_where_a_consumer_cannot_start() throws Exception {
        bind();
        ThreadPoolExecutor forgetful = new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.MINUTES, new SynchronousQueue<>(), new ThreadPoolExecutor.DiscardPolicy());
        context.getRegistry().bind("forgetful", forgetful);
        context.start();
        assertThatThrownBy(
                        () -> context.addRoutes(consume("?requestTimeout=7s&executorService=#forgetful", this::take)))
                .hasStackTraceContaining("silently drops tasks");
        assertThat(ofQueues()).isEmpty();
        assertThat(context.getComponent("redis-delay", RedisDelayComponent.class)
                        .clients()
                        .size())
                .isZero();
    }

    @Test
    void should_have_new_meters_when_the_context_is_started_again() throws Exception {
        bind();
        context.start();
        send(uri + "?delay=1h", "x", Map.of());
        assertGauge("delayed", 1);
        context.stop();
        assertThat(meters.getMeters()).isEmpty();
        context.getRegistry().bind("redisson", redis.client());
        bind();
        context.start();
        schedule("another", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        context.createProducerTemplate().sendBody(uri + "?delay=1h", "x");
        assertGauge("delayed", 3);
        assertCount("scheduled", 1);
    }

    @Test
    void should_not_stay_behind_with_users_that_nobody_stops() throws Exception {
        bind();
        context.start();
        Producer forgotten = context.getEndpoint(uri).createProducer();
        forgotten.start();
        assertGauge("delayed", 0);
        context.stop();
        assertThat(meters.getMeters()).isEmpty();
        context.getRegistry().bind("redisson", redis.client());
        bind();
        context.start();
        schedule("a", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        send(uri + "?operation=stats", null, Map.of());
        assertGauge("delayed", 1);
        forgotten.stop();
        assertGauge("delayed", 1);
    }

    @Test
    void should_do_without_a_registry() throws Exception {
        start(consume("", this::take));
        send(uri, "x", Map.of());
        next();
        assertEmpty();
        assertThat(names(meters)).isEmpty();
    }

    @Test
    void should_prefer_the_registry_of_Camels_own_meters_and_not_guess_among_others() throws Exception {
        MeterRegistry other = new SimpleMeterRegistry();
        bind();
        context.getRegistry().bind("other", other);
        start(consume("", this::take));
        assertThat(meters.getMeters()).isEmpty();
        assertThat(other.getMeters()).isEmpty();
        context.stop();
        context.getRegistry().bind("redisson", redis.client());
        context.getRegistry().bind("myMeters", meters);
        context.getRegistry().bind("metricsRegistry", other);
        context.start();
        assertThat(names(other)).contains(NAME + "delivered");
        assertThat(meters.getMeters()).isEmpty();
    }

    @Test
    void should_never_wait_for_a_silent_Redis_in_a_scrape() throws Exception {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        context.getRegistry().bind("metricsRegistry", prometheus);
        context.getShutdownStrategy().setTimeout(1);
        context.start();
        FakeTimers timers = new FakeTimers();
        try (RedisServer server = RedisServer.dedicated()) {
            RedisDelayEndpoint endpoint = context.getEndpoint(
                    uri + "?requestTimeout=5s&address=" + server.address(), RedisDelayEndpoint.class);
            Reference<OpenClient> client = endpoint.acquireClient();
            Meters.Use use = Meters.of(context, "redis-delay", () -> timers).producing(endpoint.metered(client));
            timers.advance(Duration.ZERO);
            await().untilAsserted(
                            () -> assertThat(figures(prometheus)).hasSize(11).containsOnly(0.0));
            freeze(server);
            timers.advance(Duration.ofSeconds(5)); // asks
            await().untilAsserted(() ->
                    assertThat(figures(prometheus)).as("the last ones").containsOnly(0.0));
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(figures(prometheus)).containsOnly(Double.NaN));
            use.release();
            client.release();
        }
    }

    /** The gauges of a scrape that took next to no time. */
    private static List<Double> figures(PrometheusMeterRegistry prometheus) {
        long begin = System.nanoTime();
        String scrape = prometheus.scrape();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(1));
        return scrape.lines()
                .filter(line ->
                        line.matches("camel_redis_delay_[a-z_]+\\{.*") && !line.matches(".*(_total|_call_.*)\\{.*"))
                .map(line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)))
                .toList();
    }

    private static void freeze(RedisServer server) throws IOException {
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.getOutputStream().write("CLIENT PAUSE 60000 ALL\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('+');
        }
    }
}
