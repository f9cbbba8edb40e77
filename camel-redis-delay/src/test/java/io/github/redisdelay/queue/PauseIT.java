// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.redisson.api.RTopic;
import org.redisson.client.codec.ByteArrayCodec;

/** A paused queue gives no message to anybody, and goes on where it was when it is resumed. */
class PauseIT extends RealQueueIT {

    @Test
    void should_tell_whether_it_changed_anything() {
        assertThat(get(queue.admin().stats()).paused()).isFalse();
        assertThat(get(queue.admin().resume())).isFalse();
        assertThat(get(queue.admin().pause())).isTrue();
        assertThat(get(queue.admin().pause())).isFalse();
        assertThat(get(queue.admin().stats()).paused()).isTrue();
        assertThat(get(queue.deadLetters().admin().stats()).paused()).isFalse();
        assertThat(get(queue.admin().resume())).isTrue();
        assertThat(get(queue.admin().stats()).paused()).isFalse();
        assertThat(held("config")).isEmpty();
    }

    @Test
    void should_go_on_with_what_was_claimed_and_give_nothing_else() {
        for (String id : List.of("ended", "acknowledged", "returned", "released", "buried", "extended")) {
            schedule(id, LONG_AGO);
        }
        schedule("waits", DueTime.now(), 9);
        claim(1);
        List<ClaimedDelivery> held = claim(6);
        get(queue.admin().pause());
        assertThat(ids(held)).contains("acknowledged", "returned", "released", "buried", "extended");
        for (ClaimedDelivery delivery : held) {
            Submission<SettleResult> settlement =
                    switch (delivery.id()) {
                        case "acknowledged" -> delivery.settle(Settlement.ACKNOWLEDGE);
                        case "returned" -> delivery.settle(new Settlement.Retry(Duration.ZERO, new byte[0]));
                        case "released" -> delivery.settle(Settlement.RELEASE);
                        case "buried" -> delivery.settle(new Settlement.DeadLetter(new byte[0]));
                        default -> ((RedisDelayQueue) queue).partitions().get(0).extend(delivery, 1);
                    };
            assertThat(get(settlement)).isEqualTo(SettleResult.DONE);
        }
        pass(Duration.ofHours(2));
        assertThat(claim(10)).isEmpty();
        get(queue.admin().resume());
        assertThat(ids(claim(10))).containsExactlyInAnyOrder("waits", "ended", "returned", "released", "extended");
    }

