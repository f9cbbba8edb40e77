// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.stored;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;

/**
 * Operations on queues, after which they hold something of everything. Each message has an id of its own, and is due
 * long ago or in 2100, so that all is the same each time but for what {@link StoredKeys#withoutChance} leaves out.
 */
final class StoredStory {

    static final String ORDERS = "orders";
    static final String TICKETS = "tickets";
    static final Map<String, Integer> PARTITIONS = Map.of(ORDERS, 1, TICKETS, 2);
    /** The id of a message that was acknowledged, and stays a duplicate for fifty years. */
    static final String REMEMBERED = "acknowledged";

    private static final String LATER = "2100-01-01T00:00:0";

    private final CamelContext context;
    private final ProducerTemplate template;
    private final DelayQueueClient client;
    /** Counted down when nothing is looked at any more. */
    private final CountDownLatch end = new CountDownLatch(1);

    StoredStory(CamelContext context, DelayQueueClient client) {
        this.context = context;
        this.client = client;
        template = context.createProducerTemplate();
    }

    private static Map<String, Object> headers(String id, String deliverAt) {
        // Stored in the order of Camel's map, which is this one in Camel 4.18, and the order of insertion in Camel
        // 4.22.
        Map<String, Object> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.put(RedisDelayConstants.SCHEDULE_ID, id);
        headers.put(RedisDelayConstants.DELIVER_AT, deliverAt);
        return headers;
    }

    private void send(String uri, String id, String deliverAt, Object body, Object... more) {
        Map<String, Object> headers = headers(id, deliverAt);
        for (int i = 0; i < more.length; i += 2) {
            headers.put((String) more[i], more[i + 1]);
        }
        Exchange sent = template.request(uri, exchange -> {
            exchange.getMessage().setBody(body);
            exchange.getMessage().setHeaders(headers);
        });
        assertThat(sent.getException()).as(id).isNull();
    }

    void begin() throws Exception {
        context.start();
        String orders = "redis-delay:" + ORDERS;
        // In the order in which the consumer gets them: it takes one at a time. Dead letters of one microsecond are in
        // the
        // order of their ids, which is the same.
        send(orders, REMEMBERED, "2020-01-01T00:00:01Z", "x", RedisDelayConstants.DEDUPLICATION_PERIOD, "20000d");
        send(orders, "failed", "2020-01-01T00:00:02Z", "to come again", "shop", "Łódź", "urgent", true);
        send(
                orders,
                "died",
                "2020-01-01T00:00:03Z",
                new byte[] {0, 1, (byte) 0xFF},
                RedisDelayConstants.MAXIMUM_REDELIVERIES,
                0,
                RedisDelayConstants.PRIORITY,
                0);
        send(orders, "expired", "2020-01-01T00:00:04Z", 7L, RedisDelayConstants.TIME_TO_LIVE, "1m");
        send(orders, "given up by its route", "2020-01-01T00:00:05Z", false);
        send(orders, "held", "2020-01-01T00:00:06Z", "a lease");
        context.addRoutes(routes(orders));
        await().until(() -> queue(ORDERS).admin().stats().join().dead() == 3
                && queue(ORDERS).admin().stats().join().leased() == 1
                && queue(ORDERS).deadLetters().admin().stats().join().leased() == 1);

        send(
                orders,
                "with all kinds of headers",
                LATER + "1Z",
                "<order/>",
                Exchange.CONTENT_TYPE,
                "application/xml",
                "text",
                "1",
                "boolean",
                true,
                "byte",
                (byte) 1,
                "short",
                (short) 1,
                "int",
                1,
                "long",
                1L,
                "float",
                1.5f,
                "double",
                1.5,
                "big integer",
                new BigInteger("123456789012345678901234567890"),
                "big decimal",
                new BigDecimal("1.50"),
                "instant",
                Instant.parse("2020-02-29T12:00:00.123456789Z"),
                "bytes",
                new byte[] {1, 2},
                "uuid",
                UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
        send(
                orders,
                "with a policy",
                LATER + "2Z",
                null,
                RedisDelayConstants.REDELIVERY_DELAYS,
                "15s,3m",
                RedisDelayConstants.TIME_TO_LIVE,
                "365d",
                RedisDelayConstants.DEDUPLICATION_PERIOD,
                "1h");
        send(
                orders,
                "with another policy",
                LATER + "3Z",
                new BigDecimal("12.50"),
                RedisDelayConstants.MAXIMUM_REDELIVERIES,
                -1,
                RedisDelayConstants.REDELIVERY_DELAY,
                "1s",
                RedisDelayConstants.BACK_OFF_MULTIPLIER,
                1.5,
                RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY,
                "1m");
        send(orders, "urgent", LATER + "4Z", "first", RedisDelayConstants.PRIORITY, 9);
        send(orders, "less urgent", LATER + "5Z", "second", RedisDelayConstants.PRIORITY, 5);
        send(orders, "moved", LATER + "6Z", "moved");
        send(orders + "?operation=reschedule", "moved", LATER + "7Z", "moved");
        send(orders, "cancelled", LATER + "8Z", "not here");
        send(orders + "?operation=cancel", "cancelled", LATER + "8Z", null);

        String tickets = "redis-delay:" + TICKETS + "?partitions=2";
        send(tickets, "a", LATER + "1Z", "in one partition");
        send(tickets, "b", LATER + "2Z", "in the other one", RedisDelayConstants.PRIORITY, 3);

        // Its consumer has nothing to do, and is a waiter.
        await().until(() -> queue(TICKETS).admin().stats().join().consumers() == 1);

        template.sendBody(orders + "?operation=pause", null);
        template.sendBody(orders + "?operation=pause&state=dead", null);
    }

    private RouteBuilder routes(String orders) {
        String options = "maxMessagesPerPoll=1&visibilityTimeout=30s&maximumVisibilityExtension=0";
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(orders + "?redeliveryDelay=1h&" + options)
                        .routeId("orders")
                        .process(exchange -> work(exchange));
                from(orders + "?state=dead&" + options).routeId("dead").process(exchange -> end.await());
                from("redis-delay:" + TICKETS + "?partitions=2")
                        .routeId("tickets")
                        .process(exchange -> {});
            }
        };
    }

    private void work(Exchange exchange) throws InterruptedException {
        switch (exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class)) {
            case "failed", "died" -> throw new IllegalStateException("the bank said \"no\"");
            case "given up by its route" ->
                exchange.getMessage().setHeader(RedisDelayConstants.DEAD_LETTER_REASON, "unknown customer");
            case "held" -> end.await();
            default -> {}
        }
    }

    private DelayQueue queue(String name) {
        return client.queue(name, PARTITIONS.get(name));
    }

    /** Lets go of what is held. */
    void end() {
        end.countDown();
    }
}
