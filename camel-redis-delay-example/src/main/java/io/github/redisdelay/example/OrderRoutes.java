// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Duration;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Takes orders, from files and by HTTP, and schedules the closing of each for the end of its payment window. */
final class OrderRoutes extends RouteBuilder {

    private final OrderBook book;
    private final ShopTime time;

    OrderRoutes(OrderBook book, ShopTime time) {
        this.book = book;
        this.time = time;
    }

    @Override
    public void configure() {
        String reading = "&delay=200&initialDelay=0&sortBy=file:name&readLock=changed&readLockMinAge=300"
                + "&readLockCheckInterval=100";

        // One file, one order. A file stays in the inbox until its order is scheduled, so an outage of Redis loses no
        // order.
        from("file:{{inbox}}?include=.*[.]json" + reading)
                .routeId("order-files")
                .to("direct:order-of-file");

        // One file, one order on each line. After an interruption the whole file is read again, and known orders are
        // passed by.
        from("file:{{inbox}}?include=.*[.]ndjson" + reading)
                .routeId("order-lists")
                .split(body().tokenize("\n"))
                .streaming()
                .stopOnException()
                .to("direct:order-of-file");

        from("direct:order-of-file")
                .routeId("order-of-file")
                .setVariable("file", header(Exchange.FILE_NAME))
                // Not onException with handled: a split that stops on exceptions stops on those that were handled too.
                .doTry()
                .to("direct:order")
                .doCatch(JsonProcessingException.class, IllegalArgumentException.class)
                .log(LoggingLevel.WARN, Story.ORDERS, "refused  ${variable.file}: ${exception.message}")
                .end();

        from("direct:order")
                .routeId("take-order")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .unmarshal()
                .json(Order.class)
                .setVariable("order", body())
                .process(exchange -> check(order(exchange)))
                .choice()
                .when(method(book, "knows(${variable.order.id})"))
                .log(LoggingLevel.INFO, Story.ORDERS, "known    ${variable.order.id}")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(200))
                .otherwise()
                // The headers of the file or the HTTP request do not belong into the message.
                .removeHeaders("*")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, simple("${variable.order.id}"))
                .setHeader(RedisDelayConstants.DELAY)
                .exchange(exchange -> window(order(exchange)))
                .marshal()
                .json()
                .to("redis-delay:orders?onDuplicate=ignore")
                .process(exchange -> book.place(order(exchange)))
                .log(
                        LoggingLevel.INFO,
                        Story.ORDERS,
                        "placed   ${variable.order.id}  ${variable.order.customer}, ${variable.order.price},"
                                + " to be paid within ${variable.order.paymentWindow}")
                .setHeader(Exchange.HTTP_RESPONSE_CODE, constant(201))
                .end()
                .setBody(variable("order"));
    }

    private static void check(Order order) {
        if (order.notifyUrl() != null) {
            NotificationUrl.check(order.notifyUrl());
        }
    }

    private Duration window(Order order) {
        try {
            return time.real(order.paymentWindow());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("order " + order.id() + ": its paymentWindow " + e.getMessage(), e);
        }
    }

    private static Order order(Exchange exchange) {
        return exchange.getVariable("order", Order.class);
    }
}
