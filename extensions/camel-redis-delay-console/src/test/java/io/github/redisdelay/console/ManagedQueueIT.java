// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.ConsumerSideIT;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Queues in JMX: their attributes and operations. */
class ManagedQueueIT extends ConsumerSideIT {

    private final Semaphore go = new Semaphore(0);

    @Override
    protected DefaultCamelContext ownContext() {
        return newContextWithJmx();
    }

    @AfterEach
    void letGo() {
        go.release(1000);
    }

    /** Camel makes it when it starts. */
    private MBeanServer beans() {
        return context.getManagementStrategy().getManagementAgent().getMBeanServer();
    }

    private Set<ObjectName> names(String type) throws Exception {
        return beans().queryNames(
                        new ObjectName(
                                "org.apache.camel:context=" + context.getManagementName() + ",type=" + type + ",*"),
                        null);
    }

    private ObjectName name(String type) throws Exception {
        assertThat(names(type)).hasSize(1);
        return names(type).iterator().next();
    }

    /** The queue, and not its dead letters. */
    private ObjectName live() throws Exception {
        return names("queues").stream()
                .filter(name -> name.getKeyProperty("state") == null)
                .findFirst()
                .orElseThrow();
    }

    private String invoke(ObjectName bean, String operation, String... arguments) throws Exception {
        String[] types = new String[arguments.length];
        java.util.Arrays.fill(types, "java.lang.String");
        return (String) beans().invoke(bean, operation, arguments, types);
    }

    private void receive(String options) throws Exception {
        start(consume(options, exchange -> go.tryAcquire(20, TimeUnit.SECONDS)));
    }

    private void assertUnderWay(int count) {
        await().untilAsserted(() -> assertThat(stats().leased()).isEqualTo(count));
    }

