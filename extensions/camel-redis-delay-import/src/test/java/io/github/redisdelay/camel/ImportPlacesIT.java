// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.MappedNames;
import io.github.redisdelay.queue.OldQueue;
import io.github.redisdelay.testkit.ClusterServers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** From where to where messages can be imported: slots of a cluster, partitions, a client with a NameMapper. */
class ImportPlacesIT extends CamelRedisIT {

    private static final long FAR = 4_000_000_000_000L;

    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private RedissonClient other; // another client than the usual one

    @AfterEach
    void disconnect() throws Exception {
        if (other != null) {
            context.close();
            other.shutdown();
        }
    }

    /** Has the endpoints use another client. */
    private void use(RedissonClient client) {
        other = client;
        context.getRegistry().bind("redisson", client);
    }

    private Exchange importInto(String queueAndOptions, String from) {
        String join = queueAndOptions.contains("?") ? "&" : "?";
        return send(
                "redis-delay:" + queueAndOptions + join + "operation=import&import.codec=string&import.from=" + from,
                null,
                Map.of());
    }

    private void bridge(String queueAndOptions, String from) throws Exception {
        String join = queueAndOptions.contains("?") ? "&" : "?";
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:" + queueAndOptions + join + "import.codec=string&import.from=" + from)
                        .routeId("bridge")
                        .process(exchange -> received.add(exchange.getMessage().getBody()));
            }
        });
    }

    private List<Object> receive(int messages) throws InterruptedException {
        List<Object> bodies = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            bodies.add(received.poll(20, TimeUnit.SECONDS));
        }
        return bodies;
    }

    private void assertRefused(String queueAndOptions, String from, String... why) {
        assertThat(importInto(queueAndOptions, from).getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(why);
        assertThatThrownBy(() -> bridge(queueAndOptions, from))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(why);
        assertThat(received).isEmpty();
    }

    @Test
    void should_import_within_a_slot_of_a_cluster() throws Exception {
        try (ClusterServers cluster = ClusterServers.start(3, 0)) {
            use(cluster.connect());
            context.start();
            OldQueue orders = new OldQueue(other, "orders");
            OldQueue tagged = new OldQueue(other, "{app}:orders");
            for (OldQueue old : List.of(orders, tagged)) {
                old.ready("ready");
                old.offer("far", FAR);
            }

            String[] another = {"import into a queue with one partition and the name 'orders', if need be with another"
            };
            assertRefused("another", "orders", another);
            assertRefused("orders?partitions=3", "orders", another);
            assertRefused(
                    "app:orders",
                    "{app}:orders",
                    "import into a queue with one partition and the name 'app', if need be with another keyPrefix");
            assertThat(List.of(orders.size(), tagged.size())).containsOnly(2L);

            bridge("orders", "orders");
            assertThat(receive(1)).containsExactly("ready");
            assertThat(orders.size()).isOne();
            assertThat(importInto("orders", "orders").getMessage().getHeader(RedisDelayConstants.COUNT))
                    .isEqualTo(1L);
            assertThat(importInto("app?keyPrefix=redis-delay:orders", "{app}:orders")
                            .getMessage()
                            .getHeader(RedisDelayConstants.COUNT))
                    .isEqualTo(2L);
            assertThat(List.of(orders.size(), tagged.size())).containsOnly(0L);
            context.close(); // before its servers go
        }
    }

    @Test
    void should_import_into_partitions_where_there_is_no_cluster() throws Exception {
        OldQueue old = new OldQueue(redis.client(), redis.uniqueQueue());
        List<String> payloads =
                IntStream.range(0, 100).mapToObj(Integer::toString).toList();
        payloads.forEach(payload -> old.offer(payload, FAR));
        context.start();
        assertThat(importInto(queue + "?partitions=3", old.name).getMessage().getHeader(RedisDelayConstants.COUNT))
                .isEqualTo(100L);
        assertThat(outside.queue(queue, 3).admin().stats().join().delayed()).isEqualTo(100);

        payloads.forEach(old::ready);
        bridge(queue + "?partitions=3", old.name);
        assertThat(receive(100)).containsExactlyInAnyOrderElementsOf(payloads);
        assertThat(old.size()).isZero();
    }

    @Test
    void should_refuse_a_client_that_maps_names() throws Exception {
        OldQueue old = new OldQueue(redis.client(), redis.uniqueQueue());
        old.ready("ready");
        use(MappedNames.connect(redis.address(), redis.uniqueQueue() + ":"));
        context.start();
        assertRefused(
                queue,
                old.name,
                "the Redisson client has a NameMapper",
                "use a client without one, and the names in Redis");
        assertThat(old.size()).isOne();
    }
}
