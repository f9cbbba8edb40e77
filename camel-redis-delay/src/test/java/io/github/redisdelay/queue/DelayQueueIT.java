// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The queue layer's operations on a real Redis. */
class DelayQueueIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private DelayQueueClient client;
    private DelayQueue queue;

    @BeforeEach
    void open() {
        use(ClientOptions.DEFAULTS);
    }

    private void use(ClientOptions options) {
        if (client != null) {
            client.close();
        }
        client = DelayQueueClient.create(redis.client(), options);
        queue = client.queue(redis.uniqueQueue());
    }

    @AfterEach
    void close() {
        client.close();
        executor.shutdownNow();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(Delivery delivery) {
        return new String(delivery.body(), StandardCharsets.UTF_8);
    }

    private BlockingQueue<Delivery> consume(ConsumerOptions options) {
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        queue.consume(options, executor, received::add);
        return received;
    }

    private static ConsumerOptions concurrent(int consumers) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers);
    }

    private static ConsumerOptions leased(Duration lease, boolean extend) {
        return ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(10)
                .withVisibilityTimeout(lease)
                .withMaximumVisibilityExtension(extend ? Duration.ofHours(1) : Duration.ZERO);
    }

    private Delivery next(BlockingQueue<Delivery> received) throws InterruptedException {
        Delivery delivery = received.poll(10, TimeUnit.SECONDS);
        assertThat(delivery).as("a delivery within 10 s").isNotNull();
        return delivery;
    }

    private void assertEmpty() {
        List<String> left = new ArrayList<>();
        String base = "redis-delay:{" + queue.name() + "}:";
        for (String part : List.of("messages", "delayed", "leased", "state")) {
            if (redis.client().getBucket(base + part, StringCodec.INSTANCE).isExists()) {
                left.add(base + part);
            }
        }
        assertThat(left).as("keys that are left").isEmpty();
    }

    @Test
    void should_deliver_what_was_scheduled_when_it_is_due_and_leave_nothing() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        ScheduleResult result = queue.schedule(
                        ScheduleRequest.of(null, bytes("hello"), DueTime.after(Duration.ofMillis(200))))
                .result()
                .get();
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(result.id()).hasSize(14);
        assertThat(result.dueMicros()).isEqualTo(result.scheduledMicros() + 200_000);

        Delivery delivery = next(received);
        assertThat(text(delivery)).isEqualTo("hello");
        assertThat(delivery.id()).isEqualTo(result.id());
        assertThat(delivery.attempt()).isEqualTo(1);
        assertThat(delivery.scheduledMicros()).isEqualTo(result.scheduledMicros());
        assertThat(delivery.dueMicros()).isEqualTo(result.dueMicros());
        assertThat(delivery.claimedMicros()).isGreaterThanOrEqualTo(delivery.dueMicros());
        assertThat(delivery.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertEmpty();
    }

    @Test
    void should_deliver_in_the_order_of_scheduling_when_due_at_the_same_time() throws Exception {
        Instant due = Instant.now().minusSeconds(1);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            ids.add(queue.schedule(ScheduleRequest.of(null, bytes("m" + i), DueTime.at(due)))
                    .result()
                    .get()
                    .id());
        }
        // A consumer gives back what it has prefetched and not begun within a second, as when the machine stands still.
        // A
        // receiver prefetches nothing.
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            for (String id : ids) {
                Delivery delivery = receiver.receive(Duration.ofSeconds(20));
                assertThat(delivery).isNotNull();
                assertThat(delivery.id()).isEqualTo(id);
                delivery.settle(Settlement.ACKNOWLEDGE);
            }
        }
    }

    @Test
    void should_give_many_concurrent_callers_their_own_results() throws Exception {
        List<Submission<ScheduleResult>> submissions = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            submissions.add(queue.schedule(ScheduleRequest.of("id-" + i, bytes("m" + i), DueTime.now())));
        }
        for (int i = 0; i < 5_000; i++) {
            assertThat(submissions.get(i).result().get().id()).isEqualTo("id-" + i);
        }
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        queue.consume(concurrent(4), executor, delivery -> {
            delivery.settle(Settlement.ACKNOWLEDGE).result().thenAccept(settlement -> received.add(delivery));
        });
        for (int i = 0; i < 5_000; i++) {
            Delivery delivery = next(received);
            assertThat(text(delivery)).isEqualTo("m" + delivery.id().substring(3));
        }
        assertEmpty();
    }

    @Test
    void should_redeliver_after_a_negative_acknowledgement_with_its_delay_and_failure() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        Delivery first = next(received);
        first.settle(new Settlement.Retry(Duration.ofMillis(300), bytes("it failed")))
                .result()
                .get();
        Delivery second = next(received);
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(second.lastFailure()).isEqualTo(bytes("it failed"));
        assertThat(second.dueMicros()).isGreaterThanOrEqualTo(first.claimedMicros() + 300_000);
        assertThat(second.claimedMicros()).isGreaterThanOrEqualTo(second.dueMicros());
        assertThat(second.firstDueMicros()).isEqualTo(first.dueMicros());
        assertThat(first.settle(Settlement.ACKNOWLEDGE).result().get())
                .as("an acknowledgement after the return")
                .isEqualTo(SettleResult.STALE_HELD);
        assertThat(second.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertEmpty();
    }

    @Test
    void should_give_the_attempt_back_when_released() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        Delivery first = next(received);
        first.settle(Settlement.RELEASE).result().get();
        Delivery second = next(received);
        assertThat(second.attempt()).isEqualTo(1);
        assertThat(second.dueMicros()).isEqualTo(first.dueMicros());
        second.settle(Settlement.ACKNOWLEDGE).result().get();
        assertEmpty();
    }

    @Test
    void should_deliver_again_when_the_lease_ends_and_refuse_the_stale_acknowledgement() throws Exception {
        BlockingQueue<Delivery> received = consume(leased(Duration.ofSeconds(3), false));
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        Delivery first = next(received);
        Delivery second = next(received);
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(second.lostLeases()).isEqualTo(1);
        assertThat(first.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.STALE_HELD);
        assertThat(queue.admin().stats().get().leased()).isEqualTo(1);
        assertThat(second.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertEmpty();
    }

    @Test
    void should_keep_the_lease_while_the_work_goes_on() throws Exception {
        BlockingQueue<Delivery> received = consume(leased(Duration.ofSeconds(3), true));
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        Delivery first = next(received);
        assertThat(received.poll(7, TimeUnit.SECONDS))
                .as("a second delivery while the first is under way")
                .isNull();
        assertThat(first.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertEmpty();
    }

    @Test
    void should_move_to_the_dead_letters_when_buried() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        assertThat(next(received)
                        .settle(new Settlement.DeadLetter(bytes("no good")))
                        .result()
                        .get())
                .isEqualTo(SettleResult.DONE);
        assertThat(queue.admin().stats().get().dead()).isEqualTo(1);
        assertEmpty();
    }

    @Test
    void should_cancel_in_every_state() throws Exception {
        assertThat(queue.cancel("a").result().get().previousState()).isEqualTo(MessageState.NONE);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.after(Duration.ofHours(1))))
                .result()
                .get();
        assertThat(queue.cancel("a").result().get().previousState()).isEqualTo(MessageState.DELAYED);
        assertEmpty();

        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.now()))
                .result()
                .get();
        Delivery delivery = next(received);
        assertThat(queue.cancel("a").result().get().previousState()).isEqualTo(MessageState.LEASED);
        assertThat(delivery.settle(new Settlement.Retry(Duration.ZERO, new byte[0]))
                        .result()
                        .get())
                .isEqualTo(SettleResult.STALE_GONE);
        assertEmpty();
    }

    @Test
    void should_reschedule_earlier_and_wake_the_consumer() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("a", bytes("x"), DueTime.after(Duration.ofHours(1))))
                .result()
                .get();
        ChangeResult result = queue.reschedule("a", DueTime.after(Duration.ofMillis(100)))
                .result()
                .get();
        assertThat(result.previousState()).isEqualTo(MessageState.DELAYED);
        Delivery delivery = next(received);
        assertThat(delivery.dueMicros()).isEqualTo(result.dueMicros());
        assertThat(queue.reschedule("a", DueTime.now()).result().get().previousState())
                .isEqualTo(MessageState.LEASED);
        delivery.settle(Settlement.ACKNOWLEDGE).result().get();
        assertThat(queue.reschedule("a", DueTime.now()).result().get().previousState())
                .isEqualTo(MessageState.NONE);
        assertEmpty();
    }

    @Test
    void should_deliver_the_nearer_message_that_was_scheduled_later_first() throws Exception {
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        queue.schedule(ScheduleRequest.of("far", bytes("x"), DueTime.after(Duration.ofSeconds(50))))
                .result()
                .get();
        queue.schedule(ScheduleRequest.of("near", bytes("x"), DueTime.after(Duration.ofMillis(300))))
                .result()
                .get();
        Delivery delivery = next(received);
        assertThat(delivery.id()).isEqualTo("near");
        assertThat(delivery.lateness()).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void should_treat_duplicates_as_asked() throws Exception {
        DueTime later = DueTime.after(Duration.ofHours(1));
        queue.schedule(ScheduleRequest.of("a", bytes("1"), later)).result().get();
        assertThatThrownBy(() -> queue.schedule(ScheduleRequest.of("a", bytes("2"), later))
                        .result()
                        .get())
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(DuplicateMessageException.class)
                .hasMessageContaining("'a' is already delayed");
        assertThat(queue.schedule(ScheduleRequest.of("a", bytes("3"), later).withOnDuplicate(DuplicatePolicy.IGNORE))
                        .result()
                        .get()
                        .outcome())
                .isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(queue.schedule(ScheduleRequest.of("a", bytes("4"), DueTime.now())
                                .withOnDuplicate(DuplicatePolicy.REPLACE))
                        .result()
                        .get()
                        .outcome())
                .isEqualTo(ScheduleOutcome.REPLACED);
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        Delivery delivery = next(received);
        assertThat(text(delivery)).isEqualTo("4");
        assertThatThrownBy(() -> queue.schedule(ScheduleRequest.of("a", bytes("5"), later))
                        .result()
                        .get())
                .cause()
                .isInstanceOf(DuplicateMessageException.class)
                .hasMessageContaining("already leased");
        ScheduleResult result = queue.schedule(
                        ScheduleRequest.of("a", bytes("6"), DueTime.now()).superseding(delivery.claimId()))
                .result()
                .get();
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SUPERSEDED);
        assertThat(delivery.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.STALE_HELD);
        Delivery again = next(received);
        assertThat(text(again)).isEqualTo("6");
        assertThat(again.attempt()).isEqualTo(1);
        again.settle(Settlement.ACKNOWLEDGE).result().get();
        assertEmpty();
    }

    @Test
    void should_not_accept_a_due_time_beyond_the_exact_range() {
        assertThatThrownBy(
                        () -> queue.schedule(ScheduleRequest.of("a", bytes("1"), new DueTime(true, DueTime.MAX_MICROS)))
                                .result()
                                .get())
                .cause()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2255");
        assertEmpty();
    }

    @Test
    void should_receive_one_message_at_a_time() throws Exception {
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            assertThat(receiver.receive(Duration.ZERO)).isNull();
            assertThat(receiver.receive(Duration.ofMillis(50))).isNull();
            queue.schedule(ScheduleRequest.of("a", bytes("1"), DueTime.after(Duration.ofMillis(100))))
                    .result()
                    .get();
            queue.schedule(ScheduleRequest.of("b", bytes("2"), DueTime.after(Duration.ofMillis(100))))
                    .result()
                    .get();
            Delivery delivery = receiver.receive(Duration.ofSeconds(10));
            assertThat(delivery.id()).isEqualTo("a");
            assertThat(queue.admin().stats().get().leased()).isEqualTo(1);
            delivery.settle(Settlement.ACKNOWLEDGE).result().get();
            receiver.receive(null).settle(Settlement.ACKNOWLEDGE).result().get();
        }
        assertEmpty();
    }

    @Test
    void should_tell_the_figures_and_the_server() throws Exception {
        queue.schedule(ScheduleRequest.of(
                        "a", bytes("1"), DueTime.at(Instant.now().minusSeconds(60))))
                .result()
                .get();
        queue.schedule(ScheduleRequest.of("b", bytes("2"), DueTime.after(Duration.ofHours(1))))
                .result()
                .get();
        QueueStats stats = queue.admin().stats().get();
        assertThat(stats.delayed()).isEqualTo(2);
        assertThat(stats.overdue()).isEqualTo(1);
        assertThat(stats.oldestOverdueMicros()).isGreaterThanOrEqualTo(60_000_000);
        assertThat(stats.nextDueMicros()).isBetween(3_500_000_000L, 3_600_000_000L);
        ServerInfo info = queue.admin().serverInfo().get();
        assertThat(info.version()).matches("\\d+\\.\\d+.*");
        assertThat(info.evictionPolicy()).isNotEqualTo("unknown");
    }

    @Test
    void should_finish_a_message_whose_id_is_no_text() throws Exception {
        byte[] id = {0x78, (byte) 0xff, (byte) 0xfe};
        RScript script = redis.client().getScript(ByteArrayCodec.INSTANCE);
        String base = "redis-delay:{" + queue.name() + "}:";
        script.eval(
                RScript.Mode.READ_WRITE,
                "redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dd', 1, 1) .. 'x') return redis.call('ZADD', KEYS[2], 1, ARGV[1])",
                RScript.ReturnType.VALUE,
                List.of(base + "messages", base + "delayed"),
                id);
        BlockingQueue<Delivery> received = consume(ConsumerOptions.DEFAULTS);
        assertThat(next(received).settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertEmpty();
    }

    @Test
    void should_take_what_callbacks_schedule_without_blocking_them() throws Exception {
        // However long all of them take.
        use(ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(60)));
        int count = 40_000;
        byte[] body = new byte[300];
        CountDownLatch done = new CountDownLatch(2 * count);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < count; i++) {
            queue.schedule(ScheduleRequest.of(null, body, DueTime.after(Duration.ofHours(1))))
                    .result()
                    .whenComplete((first, error) -> {
                        done.countDown();
                        failure.compareAndSet(null, error);
                        queue.schedule(ScheduleRequest.of(null, body, DueTime.after(Duration.ofHours(1))))
                                .result()
                                .whenComplete((second, another) -> {
                                    failure.compareAndSet(null, another);
                                    done.countDown();
                                });
                    });
        }
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(failure.get()).isNull();
        assertThat(queue.admin().stats().get().delayed()).isEqualTo(2L * count);
    }

    @Test
    void should_change_nothing_when_the_user_may_not_do_all_of_it() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address());
            RedissonClient admin = Redisson.create(config);
            try {
                for (String denied : List.of("zadd", "expire", "publish")) {
                    new AclUser(server).denies(denied);
                    Config limited = new Config();
                    limited.useSingleServer()
                            .setAddress(server.address())
                            .setUsername("app")
                            .setPassword("secret");
                    RedissonClient user = Redisson.create(limited);
                    try (DelayQueueClient its = DelayQueueClient.create(user, ClientOptions.DEFAULTS)) {
                        DelayQueue own = its.queue("denied-" + denied);
                        // Somebody who is to be woken.
                        String waiting = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "denied-" + denied)
                                .key("waiters");
                        admin.getScoredSortedSet(waiting, StringCodec.INSTANCE).add(9e15, "c0 channel");
                        assertThatThrownBy(() -> own.schedule(ScheduleRequest.of(null, bytes("x"), DueTime.now()))
                                        .result()
                                        .get())
                                .hasMessageContaining("refused the request");
                    } finally {
                        user.shutdown();
                    }
                    assertThat(admin.getKeys().getKeys())
                            .as("keys without " + denied)
                            .allMatch(key -> key.endsWith(":waiters"));
                }
            } finally {
                admin.shutdown();
            }
        }
    }
}
