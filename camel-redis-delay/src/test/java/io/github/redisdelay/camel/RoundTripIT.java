// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.junit.jupiter.api.Test;

/** From one route to another, with all that both sides say about a message. */
class RoundTripIT extends CamelRedisIT {

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();

    private Message next() throws InterruptedException {
        Message message = received.poll(10, TimeUnit.SECONDS);
        assertThat(message).as("a message within 10 s").isNotNull();
        return message;
    }

    @Test
    void should_deliver_body_and_headers_when_they_are_due() throws Exception {
        start(consume("", exchange -> received.add(exchange.getMessage().copy())));

        Exchange sent = send(uri + "?delay=300ms", "hello", Map.of("color", "blue", "Content-Type", "text/plain"));

        assertThat(sent.getException()).isNull();
        Message result = sent.getMessage();
        String id = result.getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
        assertThat(id).hasSize(14);
        assertThat(result.getHeader(RedisDelayConstants.QUEUE)).isEqualTo(queue);
        long scheduled = (long) result.getHeader(RedisDelayConstants.SCHEDULED_TIME);
        long due = (long) result.getHeader(RedisDelayConstants.DUE_TIME);
        assertThat(due - scheduled).isBetween(299L, 301L);
        assertThat(result.getBody()).isEqualTo("hello");

        Message message = next();
        assertThat(message.getBody()).isEqualTo("hello");
        assertThat(message.getHeaders())
                .containsEntry("color", "blue")
                .containsEntry("Content-Type", "text/plain")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, id)
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .containsEntry(RedisDelayConstants.SCHEDULED_TIME, scheduled)
                .containsEntry(RedisDelayConstants.DUE_TIME, due)
                .containsEntry(RedisDelayConstants.ATTEMPT, 1)
                .containsEntry(Exchange.MESSAGE_TIMESTAMP, scheduled);
        assertThat((long) message.getHeader(RedisDelayConstants.LATENESS))
                .isBetween(0L, System.currentTimeMillis() - due + 1);
        assertThat(message.getMessageTimestamp()).isEqualTo(scheduled);
        await().untilAsserted(() -> {
            assertThat(stats().delayed()).isZero();
            assertThat(stats().leased()).isZero();
        });
    }
}
