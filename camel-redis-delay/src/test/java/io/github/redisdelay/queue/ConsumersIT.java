// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.GatedCaller;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** Consumers beside one another on a real Redis, and what they leave behind. */
@Timeout(120)
class ConsumersIT {

    private static final byte[] BODY = "x".getBytes(StandardCharsets.UTF_8);

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private GatedCaller gate;
    private DelayQueueClient client;
    private RTopic wakeups;

    @BeforeEach
    void open() {
        gate = new GatedCaller(redis.client());
        client = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()), gate);
        wakeups =
                redis.client().getTopic(ClientAccess.consumers(client).wakeups().name(), ByteArrayCodec.INSTANCE);
    }

    @AfterEach
    void close() {
        gate.open();
        client.close();
        executor.shutdownNow();
    }

    private static void schedule(DelayQueue queue, String id, Duration delay) {
        queue.schedule(ScheduleRequest.of(id, BODY, DueTime.after(delay)))
                .result()
                .join();
    }

    private static ConsumerOptions concurrent(int consumers) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers);
    }

    private int waitingTimers() {
        return ((ScheduledTimers) ClientAccess.timers(client)).waiting();
    }

    private static long subscribers(DelayQueueClient client) {
        return redis.client()
                .getTopic(ClientAccess.consumers(client).wakeups().name(), ByteArrayCodec.INSTANCE)
                .countSubscribers();
    }

    private static long timerThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("redis-delay"))
                .count();
    }

    @Test
    void should_leave_nobody_running_who_comes_while_the_client_is_closed() {
        ScriptExecutor calls = new RedissonScriptExecutor(redis.client());
        List<Throwable> refused = new CopyOnWriteArrayList<>();
        List<DelayQueueClient> closing = new ArrayList<>();
        String late = redis.uniqueQueue();
        DelayQueueClient other = ClientAccess.create(
                redis.client(),
                ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()),
                (script, keys, arguments, attempt) -> {
                    boolean leaves = script == LuaScript.CLAIM
                            && new String((byte[]) arguments[4], StandardCharsets.US_ASCII).equals("0");
                    if (leaves && !closing.isEmpty()) { // as the one consumer is stopped
                        DelayQueueClient one = closing.remove(0);
                        refused.add(catchThrowable(() -> one.queue(late)
                                .consume(
                                        concurrent(1), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE))));
                    }
                    return calls.call(script, keys, arguments, attempt);
                });
        String queue = redis.uniqueQueue();
        other.queue(queue).consume(concurrent(1), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> redis.client()
                .getScoredSortedSet(redis.keyPrefix() + ":{" + queue + "}:waiters")
                .isExists());
        closing.add(other);
        other.close();
        assertThat(refused).hasSize(1);
        assertThat(refused.get(0)).isInstanceOf(DelayQueueException.class).hasMessageContaining("closed");
        assertThat(ClientAccess.consumers(other).wakeups().listening()).isZero();
    }

    @Test
    void should_not_delay_other_queues_while_all_handlers_of_one_are_blocked() throws Exception {
        DelayQueue blocked = client.queue(redis.uniqueQueue());
        DelayQueue free = client.queue(redis.uniqueQueue());
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger blocking = new AtomicInteger();
        blocked.consume(concurrent(5), executor, delivery -> {
            blocking.incrementAndGet();
            end.await();
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        for (int i = 0; i < 50; i++) {
            schedule(blocked, "b" + i, Duration.ZERO);
        }
        await().until(() -> blocking.get() == 5);
        Queue<Duration> lateness = new ConcurrentLinkedQueue<>();
        free.consume(concurrent(2), executor, delivery -> {
            lateness.add(delivery.lateness());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        Duration stalled;
        try (CallsBeside beside = new CallsBeside()) {
            for (int i = 0; i < 50; i++) {
                schedule(free, "f" + i, Duration.ofMillis(20L * i));
            }
            await().atMost(Duration.ofSeconds(20)).until(() -> lateness.size() == 50);
            stalled = beside.longest();
        }
        assertThat(Collections.max(lateness))
                .as("while a call of Redis beside it took up to %s", stalled)
                .isLessThan(Duration.ofSeconds(2).plus(stalled));
        assertThat(blocking).hasValue(5);
        end.countDown();
        await().atMost(Duration.ofSeconds(20)).until(() -> blocking.get() == 50);
    }

    /** Calls Redis every 20 ms, with threads and a connection of its own: what a busy machine costs without any consumer. */
    private static final class CallsBeside implements AutoCloseable {

        private final RedissonClient own = TestConnections.open(redis.address());
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private final AtomicLong longest = new AtomicLong(); // nanoseconds from one answer to the next
        private long last = System.nanoTime(); // the timer's thread alone, once it runs

        CallsBeside() {
            timer.scheduleAtFixedRate(this::call, 0, 20, TimeUnit.MILLISECONDS);
        }

        private void call() {
            own.getBucket(redis.keyPrefix() + ":beside").isExists();
            long now = System.nanoTime();
            longest.accumulateAndGet(now - last, Math::max);
            last = now;
        }

        Duration longest() {
            return Duration.ofNanos(longest.get());
        }

        @Override
        public void close() {
            timer.shutdownNow();
            own.shutdown();
        }
    }

    @Test
    void should_leave_to_an_idle_consumer_what_a_slow_one_has_not_begun() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        CountDownLatch end = new CountDownLatch(1);
        BlockingQueue<String> begunBySlow = new LinkedBlockingQueue<>();
        queue.consume(concurrent(1), executor, delivery -> {
            begunBySlow.add(delivery.id());
            end.await();
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        for (int i = 0; i < 20; i++) {
            schedule(queue, "m" + i, Duration.ZERO);
        }
        assertThat(begunBySlow.poll(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(queue.admin().stats().get().leased())
                .as("messages that the slow one holds")
                .isEqualTo(1);
        Set<String> byIdle = ConcurrentHashMap.newKeySet();
        queue.consume(concurrent(2), executor, delivery -> {
            byIdle.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        await().atMost(Duration.ofSeconds(10)).until(() -> byIdle.size() == 19);
        end.countDown();
    }

    @Test
    void should_leave_to_an_idle_consumer_what_one_read_ahead_that_became_slow() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        List<Submission<ScheduleResult>> scheduled = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            scheduled.add(queue.schedule(ScheduleRequest.of("m" + i, BODY, DueTime.now())));
        }
        scheduled.forEach(sent -> sent.result().join());
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        Set<String> done = ConcurrentHashMap.newKeySet();
        queue.consume(concurrent(1), executor, delivery -> {
            if (done.size() == 1_500) {
                hangs.countDown();
                end.await();
            }
            done.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        assertThat(hangs.await(30, TimeUnit.SECONDS)).isTrue();
        queue.consume(concurrent(1), executor, delivery -> {
            done.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        await().atMost(Duration.ofSeconds(20)).until(() -> done.size() == 2_999);
        end.countDown();
        await().atMost(Duration.ofSeconds(10)).until(() -> done.size() == 3_000);
        await().until(() -> queue.admin().stats().get().leased() == 0);
    }

    /**
     * By how much one of a thousand messages is later, at 600 a second, where one of two consumers stands still now and then, than
     * where there is one that never does, at the same time: the machine may be busy.
     */
    private Duration worstOfAThousand() throws Exception {
        int groups = 180;
        int each = 10;
        DelayQueue queue = client.queue(redis.uniqueQueue());
        DelayQueue beside = client.queue(redis.uniqueQueue());
        long first = System.currentTimeMillis() + 1_000;
        List<Submission<ScheduleResult>> scheduled = new ArrayList<>();
        for (int i = 0; i < groups * each; i++) {
            DueTime due = new DueTime(false, (first + i / each * 1_000L * each / 600) * 1_000);
            scheduled.add(queue.schedule(ScheduleRequest.of("m" + i, BODY, due)));
            scheduled.add(beside.schedule(ScheduleRequest.of("m" + i, BODY, due)));
        }
        scheduled.forEach(sent -> sent.result().join());
        Queue<Duration> lateness = new ConcurrentLinkedQueue<>();
        Queue<Duration> besides = new ConcurrentLinkedQueue<>();
        AtomicInteger begun = new AtomicInteger();
        DelayQueueConsumer standing = queue.consume(concurrent(1), executor, delivery -> {
            lateness.add(delivery.lateness());
            if (begun.incrementAndGet() % 100 == 0) {
                TimeUnit.MILLISECONDS.sleep(1_500); // its work
            }
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        DelayQueueConsumer never = beside.consume(concurrent(1), executor, taker(besides));
        // Quick work stays with whoever has it: first with the one that stands still.
        await().atMost(Duration.ofSeconds(30)).until(() -> begun.get() > 10);
        DelayQueueConsumer other = queue.consume(concurrent(1), executor, taker(lateness));
        await().atMost(Duration.ofSeconds(30)).until(() -> lateness.size() + besides.size() == 2 * groups * each);
        await().until(() -> queue.admin().stats().join().leased() == 0);
        for (DelayQueueConsumer consumer : List.of(standing, never, other)) {
            consumer.stop(true);
        }
        // On a busy machine the other one may take nearly all: then none stood still, and the round says nothing.
        return begun.get() < 100 ? Duration.ofDays(1) : worst(lateness).minus(worst(besides));
    }

    private static DeliveryHandler taker(Queue<Duration> lateness) {
        return delivery -> {
            lateness.add(delivery.lateness());
            delivery.settle(Settlement.ACKNOWLEDGE);
        };
    }

    private static Duration worst(Queue<Duration> lateness) {
        return lateness.stream().sorted().toList().get(lateness.size() * 999 / 1000 - 1);
    }

    @Test
    void should_be_on_time_while_one_consumer_of_two_stands_still_now_and_then() throws Exception {
        List<Duration> worst = new ArrayList<>();
        do {
            worst.add(worstOfAThousand());
            // The machine may stall for one of the queues only.
        } while (worst.size() < 5 && worst.get(worst.size() - 1).toMillis() >= 300);
        assertThat(worst.get(worst.size() - 1)).as("of rounds: %s", worst).isLessThan(Duration.ofMillis(300));
    }

    @Test
    void should_leave_nothing_behind_after_many_starts_and_stops() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        AtomicInteger received = new AtomicInteger();
        int scheduled = 0;
        for (int i = 0; i < 300; i++) {
            boolean working = i % 10 == 0;
            if (working) {
                schedule(queue, "m" + i, Duration.ZERO);
                scheduled++;
            }
            int before = received.get();
            DelayQueueConsumer consumer = queue.consume(concurrent(1 + i % 3), executor, delivery -> {
                received.incrementAndGet();
                delivery.settle(Settlement.ACKNOWLEDGE);
            });
            if (working) {
                await().atMost(Duration.ofSeconds(10)).until(() -> received.get() > before);
            }
            consumer.stop(i % 2 == 0);
            DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {});
            if (i % 10 == 5) {
                schedule(queue, "r" + i, Duration.ZERO);
                scheduled++;
                receiver.receive(Duration.ofSeconds(10))
                        .settle(Settlement.ACKNOWLEDGE)
                        .result()
                        .get();
                received.incrementAndGet();
            } else if (i % 10 == 6) {
                assertThat(receiver.receive(Duration.ZERO)).isNull();
            }
            receiver.close();
        }
        assertThat(received).hasValue(scheduled);
        await().atMost(Duration.ofSeconds(10)).until(wakeups::countSubscribers, count -> count == 0);
        await().untilAsserted(() -> assertThat(wakeups.countListeners()).isZero());
        assertThat(ClientAccess.consumers(client).wakeups().listening()).isZero();
        assertThat(ClientAccess.consumers(client).leases().size()).isZero();
        // The wait for a subscription that was not wanted any more ends with the request timeout, the one tick of the
        // leases with a third of their length.
        await().atMost(Duration.ofSeconds(15)).until(() -> waitingTimers() == 0);
        assertThat(timerThreads()).isLessThanOrEqualTo(1);
        assertThat(claimLanesInRedis(queue))
                .as("numbers of claim sessions, each used by one consumer after the other")
                .isLessThanOrEqualTo(4);
        QueueStats stats = queue.admin().stats().get();
        assertThat(stats.delayed() + stats.leased()).isZero();
    }

    /** Each session leaves a record in the key {@code calls}: the client's 16 bytes, a letter for its kind, a number. */
    private long claimLanesInRedis(DelayQueue queue) {
        return redis
                .client()
                .<byte[], byte[]>getMap(redis.keyPrefix() + ":{" + queue.name() + "}:sessions", ByteArrayCodec.INSTANCE)
                .keySet()
                .stream()
                .filter(name -> name.length > 16 && name[16] == 'c')
                .map(Arrays::toString)
                .distinct()
                .count();
    }

    @Test
    void should_end_its_timer_thread_when_the_client_is_closed() {
        List<DelayQueueClient> clients = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            DelayQueueClient each =
                    DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()));
            each.queue("q").consume(concurrent(1), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
            clients.add(each);
        }
        await().until(() -> timerThreads() >= 20);
        assertThat(clients.stream()
                        .map(each -> ClientAccess.consumers(each).wakeups().name()))
                .doesNotHaveDuplicates();
        clients.forEach(each -> await().until(() -> subscribers(each) == 1));
        clients.forEach(DelayQueueClient::close);
        await().atMost(Duration.ofSeconds(10)).until(() -> timerThreads() <= 1);
        clients.forEach(each -> await().atMost(Duration.ofSeconds(10)).until(() -> subscribers(each) == 0));
    }

    @Test
    void should_not_resume_by_itself_when_it_was_suspended_before_the_subscription_stood() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        Set<String> received = ConcurrentHashMap.newKeySet();
        DelayQueueConsumer consumer = queue.consume(concurrent(1), executor, delivery -> {
            received.add(delivery.id());
            delivery.settle(Settlement.ACKNOWLEDGE);
        });
        consumer.suspend();
        schedule(queue, "a", Duration.ZERO);
        await().until(() -> wakeups.countSubscribers() == 1);
        await().during(Duration.ofMillis(300))
                .until(() -> queue.admin().stats().get().leased() == 0 && received.isEmpty());
        consumer.resume();
        await().atMost(Duration.ofSeconds(5)).until(() -> received.contains("a"));
    }

    @Test
    void should_release_what_arrives_after_a_consumer_was_stopped() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        for (int i = 0; i < 5; i++) {
            schedule(queue, "m" + i, Duration.ZERO);
        }
        gate.hold(LuaScript.CLAIM);
        DelayQueueConsumer consumer =
                queue.consume(concurrent(5), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> gate.held() == 1);
        consumer.stop(true);
        assertThat(queue.admin().stats().get().leased()).isEqualTo(5);
        gate.open();
        await().atMost(Duration.ofSeconds(5))
                .until(() -> queue.admin().stats().get().overdue() == 5);
        assertThat(queue.admin().stats().get().leased()).isZero();
    }

    @Test
    void should_leave_the_waiters_where_its_first_claim_is_answered_after_it_was_stopped() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        RScoredSortedSet<Object> waiters =
                redis.client().getScoredSortedSet(redis.keyPrefix() + ":{" + queue.name() + "}:waiters");
        gate.hold(LuaScript.CLAIM);
        DelayQueueConsumer consumer =
                queue.consume(concurrent(5), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> gate.held() == 1);
        assertThat(waiters.size()).isOne();
        CompletableFuture<Void> gone = consumer.stop(true);
        await().until(() -> queue.admin().stats().get().consumers() == 0);
        assertThat(gone).isNotDone();
        gate.open();
        gone.get(10, TimeUnit.SECONDS);
        assertThat(waiters.size()).isZero();
    }

    @Test
    void should_wait_for_a_silent_redis_once_where_many_are_stopped() {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        gate.hold(LuaScript.HEARTBEAT);
        Queue<DelayQueueConsumer> consumers = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 40; i++) {
            consumers.add(queue.consume(concurrent(1), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE)));
        }
        await().until(() -> gate.held() == 40);
        CompletableFuture<Void> first = consumers.remove().stop(true);
        await().pollInterval(Duration.ofMillis(100))
                .until(() -> consumers.remove().stop(true).isDone());
        assertThat(first).isNotDone();
    }

    @Test
    void should_not_close_the_client_before_redis_has_forgotten_its_consumers() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        gate.hold(LuaScript.HEARTBEAT);
        queue.consume(concurrent(5), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> gate.held() == 1);
        Thread closing = new Thread(client::close);
        closing.start();
        await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
        gate.open();
        closing.join();
        try (DelayQueueClient other =
                DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()))) {
            assertThat(other.queue(queue.name()).admin().consumers().get()).isEmpty();
        }
    }

    @Test
    void should_release_what_arrives_while_the_client_is_being_closed() throws Exception {
        DelayQueue queue = client.queue(redis.uniqueQueue());
        for (int i = 0; i < 5; i++) {
            schedule(queue, "m" + i, Duration.ZERO);
        }
        gate.hold(LuaScript.CLAIM);
        queue.consume(concurrent(5), executor, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        await().until(() -> gate.held() == 1);
        Thread closing = new Thread(client::close);
        closing.start();
        await().until(() -> wakeups.countSubscribers() == 0
                || closing.getState() == Thread.State.TERMINATED
                || closing.getState() == Thread.State.TIMED_WAITING);
        gate.open();
        closing.join();
        try (DelayQueueClient other =
                DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()))) {
            QueueStats stats = other.queue(queue.name()).admin().stats().get();
            assertThat(stats.leased()).as("messages that nobody works on").isZero();
            assertThat(stats.overdue()).isEqualTo(5);
        }
    }

    @Test
    void should_work_with_hundreds_of_queues_in_one_client() {
        int queues = 300;
        AtomicInteger received = new AtomicInteger();
        List<DelayQueue> all = new ArrayList<>();
        for (int i = 0; i < queues; i++) {
            DelayQueue queue = client.queue(redis.uniqueQueue());
            all.add(queue);
            queue.consume(concurrent(1), executor, delivery -> {
                received.incrementAndGet();
                delivery.settle(Settlement.ACKNOWLEDGE);
            });
        }
        await().until(() -> wakeups.countSubscribers() == 1);
        for (DelayQueue queue : all) {
            queue.schedule(ScheduleRequest.of("near", BODY, DueTime.after(Duration.ofMillis(200))));
            queue.schedule(ScheduleRequest.of("far", BODY, DueTime.after(Duration.ofMillis(800))));
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> received.get() == 2 * queues);
        assertThat(wakeups.countSubscribers()).isEqualTo(1);
        assertThat(timerThreads()).isLessThanOrEqualTo(2);
    }
}
