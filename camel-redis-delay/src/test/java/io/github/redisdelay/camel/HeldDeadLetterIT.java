// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redrive, purge and a new message, in a route that holds a dead letter. */
class HeldDeadLetterIT extends DeadLetterSideIT {

    /** Five dead letters, and one of them is to go back: the others stay, and this one is not lost. */
    @ParameterizedTest
    @ValueSource(strings = {"", "CamelRedisDelayDeadLetterId"})
    void should_move_the_dead_letter_that_the_route_holds(String removed) throws Exception {
        die("A-0", "A-1", "A-2", "A-3", "A-4");
        BlockingQueue<Message> asked = new LinkedBlockingQueue<>();
        try (LogLines log = new LogLines(DeliveryCompletion.class)) {
            start(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri + "?state=dead&redeliveryDelay=1h&redeliveryJitter=0")
                            .filter(header("CamelRedisDelayMessageId").isNotEqualTo("A-0"))
                            .throwException(new IllegalStateException("stays"))
                            .end()
                            .removeHeaders(removed.isEmpty() ? "none" : removed)
                            .to(uri + "?operation=redrive")
                            .process(exchange -> asked.add(exchange.getMessage().copy()));
                }
            });
            Message message = asked.poll(20, TimeUnit.SECONDS);
            assertThat(message).isNotNull();
            assertThat(message.getHeaders())
                    .containsEntry(RedisDelayConstants.COUNT, 1L)
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "A-0");
            await().until(() -> {
                QueueStats letters = stored().deadLetters().admin().stats().join();
                return letters.leased() == 0 && letters.overdue() == 0;
            });
            assertThat(new TreeSet<>(deadMessages())).containsExactly("A-1", "A-2", "A-3", "A-4");
            assertThat(waiting()).containsExactly("A-0");
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_remove_the_dead_letter_that_the_route_holds() throws Exception {
        die("a", "b");
        try (LogLines log = new LogLines(DeliveryCompletion.class)) {
            start(consume("?state=dead&redeliveryDelay=1h", exchange -> {
                String id = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
                exchange.getMessage().removeHeaders("*");
                if (id.equals("a")) {
                    template.send(uri + "?operation=purge", exchange);
                    take(exchange);
                }
                throw new IllegalStateException("too late for a");
            }));
            assertThat(next().getHeaders())
                    .containsEntry(RedisDelayConstants.COUNT, 1L)
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "a");
            await().until(() -> stored().deadLetters().admin().stats().join().nextDueMicros() > 0);
            assertThat(deadMessages()).containsExactly("b");
            assertThat(log.of(Level.WARN)).isEmpty();
        }
    }

    @Test
    void should_move_all_that_a_batch_holds_and_no_others() throws Exception {
        die("a", "b", "c");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + "?state=dead&batching=true&batchSize=2&batchTimeout=10s&redeliveryDelay=1h")
                        .autoStartup(true)
                        .choice()
                        .when(exchange -> received.isEmpty())
                        .to(uri + "?operation=redrive")
                        .process(HeldDeadLetterIT.this::take)
                        .otherwise()
                        .throwException(new IllegalStateException("stays"));
            }
        });
        assertThat(next().getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 2L)
                .containsEntry(RedisDelayConstants.RESULT, List.of("done", "done"));
        await().until(() -> stats().delayed() == 2);
        assertThat(new TreeSet<>(waiting())).isSubsetOf("a", "b", "c").hasSize(2);
    }

    /** A dead letter that cannot go back must not be acknowledged: it would be gone. */
    @Test
    void should_fail_where_the_dead_letter_that_the_route_holds_cannot_be_moved() throws Exception {
        die("a");
        scheduleNew("a");
        BlockingQueue<Exception> failures = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?state=dead&redeliveryDelay=1h&redeliveryJitter=0").process(exchange -> {
                    template.send(uri + "?operation=redrive", exchange);
                    failures.add(exchange.getException());
                });
            }
        });
        String letter = stored().admin().deadLettersOf("a").join().get(0).toString();
        assertThat(failures.poll(20, TimeUnit.SECONDS))
                .isInstanceOf(DuplicateMessageException.class)
                .hasMessage("dead letter '" + letter + "' of queue '" + queue
                        + "' was not redriven: its message's id 'a' is in use by a newer message; redrive it when that one is"
                        + " done or cancelled, or purge it");
        await().until(() -> stored().deadLetters().admin().stats().join().nextDueMicros() > 0);
        assertThat(deadMessages()).containsExactly("a");
        assertThat(stats().delayed()).isOne();
    }

    /** An id that an earlier step needed is still there, and names none of this queue: the one that is held must not be lost. */
    @Test
    void should_fail_where_an_id_names_no_dead_letter_and_the_route_holds_another() throws Exception {
        die("a");
        BlockingQueue<Exception> failures = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?state=dead&redeliveryDelay=1h&redeliveryJitter=0")
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, constant("reminder-1"))
                        .to("redis-delay:" + redis.uniqueQueue() + "?operation=cancel")
                        .process(exchange -> {
                            template.send(uri + "?operation=redrive", exchange);
                            failures.add(exchange.getException());
                        });
            }
        });
        assertThat(failures.poll(20, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(
                        "'CamelRedisDelayScheduleId'", "'reminder-1'", "'" + deadLetterOfWaiting("a") + "'");
        assertThat(deadMessages()).containsExactly("a");
        assertThat(stats().delayed()).isZero();
    }

    /** That of a message once its dead letter waits again. */
    private String deadLetterOfWaiting(String id) {
        await().until(() -> stored().deadLetters().admin().stats().join().nextDueMicros() > 0);
        return deadLetterOf(id);
    }

    /** Its lease expired, and another consumer has it: that one decides. */
    @Test
    void should_refuse_to_move_a_dead_letter_whose_lease_was_lost() throws Exception {
        die("a");
        BlockingQueue<Exception> failures = new LinkedBlockingQueue<>();
        List<Delivery> other = new ArrayList<>();
        start(consume("?state=dead&visibilityTimeout=200ms&maximumVisibilityExtension=0", exchange -> {
            if (!other.isEmpty()) {
                return;
            }
            ConsumerOptions anHour = ConsumerOptions.DEFAULTS
                    .withMaxMessagesPerPoll(1)
                    .withVisibilityTimeout(Duration.ofHours(1))
                    .withMaximumVisibilityExtension(Duration.ZERO);
            try (var receiver = stored().deadLetters().receiver(anHour, delivery -> {})) {
                other.add(receiver.receive(Duration.ofSeconds(20)));
            }
            template.send(uri + "?operation=redrive", exchange);
            failures.add(exchange.getException());
        }));
        assertThat(failures.poll(20, TimeUnit.SECONDS))
                .isInstanceOf(StaleDeliveryException.class)
                .hasMessageContaining("dead letter");
        assertThat(stats().delayed()).isZero();
        assertThat(stats().dead()).isOne();
        other.get(0).settle(Settlement.ACKNOWLEDGE).result().join();
        assertThat(stats().dead()).isZero();
    }

    /** The ids that a message brings along ask for nothing. */
    @Test
    void should_give_a_new_id_to_what_is_forwarded_unless_one_is_asked_for() throws Exception {
        String other = redis.uniqueQueue();
        bury("b", "x");
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                String to = "redis-delay:" + other + "?delay=1h";
                from(uri)
                        .wireTap(to)
                        .end()
                        .multicast()
                        .to(to, to)
                        .end()
                        .split(constant(List.of("1", "2")))
                        .to(to)
                        .end()
                        .to(to)
                        .process(HeldDeadLetterIT.this::take)
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, constant("wanted"))
                        .to(to);
                from(uri + "?state=dead").to(to).process(HeldDeadLetterIT.this::take);
            }
        });
        send(uri, "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        List<String> forwarded = List.of(
                next().getHeader(RedisDelayConstants.MESSAGE_ID, String.class),
                next().getHeader(RedisDelayConstants.MESSAGE_ID, String.class));
        await().until(() -> ids(other).size() == 8);
        assertThat(ids(other))
                .contains("wanted")
                .containsAll(forwarded)
                .doesNotContain("a", "b")
                .noneMatch(id -> id.startsWith("b@"));
    }

    private List<String> ids(String name) {
        return outside.queue(name).admin().list(MessageState.DELAYED, PageStart.first(), 256).join().messages().stream()
                .map(MessageInfo::id)
                .distinct()
                .toList();
    }

    @Test
    void should_move_the_dead_letter_that_the_route_holds_by_the_id_of_its_message() throws Exception {
        die("a");
        start(consume("?state=dead", exchange -> {
            exchange.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "a");
            template.send(uri + "?operation=redrive", exchange);
            take(exchange);
        }));
        assertThat(next().getHeaders()).containsEntry(RedisDelayConstants.RESULT, "done");
        assertThat(waiting()).containsExactly("a");
        await().until(() -> stats().dead() == 0);
    }
}
