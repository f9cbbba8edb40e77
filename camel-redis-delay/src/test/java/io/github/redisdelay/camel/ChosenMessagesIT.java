// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which messages redrive, purge and promote mean: one by its id, or many where somebody asks for many. */
class ChosenMessagesIT extends ConsumerSideIT {

    private Message change(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "x", headers);
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    private long count(String options, Map<String, Object> headers) {
        return change(options, headers).getHeader(RedisDelayConstants.COUNT, long.class);
    }

    private String refused(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "x", headers);
        assertThat(exchange.getException()).as(options).isInstanceOf(IllegalArgumentException.class);
        return exchange.getException().getMessage();
    }

    /** Makes dead letters that failed in a route, for a reason. */
    private void dieOf(String routeId, String reason, String... ids) {
        for (String id : ids) {
            schedule(id, "body of " + id);
        }
        long before = stats().dead();
        DelayQueueConsumer consumer = stored().consume(
                        ConsumerOptions.DEFAULTS,
                        Runnable::run,
                        delivery -> delivery.bury(new FailureRecord(
                                        "java.io.IOException", "wrong", routeId, "host", 2, Instant.now(), reason)
                                .encode()));
        await().until(() -> stats().dead() == before + ids.length);
        consumer.stop(false);
    }

    private void die(String... ids) {
        dieOf("notify", "failed", ids);
    }

    private List<String> deadLetters() {
        return stored().deadLetters().browse(MessageState.DELAYED, PageStart.first(), 256).join().messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    private List<String> deadMessages() {
        return deadLetters().stream()
                .map(id -> id.substring(0, id.indexOf('@')))
                .toList();
    }

    private String deadLetterOf(String id) {
        return deadLetters().stream()
                .filter(letter -> letter.startsWith(id + "@"))
                .findFirst()
                .orElseThrow();
    }

    private List<String> waiting() {
        return stored().browse(MessageState.DELAYED, PageStart.first(), 256).join().messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge"})
    void should_take_the_dead_letter_that_is_named_as_one(String operation) {
        context.start();
        die("a", "b", "c");
        Message changed =
                change("?operation=" + operation, Map.of(RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b")));
        assertThat(changed.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "b");
        assertThat(deadMessages()).containsExactly("a", "c");
        Message many = change(
                "?operation=" + operation, Map.of(RedisDelayConstants.DEAD_LETTER_ID, List.copyOf(deadLetters())));
        assertThat(many.getHeader(RedisDelayConstants.RESULT)).isEqualTo(List.of("done", "done"));
    }

    @Test
    void should_look_at_the_dead_letter_that_is_named_as_one() {
        context.start();
        die("a", "b");
        assertThat(change("?operation=get", Map.of(RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b")))
                        .getBody())
                .isEqualTo("body of b");
        assertThat(change(
                                "?operation=get",
                                Map.of(
                                        RedisDelayConstants.DEAD_LETTER_ID, deadLetterOf("b"),
                                        RedisDelayConstants.SCHEDULE_ID, deadLetterOf("a")))
                        .getBody())
                .as("what asks for an id wins")
                .isEqualTo("body of a");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge", "promote", "promote&state=dead"})
    void should_change_nothing_unless_somebody_says_which_or_all(String operation) {
        context.start();
        die("a", "b");
        send(uri + "?delay=1h", "x", Map.of());
        for (Map<String, Object> headers : List.<Map<String, Object>>of(
                Map.of(),
                Map.of(RedisDelayConstants.MESSAGE_ID, "a"),
                Map.of(RedisDelayConstants.ALL, false),
                Map.of(RedisDelayConstants.ALL, "false"))) {
            assertThat(refused("?operation=" + operation, headers))
                    .contains(
                            "operation '" + operation.replaceAll("&.*", "") + "'",
                            "'CamelRedisDelayScheduleId'",
                            "'all'");
        }
        assertThat(deadMessages()).containsExactly("a", "b");
        assertThat(stats().delayed()).isOne();
        assertThat(stats().overdue()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"redrive", "purge", "promote"})
    void should_change_all_where_that_is_asked_for(String operation) {
        context.start();
        die("a", "b");
        send(uri + "?delay=1h", "x", Map.of());
        send(uri + "?delay=1h", "x", Map.of());
        Message changed = change("?operation=" + operation, Map.of(RedisDelayConstants.ALL, "true"));
        assertThat(changed.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 2L)
                .doesNotContainKey(RedisDelayConstants.ALL);
        assertThat(count("?all=true&operation=" + operation, Map.of())).isZero();
        assertThat(refused("?operation=" + operation, Map.of(RedisDelayConstants.ALL, "yes")))
                .contains("'CamelRedisDelayAll'", "'yes'");
        assertThat(refused("?all=true&operation=" + operation, Map.of(RedisDelayConstants.ALL, false)))
                .as("a header wins")
                .contains("'all'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CamelRedisDelayAll",
                "CamelRedisDelayLimit",
                "CamelRedisDelayExceptionClass",
                "CamelRedisDelayReason",
                "CamelRedisDelayRouteId"
            })
    void should_refuse_an_id_together_with_what_chooses_among_all(String header) {
        context.start();
        die("a", "b");
        String letter = deadLetterOf("a");
        Object value = header.equals(RedisDelayConstants.ALL)
                ? true
                : header.equals(RedisDelayConstants.LIMIT) ? 5 : "java.io.IOException";
        String option = Character.toLowerCase(header.charAt(15)) + header.substring(16);
        for (String operation : List.of("redrive", "purge", "promote&state=dead", "cancel&state=dead")) {
            assertThat(refused(
                            "?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, letter, header, value)))
                    .contains("header '" + header + "'");
            assertThat(refused(
                            "?operation=" + operation + "&" + option + "=" + value,
                            Map.of(RedisDelayConstants.SCHEDULE_ID, letter)))
                    .contains("option '" + option + "'");
        }
        assertThat(refused("?operation=purge", Map.of(RedisDelayConstants.DEAD_LETTER_ID, letter, header, value)))
                .contains("header '" + header + "'", "header 'CamelRedisDelayDeadLetterId'");
        assertThat(deadMessages()).containsExactly("a", "b");
    }

    @Test
    void should_choose_by_route_and_reason() {
        context.start();
        dieOf("notify", "failed", "a1", "a2");
        dieOf("notify", "expired", "b");
        dieOf("close", "failed", "c");
        assertThat(count("?operation=redrive&routeId=close", Map.of())).isOne();
        Message purged = change("?operation=purge&routeId=notify", Map.of(RedisDelayConstants.REASON, "expired"));
        assertThat(purged.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .doesNotContainKey(RedisDelayConstants.REASON);
        assertThat(deadMessages()).containsExactly("a1", "a2");
        assertThat(count("?operation=purge&reason=failed", Map.of(RedisDelayConstants.ROUTE_ID, "other")))
                .isZero();
        assertThat(count(
                        "?operation=purge&reason=failed",
                        Map.of(RedisDelayConstants.EXCEPTION_CLASS, "java.io.IOException")))
                .isEqualTo(2);
        for (String header : List.of(RedisDelayConstants.REASON, RedisDelayConstants.ROUTE_ID)) {
            for (Object none : new Object[] {null, "", " "}) {
                Map<String, Object> headers = new HashMap<>();
                headers.put(header, none);
                assertThat(refused("?operation=redrive", headers)).contains("header '" + header + "' is");
            }
        }
    }

    @Test
    void should_promote_what_failed_in_a_route_and_know_no_reason_of_what_waits() throws Exception {
        schedule("failed", "x");
        schedule("new", "x", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
        claim(stored())
                .negativeAcknowledge(
                        Duration.ofHours(1),
                        new FailureRecord("java.io.IOException", "wrong", "notify", "host", 1, Instant.now(), null)
                                .encode())
                .join();
        context.start();
        assertThat(count("?operation=promote&routeId=other", Map.of())).isZero();
        assertThat(count("?operation=promote&routeId=notify&exceptionClass=java.io.IOException", Map.of()))
                .isOne();
        assertThat(stats().overdue()).isOne();
        assertThat(refused("?operation=promote&reason=failed", Map.of())).contains("'reason'", "state=dead");
        assertThat(count("?operation=promote&reason=failed&state=dead", Map.of()))
                .isZero();
    }

    @Test
    void should_change_as_many_as_it_was_limited_to_the_first_ones() {
        context.getComponent("redis-delay", RedisDelayComponent.class)
                .getConfiguration()
                .setLimit(5);
        context.start();
        die("a", "b", "c", "d", "e");
        for (String operation : List.of("redrive", "purge", "promote")) {
            assertThat(refused("?operation=" + operation, Map.of()))
                    .as("that of the component is for lists")
                    .contains("'all'");
        }
        assertThat(count("?operation=redrive&limit=2", Map.of())).isEqualTo(2);
        assertThat(waiting()).containsExactly("a", "b");
        Message purged = change("?operation=purge&all=true&limit=100", Map.of(RedisDelayConstants.LIMIT, "1"));
        assertThat(purged.getHeaders())
                .containsEntry(RedisDelayConstants.COUNT, 1L)
                .doesNotContainKey(RedisDelayConstants.LIMIT);
        assertThat(deadMessages()).containsExactly("d", "e");
        assertThat(send(uri + "?operation=list&state=dead", null, Map.of(RedisDelayConstants.LIMIT, 1))
                        .getMessage()
                        .getBody(List.class))
                .hasSize(1);
        for (Object wrong : new Object[] {0, -1, 257, "x", 1.5}) {
            for (String operation : List.of("list", "purge")) {
                assertThat(refused("?operation=" + operation, Map.of(RedisDelayConstants.LIMIT, wrong)))
                        .contains("header 'CamelRedisDelayLimit' is '" + wrong + "'", "from 1 to 256");
            }
        }
    }

    @Test
    void should_refuse_a_component_that_asks_for_all() {
        RedisDelayConfiguration options =
                context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
        options.setAll(true);
        context.start();
        assertThat(catchThrowable(() -> context.getEndpoint(uri + "?operation=purge")))
                .rootCause()
                .hasMessageContaining("option 'all' is set on the component");
    }

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
                QueueStats letters = stored().deadLetters().stats().join();
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
            await().until(() -> stored().deadLetters().stats().join().nextDueMicros() > 0);
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
                        .process(ChosenMessagesIT.this::take)
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
        String letter = stored().deadLettersOf("a").join().get(0).toString();
        assertThat(failures.poll(20, TimeUnit.SECONDS))
                .isInstanceOf(DuplicateMessageException.class)
                .hasMessage("dead letter '" + letter + "' of queue '" + queue
                        + "' was not redriven: its message's id 'a' is in use by a newer message; redrive it when that one is"
                        + " done or cancelled, or purge it");
        await().until(() -> stored().deadLetters().stats().join().nextDueMicros() > 0);
        assertThat(deadMessages()).containsExactly("a");
        assertThat(stats().delayed()).isOne();
    }

    private void scheduleNew(String id) {
        schedule(id, "new", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
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
        await().until(() -> stored().deadLetters().stats().join().nextDueMicros() > 0);
        return deadLetterOf(id);
    }

    /** Its lease expired, and another consumer has it: that one decides. */
    @Test
    void should_refuse_to_move_a_dead_letter_whose_lease_was_lost() throws Exception {
        die("a");
        BlockingQueue<Exception> failures = new LinkedBlockingQueue<>();
        List<Delivery> other = new ArrayList<>();
        start(consume("?state=dead&visibilityTimeout=200ms&extendMessageVisibility=false", exchange -> {
            if (!other.isEmpty()) {
                return;
            }
            ConsumerOptions anHour = new ConsumerOptions(1, 1, Duration.ofHours(1), false, Duration.ZERO, "unnamed");
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
        other.get(0).acknowledge().join();
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
                        .process(ChosenMessagesIT.this::take)
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, constant("wanted"))
                        .to(to);
                from(uri + "?state=dead").to(to).process(ChosenMessagesIT.this::take);
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
        return outside.queue(name).browse(MessageState.DELAYED, PageStart.first(), 256).join().messages().stream()
                .map(MessageInfo::id)
                .distinct()
                .toList();
    }

    /** The id of an order finds what is left of it, also when it was given up. */
    @ParameterizedTest
    @ValueSource(strings = {"cancel", "reschedule&delay=1h", "promote"})
    void should_say_that_a_message_has_died_and_leave_it_there(String operation) {
        context.start();
        die("a");
        die("a", "b");
        String newest = deadLetters().stream()
                .filter(id -> id.startsWith("a@"))
                .reduce((x, y) -> y)
                .orElseThrow();
        assertThat(change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"))
                        .getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.RESULT, "dead")
                .containsEntry(RedisDelayConstants.COUNT, 0L)
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, newest)
                .containsEntry(RedisDelayConstants.DEAD_LETTER_COUNT, 2);
        scheduleNew("waits");
        Message some = change(
                "?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("waits", "a", "nobody")));
        assertThat(some.getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, List.of("delayed", "dead", "none"))
                .containsEntry(RedisDelayConstants.RESULT, List.of("done", "dead", "none"))
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, List.of("", newest, ""))
                .containsEntry(RedisDelayConstants.DEAD_LETTER_COUNT, List.of(0, 2, 0))
                .containsEntry(RedisDelayConstants.COUNT, 1L);
        assertThat(change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "nobody"))
                        .getHeaders())
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "none")
                .doesNotContainKeys(RedisDelayConstants.DEAD_LETTER_ID, RedisDelayConstants.DEAD_LETTER_COUNT);
        assertThat(deadMessages()).containsExactly("a", "a", "b");
    }

    @Test
    void should_get_the_newest_dead_letter_of_a_message() {
        context.start();
        die("a");
        die("a");
        String newest = deadLetters().get(1);
        for (String options : List.of("?operation=get", "?operation=get&state=dead")) {
            Message found = change(options, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
            assertThat(found.getBody()).isEqualTo("body of a");
            assertThat(found.getHeaders())
                    .containsEntry(RedisDelayConstants.MESSAGE_STATE, "dead")
                    .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                    .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, newest)
                    .containsEntry(RedisDelayConstants.DEAD_LETTER_COUNT, 2);
        }
    }

    /** It is in one place or the other all the time. */
    @Test
    void should_find_a_message_that_is_moved_back_while_it_is_looked_for() {
        context.start();
        for (int i = 0; i < 50; i++) {
            bury("a", "x");
            String letter = stored().deadLettersOf("a").join().get(0).toString();
            var found = template.asyncSend(uri + "?operation=get", exchange -> exchange.getMessage()
                    .setHeader(RedisDelayConstants.SCHEDULE_ID, "a"));
            LockSupport.parkNanos(20_000L * i);
            assertThat(stored().redrive(letter).join()).isEqualTo(RedriveOutcome.REDRIVEN);
            assertThat(found.join().getMessage().getHeader(RedisDelayConstants.MESSAGE_STATE))
                    .isIn("dead", "delayed");
            stored().cancel("a").join();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redrive", "purge", "cancel&state=dead", "promote&state=dead", "reschedule&delay=1h&state=dead"})
    void should_take_the_newest_dead_letter_of_a_message(String operation) {
        context.start();
        die("a");
        die("b");
        die("a");
        List<String> letters = deadLetters();
        stored().deadLetters()
                .reschedule(letters.get(2), DueTime.after(Duration.ofMinutes(10)))
                .join();
        Message one = change("?operation=" + operation, Map.of(RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(one.getHeaders())
                .containsEntry(RedisDelayConstants.RESULT, "done")
                .containsEntry(RedisDelayConstants.PREVIOUS_STATE, "dead")
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_ID, letters.get(2));
        Message some = change(
                "?operation=" + operation,
                Map.of(RedisDelayConstants.SCHEDULE_ID, List.of("nobody", "b", letters.get(1))));
        assertThat(some.getHeader(RedisDelayConstants.RESULT, List.class).subList(0, 2))
                .isEqualTo(List.of("none", "done"));
        assertThat(some.getHeader(RedisDelayConstants.MESSAGE_ID)).isEqualTo(List.of("nobody", "b", "b"));
        assertThat(some.getHeader(RedisDelayConstants.DEAD_LETTER_ID))
                .isEqualTo(List.of("", letters.get(1), letters.get(1)));
        assertThat(deadLetters()).contains(letters.get(0));
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
