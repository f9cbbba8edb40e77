// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollingIT extends CamelRedisIT {

    private ConsumerTemplate consumer;

    @BeforeEach
    void startContext() {
        context.start();
        consumer = context.createConsumerTemplate();
    }

    private void assertAcknowledged() {
        await().untilAsserted(() -> {
            assertThat(stats().delayed()).isZero();
            assertThat(stats().leased()).isZero();
        });
    }

    private void assertReturned() {
        await().untilAsserted(() -> {
            assertThat(stats().delayed()).isOne();
            assertThat(stats().leased()).isZero();
        });
    }

    @Test
    void should_acknowledge_by_receiveBody() {
        send(uri, "x", Map.of());
        assertThat(consumer.receiveBody(uri, 10_000)).isEqualTo("x");
        assertAcknowledged();
    }

    @Test
    void should_acknowledge_by_doneUoW_and_not_before() {
        send(uri, "x", Map.of("a", "b"));
        Exchange exchange = consumer.receive(uri, 10_000);
        assertThat(exchange.getMessage().getBody()).isEqualTo("x");
        assertThat(exchange.getMessage().getHeaders())
                .containsEntry("a", "b")
                .containsEntry(RedisDelayConstants.ATTEMPT, 1)
                .containsEntry(RedisDelayConstants.QUEUE, queue);
        assertThat(stats().leased()).isOne();
        consumer.doneUoW(exchange);
        assertAcknowledged();
    }

    @Test
    void should_take_the_longest_timeout_for_none() {
        send(uri, "x", Map.of());
        assertThat(consumer.receiveBody(uri, Long.MAX_VALUE)).isEqualTo("x");
    }

    @Test
    void should_return_what_is_marked_as_failed_before_doneUoW() {
        send(uri, "x", Map.of());
        Exchange exchange = consumer.receive(uri, 10_000);
        exchange.setException(new IllegalStateException("no"));
        consumer.doneUoW(exchange);
        assertReturned();
    }

    @Test
    void should_wait_for_the_due_time_and_not_longer_than_the_timeout() {
        assertThat(consumer.receiveNoWait(uri)).isNull();
        send(uri + "?delay=1h", "x", Map.of());
        assertThat(consumer.receive(uri, 200)).isNull();
        assertThat(consumer.receiveBodyNoWait(uri)).isNull();
        long before = System.nanoTime();
        send(uri + "?delay=300ms", "soon", Map.of());
        assertThat(consumer.receiveBody(uri)).isEqualTo("soon");
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(Duration.ofMillis(290));
    }

    @Test
    void should_never_read_ahead() {
        for (int i = 0; i < 10; i++) {
            send(uri, i, Map.of());
        }
        assertThat(consumer.receiveBody(uri, 10_000)).isEqualTo(0);
        await().untilAsserted(() -> assertThat(stats().leased()).isZero());
        assertThat(stats().delayed()).isEqualTo(9);
    }

    @Test
    void should_skip_what_cannot_be_read() {
        stored().schedule(ScheduleRequest.of("bad", "text".getBytes(StandardCharsets.UTF_8), DueTime.now()))
                .result()
                .join();
        send(uri, "good", Map.of());
        assertThat(consumer.receiveBody(uri, 10_000)).isEqualTo("good");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
    }

    @Test
    void should_acknowledge_by_the_completion_of_the_enriched_exchange() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").pollEnrich(uri, 10_000).process(exchange -> assertThat(stats().leased())
                        .isOne());
            }
        });
        send(uri, "polled", Map.of());
        Exchange enriched = send("direct:in", "x", Map.of());
        assertThat(enriched.getException()).isNull();
        assertThat(enriched.getMessage().getBody()).isEqualTo("polled");
        assertAcknowledged();
    }

    @Test
    void should_return_when_the_enriched_exchange_fails() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").pollEnrich(uri, 10_000).process(exchange -> {
                    throw new IllegalStateException("no");
                });
            }
        });
        send(uri, "polled", Map.of());
        assertThat(send("direct:in", "x", Map.of()).getException()).hasMessage("no");
        assertReturned();
    }

    @Test
    void should_acknowledge_by_the_exchange_of_the_poll_eip() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").poll(uri, 10_000);
            }
        });
        send(uri, "polled", Map.of());
        assertThat(send("direct:in", "x", Map.of()).getMessage().getBody()).isEqualTo("polled");
        assertAcknowledged();
    }

    @Test
    void should_let_an_enriched_exchange_schedule_the_message_again() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in")
                        .pollEnrich(uri, 10_000)
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, header(RedisDelayConstants.MESSAGE_ID))
                        .to(uri + "?delay=1h");
            }
        });
        send(uri, "polled", Map.of());
        assertThat(send("direct:in", "x", Map.of()).getException()).isNull();
        assertReturned();
        assertThat(stats().nextDueMicros()).isGreaterThan(3_000_000_000L);
    }

    @Test
    void should_let_the_lease_run_out_when_nobody_finishes_it() {
        send(uri, "x", Map.of());
        String options = "?visibilityTimeout=300ms&maximumVisibilityExtension=500ms";
        assertThat(consumer.receive(uri + options, 10_000)).isNotNull();
        Exchange again = consumer.receive(uri, 10_000);
        assertThat(again).isNotNull();
        assertThat(again.getMessage().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(2);
        consumer.doneUoW(again);
        assertAcknowledged();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_end_a_receive_when_it_or_the_context_stops(boolean whole) throws Exception {
        Thread[] thread = new Thread[1];
        Exchange[] result = {send("log:x", "x", Map.of())};
        thread[0] = new Thread(() -> result[0] = consumer.receive(uri));
        thread[0].start();
        await().until(() -> thread[0].getState() == Thread.State.TIMED_WAITING
                && Arrays.stream(thread[0].getStackTrace())
                        .anyMatch(frame -> frame.getClassName().endsWith(".RedisDelayQueueReceiver")));
        if (whole) {
            context.stop();
        } else {
            consumer.stop();
        }
        thread[0].join(Duration.ofSeconds(10).toMillis());
        assertThat(thread[0].isAlive()).isFalse();
        assertThat(result[0]).isNull();
    }
}
