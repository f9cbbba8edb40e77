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
                // Before the book has it: a closing that was interrupted here is delivered again.
                .setVariable("news")
                .exchange(exchange -> news(exchange.getMessage().getBody(Order.class)))
                .filter(variable("news").isNotNull())
                .toV("direct:notify", "news", "planned")
                .end()
                .choice()
                .when(method(book, "close(${body.id})"))
                .log(
                        LoggingLevel.INFO,
                        Story.ORDERS,
                        "closed   ${body.id}  ${body.customer}, ${body.price}, not paid within"
                                + " ${body.paymentWindow} (${header." + RedisDelayConstants.LATENESS + "} ms late)")
                .otherwise()
                .log(LoggingLevel.INFO, Story.ORDERS, "closed   ${body.id}  is in the book as closed already")
                .end();
    }

    private static Notification news(Order order) {
        return order.notifyUrl() == null ? null : new Notification(order.id(), Notification.CLOSED, order.notifyUrl());
    }
}
