// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The subscription on a real Redis; its timers are on a virtual clock. */
@Timeout(120)
class WakeupChannelIT {

    /** Longer than the back-off of a try to subscribe. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final FakeTimers timers = new FakeTimers();
    private RTopic topic;
    private WakeupChannel channel;

    /** Records the calls. */
    private static final class RecordingListener implements WakeupListener {
        final List<Long> waits = new CopyOnWriteArrayList<>();
        final AtomicInteger passes = new AtomicInteger();

        @Override
        public void wakeUp(long waitMicros) {
            waits.add(waitMicros);
        }

        @Override
        public void checkNow() {
            passes.incrementAndGet();
        }
    }

    @BeforeEach
    void open() {
        topic = redis.client().getTopic(redis.keyPrefix() + ":wakeup", ByteArrayCodec.INSTANCE);
        channel = new WakeupChannel(topic, timers, new Random(1));
    }

    @AfterEach
    void close() throws Exception {
        channel.close().get(10, TimeUnit.SECONDS);
    }

    private void publish(String text) {
        topic.publish(text.getBytes(StandardCharsets.UTF_8));
    }

    private void awaitSubscribers(long count) {
        await().atMost(Duration.ofSeconds(10)).until(topic::countSubscribers, found -> found == count);
    }

    private static RecordingListener added(WakeupChannel channel, String base) throws Exception {
        RecordingListener listener = new RecordingListener();
        channel.add(base, listener).get(10, TimeUnit.SECONDS);
        return listener;
    }

    @Test
    void should_wake_those_who_wait_for_the_queue_and_nobody_else() throws Exception {
        RecordingListener one = added(channel, "p:{orders}");
        RecordingListener two = added(channel, "p:{orders}");
        RecordingListener other = added(channel, "p:{orders}:dead");
        RecordingListener spaced = added(channel, "p:{my orders}");
        publish("1 1500 p:{orders}");
        publish("1 0 p:{my orders}");
        await().until(() -> one.waits.size() + two.waits.size() + spaced.waits.size() == 3);
        assertThat(one.waits).containsExactly(1500L);
        assertThat(two.waits).containsExactly(1500L);
        assertThat(spaced.waits).containsExactly(0L);
        assertThat(other.waits).isEmpty();
    }

    @Test
    void should_take_what_it_cannot_read_for_a_reason_to_look_or_for_nothing() throws Exception {
        RecordingListener listener = added(channel, "q");
        publish("nospace");
        publish("");
        publish("1 -5 q");
        publish("1 1e3 q");
        publish("1 99999999999999999999999 q");
        publish("1 7 q");
        publish("2 of-another-version q");
        await().until(() -> listener.waits.size() == 5);
        assertThat(listener.waits).containsExactlyInAnyOrder(0L, 0L, 0L, 7L, 0L);
        assertThat(listener.passes.get()).isLessThanOrEqualTo(1);
    }

    @Test
    void should_have_one_subscription_while_somebody_waits_and_none_otherwise() throws Exception {
        assertThat(topic.countSubscribers()).isZero();
        RecordingListener one = added(channel, "a");
        RecordingListener two = added(channel, "b");
        assertThat(topic.countSubscribers()).isEqualTo(1);
        assertThat(channel.listening()).isEqualTo(2);
        channel.remove("a", one);
        channel.remove("a", one);
        assertThat(channel.listening()).isEqualTo(1);
        assertThat(topic.countSubscribers()).isEqualTo(1);
        channel.remove("b", two);
        awaitSubscribers(0);
        assertThat(timers.waiting()).isZero();
        assertThat(channel.listening()).isZero();
    }

    @Test
    void should_subscribe_again_for_one_who_comes_after_the_last_has_gone() throws Exception {
        for (int i = 0; i < 20; i++) {
            RecordingListener listener = added(channel, "q");
            publish("1 3 q");
            await().until(() -> listener.waits.contains(3L));
            channel.remove("q", listener);
        }
        awaitSubscribers(0);
    }

    @Test
    void should_end_without_a_subscription_after_many_came_and_went_without_waiting() {
        for (int i = 0; i < 1_000; i++) {
            RecordingListener listener = new RecordingListener();
            channel.add("q" + i % 7, listener);
            channel.remove("q" + i % 7, listener);
        }
        awaitSubscribers(0);
        await().untilAsserted(() -> assertThat(topic.countListeners()).isZero());
        assertThat(timers.waiting()).isZero();
        assertThat(channel.listening()).isZero();
    }

