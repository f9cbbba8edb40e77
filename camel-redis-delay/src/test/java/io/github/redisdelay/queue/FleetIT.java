// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.client.codec.ByteArrayCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Many clients that consume one queue on a real Redis, some of which end without a word. The bounds are loose, as the machine
 * may be busy; {@code FleetSimulationTest} has the exact ones.
 */
@Timeout(120)
class FleetIT extends RealQueueIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.fleet");
    private static final int CLIENTS = 20;
    private static final Duration LATE = Duration.ofSeconds(2);
    /** After a death: until another consumer's turn. */
    private static final Duration TURN = Duration.ofSeconds(4);

    private static final Duration LEASE = Duration.ofSeconds(3);

    private final List<Node> fleet = new ArrayList<>();
    /** How often each message was delivered, and how late. */
    private final Map<String, AtomicInteger> delivered = new ConcurrentHashMap<>();

    private final ConcurrentLinkedQueue<Late> late = new ConcurrentLinkedQueue<>();
    /** Of those that a dead consumer had held. */
    private final ConcurrentLinkedQueue<Late> lateAgain = new ConcurrentLinkedQueue<>();
    /** When a client died; test thread. */
    private final List<Instant> deaths = new ArrayList<>();

    /** When a message was delivered, and how late. */
    private record Late(Instant delivered, Duration by) {

        /** How much of it is not explained by a death shortly before its due time: the next turn comes 4 s after that. */
        Duration unexplained(List<Instant> deaths) {
            Instant due = delivered.minus(by);
            return deaths.stream()
                    .filter(death -> due.isAfter(death.minus(LATE)))
                    .map(death -> Duration.between(death.plus(TURN), delivered))
                    .filter(rest -> rest.compareTo(by) < 0)
                    .reduce(by, (a, b) -> a.compareTo(b) < 0 ? a : b);
        }
    }

    /** A client that can be cut off from Redis. */
    private final class Node implements ScriptExecutor {
        private final ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        final AtomicInteger claims = new AtomicInteger();
        final DelayQueueClient client = ClientAccess.create(
                redis.client(), ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofMillis(500)), this);
        private volatile boolean cut;

        @Override
        public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
            if (cut) {
                return new CompletableFuture<>();
            }
            if (script == LuaScript.CLAIM) {
                claims.incrementAndGet();
            }
            return real.call(script, keys, arguments, attempt);
        }

        DelayQueueConsumer consume(int slots) {
            return client.queue(queue.name())
                    .consume(
                            ConsumerOptions.DEFAULTS
                                    .withConcurrentConsumers(slots)
                                    .withVisibilityTimeout(LEASE),
                            executor,
                            delivery -> {
                                if (cut) {
                                    return; // what it holds dies with it
                                }
                                delivered
                                        .computeIfAbsent(delivery.id(), id -> new AtomicInteger())
                                        .incrementAndGet();
                                (delivery.attempt() == 1 ? late : lateAgain)
                                        .add(new Late(Instant.now(), delivery.lateness()));
                                delivery.settle(Settlement.ACKNOWLEDGE);
                            });
        }

        /** As if its machine had lost its power. */
        void die() {
            cut = true;
            redis.client()
                    .getTopic(ClientAccess.consumers(client).wakeups().name(), ByteArrayCodec.INSTANCE)
                    .removeAllListeners();
        }
    }

    private Node node(int consumers) {
        Node node = new Node();
        for (int i = 0; i < consumers; i++) {
            node.consume(1);
        }
        fleet.add(node);
        return node;
    }

    private void start(int clients, int consumers) {
        for (int i = 0; i < clients; i++) {
            node(consumers);
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> held("waiters").size() == clients * consumers);
    }

    private int claims() {
        return fleet.stream().mapToInt(node -> node.claims.get()).sum();
    }

    @AfterEach
    void stop() {
        fleet.forEach(node -> node.client.close());
    }

    private void awaitAll(int messages) {
        await().atMost(Duration.ofSeconds(60)).until(() -> delivered.size() == messages);
        await().until(() -> get(queue.admin().stats()).leased() == 0);
    }

    private void report(String what, int messages, int claims) {
        List<Duration> sorted = late.stream().map(Late::by).sorted().toList();
        LOG.info(
                "{}: {} messages, {} claims; late p50 {}, p99 {}, at most {}",
                what,
                messages,
                claims,
                sorted.get(sorted.size() / 2),
                sorted.get(sorted.size() * 99 / 100),
                sorted.get(sorted.size() - 1));
    }

    @Test
    void should_deliver_each_message_once_and_soon_for_few_claims() {
        start(CLIENTS, 1);
        int before = claims();
        int messages = 300;
        for (int i = 0; i < messages; i++) {
            schedule("m" + i, DueTime.after(Duration.ofMillis(500 + 10L * i)));
        }
        awaitAll(messages);
        int claims = claims() - before;
        report(CLIENTS + " clients", messages, claims);
        assertThat(delivered.values()).allSatisfy(times -> assertThat(times).hasValue(1));
        assertThat(late).allSatisfy(each -> assertThat(each.by()).isLessThan(LATE));
        // Twenty that all come would be 6 000. About two for each message, more where the machine is late.
        assertThat(claims).isLessThan(5 * messages);
    }

    @Test
    void should_deliver_soon_while_clients_die_that_others_count_on() {
        start(CLIENTS, 1);
        int before = claims();
        int messages = 300;
        for (int i = 0; i < messages; i++) {
            schedule("m" + i, DueTime.after(Duration.ofMillis(500 + 60L * i)));
        }
        // Each costs up to 4 s, and there are messages for nearly 5 s between them.
        for (int killed = 1; killed <= 3; killed++) {
            int soFar = 80 * killed;
            await().atMost(Duration.ofSeconds(30)).until(() -> delivered.size() >= soFar);
            // The living consumer that has promised to come first.
            String channel = redis
                    .client()
                    .<byte[]>getScoredSortedSet(keys().key("waiters"), ByteArrayCodec.INSTANCE)
                    .valueRange(0, -1)
                    .stream()
                    .map(RealQueueIT::text)
                    .map(member -> member.substring(member.indexOf(' ') + 1))
                    .filter(name -> fleet.stream()
                            .anyMatch(n -> !n.cut
                                    && ClientAccess.consumers(n.client)
                                            .wakeups()
                                            .name()
                                            .equals(name)))
                    .findFirst()
                    .orElseThrow();
            fleet.stream()
                    .filter(n ->
                            ClientAccess.consumers(n.client).wakeups().name().equals(channel))
                    .forEach(Node::die);
            deaths.add(Instant.now());
        }
        awaitAll(messages);
        int claims = claims() - before;
        report("3 of " + CLIENTS + " clients die", messages, claims);
        assertThat(late)
                .as("late on their own, with clients that died at %s", deaths)
                .allSatisfy(each -> assertThat(each.unexplained(deaths)).isLessThan(LATE));
        // A message that one of them held at its end comes back when its lease is over.
        assertThat(lateAgain).allSatisfy(each -> assertThat(each.by())
                .isLessThan(TURN.plus(LATE).plus(LEASE)));
        assertThat(claims).isLessThan(6 * messages);
    }

    @Test
    void should_share_a_queue_among_several_consumers_of_one_client() {
        start(2, 4);
        int before = claims();
        int messages = 200;
        for (int i = 0; i < messages; i++) {
            schedule("m" + i, DueTime.after(Duration.ofMillis(500 + 10L * i)));
        }
        awaitAll(messages);
        int claims = claims() - before;
        report("2 clients with 4 consumers each", messages, claims);
        assertThat(delivered.values()).allSatisfy(times -> assertThat(times).hasValue(1));
        assertThat(late).allSatisfy(each -> assertThat(each.by()).isLessThan(LATE));
        // A call is heard by all consumers of the client that have this queue.
        assertThat(claims).isLessThan(8 * messages);
    }

    @Test
    void should_leave_the_room_to_the_others_when_consumers_stop() {
        start(5, 2);
        fleet.get(0).client.close();
        await().atMost(Duration.ofSeconds(10)).until(() -> held("waiters").size() == 8);
        fleet.get(1).client.close();
        fleet.get(2).client.close();
        await().atMost(Duration.ofSeconds(10)).until(() -> held("waiters").size() == 4);
        assertThat(held("waiters"))
                .allMatch(member -> member.endsWith(ClientAccess.consumers(fleet.get(3).client)
                                .wakeups()
                                .name())
                        || member.endsWith(ClientAccess.consumers(fleet.get(4).client)
                                .wakeups()
                                .name()));
        schedule("a", DueTime.after(Duration.ofMillis(100)));
        awaitAll(1);
        assertThat(late).allSatisfy(each -> assertThat(each.by()).isLessThan(LATE));
    }
}
