// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.spi.HeaderFilterStrategy;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers that direct Camel's components come out of no stored message, and go into none, on any way there is. */
class HeaderInjectionSecurityIT extends ConsumerSideIT {

    /** Headers that others may have stored, or have sent to a route that schedules. */
    private static final List<String> EVIL = List.of(
            "Camel",
            "CamelFileName",
            "camelHttpUri",
            "CAMELEXECCOMMANDEXECUTABLE",
            "cAMELBeanMethodName",
            "CamelRedisDelayOperation",
            "camelredisdelayscheduleid",
            "CAMELRedisDelayRetryAfter",
            "CamelRedisDelayDeadLetterReason",
            "camelRediſDelayDeliverAt", // a long s is an S to equalsIgnoreCase
            "CamelF\u0131leName",
            "CamelF\u0130leName",
            "CamelBean\u212A",
            "org.apache.camel.x",
            "Org.Apache.CAMEL.bean",
            "Camel" + "x".repeat(100_000),
            "Camel\u0000FileName",
            "camel\r\nCamelFileName",
            "X\r\nCamelFileName",
            "\u0001",
            "a\nb",
            "tab\there",
            "\u0085",
            "");

    /** Names that look like one of Camel's and are none, and other odd names: they pass, and no component asks for them. */
    private static final List<String> HARMLESS = List.of(
            "kept",
            "\u0421amelFileName", // Cyrillic
            "\uFF23amelFileName", // full width
            "\u24B8amelFileName",
            " CamelFileName",
            "\u200BCamelFileName",
            "xCamelFileName",
            "org.apache.camelx",
            "\u212A",
            "x".repeat(10_000));

    private static final HeaderFilterStrategy NONE = new HeaderFilterStrategy() {
        @Override
        public boolean applyFilterToCamelHeaders(String name, Object value, Exchange exchange) {
            return false;
        }

        @Override
        public boolean applyFilterToExternalHeaders(String name, Object value, Exchange exchange) {
            return false;
        }
    };

    @BeforeEach
    void bind() {
        context.getRegistry().bind("all", NONE);
    }

    private static Map<String, Object> headers() {
        Map<String, Object> headers = new LinkedHashMap<>();
        EVIL.forEach(name -> headers.put(name, "evil"));
        HARMLESS.forEach(name -> headers.put(name, "harmless"));
        return headers;
    }

    /** As an attacker stores it, whom no filter stops. */
    private void scheduleEvil(String id) {
        byte[] bytes = Envelope.of("body of " + id, "text/plain", headers()).encode();
        stored().schedule(ScheduleRequest.of(id, bytes, DueTime.now())).result().join();
    }