    @Test
    void should_hear_after_many_came_and_went_without_waiting() throws Exception {
        for (int i = 0; i < 200; i++) {
            RecordingListener listener = new RecordingListener();
            channel.add("q", listener);
            channel.remove("q", listener);
        }
        RecordingListener last = added(channel, "q");
        publish("1 3 q");
        await().until(() -> last.waits.contains(3L));
        assertThat(topic.countSubscribers()).isEqualTo(1);
        assertThat(topic.countListeners()).isEqualTo(2);
    }

    @Test
    void should_make_a_pass_when_the_connection_was_lost_and_is_back() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address());
            RedissonClient client = Redisson.create(config);
            try {
                RTopic own = client.getTopic("wakeup", ByteArrayCodec.INSTANCE);
                WakeupChannel lonely = new WakeupChannel(own, timers, new Random(1));
                RecordingListener listener = added(lonely, "q");
                int passes = listener.passes.get();
                try (Socket socket = new Socket(server.host(), server.port())) {
                    socket.getOutputStream().write("CLIENT KILL TYPE pubsub\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertThat(socket.getInputStream().read()).isEqualTo(':');
                }
                await().atMost(Duration.ofSeconds(20)).until(() -> listener.passes.get() > passes);
                await().until(() -> {
                    own.publish("1 3 q".getBytes(StandardCharsets.UTF_8));
                    return listener.waits.contains(3L);
                });
                lonely.close().get(10, TimeUnit.SECONDS);
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void should_end_its_subscription_when_closed() throws Exception {
        RecordingListener listener = added(channel, "q");
        channel.close().get(10, TimeUnit.SECONDS);
        assertThat(topic.countSubscribers()).isZero();
        assertThat(timers.waiting()).isZero();
        assertThat(channel.listening()).isZero();
        channel.remove("q", listener);
        assertThat(channel.listening()).isZero();
    }

    @Test
    void should_end_its_subscription_when_closed_while_it_subscribes() {
        channel.add("q", new RecordingListener());
        channel.close();
        awaitSubscribers(0);
        await().until(() -> timers.waiting() == 0);
    }

    @Test
    void should_hear_again_after_redis_was_away_for_long() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer()
                    .setAddress(server.address())
                    .setTimeout(500)
                    .setRetryAttempts(0)
                    .setConnectTimeout(500);
            RedissonClient client = Redisson.create(config);
            try {
                RTopic own = client.getTopic("wakeup", ByteArrayCodec.INSTANCE);
                WakeupChannel lonely = new WakeupChannel(own, timers, new Random(1));
                RecordingListener listener = added(lonely, "q");
                server.kill();
                // For a while nobody is there.
                for (int i = 0; i < 20; i++) {
                    timers.advance(RETRY);
                    CompletableFuture<Void> turn = new CompletableFuture<>();
                    turn.completeOnTimeout(null, 200, TimeUnit.MILLISECONDS).join();
                }
                int passes = listener.passes.get();
                server.start();
                // A connection of the pool may still be broken, and this client repeats nothing.
                await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
                    timers.advance(RETRY);
                    if (listener.passes.get() == passes) {
                        return false;
                    }
                    own.publish("1 3 q".getBytes(StandardCharsets.UTF_8));
                    return listener.waits.contains(3L);
                });
                lonely.close().get(10, TimeUnit.SECONDS);
                assertThat(timers.waiting()).isZero();
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void should_subscribe_when_redis_comes_up_only_after_the_first_try() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer()
                    .setAddress(server.address())
                    .setTimeout(500)
                    .setRetryAttempts(0)
                    .setConnectTimeout(500)
                    .setSubscriptionConnectionMinimumIdleSize(0);
            RedissonClient client = Redisson.create(config);
            try {
                server.kill();
                RTopic own = client.getTopic("wakeup", ByteArrayCodec.INSTANCE);
                WakeupChannel lonely = new WakeupChannel(own, timers, new Random(1));
                RecordingListener listener = new RecordingListener();
                CompletableFuture<Void> added = lonely.add("q", listener);
                await().atMost(Duration.ofSeconds(20)).until(() -> timers.waiting() == 1);
                assertThat(added).isNotDone();
                server.start();
                await().atMost(Duration.ofSeconds(60)).until(() -> {
                    timers.advance(RETRY);
                    return added.isDone();
                });
                // A connection of the pool may still be broken, and this client repeats nothing.
                await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
                    own.publish("1 3 q".getBytes(StandardCharsets.UTF_8));
                    return listener.waits.contains(3L);
                });
                lonely.close().get(10, TimeUnit.SECONDS);
            } finally {
                client.shutdown();
            }
        }
    }
}