    @Test
    void should_give_no_message_to_a_claim_that_was_sent_after_the_answer_to_pause() throws Exception {
        scheduleMany(3_000, "m", LONG_AGO);
        // Even: running. Odd: paused, from the answer to pause until before resume is asked for.
        AtomicInteger phase = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger whilePaused = new AtomicInteger();
        AtomicInteger whileRunning = new AtomicInteger();
        Queue<String> given = new ConcurrentLinkedQueue<>();
        List<Future<?>> claimers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ClaimCalls own = ClientAccess.consumers(client)
                    .newClaims(((RedisDelayQueue) queue).partitions().get(0).address(), error -> {});
            claimers.add(executor.submit(() -> {
                while (!over.get()) {
                    int sent = phase.get();
                    List<ClaimedDelivery> claimed = claim(queue, own, 2, 2);
                    if (sent % 2 == 0) {
                        whileRunning.addAndGet(claimed.size());
                    } else if (sent == phase.get()) { // sent and answered in one pause
                        whilePaused.incrementAndGet();
                        claimed.forEach(delivery -> given.add(delivery.id()));
                    }
                    claimed.forEach(delivery -> delivery.settle(Settlement.RELEASE)); // so that there are always some
                }
                own.close();
            }));
        }
        for (int round = 0; round < 20; round++) {
            int running = whileRunning.get();
            Awaitility.await().until(() -> whileRunning.get() > running);
            get(queue.admin().pause());
            phase.incrementAndGet();
            int before = whilePaused.get();
            Awaitility.await().until(() -> whilePaused.get() >= before + 8);
            phase.incrementAndGet();
            get(queue.admin().resume());
        }
        over.set(true);
        for (Future<?> claimer : claimers) {
            claimer.get(20, TimeUnit.SECONDS);
        }
        assertThat(given).as("messages given while the queue was paused").isEmpty();
    }

    @Test
    void should_wake_consumers_at_once_when_it_is_resumed() throws Exception {
        BlockingQueue<Delivery> received = consume(queue, ConsumerOptions.DEFAULTS);
        get(queue.admin().pause());
        schedule("a", DueTime.now());
        assertThat(received.poll(300, TimeUnit.MILLISECONDS)).isNull();
        long resumed = System.nanoTime();
        get(queue.admin().resume());
        assertThat(next(received).id()).isEqualTo("a");
        // Long before the safety interval of 27 s at least.
        assertThat(Duration.ofNanos(System.nanoTime() - resumed)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void should_wake_a_receiver_when_it_is_resumed() throws Exception {
        get(queue.admin().pause());
        schedule("a", DueTime.now());
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            assertThat(receiver.receive(Duration.ofMillis(100))).isNull();
            Future<Delivery> waiting = executor.submit(() -> receiver.receive(Duration.ofSeconds(20)));
            get(queue.admin().resume());
            assertThat(waiting.get(10, TimeUnit.SECONDS).id()).isEqualTo("a");
        }
    }

    @Test
    void should_cause_no_wake_ups_and_no_claims() throws Exception {
        AtomicInteger claimCalls = new AtomicInteger();
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        ScriptExecutor counting = (script, keys, arguments, attempt) -> {
            if (script == LuaScript.CLAIM) {
                claimCalls.incrementAndGet();
            }
            return real.call(script, keys, arguments, attempt);
        };
        Queue<String> wakeUps = new ConcurrentLinkedQueue<>();
        DelayQueueClient other = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, counting);
        RTopic topic =
                redis.client().getTopic(ClientAccess.consumers(other).wakeups().name(), ByteArrayCodec.INSTANCE);
        int listener = topic.addListener(byte[].class, (channel, message) -> {
            String text = text(message);
            // In a new hour a session's first call tries a wake-up on its own consumer, for the end of its safety
            // interval.
            if (text.endsWith(" " + keys().base()) && Long.parseLong(text.split(" ")[1]) < 20_000_000) {
                wakeUps.add(text);
            }
        });
        try {
            BlockingQueue<Delivery> received = consume(other.queue(queue.name()), ConsumerOptions.DEFAULTS);
            schedule("first", DueTime.now());
            get(next(received).settle(Settlement.ACKNOWLEDGE));
            schedule("held", DueTime.now(), 5);
            Delivery held = next(received);
            get(queue.admin().pause());
            // The consumer's next look finds the pause.
            schedule("before", new DueTime(false, 5));
            awaitEcho(topic);
            wakeUps.clear();
            int claimsBefore = claimCalls.get();
            for (int i = 0; i < 50; i++) {
                schedule("due" + i, new DueTime(false, 50 - i), i % 10);
                get(queue.reschedule("due" + i, DueTime.now()));
            }
            get(held.settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
            // A wake-up that is published before this one arrives before it.
            awaitEcho(topic);
            assertThat(wakeUps).isEmpty();
            // One for the slot that became free; another that was under way.
            assertThat(received.poll(500, TimeUnit.MILLISECONDS)).isNull();
            assertThat(claimCalls.get() - claimsBefore).isLessThanOrEqualTo(2);
            get(queue.admin().resume());
            next(received);
            Awaitility.await().untilAsserted(() -> assertThat(wakeUps).containsExactly("1 0 " + keys().base()));
        } finally {
            topic.removeListener(listener);
            other.close();
        }
    }

    /** Publishes something on a topic and waits for it. */
    private static void awaitEcho(RTopic topic) throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(1);
        byte[] echo = bytes("1 0 echo-" + System.nanoTime());
        int id = topic.addListener(byte[].class, (channel, message) -> {
            if (Arrays.equals(message, echo)) {
                arrived.countDown();
            }
        });
        topic.publish(echo);
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
        topic.removeListener(id);
    }
}
