// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** A route that consumes the test's queue, and messages that are put there without Camel. */
public abstract class ConsumerSideIT extends CamelRedisIT {

    /** No jitter, and short delays. */
    protected static final String FAST = "?redeliveryDelay=20ms&redeliveryJitter=0&backOffMultiplier=1";

    /** Messages that routes took, as copies. */
    protected final BlockingQueue<Message> received = new LinkedBlockingQueue<>();

    protected void take(Exchange exchange) {
        received.add(exchange.getMessage().copy());
    }

    protected Message next() throws InterruptedException {
        Message message = received.poll(20, TimeUnit.SECONDS);
        assertThat(message).as("a message within 20 s").isNotNull();
        return message;
    }

    protected void schedule(String id, Object body) {
        schedule(id, body, Envelope.Settings.NONE, DueTime.now());
    }

    protected void schedule(String id, Object body, Envelope.Settings settings, DueTime due) {
        byte[] bytes = Envelope.of(body, null, Map.of(), settings).encode();
        stored().schedule(ScheduleRequest.of(id, bytes, due)).result().join();
    }

    protected RedisDelayConsumer consumer() {
        return consumer("consumer");
    }

    protected RedisDelayConsumer consumer(String routeId) {
        return (RedisDelayConsumer) context.getRoute(routeId).getConsumer();
    }

    protected void assertEmpty() {
        await().untilAsserted(() -> {
            QueueStats stats = stats(); // at one moment: what is leased may wait again at the next
            assertThat(stats.delayed()).as("waiting").isZero();
            assertThat(stats.leased()).as("leased").isZero();
        });
    }

    /** Claims a message for a test that ends its delivery: within 30 s, on however busy a machine. */
    public static Delivery claim(DelayQueue queue) {
        return claim(queue, Duration.ofSeconds(30));
    }

    /** Claims a message as a consumer would that does nothing for all of its lease. */
    public static Delivery claim(DelayQueue queue, Duration lease) {
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withMaxMessagesPerPoll(1)
                .withVisibilityTimeout(lease)
                .withMaximumVisibilityExtension(Duration.ZERO);
        try (var receiver = queue.receiver(options, delivery -> {})) {
            Delivery delivery = receiver.receive(Duration.ofSeconds(20));
            assertThat(delivery).as("a message within 20 s").isNotNull();
            return delivery;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Puts a message among the dead letters, as one that failed. */
    protected void bury(String id, Object body, Envelope.Settings settings) {
        schedule(id, body, settings, DueTime.now());
        FailureRecord failure = new FailureRecord(
                "java.net.ConnectException",
                "partner is down",
                "notify",
                "app-1",
                3,
                java.time.Instant.parse("2030-01-31T10:15:00.123Z"),
                FailureRecord.FAILED);
        claim(stored())
                .settle(new Settlement.DeadLetter(failure.encode()))
                .result()
                .join();
    }

    protected void bury(String id, Object body) {
        bury(id, body, Envelope.Settings.NONE);
    }
}
