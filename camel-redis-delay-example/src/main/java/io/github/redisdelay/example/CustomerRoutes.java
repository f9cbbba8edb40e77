// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.camel.builder.RouteBuilder;

/**
 * Plays the customers of the data set: puts their orders into the inbox, and has each pay when he or she means to.
 *
 * <p>When that is, is kept in a second queue, so that customers too carry on after a restart.
 */
final class CustomerRoutes extends RouteBuilder {

    private final Replay replay;
    private final OrderBook book;
    private final ShopTime time;

    CustomerRoutes(Replay replay, OrderBook book, ShopTime time) {
        this.replay = replay;
        this.book = book;
        this.time = time;
    }

    @Override
    public void configure() {
        from("timer:customers?period={{replay.period}}")
                .routeId("customers-order")
                .bean(replay, "next")
                .filter(simple("${body.size} > 0"))
                .setVariable("steps", body())
                .to("direct:intend-payments")
                .setBody(exchange -> exchange.getVariable("steps", List.class).stream()
                        .map(step -> ((Replay.Step) step).json())
                        .collect(Collectors.joining("\n", "", "\n")))
                .to(
                        "file:{{inbox}}?fileName=${date:now:yyyyMMdd-HHmmss-SSS}-${exchangeId}.ndjson&tempFileName=${file:name}.writing");

        from("direct:intend-payments")
                .routeId("customers-intend")
                .split(body())
                .filter(simple("${body.paidAfter} != null"))
                .setHeader(RedisDelayConstants.SCHEDULE_ID, simple("${body.id}"))
                .setHeader(RedisDelayConstants.DELAY, method(time, "real(${body.paidAfter})"))
                .setBody(simple("${body.id}"))
                .to("redis-delay:customers?onDuplicate=ignore");

        from("redis-delay:customers?concurrentConsumers=4&maximumRedeliveries=-1")
                .routeId("customers-pay")
                .choice()
                .when(exchange -> book.knows(exchange.getMessage().getBody(String.class)))
                .setHeader("id", body())
                .to("direct:payment")
                .otherwise()
                // On a busy machine the order is in the inbox still: nobody pays what the shop has not taken.
                .setProperty(RedisDelayConstants.RETRY_AFTER, constant("200ms"))
                .end();
    }
}