    private static void assertClean(Message message) {
        assertThat(message.getHeaders()).doesNotContainValue("evil");
        assertThat(message.getHeaders().keySet()).containsAll(HARMLESS);
        for (String name : EVIL) {
            assertThat(message.getHeader(name)).as(name).isNotEqualTo("evil");
        }
        for (Map.Entry<String, Object> header : message.getHeaders().entrySet()) {
            if (header.getKey().regionMatches(true, 0, "Camel", 0, 5)) {
                // The component's own words.
                assertThat(header.getKey()).matches("CamelRedisDelay[A-Za-z]+|CamelMessageTimestamp");
                assertThat(header.getValue()).isNotEqualTo("harmless");
            }
        }
        assertThat(message.getHeader("CamelFileName")).isNull();
        assertThat(message.getHeader("CamelHttpUri")).isNull();
        assertThat(message.getHeader(RedisDelayConstants.OPERATION)).isNull();
        assertThat(message.getHeader(RedisDelayConstants.SCHEDULE_ID)).isNull();
        assertThat(message.getHeader(RedisDelayConstants.RETRY_AFTER)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&headerFilterStrategy=#all"})
    void should_restore_none_in_a_route(String filter) throws Exception {
        start(consume(FAST + filter, this::take));
        scheduleEvil("a");
        assertClean(next());
        assertEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&headerFilterStrategy=#all"})
    void should_restore_none_in_a_batch(String filter) throws Exception {
        scheduleEvil("a");
        scheduleEvil("b");
        start(consume(FAST + "&batching=true&batchSize=2&batchTimeout=30m" + filter, exchange -> {
            assertThat(exchange.getMessage().getHeaders()).containsOnlyKeys(RedisDelayConstants.QUEUE);
            List<?> all = exchange.getMessage().getBody(List.class);
            all.forEach(message -> received.add((Message) message));
        }));
        assertClean(next());
        assertClean(next());
        assertEmpty();
    }

    private Message look(String options, String id) {
        Message looked = send(uri + "?operation=get" + options, null, Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                .getMessage();
        assertThat(looked.removeHeader(RedisDelayConstants.SCHEDULE_ID)).isEqualTo(id);
        return looked;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?headerFilterStrategy=#all"})
    void should_restore_none_when_polled_or_looked_at(String filter) throws Exception {
        context.start();
        scheduleEvil("a");
        assertClean(look(filter.replace('?', '&'), "a"));
        ConsumerTemplate consumer = context.createConsumerTemplate();
        Exchange exchange = consumer.receive(uri + filter, 20_000);
        assertClean(exchange.getMessage());
        consumer.doneUoW(exchange);
        assertEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&headerFilterStrategy=#all"})
    void should_restore_none_among_the_dead_letters_and_after_a_redrive(String filter) throws Exception {
        scheduleEvil("a");
        String failure = "{\"CamelFileName\":\"evil\",\"camelHttpUri\":\"evil\",\"\":\"evil\",\"exception\":\"a.B\","
                + "\"org.apache.camel.x\":\"evil\",\"headers\":{\"CamelFileName\":\"evil\"},\"reason\":\"failed\"}";
        claim(stored())
                .settle(new Settlement.DeadLetter(failure.getBytes(StandardCharsets.UTF_8)))
                .result()
                .join();
        DelayQueue dead = stored().deadLetters();
        String deadId = dead.admin()
                .list(MessageState.DELAYED, PageStart.first(), 1)
                .join()
                .messages()
                .get(0)
                .id();
        context.start();
        Message looked = look(filter, deadId);
        assertThat(looked.getHeader(RedisDelayConstants.FAILURE_EXCEPTION)).isEqualTo("a.B");
        assertClean(looked);

        start(new org.apache.camel.builder.RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "?state=dead" + filter).routeId("dead").process(exchange -> {
                    take(exchange);
                    throw new IllegalStateException("stays");
                });
            }
        });
        Message fromDead = next();
        assertThat(fromDead.getHeader(RedisDelayConstants.DEAD_LETTER_REASON)).isEqualTo("failed");
        assertClean(fromDead);
        context.getRouteController().stopRoute("dead");
        await().until(() -> dead.admin().stats().join().leased() == 0);
        received.clear();

        assertThat(stored().admin().redriveAll(message -> true, Long.MAX_VALUE).join())
                .isOne();
        start(consume(FAST + filter, this::take));
        assertClean(next());
        assertEmpty();
    }

    /** Those that direct this component itself must not be there at all, or they would. */
    private static Map<String, Object> sendable() {
        Map<String, Object> headers = headers();
        headers.keySet().removeIf(name -> name.regionMatches(true, 0, "CamelRed", 0, 8));
        return headers;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?headerFilterStrategy=#all"})
    void should_store_none(String filter) {
        context.start();
        Exchange sent = template.request(uri + filter, exchange -> {
            exchange.getMessage().setBody("x");
            sendable().forEach(exchange.getMessage()::setHeader);
        });
        assertThat(sent.getException()).isNull();
        String id = sent.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
        assertThat(storedHeaders(id)).containsExactlyElementsOf(new TreeSet<>(HARMLESS));
        // A header that was not stored is still there for the rest of the route.
        assertThat(sent.getMessage().getHeader("CamelFileName")).isEqualTo("evil");
    }

    private TreeSet<String> storedHeaders(String id) {
        return new TreeSet<>(
                Envelope.decode(stored().get(id).join().orElseThrow().body())
                        .headers()
                        .keySet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&headerFilterStrategy=#all"})
    void should_store_none_of_a_list(String filter) {
        context.start();
        List<Message> list = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Message message = new DefaultMessage(context);
            message.setBody("body " + i);
            sendable().forEach(message::setHeader);
            message.setHeader(RedisDelayConstants.SCHEDULE_ID, "m" + i);
            list.add(message);
        }
        Exchange sent = send(uri + "?batching=true" + filter, list, Map.of());
        assertThat(sent.getException()).isNull();
        for (int i = 0; i < 2; i++) {
            assertThat(storedHeaders("m" + i)).containsExactlyElementsOf(new TreeSet<>(HARMLESS));
        }
    }

    /** The headers by which a consumer tells of a message must not direct a producer: routes pass messages on. */
    @org.junit.jupiter.api.Test
    void should_direct_no_producer_by_what_came_with_a_message() throws Exception {
        String other = redis.uniqueQueue();
        start(new org.apache.camel.builder.RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri).routeId("consumer").to("redis-delay:" + other).process(HeaderInjectionSecurityIT.this::take);
            }
        });
        scheduleEvil("a");
        Message passed = next();
        String id = passed.getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
        assertThat(id).isNotEqualTo("a");
        assertThat(outside.queue(other).get(id).join().orElseThrow().info().attempts())
                .isZero();
        assertEmpty();
    }
}
