// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Closes the orders that nobody has paid when their payment window ends. */
final class ClosingRoute extends RouteBuilder {

    private final OrderBook book;
    private final Lateness lateness;

    ClosingRoute(OrderBook book, Lateness lateness) {
        this.book = book;
        this.lateness = lateness;
    }

    @Override
    public void configure() {
        from("redis-delay:orders?concurrentConsumers=4")
                .routeId("close-order")
                .unmarshal()
                .json(Order.class)
                .bean(lateness, "add(${header." + RedisDelayConstants.LATENESS + "})")
                .choice()
                .when(method(book, "close(${body.id})"))
                .log(
                        LoggingLevel.INFO,
                        OrderRoutes.STORY,
                        "closed   ${body.id}  ${body.customer}, ${body.price}, not paid within"
                                + " ${body.paymentWindow} (${header." + RedisDelayConstants.LATENESS + "} ms late)")
                .otherwise()
                .log(LoggingLevel.INFO, OrderRoutes.STORY, "closed   ${body.id}  is in the book as closed already")
                .end();
    }
}
