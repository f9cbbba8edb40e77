// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redis goes away and comes back: with what it had written to disk, and without our scripts and subscriptions. */
class ServerRestartIT {

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(1);
    private static final ClientOptions IMPATIENT = ClientOptions.DEFAULTS.withRequestTimeout(REQUEST_TIMEOUT);

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private RedisServer server;
    private RedissonClient redisson;
    private DelayQueueClient client;
    private DelayQueue queue;

    @BeforeEach
    void open() {
        server = RedisServer.dedicated("appendonly yes", "appendfsync always");
        Config config = new Config();
        config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
        redisson = Redisson.create(config);
        use(ClientOptions.DEFAULTS);
    }

    private void use(ClientOptions options) {
        if (client != null) {
            client.close();
        }
        client = DelayQueueClient.create(redisson, options);
        queue = client.queue("orders");
    }

    @AfterEach
    void close() {
        client.close();
        redisson.shutdown();
        server.close();
        executor.shutdownNow();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ConsumerOptions options(int consumers, Duration lease) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers).withVisibilityTimeout(lease);
    }

    /** Acknowledges what it receives and keeps count. */
    private static final class Counting implements DeliveryHandler {
        final Map<String, Integer> received = new ConcurrentHashMap<>();
        final BlockingQueue<String> reports = new LinkedBlockingQueue<>();

        @Override
        public void handle(Delivery delivery) {
            assertThat(delivery.claimedMicros()).isGreaterThanOrEqualTo(delivery.dueMicros());
            received.merge(delivery.id(), 1, Integer::sum);
            delivery.settle(Settlement.ACKNOWLEDGE);
        }

        @Override
        public void claimsFailing(Throwable error) {
            reports.add(error == null ? "works again" : "fails");
        }
    }

    @Test
    void should_deliver_everything_after_a_restart_while_a_consumer_waits() throws Exception {
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < 300; i++) {
            // Due before, during and after the outage.
            ids.add(queue.schedule(ScheduleRequest.of("m" + i, bytes("x"), DueTime.after(Duration.ofMillis(i * 20L))))
                    .result()
                    .get()
                    .id());
        }
        Counting handler = new Counting();
        DelayQueueConsumer consumer = queue.consume(options(4, Duration.ofSeconds(30)), executor, handler);
        await().until(() -> handler.received.size() >= 10);

        server.stop();
        assertThat(handler.reports.poll(20, TimeUnit.SECONDS)).isEqualTo("fails");
        // The report may be of a moment before the stop, at which Redis did not answer either.
        await().untilAsserted(() -> {
            assertThat(consumer.failingFor()).isPositive();
            assertThat(consumer.lastError()).isNotNull();
        });
        server.start();

        assertThat(handler.reports.poll(40, TimeUnit.SECONDS)).isEqualTo("works again");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> handler.received.keySet().equals(ids));
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            QueueStats stats = queue.admin().stats().get();
            return stats.delayed() + stats.leased() == 0;
        });
        assertThat(handler.received.values()).as("deliveries of each message").containsOnly(1);
        // Another connection of the pool that died with the server may be noticed only when it is used: then both come
        // once
        // more. Never the same twice in a row.
        await().untilAsserted(() -> {
            assertThat(handler.reports.size() % 2)
                    .as("the last report is that it works: " + handler.reports)
                    .isZero();
            assertThat(consumer.failingFor()).isZero();
        });
        List<String> more = new ArrayList<>(handler.reports);
        for (int i = 0; i < more.size(); i++) {
            assertThat(more.get(i)).isEqualTo(i % 2 == 0 ? "fails" : "works again");
        }
    }

    @Test
    void should_wake_up_a_waiting_consumer_after_a_restart() throws Exception {
        // Far enough that the consumer has nothing to wait for but a wake-up.
        queue.schedule(ScheduleRequest.of("far", bytes("x"), DueTime.after(Duration.ofHours(1))))
                .result()
                .get();
        Counting handler = new Counting();
        queue.consume(options(1, Duration.ofSeconds(10)), executor, handler);
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        server.kill();
        server.start();
        await().atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .until(() -> queue.schedule(ScheduleRequest.of("near", bytes("x"), DueTime.now())
                                        .withOnDuplicate(DuplicatePolicy.IGNORE))
                                .result()
                                .get()
                        != null);
        // The subscription stands again, or the echo of every 25 s or the look of every 30 s notices that it does not.
        await().atMost(Duration.ofSeconds(40)).until(() -> handler.received.containsKey("near"));
        // The next look is at least 27 s away: this one needs the wake-up.
        queue.schedule(ScheduleRequest.of("nearer", bytes("x"), DueTime.now()))
                .result()
                .get();
        await().atMost(Duration.ofSeconds(20)).until(() -> handler.received.containsKey("nearer"));
    }

    @Test
    void should_fail_a_callers_request_with_the_id_and_store_it_once_when_the_server_is_back() throws Exception {
        queue.schedule(ScheduleRequest.of("before", bytes("x"), DueTime.now()))
                .result()
                .get();
        use(IMPATIENT);
        server.stop();

        long begin = System.nanoTime();
        Submission<ScheduleResult> sent = queue.schedule(ScheduleRequest.of("during", bytes("x"), DueTime.now()));
        assertThatThrownBy(() -> sent.result().get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(RequestTimeoutException.class, e -> assertThat(e.isPossiblyStored())
                        .isTrue())
                .hasMessageContaining("queue 'orders'")
                .hasMessageContaining("message 'during' may be stored: the same id can safely be sent again");
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(REQUEST_TIMEOUT, Duration.ofSeconds(4));
        Submission<ChangeResult> cancel = queue.cancel("before");
        assertThatThrownBy(() -> cancel.result().get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("'before'");
        assertThatThrownBy(() -> queue.admin().stats().get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("queue 'orders'");

        server.start();
        assertThat(sent.outcome().get(60, TimeUnit.SECONDS).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        use(ClientOptions.DEFAULTS);
        ScheduleResult again = queue.schedule(
                        ScheduleRequest.of("during", bytes("x"), DueTime.now()).withOnDuplicate(DuplicatePolicy.IGNORE))
                .result()
                .get(20, TimeUnit.SECONDS);
        assertThat(again.outcome()).isEqualTo(ScheduleOutcome.IGNORED);
        Counting handler = new Counting();
        queue.consume(options(1, Duration.ofSeconds(10)), executor, handler);
        await().until(() -> handler.received.containsKey("during"));
        await().until(() -> queue.admin().stats().get().leased() == 0);
        assertThat(handler.received.values()).containsOnly(1);
        assertThat(queue.admin().stats().get().delayed()).isZero();
    }

    @Test
    void should_settle_after_the_restart_what_was_settled_during_the_outage() throws Exception {
        for (String id : List.of("acknowledged", "returned", "buried", "released")) {
            queue.schedule(ScheduleRequest.of(id, bytes(id), DueTime.now()))
                    .result()
                    .get();
        }
        use(IMPATIENT);
        Map<String, Delivery> held = new ConcurrentHashMap<>();
        DelayQueueConsumer consumer = queue.consume(
                options(4, Duration.ofMinutes(5)), executor, delivery -> held.put(delivery.id(), delivery));
        await().until(() -> held.size() == 4);
        consumer.stop(true);
        server.kill();

        List<Submission<SettleResult>> settlements = new ArrayList<>();
        settlements.add(held.get("acknowledged").settle(Settlement.ACKNOWLEDGE));
        settlements.add(held.get("returned").settle(new Settlement.Retry(Duration.ofHours(1), bytes("failed"))));
        settlements.add(held.get("buried").settle(new Settlement.DeadLetter(bytes("given up"))));
        settlements.add(held.get("released").settle(Settlement.RELEASE));
        // They wait, however long it takes: longer than a caller's request timeout.
        await().pollDelay(REQUEST_TIMEOUT.multipliedBy(2)).until(() -> settlements.stream()
                .noneMatch(each -> each.result().isDone()));

        server.start();
        for (Submission<SettleResult> settlement : settlements) {
            assertThat(settlement.result().get(60, TimeUnit.SECONDS)).isEqualTo(SettleResult.DONE);
        }
        QueueSnapshot left = QueueSnapshot.read(redisson, QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "orders"));
        left.assertOneStateAtATime(false);
        assertThat(left.keys().get("delayed").keySet()).containsExactly("released", "returned");
        assertThat(left.keys().get("leased")).isEmpty();
        assertThat(left.keys().get("dead:messages")).hasSize(1);
    }

    @Test
    void should_start_without_Redis_and_deliver_when_it_comes() throws Exception {
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        server.kill();
        Counting handler = new Counting();
        queue.consume(options(1, Duration.ofSeconds(10)), executor, handler);
        assertThat(handler.reports.poll(20, TimeUnit.SECONDS)).isEqualTo("fails");
        server.start();
        await().atMost(Duration.ofSeconds(40)).until(() -> handler.received.containsKey("a"));
    }
}
