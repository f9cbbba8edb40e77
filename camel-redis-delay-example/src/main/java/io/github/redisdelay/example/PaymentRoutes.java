// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.camel.RedisDelayConstants;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.builder.RouteBuilder;

/** Takes payments: each cancels the closing of its order; if that is too late, the payment is refunded. */
final class PaymentRoutes extends RouteBuilder {

    private final PaymentDesk desk;

    PaymentRoutes(PaymentDesk desk) {
        this.desk = desk;
    }

    @Override
    public void configure() {
        from("direct:payment")
                .routeId("pay-order")
                .errorHandler(noErrorHandler()) // The caller knows what to answer.
                .setVariable("id", header("id"))
                .removeHeaders("*")
                // An order that Redis has and the book has not: a crash came in between. Redis knows the rest of it.
                .filter(exchange -> !desk.knows(id(exchange)))
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("id"))
                .to("redis-delay:orders?operation=get")
                .filter(header(RedisDelayConstants.MESSAGE_STATE).in("delayed", "leased", "dead"))
                .unmarshal()
                .json(Order.class)
                .bean(desk, "place")
                .end()
                .removeHeaders("*")
                .end()
                .bean(desk, "begin(${variable.id})")
                .setHeader(RedisDelayConstants.SCHEDULE_ID, variable("id"))
                .to("redis-delay:orders?operation=cancel")
                .bean(desk, "decide(${variable.id}, ${header." + RedisDelayConstants.PREVIOUS_STATE + "})")
                .setVariable("answer", body())
                // Before the book has it: a payment that was interrupted here is taken again.
                .setVariable("news")
                .exchange(exchange -> desk.notification(answer(exchange)))
                .filter(variable("news").isNotNull())
                .toV("direct:notify", "news", "planned")
                .end()
                .filter(exchange -> answer(exchange).refunded())
                .toV("direct:refund", "id", "begun")
                .end()
                .process(exchange -> desk.finish(answer(exchange)))
                .log(LoggingLevel.INFO, Story.ORDERS, "payment  ${body.order}  ${body.message}");
    }

    private static String id(Exchange exchange) {
        return exchange.getVariable("id", String.class);
    }

    private static PaymentAnswer answer(Exchange exchange) {
        return exchange.getVariable("answer", PaymentAnswer.class);
    }
}
