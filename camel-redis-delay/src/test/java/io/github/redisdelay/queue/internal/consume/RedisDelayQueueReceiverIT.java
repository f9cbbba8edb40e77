// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.GatedCaller;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RScoredSortedSet;
import org.redisson.client.codec.ByteArrayCodec;

/** Receiving single messages, and what becomes of one that arrives when nobody waits for it any more. */
@Timeout(60)
class RedisDelayQueueReceiverIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private GatedCaller gate;
    private DelayQueueClient client;
    private DelayQueue queue;
    private RedisDelayQueueReceiver receiver;

    @BeforeEach
    void open() {
        gate = new GatedCaller(redis.client());
        client = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()), gate);
        queue = client.queue(redis.uniqueQueue());
        receiver = (RedisDelayQueueReceiver) queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {});
    }

    @AfterEach
    void close() {
        gate.open();
        receiver.close();
        client.close();
        executor.shutdownNow();
    }

    private void schedule(String id, Duration delay) throws Exception {
        queue.schedule(ScheduleRequest.of(id, id.getBytes(StandardCharsets.UTF_8), DueTime.after(delay)))
                .result()
                .get();
    }

    private void assertNothingIsLeased() {
        await().atMost(Duration.ofSeconds(10))
                .until(() -> queue.admin().stats().get().leased() == 0);
    }

    private <T> Future<T> inBackground(Callable<T> work) {
        return executor.submit(work);
    }

    private Future<Delivery> receiveForEver() {
        return inBackground(() -> receiver.receive(null));
    }

    @Test
    void should_wait_for_a_message_and_be_woken_by_a_nearer_one() throws Exception {
        schedule("far", Duration.ofSeconds(20));
        Future<Delivery> received = receiveForEver();
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        schedule("near", Duration.ofMillis(100));
        Delivery delivery = received.get(10, TimeUnit.SECONDS);
        assertThat(delivery.id()).isEqualTo("near");
        delivery.settle(Settlement.ACKNOWLEDGE).result().get();
    }

    @Test
    void should_return_null_when_closed_while_it_waits_for_a_message() throws Exception {
        Future<Delivery> received = receiveForEver();
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        receiver.close();
        assertThat(received.get(5, TimeUnit.SECONDS)).isNull();
        assertThat(ClientAccess.consumers(client).wakeups().listening()).isZero();
        assertThat(receiver.receive(null)).as("once it is closed").isNull();
    }

    @Test
    void should_return_null_to_all_callers_when_the_client_is_closed() throws Exception {
        Future<Delivery> first = receiveForEver();
        Future<Delivery> second = receiveForEver();
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        client.close();
        assertThat(first.get(5, TimeUnit.SECONDS)).isNull();
        assertThat(second.get(5, TimeUnit.SECONDS)).isNull();
        assertThat(receiver.receive(null)).as("once the client is closed").isNull();
    }

    @Test
    void should_be_counted_on_only_while_a_caller_waits() throws Exception {
        RScoredSortedSet<byte[]> waiters = redis.client()
                .getScoredSortedSet(
                        QueueKeys.of(redis.keyPrefix(), queue.name()).key("waiters"), ByteArrayCodec.INSTANCE);
        Future<Delivery> first = receiveForEver();
        Future<Delivery> second = receiveForEver();
        await().until(() -> waiters.size() == 1);
        schedule("a", Duration.ZERO);
        await().until(() -> first.isDone() || second.isDone());
        await().until(() -> waiters.size() == 1);
        schedule("b", Duration.ZERO);
        first.get(10, TimeUnit.SECONDS).settle(Settlement.ACKNOWLEDGE).result().get();
        second.get(10, TimeUnit.SECONDS).settle(Settlement.ACKNOWLEDGE).result().get();
        await().until(() -> waiters.size() == 0);
    }

    @Test
    void should_return_null_when_closed_while_redis_does_not_answer_and_release_what_comes() throws Exception {
        schedule("a", Duration.ZERO);
        gate.hold(LuaScript.CLAIM);
        Future<Delivery> received = receiveForEver();
        await().until(() -> gate.held() == 1);
        receiver.close();
        assertThat(received.get(5, TimeUnit.SECONDS)).isNull();
        assertThat(queue.admin().stats().get().leased()).isEqualTo(1);
        gate.open();
        assertNothingIsLeased();
        assertThat(queue.admin().stats().get().overdue()).isEqualTo(1);
    }

    @Test
    void should_release_what_arrives_after_the_time_is_up() throws Exception {
        assertThat(receiver.receive(Duration.ZERO)).isNull();
        gate.hold(LuaScript.CLAIM);
        schedule("a", Duration.ofSeconds(1)); // the first claim is to find nothing
        Future<Delivery> received = inBackground(() -> receiver.receive(Duration.ofSeconds(3)));
        // The first claims are empty and let through, until the one that leases the message.
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            if (gate.held() == 0) {
                return false; // one that is on its way could lease the message after the look at the figures
            }
            if (queue.admin().stats().get().leased() == 1) {
                return true;
            }
            gate.letThrough();
            return false;
        });
        try {
            assertThat(received.get(10, TimeUnit.SECONDS)).isNull();
            gate.open();
            assertNothingIsLeased();
            assertThat(queue.admin().stats().get().overdue()).isEqualTo(1);
        } catch (ExecutionException e) {
            throw new AssertionError("no look was answered in time", e);
        }
    }

    @Test
    void should_give_back_what_comes_when_half_of_its_lease_is_over() throws Exception {
        AtomicLong later = new AtomicLong();
        Timers timers = new Timers() {
            @Override
            public long nanoTime() {
                return ClientAccess.timers(client).nanoTime() + later.get();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return ClientAccess.timers(client).schedule(delayNanos, task);
            }
        };
        try (DelayQueueClient slow = ClientAccess.create(
                gate,
                ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()).withRequestTimeout(Duration.ofSeconds(2)),
                timers,
                new Random(1),
                System::currentTimeMillis,
                redis.client())) {
            schedule("a", Duration.ZERO);
            gate.hold(LuaScript.CLAIM);
            DelayQueueReceiver patient = slow.queue(queue.name()).receiver(ConsumerOptions.DEFAULTS, delivery -> {});
            Future<Delivery> received = inBackground(() -> patient.receive(null));
            await().until(() -> gate.held() == 1);
            later.addAndGet(Duration.ofSeconds(16).toNanos());
            gate.open();
            Delivery delivery = received.get(10, TimeUnit.SECONDS);
            assertThat(delivery.id()).isEqualTo("a");
            assertThat(delivery.attempt()).as("the first one was given back").isOne();
            assertThat(timers.nanoTime() - ((ClaimedDelivery) delivery).claimSentNanos())
                    .as("since the second claim")
                    .isLessThan(Duration.ofSeconds(15).toNanos());
            assertThat(delivery.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
            patient.close();
        }
    }

    @Test
    void should_fail_when_redis_does_not_answer_a_single_time() throws Exception {
        schedule("a", Duration.ZERO);
        gate.hold(LuaScript.CLAIM);
        assertThatThrownBy(() -> receiver.receive(Duration.ZERO))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining(queue.name())
                .hasMessageContaining("no answer in time");
        gate.open();
        assertNothingIsLeased();
    }

    @Test
    void should_release_what_arrives_after_it_was_interrupted() throws Exception {
        schedule("a", Duration.ZERO);
        gate.hold(LuaScript.CLAIM);
        Future<Delivery> received = receiveForEver();
        await().until(() -> gate.held() == 1);
        received.cancel(true);
        gate.open();
        assertNothingIsLeased();
        assertThat(queue.admin().stats().get().overdue()).isEqualTo(1);
    }

    @Test
    void should_end_when_interrupted_while_it_waits() throws Exception {
        Thread[] thread = new Thread[1];
        Future<Object> received = inBackground(() -> {
            thread[0] = Thread.currentThread();
            return receiver.receive(null);
        });
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        thread[0].interrupt();
        assertThatThrownBy(() -> received.get(5, TimeUnit.SECONDS)).cause().isInstanceOf(InterruptedException.class);
    }

    @Test
    void should_remember_the_earliest_wake_up_that_comes_during_a_claim() throws Exception {
        gate.hold(LuaScript.CLAIM);
        Future<Delivery> received = receiveForEver();
        await().until(() -> gate.held() == 1);
        // The claim was executed: it did not see this message. Only the wake-ups tell of it.
        schedule("a", Duration.ZERO);
        receiver.loop().wakeUp(0, 0);
        receiver.loop().wakeUp(0, 60_000_000);
        gate.open();
        Delivery delivery = received.get(10, TimeUnit.SECONDS);
        assertThat(delivery.id()).isEqualTo("a");
        delivery.settle(Settlement.ACKNOWLEDGE).result().get();
    }

    @Test
    void should_take_a_time_that_is_longer_than_any_clock() throws Exception {
        schedule("a", Duration.ZERO);
        Delivery delivery = receiver.receive(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(delivery.id()).isEqualTo("a");
        delivery.settle(Settlement.ACKNOWLEDGE).result().get();
    }

    @Test
    void should_give_each_of_several_threads_its_own_message() throws Exception {
        Set<Future<Delivery>> all = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            all.add(receiveForEver());
        }
        await().until(() -> ClientAccess.consumers(client).wakeups().listening() == 1);
        for (int i = 0; i < 8; i++) {
            schedule("m" + i, Duration.ofMillis(50));
        }
        Set<String> ids = new HashSet<>();
        for (Future<Delivery> each : all) {
            Delivery delivery = each.get(20, TimeUnit.SECONDS);
            ids.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE).result().get();
        }
        assertThat(ids).hasSize(8);
    }

    @Test
    void should_never_take_more_than_it_returns() throws Exception {
        for (int i = 0; i < 20; i++) {
            schedule("m" + i, Duration.ZERO);
        }
        for (int i = 0; i < 20; i++) {
            Delivery delivery = receiver.receive(Duration.ZERO);
            assertThat(delivery.id()).isEqualTo("m" + i);
            assertThat(queue.admin().stats().get().leased()).isEqualTo(1);
            delivery.settle(Settlement.ACKNOWLEDGE).result().get();
        }
        assertThat(receiver.receive(Duration.ZERO)).isNull();
    }
}