    @Test
    void should_pause_and_resume() throws Exception {
        receive("");
        ObjectName bean = name("queues");
        try (LogLines log = new LogLines(ManagedQueue.class)) {
            assertThat(invoke(bean, "pause")).isEqualTo("paused");
            assertThat(invoke(bean, "pause")).isEqualTo("it was paused already");
            assertThat(stats().paused()).isTrue();
            assertThat(invoke(bean, "resume")).isEqualTo("resumed");
            assertThat(invoke(bean, "resume")).isEqualTo("it was not paused");
            assertThat(stats().paused()).isFalse();
            String label = "queue '" + queue + "' of Redis";
            assertThat(log.of(Level.INFO))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith(label).endsWith(": paused by JMX"),
                            line -> assertThat(line).startsWith(label).endsWith(": resumed by JMX"));
        }
    }

    @Test
    void should_pause_and_resume_a_group() throws Exception {
        context.getEndpoint(uri);
        context.getEndpoint(uri + "?state=dead");
        context.start();
        ObjectName bean = live();
        try (LogLines log = new LogLines(ManagedQueue.class)) {
            assertThat(invoke(bean, "pauseGroup", "a", "1h")).isEqualTo("paused");
            assertThat(pausedUntil("a")).isBefore(Instant.now().plusSeconds(3601));
            assertThat(invoke(bean, "pauseGroup", "a", "")).isEqualTo("it was paused already: the longer pause counts");
            assertThat(pausedUntil("a")).isAfter("2255-01-01T00:00:00Z");
            assertThat(pausedUntil("b")).isEqualTo(Instant.EPOCH);
            assertThat(stats().paused()).isFalse();
            assertThat(invoke(bean, "resumeGroup", "a")).isEqualTo("resumed");
            assertThat(invoke(bean, "resumeGroup", "a")).isEqualTo("it was not paused");
            assertThat(pausedUntil("a")).isEqualTo(Instant.EPOCH);
            assertThat(log.of(Level.INFO))
                    .satisfiesExactly(
                            line -> assertThat(line).endsWith(", group 'a': paused by JMX"),
                            line -> assertThat(line).endsWith(", group 'a': resumed by JMX"));
        }
        assertThatThrownBy(() -> invoke(bean, "pauseGroup", "a", "soon"))
                .hasStackTraceContaining("delay 'soon' is no duration");
        assertThatThrownBy(() -> invoke(bean, "pauseGroup", "a\n", "1h")).hasStackTraceContaining("control character");
        ObjectName dead = names("queues").stream()
                .filter(name -> !name.equals(bean))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> invoke(dead, "pauseGroup", "a", "1h")).hasStackTraceContaining("have no groups");
    }

    private Instant pausedUntil(String group) {
        return Instant.ofEpochMilli(stored().group(group).info().join().pausedUntilMicros() / 1000);
    }

    @Test
    void should_promote_and_cancel_by_id() throws Exception {
        context.getEndpoint(uri);
        context.start();
        ObjectName bean = name("queues");
        schedule("a", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        assertThat(invoke(bean, "promote", "a")).isEqualTo("due now");
        assertThat(stats().overdue()).isOne();
        assertThat(invoke(bean, "promote", "b")).isEqualTo("there is no such message");
        assertThat(invoke(bean, "cancel", "a")).isEqualTo("cancelled");
        assertThat(invoke(bean, "cancel", "a")).isEqualTo("there is no such message");
        receive("");
        schedule("c", "x");
        assertUnderWay(1);
        assertThat(invoke(bean, "promote", "c")).isEqualTo("it is leased");
        assertThat(invoke(bean, "cancel", "c")).startsWith("cancelled while it is leased");
        assertThat(stats().leased()).isZero();
        assertThatThrownBy(() -> invoke(bean, "cancel", "")).hasStackTraceContaining("id");
    }

    @Test
    void should_end_a_schedule_only_where_no_route_declares_it() throws Exception {
        receive("?every=1h");
        ObjectName bean = name("queues");
        await().untilAsserted(() -> assertThat(stats().delayed()).isOne());
        assertThat(invoke(bean, "cancel", queue)).startsWith("it is declared by a route: pause the queue");
        assertThat(stats().delayed()).isOne();
        context.getRouteController().stopRoute("consumer");
        assertThat(invoke(bean, "cancel", queue)).isEqualTo("cancelled");
        assertThat(stats().delayed()).isZero();
    }

    @Test
    void should_redrive_a_dead_letter_by_its_id() throws Exception {
        context.getEndpoint(uri);
        context.getEndpoint(uri + "?state=dead");
        context.start();
        assertThat(names("queues")).hasSize(2);
        bury("a", "x");
        String letter = stored().deadLetters()
                .admin()
                .list(MessageState.DELAYED, PageStart.first(), 1)
                .join()
                .messages()
                .get(0)
                .id();
        ObjectName bean = live();
        assertThat(beans().getAttribute(bean, "Dead")).isEqualTo(1L);
        assertThat(invoke(bean, "redrive", letter)).isEqualTo("redriven");
        assertThat(invoke(bean, "redrive", letter)).isEqualTo("there is no such dead letter");
        assertThat(stats().delayed()).isOne();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_redrive_the_newest_dead_letter_of_a_message() throws Exception {
        context.getEndpoint(uri);
        context.start();
        bury("a", "first");
        bury("a", "second");
        assertThat(invoke(name("queues"), "redrive", "a")).isEqualTo("redriven");
        assertThat(stats().dead()).isOne();
        assertThat(Envelope.decode(stored().get("a").join().orElseThrow().body())
                        .body())
                .isEqualTo("second");
        assertThat(invoke(name("queues"), "redrive", "a")).startsWith("a message with its id is in the queue");
        assertThat(invoke(name("queues"), "redrive", "b")).isEqualTo("there is no such dead letter");
    }

    @Test
    void should_not_show_queues_to_which_messages_are_sent_by_toD() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").toD(uri + "-${body}?delay=1s");
                from("direct:static").to(uri);
            }
        });
        for (int i = 0; i < 3; i++) {
            assertThat(send("direct:in", i, Map.of()).isFailed()).isFalse();
        }
        assertThat(name("queues").getKeyProperty("name")).isEqualTo(ObjectName.quote(queue));
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:later").to(uri + "-later");
            }
        });
        assertThat(names("queues")).hasSize(2);
    }

    @Test
    void should_tell_the_queues_of_two_databases_apart() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            context.getEndpoint("redis-delay:orders?address=" + server.address());
            context.getEndpoint("redis-delay:orders?database=2&address=" + server.address());
            context.start();
            assertThat(names("queues"))
                    .extracting(name -> ObjectName.unquote(name.getKeyProperty("address")))
                    .containsExactlyInAnyOrder(server.address(), server.address() + " database 2");
            context.stop();
        }
    }

    @Test
    void should_show_a_queue_again_after_a_restart_and_in_another_context() throws Exception {
        MBeanServer server;
        try (DefaultCamelContext other = newContextWithJmx()) {
            other.getRegistry().bind("redisson", redis.client());
            other.getEndpoint(uri);
            other.start();
            receive("");
            server = beans();
            name("queues");
            context.stop();
            assertThat(names(server)).as("those of the other context").hasSize(1);
            context.getRegistry().bind("redisson", redis.client());
            context.start();
            assertThat(beans().getAttribute(name("queues"), "Delayed")).isEqualTo(0L);
        }
        context.stop();
        assertThat(names(server)).isEmpty();
    }

    private Set<ObjectName> names(MBeanServer server) throws Exception {
        return server.queryNames(
                new ObjectName("org.apache.camel:type=queues,name=" + ObjectName.quote(queue) + ",*"), null);
    }

    @Test
    void should_do_without_JMX() throws Exception {
        try (DefaultCamelContext plain = newContext()) {
            plain.getRegistry().bind("redisson", redis.client());
            plain.getEndpoint(uri);
            plain.start();
            assertThat(plain.removeEndpoints(uri)).hasSize(1);
        }
    }

    @Test
    void should_show_a_queue_once_until_its_last_endpoint_is_gone() throws Exception {
        context.getEndpoint(uri);
        context.getEndpoint(uri + "?delay=1s");
        context.getEndpoint(uri + "?delay=2s");
        context.start();
        assertThat(name("queues").getKeyProperty("name")).isEqualTo(ObjectName.quote(queue));
        assertThat(names("endpoints")).hasSize(3).allSatisfy(endpoint -> assertThat(
                        beans().getMBeanInfo(endpoint).getAttributes())
                .extracting(attribute -> attribute.getName())
                .contains("QueueName")
                .doesNotContain("Delayed", "Overdue", "Dead", "Consumers"));
        context.removeEndpoints(uri + "?delay=1s");
        context.removeEndpoints(uri + "?delay=2s");
        name("queues");
        context.removeEndpoints(uri);
        assertThat(names("queues")).isEmpty();
    }

    @Test
    void should_say_clearly_that_redis_does_not_answer() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to("redis-delay:orders?requestTimeout=1s&address=" + server.address());
                }
            });
            ObjectName bean = name("queues");
            server.kill();
            long start = System.nanoTime();
            assertThatThrownBy(() -> invoke(bean, "cancel", "a"))
                    .hasStackTraceContaining("queue 'orders': message 'a' could not be cancelled: Redis at "
                            + server.address() + " did not answer in time; the change of message 'a' ");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            context.stop();
        }
    }

    @Test
    void should_put_the_partitions_of_a_queue_together_and_show_no_password() throws Exception {
        String secret = "redis-delay:orders?address=redis://own:geheim@localhost:1";
        context.getEndpoint(secret);
        context.start();
        assertThat(name("queues").toString()).doesNotContain("geheim");
        assertThat(beans().getAttribute(name("queues"), "ServiceUrl")).isEqualTo("redis://localhost:1");
        context.removeEndpoints(secret);
        for (int i = 0; i < 6; i++) {
            send(uri + "?partitions=3", "x", Map.of());
        }
        RedisDelayEndpoint endpoint = context.getEndpoint(uri + "?partitions=3", RedisDelayEndpoint.class);
        ManagedQueue managed = new ManagedQueue(endpoint, System::nanoTime);
        assertThat(managed.getPartitions()).isEqualTo(3);
        assertThat(managed.getDelayed()).isEqualTo(6);
        assertThat(managed.getOverdue()).isEqualTo(6);
    }
}
