// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.junit.jupiter.api.Test;

/** Races between running consumers and those who pause their queue or replace its messages. */
class PauseAndReplaceIT extends ConsumerSideIT {

    @Test
    void should_claim_nothing_that_comes_after_a_pause_until_it_ends() throws Exception {
        start(consume("?concurrentConsumers=4", this::take));
        int sent = 0;
        for (int round = 0; round < 15; round++) {
            List<CompletableFuture<?>> schedules = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                schedules.add(stored().schedule(
                                ScheduleRequest.of(null, Envelope.of("before").encode(), DueTime.now()))
                        .result());
                sent++;
            }
            assertThat(stored().admin().pause().result().join()).isTrue();
            // Claims are under way while this is answered.
            schedules.forEach(CompletableFuture::join);
            for (int i = 0; i < 5; i++) {
                schedule("after-" + round + "-" + i, "after " + round);
                sent++;
            }
            assertThat(stats().paused()).isTrue();
            await().during(Duration.ofMillis(60)).until(() -> stats().leased() == 0);
            String late = "after " + round;
            assertThat(received.stream().map(Message::getBody)).doesNotContain(late);
            assertThat(stats().overdue()).isGreaterThanOrEqualTo(5);
            assertThat(stored().admin().resume().result().join()).isTrue();
            int expected = sent;
            await().until(() -> received.size() == expected);
        }
        assertEmpty();
    }

    @Test
    void should_finish_what_was_claimed_before_a_pause() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(consume(FAST, exchange -> {
            take(exchange);
            go.await();
            if (received.size() == 1) {
                throw new IllegalStateException("again");
            }
        }));
        schedule("a", "x");
        await().until(() -> received.size() == 1);
        stored().admin().pause().result().join();
        go.countDown();
        await().untilAsserted(() -> assertThat(stats().overdue()).isOne());
        assertThat(received).hasSize(1);
        stored().admin().resume().result().join();
        await().until(() -> received.size() == 2);
        assertEmpty();
    }

    @Test
    void should_deliver_the_latest_of_a_message_that_is_replaced_while_it_is_claimed() throws Exception {
        Map<String, AtomicInteger> deliveries = new ConcurrentHashMap<>();
        Map<String, AtomicInteger> again = new ConcurrentHashMap<>();
        start(consume("?concurrentConsumers=4", exchange -> {
            String body = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID) + " "
                    + exchange.getMessage().getBody();
            deliveries.computeIfAbsent(body, key -> new AtomicInteger()).incrementAndGet();
            if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class) > 1) {
                again.computeIfAbsent(body, key -> new AtomicInteger()).incrementAndGet();
            }
        }));
        int messages = 300;
        List<CompletableFuture<?>> replacing = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            schedule("r" + i, "old");
            // Not before: it may be waiting, being delivered, or done.
            replacing.add(stored().schedule(
                            ScheduleRequest.of("r" + i, Envelope.of("new").encode(), DueTime.now())
                                    .withOnDuplicate(DuplicatePolicy.REPLACE))
                    .result());
        }
        replacing.forEach(CompletableFuture::join);
        await().until(() -> deliveries.keySet().stream()
                        .filter(body -> body.endsWith("new"))
                        .count()
                == messages);
        assertEmpty();
        assertThat(deliveries)
                .allSatisfy((body, count) -> assertThat(count).as(body).hasValue(1));
        assertThat(again).isEmpty();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_not_bring_back_its_own_message_after_it_was_cancelled() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Map<String, Throwable> failures = new ConcurrentHashMap<>();
        start(consume(FAST, exchange -> {
            take(exchange);
            go.await();
            Exchange copy = exchange.copy();
            copy.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "a");
            Exchange again = template.send(uri + "?onDuplicate=replace&delay=1h", copy);
            if (again.getException() != null) {
                failures.put("again", again.getException());
            }
        }));
        schedule("a", "x");
        await().until(() -> received.size() == 1);
        assertThat(stored().cancel("a").result().join().previousState()).isEqualTo(MessageState.LEASED);
        go.countDown();
        await().until(() -> consumer().getPendingExchangesSize() == 0);
        assertThat(failures.get("again"))
                .isInstanceOf(StaleDeliveryException.class)
                .hasMessageContaining("message 'a'")
                .hasMessageContaining("was cancelled");
        assertEmpty();
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_let_a_route_cancel_its_own_message_and_plan_it_anew() throws Exception {
        start(consume(FAST, exchange -> {
            take(exchange);
            if (received.size() == 1) {
                Exchange copy = exchange.copy();
                copy.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "a");
                assertThat(template.send(uri + "?operation=cancel", copy)
                                .getMessage()
                                .getHeader(RedisDelayConstants.PREVIOUS_STATE))
                        .isEqualTo("leased");
                assertThat(template.send(uri + "?delay=20ms", copy).getException())
                        .isNull();
            }
        }));
        schedule("a", "x");
        await().until(() -> received.size() == 2);
        assertEmpty();
        assertThat(received.stream().map(message -> message.getHeader(RedisDelayConstants.ATTEMPT)))
                .containsExactly(1, 1);
    }
}
