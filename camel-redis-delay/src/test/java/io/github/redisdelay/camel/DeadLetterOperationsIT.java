// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Settlement;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;

/** Operations on dead letters: redrive, purge, and those that state=dead leads to them. */
class DeadLetterOperationsIT extends CamelRedisIT {

    private Message change(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "untouched", headers);
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getBody()).isEqualTo("untouched");
        return exchange.getMessage();
    }

    private Message change(String options, Object ids) {
        return change(options, Map.of(RedisDelayConstants.SCHEDULE_ID, ids));
    }

    private long count(String options, Map<String, Object> headers) {
        return change(options, headers).getHeader(RedisDelayConstants.COUNT, long.class);
    }

    private void schedule(String options, String id) {
        assertThat(send(uri + options, "body of " + id, Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                        .getException())
                .isNull();
    }

    /** Makes dead letters; those whose ids begin with {@code io} failed with another exception. */
    private void die(String... ids) {
        context.start();
        for (String id : ids) {
            schedule("?priority=2", id);
        }
        // One after the other, so that they are dead letters in this order.
        ExecutorService undertaker = Executors.newSingleThreadExecutor();
        DelayQueueConsumer consumer = stored().consume(ConsumerOptions.DEFAULTS, undertaker, delivery -> {
            Class<?> exception = delivery.id().startsWith("io") ? IOException.class : IllegalStateException.class;
            delivery.settle(new Settlement.DeadLetter(
                            new FailureRecord(exception.getName(), "wrong", "route", "host", 1, Instant.now(), "failed")
                                    .encode()))
                    .result()
                    .join();
        });
        await().until(() -> stats().dead() == ids.length);
        consumer.stop(false);
        undertaker.shutdown();
    }

    /** The ids of the dead letters, in the order in which they were given up. */
    private List<String> deadLetters() {
        List<String> ids = new ArrayList<>();
        Map<String, Object> headers = new HashMap<>();
        do {
            Exchange page = send(uri + "?operation=list&state=dead&limit=256", null, headers);
            for (Object entry : page.getMessage().getBody(List.class)) {
                ids.add((String) ((Map<?, ?>) entry).get("deadLetterId"));
            }
            headers = page.getMessage().getHeaders();
        } while (headers.containsKey(RedisDelayConstants.CURSOR));
        return ids;
    }

    private String deadLetterOf(String id) {
        return deadLetters().stream()
                .filter(deadLetterId -> deadLetterId.startsWith(id + "@"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void should_deliver_a_redriven_message_as_if_it_were_new() throws Exception {
        die("a");
        String deadLetterId = deadLetters().get(0);

        assertThat(change("?operation=redrive", deadLetterId).getHeaders())
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, deadLetterId)
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.COUNT, 1L);
        assertThat(stats().dead()).isZero();

        BlockingQueue<Message> delivered = new LinkedBlockingQueue<>();
        start(consume("", exchange -> delivered.add(exchange.getMessage().copy())));
        Message message = delivered.poll(10, TimeUnit.SECONDS);
        assertThat(message).isNotNull();
        assertThat(message.getBody()).isEqualTo("body of a");
        assertThat(message.getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.ATTEMPT, 1)
                .doesNotContainKey(RedisDelayConstants.PRIORITY)
                .doesNotContainKeys(
                        RedisDelayConstants.FAILURE_EXCEPTION,
                        RedisDelayConstants.REDELIVERY_REASON,
                        RedisDelayConstants.DEAD_LETTER_ID);
    }

    @Test
    void should_tell_why_a_dead_letter_stays() throws Exception {
        die("used", "free");
        schedule("?delay=1h", "used");
        String used = deadLetterOf("used");

        assertThat(change("?operation=redrive", List.of(used, deadLetterOf("free"), "nobody@1"))
                        .getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, List.of("duplicate", "done", "none"))
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, List.of("dead", "dead", "none"))
                .containsEntry(RedisDelayConstants.COUNT, 1L);
        assertThat(deadLetters()).containsExactly(used);
    }

    @Test
    void should_leave_a_dead_letter_to_the_route_that_works_on_it() throws Exception {
        die("a");
        String deadLetterId = deadLetters().get(0);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri + "?state=dead").process(exchange -> {
                        begun.countDown();
                        go.await(20, TimeUnit.SECONDS);
                    });
                }
            });
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(change("?operation=redrive", deadLetterId).getHeader(RedisDelayConstants.RESULT))
                    .isEqualTo("leased");
            assertThat(count("?operation=redrive&all=true", Map.of())).isZero();
            assertThat(count("?operation=purge&all=true", Map.of())).isZero();
            // Said of this one, it counts: as a cancel, a purge removes it whatever its state.
            assertThat(change("?operation=purge", deadLetterId).getHeaders())
                    .containsEntry(RedisDelayConstants.RESULT, "done")
                    .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead");
        } finally {
            go.countDown();
        }
        await().until(() -> stats().dead() == 0);
        assertThat(stats().delayed()).isZero();
    }

    @Test
    void should_redrive_or_purge_all_or_those_of_one_exception() throws Exception {
        die("io1", "other1", "io2", "other2");
        assertThat(count("?operation=redrive&failureException=java.io.IOException", Map.of()))
                .isEqualTo(2);
        assertThat(stats().delayed()).isEqualTo(2);

        assertThat(count("?operation=purge&failureException=java.lang.NullPointerException", Map.of()))
                .isZero();
        assertThat(count("?operation=purge&failureException=java.lang.IllegalStateException", Map.of()))
                .isEqualTo(2);
        assertThat(stats().dead()).isZero();
        assertThat(count("?operation=redrive&all=true", Map.of())).isZero();
    }

    @Test
    void should_find_an_exception_by_its_simple_name() throws Exception {
        die("io1", "other1");
        assertThat(count("?operation=redrive&failureException=Exception", Map.of()))
                .as("a part of a name is no name")
                .isZero();
        assertThat(count("?operation=redrive&failureException=IOException", Map.of()))
                .isOne();
        assertThat(count("?operation=purge&failureException=IllegalStateException", Map.of()))
                .isOne();
    }

    @Test
    void should_not_leave_the_results_of_an_earlier_change() throws Exception {
        die("a");
        Message first = change("?operation=redrive", "nobody");
        Message second = change("?operation=redrive&all=true", Map.copyOf(withoutId(first)));
        assertThat(second.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .doesNotContainKeys(RedisDelayConstants.RESULT, RedisDelayConstants.PREVIOUS_STATE);
    }

    private static Map<String, Object> withoutId(Message message) {
        Map<String, Object> headers = new HashMap<>(message.getHeaders());
        headers.remove(RedisDelayConstants.SCHEDULE_ID);
        headers.remove(RedisDelayConstants.DEAD_LETTER_ID);
        return headers;
    }

    @Test
    void should_refuse_ids_together_with_an_exception_class() throws Exception {
        die("a");
        for (String operation : List.of("redrive", "purge")) {
            Exchange refused = send(
                    uri + "?failureException=java.io.IOException&operation=" + operation,
                    "x",
                    Map.of(RedisDelayConstants.SCHEDULE_ID, deadLetters()));
            assertThat(refused.getException())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("operation '" + operation + "' has ids")
                    .hasMessageContaining("java.io.IOException");
        }
        assertThat(stats().dead()).isOne();
    }

    @Test
    void should_purge_some_and_leave_the_others() throws Exception {
        die("a", "b");
        List<String> letters = deadLetters();
        assertThat(change("?operation=purge", letters.get(0)).getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead");
        assertThat(change("?operation=purge", letters.get(0)).getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, "none")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "none");
        assertThat(deadLetters()).containsExactly(letters.get(1));
    }

    @Test
    void should_lead_operations_by_id_to_the_dead_letters_with_state_dead() throws Exception {
        die("a");
        String deadLetterId = deadLetters().get(0);
        assertThat(change("?operation=reschedule&delay=1h", deadLetterId).getHeader(RedisDelayConstants.RESULT))
                .isEqualTo("none");
        assertThat(change("?operation=reschedule&state=dead&delay=1h", deadLetterId)
                        .getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a");
        assertThat(count("?operation=promote&state=dead&all=true", Map.of())).isOne();
        assertThat(change("?operation=cancel&state=dead", deadLetterId).getHeader(RedisDelayConstants.RESULT))
                .isEqualTo("done");
        assertThat(stats().dead()).isZero();
    }

    @Test
    void should_pause_the_dead_letters_alone_with_state_dead() throws Exception {
        die("a");
        change("?operation=pause&state=dead", Map.of());
        BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).process(exchange -> delivered.add("message"));
                from(uri + "?state=dead").process(exchange -> delivered.add("dead letter"));
            }
        });
        schedule("", "b");
        assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo("message");
        assertThat(stats().dead()).isOne();
        change("?operation=resume&state=dead", Map.of());
        assertThat(delivered.poll(10, TimeUnit.SECONDS)).isEqualTo("dead letter");
    }

    /** Redriven by one and purged by another at the same time: each dead letter goes to exactly one of them. */
    @Test
    void should_give_each_dead_letter_to_exactly_one_of_redrive_and_purge() throws Exception {
        die(IntStream.range(0, 200).mapToObj(i -> "m" + i).toArray(String[]::new));
        List<String> letters = deadLetters();
        assertThat(letters).hasSize(200);
        List<String> backwards = new ArrayList<>(letters);
        Collections.reverse(backwards);

        CompletableFuture<Message> purging = CompletableFuture.supplyAsync(() -> change("?operation=purge", backwards));
        Message redriven = change("?operation=redrive", letters);
        Message purged = purging.get(20, TimeUnit.SECONDS);

        List<?> redrives = redriven.getHeader(RedisDelayConstants.RESULT, List.class);
        List<?> purges = purged.getHeader(RedisDelayConstants.RESULT, List.class);
        for (int i = 0; i < letters.size(); i++) {
            assertThat(List.of(redrives.get(i), purges.get(letters.size() - 1 - i)))
                    .as("redrive and purge of %s", letters.get(i))
                    .containsExactlyInAnyOrder("done", "none");
        }
        assertThat(stats().dead()).isZero();
        assertThat(stats().delayed()).isEqualTo(redriven.getHeader(RedisDelayConstants.COUNT, long.class));
        assertThat(stats().delayed() + purged.getHeader(RedisDelayConstants.COUNT, long.class))
                .isEqualTo(200);
    }

    @Test
    void should_share_all_dead_letters_between_a_redrive_and_a_purge_of_all() throws Exception {
        die(IntStream.range(0, 300).mapToObj(i -> "m" + i).toArray(String[]::new));
        CompletableFuture<Long> purging =
                CompletableFuture.supplyAsync(() -> count("?operation=purge&all=true", Map.of()));
        long redriven = count("?operation=redrive&all=true", Map.of());
        long purged = purging.get(20, TimeUnit.SECONDS);
        assertThat(redriven + purged + stats().dead()).isEqualTo(300);
        assertThat(stats().delayed()).isEqualTo(redriven);
    }
}
