// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The errors for an exchange whose message the replicas do not have, and the redelivery of its step. */
@Timeout(120)
class WaitForReplicasIT {

    private static final String WAITING = "waitForReplicas=1&replicationTimeout=200ms&requestTimeout=10s";

    private static MasterAndReplica servers;
    private static int queues;

    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private final AtomicInteger redeliveries = new AtomicInteger();
    /** Done before a redelivery, with its number. */
    private volatile IntConsumer meanwhile = number -> {};

    private String uri;

    @BeforeAll
    static void start() {
        servers = new MasterAndReplica();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @BeforeEach
    void open() {
        uri = "redis-delay:q" + ++queues;
        configuration().setAddress(servers.master.address());
    }

    @AfterEach
    void close() throws Exception {
        context.close();
    }

    private RedisDelayConfiguration configuration() {
        return context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private void route(String to, int maximumRedeliveries) throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(defaultErrorHandler()
                        .maximumRedeliveries(maximumRedeliveries)
                        .redeliveryDelay(10)
                        .onRedelivery(exchange -> meanwhile.accept(redeliveries.incrementAndGet())));
                from("direct:in").to(to);
            }
        });
        context.start();
    }

    private Exchange send(Object body, Map<String, Object> headers) {
        return context.createProducerTemplate().request("direct:in", exchange -> {
            exchange.getMessage().setBody(body);
            exchange.getMessage().setHeaders(new java.util.HashMap<>(headers));
        });
    }

    private QueueStats stats() throws Exception {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        RedisDelayConfiguration options = component.getConfiguration();
        var client =
                component.acquireClient(new OptionReader(options).connection(), new OptionReader(options).client());
        try {
            return client.get()
                    .queues()
                    .queue(uri.substring("redis-delay:".length()))
                    .admin()
                    .stats()
                    .join();
        } finally {
            client.release();
        }
    }

    @Test
    void should_fail_with_what_was_stored() throws Exception {
        route(uri + "?delay=1h&" + WAITING, 0);
        servers.disconnect();
        try {
            Exchange exchange = send("body", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
            assertThat(exchange.getException())
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining(
                            "message 'a' is stored, not known to be replicated: 0 of 1 replicas within 200 ms");
            ReplicationTimeoutException error = (ReplicationTimeoutException) exchange.getException();
            assertThat(((ScheduleResult) error.getResult()).id()).isEqualTo("a");
            assertThat(stats().delayed()).isEqualTo(1);
        } finally {
            servers.connect();
        }
        // On a busy machine its replica may need more than 200 ms.
        await().atMost(Duration.ofSeconds(20))
                .until(() -> send("body", Map.of()).getException() == null);
    }

    @Test
    void should_wait_again_when_the_step_is_redelivered() throws Exception {
        route(uri + "?delay=1h&" + WAITING, 1000);
        servers.disconnect();
        meanwhile = number -> {
            if (number == 3) {
                servers.connect();
            }
        };
        Exchange exchange = send("body", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID))
                .isEqualTo("a");
        assertThat(exchange.getMessage().getHeader(RedisDelayConstants.DUE_TIME))
                .isNotNull();
        assertThat(redeliveries.get()).isGreaterThanOrEqualTo(3);
        assertThat(stats().delayed()).isEqualTo(1);
    }

    @Test
    void should_not_schedule_once_more_what_was_delivered_meanwhile() throws Exception {
        List<String> received = new CopyOnWriteArrayList<>();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).process(exchange -> received.add(exchange.getMessage().getBody(String.class)));
            }
        });
        route(uri + "?" + WAITING, 1000);
        servers.disconnect();
        meanwhile = number -> {
            if (number == 2) {
                await().until(() -> received.size() == 1 && stats().leased() == 0);
                servers.connect();
            }
        };
        Exchange exchange = send("body", Map.of());
        assertThat(exchange.getException()).isNull();
        assertThat(redeliveries.get()).isGreaterThanOrEqualTo(2);
        QueueStats stats = stats();
        assertThat(stats.delayed() + stats.leased()).isZero();
        assertThat(received).containsExactly("body");
    }

    @Test
    void should_tell_of_each_message_of_a_batch() throws Exception {
        route(uri + "?delay=1h&batching=true&" + WAITING, 0);
        servers.disconnect();
        try {
            Exchange exchange = send(List.of("a", "b", "c"), Map.of());
            assertThat(exchange.getException()).isInstanceOf(BatchScheduleException.class);
            BatchScheduleException error = (BatchScheduleException) exchange.getException();
            assertThat(error).hasMessageContaining("3 of 3 messages failed: ");
            assertThat(error.getScheduledIds()).isEmpty();
            assertThat(error.getFailures()).hasSize(3);
            assertThat(error.getFailures().values()).allMatch(ReplicationTimeoutException.class::isInstance);
            assertThat(stats().delayed()).isEqualTo(3);
        } finally {
            servers.connect();
        }
    }

    @Test
    void should_wait_again_for_a_batch() throws Exception {
        route(uri + "?delay=1h&batching=true&" + WAITING, 1000);
        servers.disconnect();
        meanwhile = number -> {
            if (number == 2) {
                servers.connect();
            }
        };
        Exchange exchange = send(List.of("a", "b", "c"), Map.of());
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, List.class))
                .hasSize(3);
        assertThat(stats().delayed()).isEqualTo(3);
    }

    @Test
    void should_wait_again_for_a_change() throws Exception {
        route(uri + "?operation=cancel&" + WAITING, 1000);
        context.createProducerTemplate()
                .sendBodyAndHeader(uri + "?delay=1h", "body", RedisDelayConstants.SCHEDULE_ID, "a");
        servers.disconnect();
        meanwhile = number -> {
            if (number == 2) {
                servers.connect();
            }
        };
        Exchange exchange = send(null, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(exchange.getException()).isNull();
        // The result of the one call that was executed.
        assertThat(exchange.getMessage().getHeader(RedisDelayConstants.PREVIOUS_STATE))
                .isEqualTo("delayed");
        assertThat(stats().delayed()).isZero();
    }

    @Test
    void should_go_on_failing_and_change_nothing_again_where_a_failover_may_have_undone_it() throws Exception {
        route(uri + "?operation=cancel&" + WAITING, 3);
        context.createProducerTemplate()
                .sendBodyAndHeader(uri + "?delay=1h", "body", RedisDelayConstants.SCHEDULE_ID, "a");
        servers.disconnect();
        meanwhile = number -> {
            if (number == 1) {
                // It becomes a replica and a master again, as another one does that is promoted.
                MasterAndReplica.ask(servers.master, "REPLICAOF 127.0.0.1 1", "+OK");
                MasterAndReplica.ask(servers.master, "REPLICAOF NO ONE", "+OK");
                servers.connect();
                // Scheduled anew: a second cancel would remove it.
                context.createProducerTemplate()
                        .sendBodyAndHeader(uri + "?delay=1h", "body", RedisDelayConstants.SCHEDULE_ID, "a");
            }
        };
        Exchange exchange = send(null, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(exchange.getException())
                .isInstanceOf(ReplicationTimeoutException.class)
                .hasMessageContaining("the change of message 'a' was made, not known to be replicated: it is unknown"
                        + " whether a failover has undone it");
        assertThat(redeliveries.get()).isEqualTo(3);
        assertThat(stats().delayed()).isEqualTo(1);
    }

    @Test
    void should_not_start_a_route_whose_server_cannot_wait_for_its_disk() throws Exception {
        context.start();
        assertThatThrownBy(() -> route(uri + "?delay=1h&waitForDisk=true", 0))
                .hasStackTraceContaining("queue '" + uri.substring("redis-delay:".length())
                        + "': Redis cannot wait for its disk (waitForDisk), nothing was changed: ")
                .hasStackTraceContaining(
                        MasterAndReplica.knows(servers.master, "waitaof") ? "set appendonly yes" : "Redis 7.2");
        assertThat(context.getComponent("redis-delay", RedisDelayComponent.class)
                        .clients()
                        .size())
                .as("clients of a producer that has not started")
                .isZero();
    }

    /** Redis from 7.2 on, and Valkey, can. The embedded one is older: there only the refusal is tried. */
    @Test
    void should_wait_for_the_disk_where_the_server_can_and_not_start_where_it_cannot() throws Exception {
        try (RedisServer server = RedisServer.dedicated("appendonly yes", "appendfsync always")) {
            configuration().setAddress(server.address());
            String to = uri + "?delay=1h&waitForDisk=true&replicationTimeout=2500ms";
            if (MasterAndReplica.knows(server, "waitaof")) {
                route(to, 0);
                Exchange exchange = send("body", Map.of());
                assertThat(exchange.getException()).isNull();
                server.kill();
                server.start();
                await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> stats().delayed() == 1);
            } else {
                assertThatThrownBy(() -> route(to, 0)).hasStackTraceContaining("WAITAOF needs Redis 7.2 or Valkey");
            }
            context.stop();
        }
    }

    @Test
    void should_read_the_options() {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        assertThat(new OptionReader(options).client().durability()).isSameAs(Durability.NONE);
        options.setReplicationTimeout("2s");
        assertThat(new OptionReader(options).client().durability()).isSameAs(Durability.NONE);
        options.setWaitForReplicas(2);
        assertThat(new OptionReader(options).client().durability())
                .isEqualTo(new Durability(2, false, Duration.ofSeconds(2)));
        options.setWaitForDisk(true);
        assertThat(new OptionReader(options).client().durability())
                .isEqualTo(new Durability(2, true, Duration.ofSeconds(2)));

        assertRefused(
                options, "replicationTimeout", "5s", "it must be shorter than option 'requestTimeout', which is 5s");
        assertRefused(options, "replicationTimeout", "0", "it must be 1 millisecond or more");
        assertRefused(options, "replicationTimeout", "soon", "option 'replicationTimeout'");
        options.setReplicationTimeout("1s");
        options.setWaitForReplicas(-1);
        assertThatThrownBy(new OptionReader(options)::client)
                .hasMessage("option 'waitForReplicas' is -1: it must be 1 or more, or 0 to wait for none");
        assertThatThrownBy(() -> context.getEndpoint(uri + "?waitForReplicas=one"))
                .hasStackTraceContaining("option 'waitForReplicas' is 'one': it must be a whole number");
    }

    private static void assertRefused(RedisDelayConfiguration options, String option, String value, String why) {
        options.setReplicationTimeout(value);
        assertThatThrownBy(new OptionReader(options)::client)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(option)
                .hasMessageContaining(why);
    }

    @Test
    void should_share_a_client_where_nothing_is_waited_for() throws Exception {
        route(uri + "?delay=1h&" + WAITING, 0);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> send("body", Map.of()).getException() == null);
        context.createProducerTemplate().sendBody(uri + "?delay=1h&replicationTimeout=3s", "body");
        context.createProducerTemplate().sendBody(uri + "?delay=1h", "body");
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        assertThat(component.clients().size())
                .as("one that waits, one that does not")
                .isEqualTo(2);
        assertThat(component.clients().connections()).isEqualTo(1);
    }
}
